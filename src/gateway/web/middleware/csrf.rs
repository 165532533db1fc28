//! Refuses changes that another site started: Fetch-Metadata first, `Origin` where a browser does not send it.
//! A neighbour (`same-site`) is not trusted. Forms of signed-in pages carry a token besides (`extract::form`), requests of our
//! script carry it in a header. What is refused is counted and written down.
//!
//! Recipients' pages send no referrer, so browsers name no origin (`null`) in their forms, and those that are older than
//! Fetch-Metadata say nothing else. There such a form passes: it changes nothing for anybody who is signed in, and another site that
//! sends it could as well open the share itself.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, ResponseError as _};

use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::gateway::web::urls;

/// Where refusals are written down.
#[derive(Clone)]
pub(in crate::gateway) struct Guard(pub(in crate::gateway) Audit);

impl Guard {
    fn refused(&self, context: &Context, signal: &'static str) {
        match &context.site {
            Some(site) => self.note(&site.tenant, (&context.network(), &context.request_id), signal),
            None => count(signal),
        }
    }

    /// Counts and writes down a change that was not made, from this network in this request.
    pub(in crate::gateway) fn note(&self, tenant: &TenantId, (network, request_id): (&str, &str), signal: &'static str) {
        count(signal);
        self.0.record(tenant, Event::new(Deed::CrossSite, signal).from(network, request_id));
    }
}

/// Left at a request by what found later that no page of ours sent it: what shows that.
pub(in crate::gateway) struct Foreign(pub(in crate::gateway) &'static str);

/// Counts a change that was not made.
fn count(signal: &'static str) {
    metrics::counter!("cardea_csrf_block_total", "signal" => signal).increment(1);
}

/// Whether the body says that it is JSON. A form of another site can send text, forms and files, but not this.
pub(in crate::gateway) fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

pub(in crate::gateway) async fn csrf(
    guard: Guard,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    // The back channel is no browser's: no cookie counts there, the provider's signature does.
    let by_provider = request.path() == urls::BACKCHANNEL_LOGOUT;
    let safe = by_provider || matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let context = Context::of(request.request());
    let free = safe || urls::is_recipients(request.path()) && is_nameless(request.headers());
    let Some(signal) = foreign(&context.origin, request.headers()).filter(|_| !free) else {
        let answer = next.call(request).await?;
        let signal = answer.request().extensions().get::<Foreign>().map(|Foreign(signal)| *signal);
        if let Some(signal) = signal {
            guard.refused(&context, signal);
        }
        return Ok(answer.map_into_boxed_body());
    };
    guard.refused(&context, signal);
    let words = "The change was started from another place than this portal, so it was not made.";
    Ok(request.into_response(WebError::forbidden(words).error_response()))
}

/// Whether a browser that knows no Fetch-Metadata kept its origin to itself.
fn is_nameless(headers: &HeaderMap) -> bool {
    !headers.contains_key("sec-fetch-site") && headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == b"null")
}

/// What shows that another place than `own` started the request, or that nothing shows the contrary.
pub(in crate::gateway) fn foreign(own: &str, headers: &HeaderMap) -> Option<&'static str> {
    match (headers.get("sec-fetch-site"), headers.get(ORIGIN)) {
        (Some(site), _) => (site != "same-origin").then_some("fetch_site"),
        // Of several, all have to be right: browsers send one.
        (None, Some(_)) => {
            let is_own = |origin: &HeaderValue| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes());
            (!headers.get_all(ORIGIN).all(is_own)).then_some("origin")
        }
        (None, None) => Some("nothing"),
    }
}
