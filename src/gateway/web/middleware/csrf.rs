//! Refuses changes that another site started: Fetch-Metadata first, `Origin` where a browser does not send it.
//! A neighbour (`same-site`) is not trusted. Forms of signed-in pages carry a token besides (`extract::form`).

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError as _};

use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::gateway::web::urls;

pub(in crate::gateway) async fn csrf(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    // The back channel is no browser's: no cookie counts there, the provider's signature does.
    let by_provider = request.path() == urls::BACKCHANNEL_LOGOUT;
    let safe = by_provider || matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = Context::of(request.request()).origin;
    if safe || comes_from(&origin, request.headers()) {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    let words = "The change was started from another place than this portal, so it was not made.";
    Ok(request.into_response(WebError::forbidden(words).error_response()))
}

/// Whether the browser says that `own` itself started the request.
fn comes_from(own: &str, headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())),
    }
}
