//! Accounts of a scan: the embedded browser for the page's script, the form for everybody.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;
use serde_json::{Value, json};

use super::drafts::Removed;
use super::steps::{At, Entry};
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::services::Services;
use crate::gateway::services::accounts::{Problems, Typed};
use crate::gateway::services::browsers::Opened;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{CsrfHeader, Form, JsonBody, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::accounts::TableAlone;

/// The step.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::Accounts(None)).await
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Entered {
    v: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    own_role: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    cookies: String,
    #[serde(default)]
    headers: String,
}

/// Keeps typed cookies and headers.
pub(in crate::gateway) async fn add(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(entered): Form<Entered>,
) -> Result<HttpResponse, WebError> {
    let Entered { v, role, own_role, url, cookies, headers } = entered;
    let typed = Typed { role: if role == "own" { own_role } else { role }, url, cookies, headers };
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    match services.accounts.add(&actor, (&id, &v), &typed).await {
        Ok(Ok(())) => Ok(page.go_with_news(&urls::step(&id, Step::Accounts), Flash::AccountSaved)),
        Ok(Err(problems)) => at.mark(&v, Entry::Accounts(Some((typed, problems)))).await,
        Err(error) => at.refuse(error, Entry::Accounts(Some((typed, Problems::default())))).await,
    }
}

/// Takes an account out.
pub(in crate::gateway) async fn remove(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(removed): Form<Removed>,
) -> Result<HttpResponse, WebError> {
    match services.accounts.remove(&actor, (&id, &removed.v), removed.row).await {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Accounts))),
        Err(error) => {
            let at = At { page: &page, services: &services, actor: &actor, id: &id };
            at.refuse(error, Entry::none(Step::Accounts)).await
        }
    }
}

/// `{"url", "origin"}` of a page to embed, or `{"message"}` why there is none.
pub(in crate::gateway) async fn open_browser(
    SignedIn(actor): SignedIn,
    _: CsrfHeader,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let answer = match services.browsers.open(&actor, &id).await? {
        Opened::Page { url, origin } => json!({ "url": url, "origin": origin }),
        Opened::None(words) => json!({ "message": words }),
    };
    Ok(HttpResponse::Ok().json(answer))
}

/// What the script sends of a session; never logged, never shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    v: String,
    role: String,
    url: String,
    session_info: Value,
}

/// Keeps a session of the embedded browser; answers with the table of accounts.
pub(in crate::gateway) async fn capture(
    page: Page,
    SignedIn(actor): SignedIn,
    _: CsrfHeader,
    Path(id): Path<DraftId>,
    body: JsonBody,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let sent: Sent = body.read(services.drafts.settings().session_bytes).await?;
    services.accounts.capture(&actor, (&id, &sent.v), (&sent.role, &sent.url), &sent.session_info).await?;
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&TableAlone::new(&page.chrome("", ""), &held))
}
