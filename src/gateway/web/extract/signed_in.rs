//! A member of the tenant the request is for.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};

use crate::gateway::services::Actor;
use crate::gateway::session::Portal;
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::gateway::web::middleware::csrf::Foreign;
use crate::gateway::web::urls;

/// Who acts. Without a session the browser is sent to sign in and comes back to the page it wanted.
pub(in crate::gateway) struct SignedIn(pub(in crate::gateway) Actor);

/// The actor of a request, if somebody is signed in.
pub(super) fn actor(request: &HttpRequest) -> Result<Actor, WebError> {
    let portal = Portal::of(request);
    let user = portal.signed_in().ok_or_else(|| match portal.ended_by().filter(|ending| ending.surprises()) {
        Some(ending) => WebError::ended(ending),
        None => WebError::sign_in(urls::LOGIN.to_owned()),
    })?;
    let context = Context::of(request);
    let network = context.network();
    Ok(Actor { principal: user.principal, login: user.login, request_id: context.request_id, network })
}

impl FromRequest for SignedIn {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(actor(request).map(Self))
    }
}

/// A member whose page asks by itself: polls, live status, repeats on a timer. Such a request never keeps a session alive, so
/// every route of that kind takes this instead of [`SignedIn`].
pub(in crate::gateway) struct Watching(pub(in crate::gateway) Actor);

impl FromRequest for Watching {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        Portal::of(request).quiet();
        ready(actor(request).map(Self))
    }
}

/// Proof that a script of our own page sent the request: the session's token in `X-CSRF-Token`.
pub(in crate::gateway) struct CsrfHeader;

impl FromRequest for CsrfHeader {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let sent = request.headers().get("x-csrf-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
        ready(check(request, sent).map(|()| Self))
    }
}

/// Compares a token that came with a request with the session's, in constant time.
pub(in crate::gateway::web) fn check(request: &HttpRequest, sent: &str) -> Result<(), WebError> {
    let user = Portal::of(request).signed_in().ok_or_else(|| WebError::sign_in(urls::LOGIN.to_owned()))?;
    if user.csrf_matches(sent) {
        return Ok(());
    }
    request.extensions_mut().insert(Foreign("token"));
    Err(WebError::forbidden("The form is older than your session. Load its page again and send it once more."))
}
