//! Sessions: the one of the request as data, one's own as a page and as data, those of the company for administrators.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;
use serde_json::json;

use crate::gateway::services::Services;
use crate::gateway::session::Portal;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Admin, Form, Nothing, Paging, Path, Query, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::sessions::{AllPage, OwnPage};

#[derive(Deserialize)]
pub(in crate::gateway) struct Touch {
    touch: Option<bool>,
}

/// Who is signed in, until when, and the token for changes; never a token of the provider. 401 without a session.
pub(in crate::gateway) async fn current(portal: Portal, Query(query): Query<Touch>) -> Result<HttpResponse, WebError> {
    if query.touch == Some(false) {
        portal.quiet();
    }
    let found = portal.signed_in().zip(portal.deadlines());
    let (user, deadlines) = found.ok_or_else(|| WebError::sign_in(urls::LOGIN.to_owned()))?;
    let principal = &user.principal;
    Ok(HttpResponse::Ok().json(json!({
        "user": { "name": principal.name.raw(), "email": principal.email.raw(), "role": principal.role },
        "tenant": principal.tenant,
        "session": user.login.public(),
        "csrf": user.csrf(),
        "started_at": user.started_at.rfc3339(),
        "idle_ends_at": deadlines.idle.rfc3339(),
        "absolute_ends_at": deadlines.absolute.rfc3339(),
        "logout_url": urls::LOGOUT,
    })))
}

pub(in crate::gateway) async fn own(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let own = services.sessions.own(&actor).await?;
    page.show(&OwnPage::new(page.chrome("Your sessions", "account"), &own))
}

/// The same as data: `{"sessions": [{"id", "device", "network", "started_at", "last_seen", "this"}]}`.
pub(in crate::gateway) async fn own_as_data(
    SignedIn(actor): SignedIn,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let own = services.sessions.own(&actor).await?;
    let rows = own.sessions.iter().map(|session| {
        json!({
            "id": session.id,
            "device": session.device.words(),
            "network": session.network,
            "started_at": session.started_at.rfc3339(),
            "last_seen": session.last_seen.rfc3339(),
            "this": session.id == own.this,
        })
    });
    Ok(HttpResponse::Ok().json(json!({ "sessions": rows.collect::<Vec<_>>() })))
}

pub(in crate::gateway) async fn end_own(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Path(session): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_own(&actor, &session).await?;
    Ok(page.go_with_news(urls::OWN_SESSIONS, one(ended)))
}

pub(in crate::gateway) async fn end_others(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_others(&actor).await?;
    Ok(page.go_with_news(urls::OWN_SESSIONS, many(ended)))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    #[serde(default)]
    q: String,
}

pub(in crate::gateway) async fn all(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Query(wanted): Query<Wanted>,
    Query(paging): Query<Paging>,
) -> Result<HttpResponse, WebError> {
    let everybody = services.sessions.everybody(&actor, &wanted.q).await?;
    page.show(&AllPage::new(page.chrome("Sessions", "sessions"), &everybody, &wanted.q, paging.number()))
}

pub(in crate::gateway) async fn end_any(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(session): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_any(&actor, None, &session).await?;
    Ok(page.go_with_news(urls::ALL_SESSIONS, one(ended)))
}

/// Ends all sessions of a person.
pub(in crate::gateway) async fn end_person(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Path(user): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let ended = services.sessions.end_person(&actor, &user).await?;
    Ok(page.go_with_news(urls::ALL_SESSIONS, many(ended)))
}

const fn one(ended: bool) -> Flash {
    if ended { Flash::SessionEnded } else { Flash::SessionHadEnded }
}

const fn many(ended: usize) -> Flash {
    if ended > 0 { Flash::SessionsEnded } else { Flash::SessionHadEnded }
}
