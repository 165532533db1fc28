//! Server keys: administrators add, test, activate and remove them. The text of a key is in no answer.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::services::Actor;
use crate::gateway::services::Services;
use crate::gateway::services::error::Error;
use crate::gateway::services::keys::{Added, Verdict};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Admin, Form, Nothing, Path, RecentAdmin};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::audit::KEY_EVENTS;
use crate::gateway::web::views::keys::{List, Problem, Remove, Show};
use crate::platform::clock::Timestamp;
use crate::platform::secret::Secret;

pub(in crate::gateway) async fn list(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    show(&page, &services, &actor, Problem::default()).await
}

/// The page with both kinds of keys, with what was wrong with the form when something was.
async fn show(page: &Page, services: &Services, actor: &Actor, problem: Problem) -> Result<HttpResponse, WebError> {
    let (keys, issued) = (services.keys.list(actor).await?, services.api_keys.list(actor).await?);
    let status = if problem.words.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    page.show_as(status, &List::new(page, (&keys, &issued), shown(services), problem))
}

/// Days of which uses are counted, and now.
fn shown(services: &Services) -> (u32, Timestamp) {
    (services.api_keys.bounds().use_days, services.api_keys.now())
}

/// One key.
pub(in crate::gateway) async fn one(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(id): Path<String>,
) -> Result<HttpResponse, WebError> {
    let all = services.keys.one_of_all(&actor, &id).await?;
    let events = services.audit_log.about(&actor, &id, KEY_EVENTS).await?;
    let (origins, issued) = (services.keys.origins(&actor, &id).await?, services.api_keys.list(&actor).await?);
    let told = Show::new(&page, (&all, &id), (&origins, &issued), &events, shown(&services));
    page.show(&told.ok_or_else(WebError::not_found)?)
}

#[derive(Deserialize)]
pub(in crate::gateway) struct NewKey {
    label: String,
    key: Secret,
}

pub(in crate::gateway) async fn add(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Form(new): Form<NewKey>,
) -> Result<HttpResponse, WebError> {
    match services.keys.add(&actor, &new.label, &new.key).await {
        Ok(Added::Active | Added::Accepted) => Ok(page.go_with_news(urls::KEYS, Flash::KeyAdded)),
        Ok(Added::Refused) => Ok(page.go_with_news(urls::KEYS, Flash::KeyNotAccepted)),
        Ok(Added::Untested) => Ok(page.go_with_news(urls::KEYS, Flash::KeyUntested)),
        Err(Error::Invalid(words) | Error::Conflict(words)) => {
            show(&page, &services, &actor, Problem { words, label: new.label.into() }).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(in crate::gateway) async fn test(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(id): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    match services.keys.test(&actor, &id).await? {
        Verdict::Accepted => Ok(page.go_with_news(urls::KEYS, Flash::KeyWorks)),
        // The list tells it, in the row of the key.
        Verdict::Refused => Ok(see_other(urls::KEYS)),
    }
}

pub(in crate::gateway) async fn activate(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.keys.activate(&actor, &id).await?;
    Ok(page.go_with_news(urls::KEYS, Flash::KeyActivated))
}

pub(in crate::gateway) async fn deactivate(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.keys.deactivate(&actor, &id).await?;
    Ok(page.go_with_news(urls::KEYS, Flash::KeyDeactivated))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Removal {
    #[serde(default)]
    confirm: String,
}

/// Asks first; removes when the page that asked sent its form.
pub(in crate::gateway) async fn remove(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
    Form(removal): Form<Removal>,
) -> Result<HttpResponse, WebError> {
    if removal.confirm != "yes" {
        let all = services.keys.one_of_all(&actor, &id).await?;
        let (origins, issued) = (services.keys.origins(&actor, &id).await?, services.api_keys.list(&actor).await?);
        let asked = Remove::new(&page, (&all, &id), (&origins, &issued), shown(&services));
        return page.show(&asked.ok_or_else(WebError::not_found)?);
    }
    services.keys.remove(&actor, &id).await?;
    Ok(page.go_with_news(urls::KEYS, Flash::KeyRemoved))
}
