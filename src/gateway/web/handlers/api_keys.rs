//! API keys: administrators create, rotate and revoke them. The answer to a form shows the key it made; nothing keeps it, and
//! sending the form again makes no other.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::domain::api_key::{Group, Overlap};
use crate::gateway::services::Services;
use crate::gateway::services::api_keys::{ApiKeys, Outcome, Wanted};
use crate::gateway::services::error::Error;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Admin, Form, Nothing, Path, RecentAdmin};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::api_key::{Revoke, Show};
use crate::gateway::web::views::api_keys::{Made, NewKey, Rotate, SentBefore, usual};
use crate::gateway::web::views::audit::KEY_EVENTS;
use crate::platform::clock::Timestamp;

pub(in crate::gateway) async fn new(
    page: Page,
    RecentAdmin(_): RecentAdmin,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let bounds = services.api_keys.bounds();
    page.show(&NewKey::new(&page, bounds, &usual(bounds, ApiKeys::form()?), String::new()))
}

/// Where the address bar is once a key was made: both kinds of keys have one list.
pub(in crate::gateway) async fn list(_: Admin) -> Result<HttpResponse, WebError> {
    Ok(see_other(urls::KEYS))
}

pub(in crate::gateway) async fn create(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let wanted = wanted(fields);
    match services.api_keys.create(&actor, &wanted).await {
        Ok(outcome) => made(&page, &outcome),
        Err(Error::Invalid(words) | Error::Conflict(words)) => {
            let form = NewKey::new(&page, services.api_keys.bounds(), &wanted, words);
            page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &form)
        }
        Err(error) => Err(error.into()),
    }
}

/// Groups and operations come once for each box that is ticked.
fn wanted(fields: Vec<(String, String)>) -> Wanted {
    let mut wanted = Wanted {
        label: String::new(),
        groups: Vec::new(),
        operations: Vec::new(),
        networks: String::new(),
        days: String::new(),
        once: String::new(),
    };
    for (name, value) in fields {
        match name.as_str() {
            "label" => wanted.label = value,
            "group" => wanted.groups.extend(Group::ALL.into_iter().find(|group| group.as_str() == value)),
            "operation" => wanted.operations.push(value),
            "networks" => wanted.networks = value,
            "days" => wanted.days = value,
            "once" => wanted.once = value,
            _ => {}
        }
    }
    wanted
}

/// One key.
pub(in crate::gateway) async fn one(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(id): Path<String>,
) -> Result<HttpResponse, WebError> {
    let listed = services.api_keys.one(&actor, &id).await?;
    let origins = services.api_keys.origins(&actor, &id).await?;
    let events = services.audit_log.about(&actor, &id, KEY_EVENTS).await?;
    page.show(&Show::new(&page, &listed, &origins, &events, shown(&services)))
}

/// Days of which uses are counted, and now.
fn shown(services: &Services) -> (u32, Timestamp) {
    (services.api_keys.bounds().use_days, services.api_keys.now())
}

fn made(page: &Page, outcome: &Outcome) -> Result<HttpResponse, WebError> {
    match outcome {
        Outcome::Made(key, text) => page.show(&Made::new(page, key, text)),
        Outcome::AlreadyMade => page.show(&SentBefore::new(page, true)),
        Outcome::Begun => page.show_as(StatusCode::CONFLICT, &SentBefore::new(page, false)),
    }
}

pub(in crate::gateway) async fn ask_rotate(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
) -> Result<HttpResponse, WebError> {
    let listed = services.api_keys.one(&actor, &id).await?;
    page.show(&Rotate::new(&page, &listed, shown(&services), ApiKeys::form()?))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Rotation {
    overlap: String,
    once: String,
    /// Number of the text that was the newest when the page was made.
    newest: u32,
}

pub(in crate::gateway) async fn rotate(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
    Form(rotation): Form<Rotation>,
) -> Result<HttpResponse, WebError> {
    let overlap = Overlap::named(&rotation.overlap);
    let overlap = overlap.ok_or_else(|| WebError::bad_request("Choose when the present key shall end."))?;
    made(&page, &services.api_keys.rotate(&actor, &id, (rotation.newest, overlap), &rotation.once).await?)
}

pub(in crate::gateway) async fn ask_revoke(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
) -> Result<HttpResponse, WebError> {
    let listed = services.api_keys.one(&actor, &id).await?;
    let origins = services.api_keys.origins(&actor, &id).await?;
    page.show(&Revoke::new(&page, &listed, &origins, shown(&services)))
}

pub(in crate::gateway) async fn revoke(
    page: Page,
    RecentAdmin(actor): RecentAdmin,
    services: Data<Services>,
    Path(id): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.api_keys.revoke(&actor, &id).await?;
    Ok(page.go_with_news(urls::KEYS, Flash::ApiKeyRevoked))
}
