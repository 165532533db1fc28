//! Sign-in, callback, sign-out.

use std::collections::HashMap;

use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::services::Services;
use crate::gateway::services::signin::{Answer, Completed, Place, SignInError};
use crate::gateway::session::{Portal, Sessions};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Query, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::signin as views;
use crate::platform::secret::Secret;

/// Says that somebody signed out in this browser: the next sign-in asks for the password, so that "Back" is not a way in.
const SIGNED_OUT: &str = "cardea-signed-out";

fn signed_out_cookie(secure: bool) -> Cookie<'static> {
    Cookie::build(SIGNED_OUT, "1").path("/").http_only(true).secure(secure).same_site(SameSite::Lax).finish()
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Begin {
    return_to: Option<String>,
    /// There is a session, but its tokens are no good.
    again: Option<String>,
}

/// Sends the browser to the tenant's provider. With a live session it goes straight to its target.
pub(in crate::gateway) async fn begin(
    page: Page,
    request: HttpRequest,
    services: Data<Services>,
    sessions: Data<Sessions>,
    Query(query): Query<Begin>,
) -> Result<HttpResponse, WebError> {
    let target = ReturnTo::choose(query.return_to.as_deref(), urls::RETURN_TARGETS);
    if query.again.is_none() && Portal::of(&request).signed_in().is_some() {
        return Ok(see_other(target.as_str()));
    }
    let binding = binding(&request, &sessions);
    let network = page.context.network();
    let place = place(&page, &network, binding.as_deref());
    let was_ended = Portal::of(&request).ended_by().is_some_and(Ending::wants_password);
    match services.signin.begin(place, target, was_ended || request.cookie(SIGNED_OUT).is_some()).await {
        Ok((address, begun)) => {
            let mut answer = see_other(&address);
            let cookie = sessions.flow_cookie(begun.binding.expose(), services.signin.flows.lifetime());
            answer.add_cookie(&cookie).map_err(|error| WebError::internal(error.to_string()))?;
            Ok(answer)
        }
        Err(error) => failed(&page, error),
    }
}

/// What comes back from the provider. A repeated parameter makes the callback unreadable.
pub(in crate::gateway) async fn complete(
    page: Page,
    request: HttpRequest,
    services: Data<Services>,
    sessions: Data<Sessions>,
) -> Result<HttpResponse, WebError> {
    let Some(answer) = answer(request.query_string()) else {
        return failed(&page, SignInError::Stale);
    };
    let binding = binding(&request, &sessions);
    let network = page.context.network();
    let place = place(&page, &network, binding.as_deref());
    let portal = Portal::of(&request);
    match services.signin.complete(place, answer).await {
        Ok(Completed::New { principal, login, return_to }) => {
            portal.sign_in(principal, login).map_err(|error| WebError::internal(error.to_string()))?;
            let mut answer = see_other(return_to.as_str());
            if request.cookie(SIGNED_OUT).is_some() {
                let mut spent = signed_out_cookie(page.site.is_secure());
                spent.make_removal();
                answer.add_cookie(&spent).map_err(|error| WebError::internal(error.to_string()))?;
            }
            Ok(answer)
        }
        Ok(Completed::Again(return_to)) if portal.signed_in().is_some() => Ok(see_other(return_to.as_str())),
        Ok(Completed::Again(_)) => failed(&page, SignInError::Stale),
        Err(error) => failed(&page, error),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Nothing {}

/// Ends the session here, revokes at the provider, clears what the browser keeps of this site. Without a session there is
/// nothing to end, and nothing is wrong.
pub(in crate::gateway) async fn sign_out(
    page: Page,
    request: HttpRequest,
    services: Data<Services>,
    signed_in: Result<SignedIn, WebError>,
    form: Result<Form<Nothing>, WebError>,
) -> Result<HttpResponse, WebError> {
    let Ok(SignedIn(actor)) = signed_in else { return Ok(see_other(urls::SIGNED_OUT)) };
    form?;
    services.signin.sign_out(&actor).await;
    Portal::of(&request).sign_out();
    let mut answer = see_other(urls::SIGNED_OUT);
    answer.add_cookie(&signed_out_cookie(page.site.is_secure())).map_err(|error| WebError::internal(error.to_string()))?;
    // Not "cookies": that would also drop the ones this very answer sets.
    answer.headers_mut().insert(
        actix_web::http::header::HeaderName::from_static("clear-site-data"),
        actix_web::http::header::HeaderValue::from_static("\"cache\", \"storage\""),
    );
    Ok(answer)
}

pub(in crate::gateway) async fn signed_out(page: Page) -> Result<HttpResponse, WebError> {
    page.show(&views::SignedOut { chrome: page.chrome("Signed out", "") })
}

fn binding(request: &HttpRequest, sessions: &Sessions) -> Option<String> {
    request.cookie(&sessions.flow_cookie_name()).map(|cookie| cookie.value().to_owned())
}

fn place<'a>(page: &'a Page, network: &'a str, binding: Option<&'a str>) -> Place<'a> {
    let (tenant, context) = (&page.site.tenant, &page.context);
    Place { tenant, origin: &context.origin, network, binding, request_id: &context.request_id }
}

fn answer(query: &str) -> Option<Answer> {
    let mut fields = HashMap::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let known = matches!(&*name, "state" | "code" | "error" | "iss");
        if fields.insert(name.into_owned(), value.into_owned()).is_some() && known {
            return None;
        }
    }
    Some(Answer {
        state: fields.remove("state")?,
        code: fields.remove("code").map(Secret::new),
        error: fields.remove("error"),
        iss: fields.remove("iss"),
    })
}

/// A failed sign-in is a page in plain words with a way on.
fn failed(page: &Page, error: SignInError) -> Result<HttpResponse, WebError> {
    let (status, words, hint) = match error {
        SignInError::Stale => (
            StatusCode::BAD_REQUEST,
            "This sign-in is not known here any more: it took too long, was used already, or was begun in another browser.",
            "Begin a new one. Nothing is lost.",
        ),
        SignInError::Refused => (
            StatusCode::FORBIDDEN,
            "Your company's sign-in page did not let you in, or you left it.",
            "Try again, or ask an administrator of your company whether your account may use this portal.",
        ),
        SignInError::ProviderDown => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Your company's sign-in page cannot be reached right now.",
            "Wait a little and try again.",
        ),
        SignInError::Unbelievable(cause) => {
            tracing::warn!(cause, "a sign-in was refused because the provider's answer cannot be believed");
            let words = "The answer of your company's sign-in page could not be checked, so you were not signed in.";
            (StatusCode::BAD_GATEWAY, words, "Try again. If it happens again, tell your administrator the request id below.")
        }
        SignInError::Other(error) => return Err(error.into()),
    };
    let view = views::Failed { chrome: page.chrome("The sign-in did not work", ""), words, hint, again: urls::LOGIN };
    page.show_as(status, &view)
}
