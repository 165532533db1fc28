//! The people of a company: listed, looked at, disabled and enabled, their sessions ended.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::services::Services;
use crate::gateway::services::error::Error;
use crate::gateway::services::users::{Done, Which};
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Admin, Form, Nothing, Paging, Path, Query};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::users::{List, Show};

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    show: String,
}

pub(in crate::gateway) async fn list(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Query(wanted): Query<Wanted>,
    Query(paging): Query<Paging>,
) -> Result<HttpResponse, WebError> {
    let which = Which::named(&wanted.show);
    let found = services.administration.users.list(&actor, (&wanted.q, which), paging.number()).await?;
    page.show(&List::new(page.chrome("Users", "admin"), &found, (&wanted.q, which), paging.number()))
}

pub(in crate::gateway) async fn show(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(user): Path<String>,
) -> Result<HttpResponse, WebError> {
    let one = services.administration.users.one(&actor, &user).await?;
    page.show(&Show::new(page.chrome(one.person.name.short(60), "admin"), &one, None))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Reason {
    #[serde(default)]
    reason: String,
}

pub(in crate::gateway) async fn disable(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(user): Path<String>,
    Form(Reason { reason }): Form<Reason>,
) -> Result<HttpResponse, WebError> {
    let users = &services.administration.users;
    match users.disable(&actor, &user, &reason).await {
        Ok(done) => {
            let news = if done == Done::Whole { Flash::UserDisabled } else { Flash::UserDisabledPartly };
            Ok(page.go_with_news(&urls::of_user(urls::USER, &user), news))
        }
        Err(Error::Invalid(words)) => {
            let one = users.one(&actor, &user).await?;
            let chrome = page.chrome(format!("Error: {}", one.person.name.short(60)), "admin");
            page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &Show::new(chrome, &one, Some((words, reason))))
        }
        Err(error) => Err(error.into()),
    }
}

pub(in crate::gateway) async fn enable(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(user): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.administration.users.enable(&actor, &user).await?;
    Ok(page.go_with_news(&urls::of_user(urls::USER, &user), Flash::UserEnabled))
}

/// Ends all sessions of somebody but the one that asks.
pub(in crate::gateway) async fn end_all(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(user): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_person(&actor, &user).await?;
    let news = if ended > 0 { Flash::SessionsEnded } else { Flash::SessionHadEnded };
    Ok(page.go_with_news(&urls::of_user(urls::USER, &user), news))
}

pub(in crate::gateway) async fn end_one(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path((user, session)): Path<(String, String)>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_any(&actor, Some(&user), &session).await?;
    let news = if ended { Flash::SessionEnded } else { Flash::SessionHadEnded };
    Ok(page.go_with_news(&urls::of_user(urls::USER, &user), news))
}
