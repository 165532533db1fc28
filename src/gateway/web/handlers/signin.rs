//! Sign-in, callback, sign-out.

use std::collections::HashMap;

use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue, REFRESH};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::services::Services;
use crate::gateway::services::signin::{Answer, Completed, Failed, Place, SignInError};
use crate::gateway::session::{Portal, Sessions};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Nothing, Query, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::signin as views;
use crate::platform::digest::same;
use crate::platform::secret::Secret;

/// Says that somebody signed out in this browser: the next sign-in asks for the password, so that "Back" is not a way in. Its
/// value is the `state` that the provider's own sign-out was begun with, by which its answer is known.
const SIGNED_OUT: &str = "cardea-signed-out";
/// Where no provider's sign-out was begun; no `state` is that short.
const NO_STATE: &str = "1";

fn signed_out_cookie(state: String, secure: bool) -> Cookie<'static> {
    Cookie::build(SIGNED_OUT, state).path("/").http_only(true).secure(secure).same_site(SameSite::Lax).finish()
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Begin {
    return_to: Option<String>,
    /// There is a session, but its tokens are no good.
    again: Option<String>,
    /// The provider shall ask, although it knows somebody.
    other: Option<String>,
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
    let asks = query.other.is_some() || was_ended || request.cookie(SIGNED_OUT).is_some();
    match services.signin.begin(place, target.clone(), asks).await {
        Ok((address, begun)) => {
            let mut answer = see_other(&address);
            let cookie = sessions.flow_cookie(begun.binding.expose(), services.signin.flows.lifetime());
            answer.add_cookie(&cookie).map_err(|error| WebError::internal(error.to_string()))?;
            Ok(answer)
        }
        Err(why) => failed(&page, Failed { why, return_to: Some(target) }),
    }
}

/// What comes back from the provider. A repeated parameter makes the callback unreadable.
pub(in crate::gateway) async fn complete(
    page: Page,
    request: HttpRequest,
    services: Data<Services>,
    sessions: Data<Sessions>,
) -> Result<HttpResponse, WebError> {
    let binding = binding(&request, &sessions);
    let network = page.context.network();
    let place = place(&page, &network, binding.as_deref());
    let portal = Portal::of(&request);
    match services.signin.complete(place, answer(request.query_string())).await {
        Ok(Completed::New { principal, login, return_to, proof }) => {
            portal.sign_in(principal, login, proof.at).map_err(|error| WebError::internal(error.to_string()))?;
            let mut answer = see_other(return_to.as_str());
            if request.cookie(SIGNED_OUT).is_some() {
                let mut spent = signed_out_cookie(String::new(), page.site.is_secure());
                spent.make_removal();
                answer.add_cookie(&spent).map_err(|error| WebError::internal(error.to_string()))?;
            }
            Ok(answer)
        }
        Ok(Completed::Again(return_to)) if portal.signed_in().is_some() => Ok(see_other(return_to.as_str())),
        Ok(Completed::Again(return_to)) => failed(&page, Failed { why: SignInError::Stale, return_to: Some(return_to) }),
        Err(error) => failed(&page, error),
    }
}

/// Ends the session here, clears what the browser keeps of this site, and goes on to the provider where that has a sign-out of
/// its own. Without a session there is nothing to do, and nothing is wrong.
pub(in crate::gateway) async fn sign_out(
    page: Page,
    request: HttpRequest,
    services: Data<Services>,
    signed_in: Result<SignedIn, WebError>,
    form: Result<Form<Nothing>, WebError>,
) -> Result<HttpResponse, WebError> {
    let Ok(SignedIn(actor)) = signed_in else { return Ok(see_other(urls::SIGNED_OUT)) };
    form?;
    let context = &page.context;
    let onward = services.signin.sign_out(&actor, &context.origin, (&context.network(), &context.request_id)).await;
    Portal::of(&request).sign_out();
    let (mut answer, state) = match onward {
        Some((address, state)) => (leave(&page, address)?, state),
        None => (see_other(urls::SIGNED_OUT), NO_STATE.to_owned()),
    };
    let cookie = signed_out_cookie(state, page.site.is_secure());
    answer.add_cookie(&cookie).map_err(|error| WebError::internal(error.to_string()))?;
    // Not "cookies": that would also drop the ones this very answer sets.
    let cleared = HeaderValue::from_static("\"cache\", \"storage\"");
    answer.headers_mut().insert(HeaderName::from_static("clear-site-data"), cleared);
    Ok(answer)
}

