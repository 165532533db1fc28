//! The provider's sign-out by itself: one form field, a status. No session and no cookie is looked at.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};

use crate::gateway::services::Services;
use crate::gateway::services::backchannel::LogOutError;
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::platform::secret::Secret;

/// `POST` with `logout_token`: 200 when the sessions have ended, 400 otherwise (OpenID Connect Back-Channel Logout 1.0, 2.8).
pub(in crate::gateway) async fn log_out(
    request: HttpRequest,
    services: Data<Services>,
    body: Bytes,
) -> Result<HttpResponse, WebError> {
    let context = Context::of(&request);
    let Some(site) = &context.site else { return Err(WebError::misdirected()) };
    let Some(token) = token(&request, &body) else {
        return Ok(refusal("invalid_request", "there has to be one logout_token in a form"));
    };
    let outcome = services.backchannel.log_out(&site.tenant, &token, (&context.network(), &context.request_id)).await;
    Ok(match outcome {
        Ok(_) => HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).finish(),
        Err(LogOutError::NotOffered) => return Err(WebError::not_found()),
        Err(LogOutError::Refused(_)) => refusal("invalid_request", "the logout token is not good"),
        Err(LogOutError::Replayed) => refusal("invalid_request", "the logout token was used before"),
        Err(LogOutError::NotNow(_)) => refusal("temporarily_unavailable", "nothing was ended; send the token again in a moment"),
    })
}

/// The one token of a form.
fn token(request: &HttpRequest, body: &[u8]) -> Option<Secret> {
    let media = request.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let media = media.split(';').next()?.trim();
    if !media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return None;
    }
    let mut tokens = url::form_urlencoded::parse(body).filter(|(name, _)| name == "logout_token");
    match (tokens.next(), tokens.next()) {
        (Some((_, token)), None) if !token.is_empty() => Some(Secret::new(token)),
        _ => None,
    }
}

fn refusal(error: &str, words: &str) -> HttpResponse {
    let body = serde_json::json!({ "error": error, "error_description": words });
    HttpResponse::build(StatusCode::BAD_REQUEST).insert_header((CACHE_CONTROL, "no-store")).json(body)
}
