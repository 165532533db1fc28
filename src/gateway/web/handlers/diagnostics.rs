//! The target of a scan and its network check. What the page asks by itself takes `Watching`.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use super::drafts::at_step;
use crate::gateway::domain::draft::{self, DraftId, Step, Target};
use crate::gateway::services::error::Error;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{CsrfHeader, Form, Path, SignedIn, Watching};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::diagnostics::{StagesAlone, Target as TargetPage, Typed};

/// The step.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    again(&page, &services, (&actor, &id), StatusCode::OK, (None, String::new())).await
}

async fn again(
    page: &Page,
    services: &Services,
    (actor, id): (&Actor, &DraftId),
    status: StatusCode,
    (typed, trouble): (Option<Typed>, String),
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(actor, id).await?;
    let look = services.diagnostics.look(actor, &held).await?;
    page.show_as(status, &TargetPage::new(page, &held, &look, typed, trouble))
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
    let target = match read(entered.url, entered.login_url) {
        Ok(target) => target,
        Err(typed) => {
            let shown = (Some(typed), String::new());
            return again(&page, &services, (&actor, &id), StatusCode::UNPROCESSABLE_ENTITY, shown).await;
        }
    };
    let is_set = target.is_some();
    let keep = services.drafts.change(&actor, (&id, &entered.v), |draft| {
        draft.skipped.remove(&Step::Target);
        draft.target = target;
        Ok(())
    });
    keep.await.map_err(at_step(&id, Step::Target))?;
    if is_set { begin(&page, &services, &actor, &id).await } else { Ok(see_other(&urls::step(&id, Step::Target))) }
}

fn read(url: String, login_url: String) -> Result<Option<Target>, Typed> {
    match (draft::address(&url), draft::address(&login_url)) {
        (Ok(Some(url)), Ok(login_url)) => Ok(Some(Target { url, login_url })),
        (Ok(None), Ok(None)) => Ok(None),
        (checked, login) => {
            let missing = matches!(checked, Ok(None)).then_some("Give the address of the target, too.");
            Err(Typed { url, login_url, url_problem: checked.err().or(missing), login_problem: login.err() })
        }
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Nothing {}

/// Checks the kept target once more.
pub(in crate::gateway) async fn check(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    begin(&page, &services, &actor, &id).await
}

/// Starts a check; when that does not work, the step says so and keeps what was entered.
async fn begin(page: &Page, services: &Services, actor: &Actor, id: &DraftId) -> Result<HttpResponse, WebError> {
    match services.diagnostics.start(actor, id).await {
        Ok(()) => Ok(see_other(&urls::step(id, Step::Target))),
        Err(error @ (Error::Upstream(_) | Error::Unusable(_))) => {
            let refused = WebError::from(error);
            if refused.sign_in.is_some() {
                return Err(refused);
            }
            let words = format!("The address is kept, but the check could not be started. {}", refused.words);
            again(page, services, (actor, id), refused.status, (None, words)).await
        }
        Err(error) => Err(at_step(id, Step::Target)(error)),
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
