//! Signing out at the provider (OpenID Connect RP-Initiated Logout 1.0): at once when the client shows whose session it means,
//! else after a question, so that no other site can sign anybody out.

use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;
use url::Url;

use super::super::provider::Provider;
use super::pages::{Logout, Notice, cookie, form_token, is_ours, page};
use super::params::Params;
use super::{SESSION_COOKIE, session_cookie};

/// `GET /oauth/end_session`.
pub(super) async fn ask(request: HttpRequest, provider: Data<Provider>) -> HttpResponse {
    let params = Params::read(request.query_string().as_bytes());
    let now = provider.clock.now();
    let session = session_cookie(&request).and_then(|cookie| provider.held().records.session(&cookie, now).cloned());
    let hinted = hint(&provider, &params).and_then(|claims| claims.get("sid")?.as_str().map(str::to_owned));
    match session {
        Some(session) if hinted.as_ref() != Some(&session.id) => question(&provider, &request, &params),
        _ => end(&provider, &request, &params).await,
    }
}

/// `POST /oauth/end_session`: the answer to the question, or a client's form, which is asked back.
pub(super) async fn confirm(request: HttpRequest, body: Bytes, provider: Data<Provider>) -> HttpResponse {
    let sent = Params::form(request.headers(), &body).unwrap_or_else(|| Params::read(b""));
    let params = Params::read(request.query_string().as_bytes());
    if is_ours(&request, sent.one("token")) {
        return end(&provider, &request, &params).await;
    }
    question(&provider, &request, if sent.one("client_id").is_some() { &sent } else { &params })
}

fn question(provider: &Provider, request: &HttpRequest, params: &Params) -> HttpResponse {
    let Ok((token, cookie)) = form_token(provider, request) else {
        return Notice::new("Please try again", "Signing out did not work just now.").answer(StatusCode::SERVICE_UNAVAILABLE);
    };
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for name in ["client_id", "id_token_hint", "post_logout_redirect_uri", "state"] {
        query.extend_pairs(params.one(name).map(|value| (name, value)));
    }
    let action = format!("/oauth/end_session?{}", query.finish());
    let onward = onward(provider, params);
    page(HttpResponse::Ok().cookie(cookie), &Logout { action: &action, token: &token }, onward.as_ref())
}

async fn end(provider: &Provider, request: &HttpRequest, params: &Params) -> HttpResponse {
    let ended = match session_cookie(request) {
        Some(cookie) => provider.change(|held, _| held.records.sign_out(&cookie)).await,
        None => Ok(()),
    };
    if ended.is_err() {
        return Notice::new("Please try again", "Signing out did not work just now.").answer(StatusCode::SERVICE_UNAVAILABLE);
    }
    let mut answer = match onward(provider, params) {
        Some(url) => HttpResponse::SeeOther().insert_header((LOCATION, url.as_str())).finish(),
        None => Notice::new("You are signed out", "You can close this page.").answer(StatusCode::OK),
    };
    let gone = cookie(provider, SESSION_COOKIE, String::new());
    let _ = answer.add_removal_cookie(&gone);
    answer
}

/// The claims of a hint that was signed here.
fn hint(provider: &Provider, params: &Params) -> Option<Value> {
    provider.signer.read(params.one("id_token_hint")?)
}

/// Where to go afterwards, if that is at home with the client that asked.
fn onward(provider: &Provider, params: &Params) -> Option<Url> {
    let hinted = hint(provider, params).and_then(|claims| claims.get("aud")?.as_str().map(str::to_owned));
    let client = provider.settings.clients.get(params.one("client_id").or(hinted.as_deref())?)?;
    let mut url = Url::parse(params.one("post_logout_redirect_uri")?).ok()?;
    let origin = url.origin();
    let at_home = origin.is_tuple()
        && client.redirect_uris.iter().any(|known| Url::parse(known).is_ok_and(|known| known.origin() == origin));
    if let (true, Some(state)) = (at_home, params.one("state")) {
        url.query_pairs_mut().append_pair("state", state);
    }
    at_home.then_some(url)
}