/// A page that goes on to the provider. Not a redirect: the answer to a form may not lead to another origin by our own policy
/// (`form-action`), which browsers also apply to redirects.
fn leave(page: &Page, onward: String) -> Result<HttpResponse, WebError> {
    let refresh = HeaderValue::from_str(&format!("0; url={onward}")).map_err(|error| WebError::internal(error.to_string()))?;
    let chrome = page.bare_chrome("Signing you out");
    let mut answer = page.show(&views::Leaving { chrome, onward })?;
    answer.headers_mut().insert(REFRESH, refresh);
    Ok(answer)
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Back {
    state: Option<String>,
}

/// The last page, with or without a way over the provider.
pub(in crate::gateway) async fn signed_out(
    page: Page,
    request: HttpRequest,
    Query(query): Query<Back>,
) -> Result<HttpResponse, WebError> {
    let begun = request.cookie(SIGNED_OUT).filter(|cookie| cookie.value() != NO_STATE);
    let everywhere = begun.zip(query.state).is_some_and(|(begun, state)| same(begun.value().as_bytes(), state.as_bytes()));
    page.show(&views::SignedOut { chrome: page.chrome("Signed out", ""), everywhere })
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

/// A failed sign-in is a page in plain words with a way on, to where one was going.
fn failed(page: &Page, failed: Failed) -> Result<HttpResponse, WebError> {
    let again = failed.return_to.map_or_else(|| urls::LOGIN.to_owned(), |target| urls::login(target.as_str()));
    let (again, label) = match failed.why {
        SignInError::NotAdmitted | SignInError::Disabled => (urls::LOGIN_OTHER.to_owned(), "Sign in with another account"),
        _ => (again, "Try again"),
    };
    let (status, words, hint) = words(failed.why)?;
    let view = views::Failed { chrome: page.chrome("The sign-in did not work", ""), words, hint, again, label };
    page.show_as(status, &view)
}

/// Status, what happened, what to do.
fn words(why: SignInError) -> Result<(StatusCode, &'static str, &'static str), WebError> {
    Ok(match why {
        SignInError::Stale | SignInError::OtherTenant => (
            StatusCode::BAD_REQUEST,
            "This sign-in is not known here any more: it took too long, was used already, or was begun in another browser.",
            "Begin a new one. Nothing is lost.",
        ),
        SignInError::NotOurs => (
            StatusCode::BAD_REQUEST,
            "This answer does not come from your company's sign-in page, so it was not used.",
            "Begin a new sign-in. If it happens again, tell your administrator the request id below.",
        ),
        SignInError::Refused => (
            StatusCode::FORBIDDEN,
            "Your company's sign-in page did not let you in, or you left it.",
            "Try again, or ask an administrator of your company whether your account may use this portal.",
        ),
        SignInError::NotAdmitted => (
            StatusCode::FORBIDDEN,
            "Your company knows you, but your account has no role that may use this portal.",
            "Ask an administrator of your company for access, or sign in with another account.",
        ),
        SignInError::Disabled => (
            StatusCode::FORBIDDEN,
            "An administrator of your company has disabled your account in this portal, so you were not signed in.",
            "Ask an administrator of your company if you need it again.",
        ),
        SignInError::ProviderDown => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Your company's sign-in page cannot be reached right now.",
            "Wait a little and try again.",
        ),
        SignInError::Misconfigured(cause) => {
            tracing::error!(%cause, "a sign-in failed because the portal and its identity provider do not fit together");
            let words = "This portal and your company's sign-in page are not set up for each other, so you were not signed in.";
            (StatusCode::BAD_GATEWAY, words, "An administrator has to look at it: tell them the request id below.")
        }
        SignInError::Unbelievable(cause) => {
            tracing::warn!(%cause, "a sign-in was refused because the provider's answer cannot be believed");
            let words = "The answer of your company's sign-in page could not be checked, so you were not signed in.";
            (StatusCode::BAD_GATEWAY, words, "Try again. If it happens again, tell your administrator the request id below.")
        }
        SignInError::Other(error) => return Err(error.into()),
    })
}
