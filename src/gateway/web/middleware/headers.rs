//! Security headers on every answer, errors included.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;

use crate::gateway::web::context::{Context, is_public};
use crate::gateway::web::page::Frames;

/// Nothing inline, nothing foreign; framing is decided per tenant.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ";

pub(in crate::gateway) async fn headers(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let mut answer = next.call(request).await?;
    let public = is_public(answer.request());
    let site = Context::of(answer.request()).site;
    let secure = site.as_ref().is_some_and(|site| site.is_secure());
    let framers = site.as_ref().map(|site| site.frame_ancestors.as_str()).filter(|framers| !framers.is_empty() && !public);
    let embedded = answer.response().extensions().get::<Frames>().map(Frames::directive).unwrap_or_default();
    let headers = answer.headers_mut();
    // A handler may be stricter (a report is sandboxed), never laxer by omission.
    default(headers, "content-security-policy", &format!("{CSP}{}{embedded}", framers.unwrap_or("'none'")));
    if framers.is_none() {
        set(headers, "x-frame-options", "DENY");
    }
    set(headers, "x-content-type-options", "nosniff");
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

fn default(headers: &mut HeaderMap, name: &str, value: &str) {
    if !headers.contains_key(name)
        && let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
    {
        headers.insert(name, value);
    }
}
