//! The target of a scan and its network check. What the page asks by itself takes `Watching`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;

use super::steps::{At, Entry};
use crate::gateway::domain::draft::{self, DraftId, Step, Target};
use crate::gateway::services::Services;
use crate::gateway::services::error::Error;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{CsrfHeader, Form, Nothing, Path, SignedIn, Watching};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::diagnostics::{StagesAlone, Typed};
use crate::gateway::web::views::notice::Notice;

/// The step.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::Target(None)).await
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Entered {
    v: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    login_url: String,
}

/// Keeps the target and starts its check. Without an address the target is taken out.
pub(in crate::gateway) async fn save(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(entered): Form<Entered>,
) -> Result<HttpResponse, WebError> {
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    let (typed, target) = read(entered.url, entered.login_url);
    if typed.url_problem.or(typed.login_problem).is_some() {
        return at.mark(&entered.v, Entry::Target(Some(typed))).await;
    }
    let is_set = target.is_some();
    let keep = services.drafts.change(&actor, (&id, &entered.v), |draft| {
        draft.skipped.remove(&Step::Target);
        draft.target = target;
        Ok(())
    });
    match keep.await {
        Ok(()) if is_set => begin(&at).await,
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Target))),
        Err(error) => at.refuse(error, Entry::Target(Some(typed))).await,
    }
}

/// The target as it was typed, with what is wrong with it; and, when nothing is, as it is kept. None without an address.
fn read(url: String, login_url: String) -> (Typed, Option<Target>) {
    let (checked, login) = (draft::address(&url), draft::address(&login_url));
    let missing = checked == Ok(None) && login != Ok(None);
    let url_problem = checked.as_ref().err().copied().or(missing.then_some("Give the address of the target, too."));
    let typed = Typed { url, login_url, url_problem, login_problem: login.as_ref().err().copied() };
    let target = checked.ok().flatten().map(|url| Target { url, login_url: login.ok().flatten() });
    (typed, target)
}

/// Checks the kept target once more.
pub(in crate::gateway) async fn check(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    begin(&At { page: &page, services: &services, actor: &actor, id: &id }).await
}

/// Starts a check; when that does not work, the step says so and keeps what was entered.
async fn begin(at: &At<'_>) -> Result<HttpResponse, WebError> {
    match at.services.diagnostics.start(at.actor, at.id).await {
        Ok(()) => Ok(see_other(&urls::step(at.id, Step::Target))),
        Err(error @ (Error::Upstream(_) | Error::Unusable(_))) => {
            let refused = WebError::from(error);
            if refused.sign_in.is_some() {
                return Err(refused);
            }
            let words = format!("The address is kept, but the check could not be started. {}", refused.words);
            at.tell((refused.status, Some(Notice::trouble(&words))), Entry::Target(None)).await
        }
        Err(error) => at.refuse(error, Entry::Target(None)).await,
    }
}

/// The stages alone, for the page's script.
pub(in crate::gateway) async fn stages(
    page: Page,
    Watching(actor): Watching,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&StagesAlone::of(&services.diagnostics.look(&actor, &held).await?))
}

/// Starts the check again when the script's count-down is over.
pub(in crate::gateway) async fn repeat(
    page: Page,
    Watching(actor): Watching,
    _: CsrfHeader,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    services.diagnostics.start(&actor, &id).await?;
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&StagesAlone::of(&services.diagnostics.look(&actor, &held).await?))
}
