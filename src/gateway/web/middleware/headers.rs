//! Security headers on every answer, errors included.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;

use crate::gateway::web::context::Context;

/// Nothing inline, nothing foreign, no framing.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
connect-src 'self'; worker-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

pub(in crate::gateway) async fn headers(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let public = request.path().starts_with("/s/");
    let mut answer = next.call(request).await?;
    let secure = Context::of(answer.request()).site.is_some_and(|site| site.is_secure());
    let headers = answer.headers_mut();
    // A handler may be stricter (a report is sandboxed), never laxer by omission.
    default(headers, "content-security-policy", CSP);
    set(headers, "x-content-type-options", "nosniff");
    set(headers, "x-frame-options", "DENY");
    set(headers, "cross-origin-opener-policy", "same-origin");
    set(headers, "cross-origin-resource-policy", "same-origin");
    set(headers, "permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
    set(headers, "referrer-policy", if public { "no-referrer" } else { "same-origin" });
    if public {
        set(headers, "x-robots-tag", "noindex, nofollow, noarchive");
    }
    if secure {
        set(headers, "strict-transport-security", "max-age=31536000; includeSubDomains");
    }
    default(headers, CACHE_CONTROL.as_str(), "no-store");
    Ok(answer)
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &'static str) {
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
}

fn default(headers: &mut HeaderMap, name: &str, value: &'static str) {
    if !headers.contains_key(name)
        && let Ok(name) = HeaderName::from_bytes(name.as_bytes())
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
