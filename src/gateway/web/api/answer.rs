//! Answers of API calls: the service's as it is, ours as documents; the same security headers on both.

use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody, SizedStream};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue,
    REFERRER_POLICY, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use futures_util::StreamExt as _;

use super::Begun;
use super::bond::Bond;
use crate::gateway::services::api::{Reply, ReplyBody};
use crate::gateway::services::error::Error;
use crate::gateway::services::pace::Quota;
use crate::gateway::web::error::WebError;
use crate::gateway::web::middleware::error_page::log;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;
use crate::platform::multipart::file_name;

/// RFC 9211.
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Nothing that comes from the service runs, loads or is framed, should a browser ever show it.
const CSP: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// A call that is not passed on.
pub(super) struct Refusal(Box<Told>);

struct Told {
    error: WebError,
    header: Option<(HeaderName, HeaderValue)>,
    quota: Quota,
}

impl From<WebError> for Refusal {
    fn from(error: WebError) -> Self {
        Self(Box::new(Told { error, header: None, quota: Quota::default() }))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        WebError::from(error).into()
    }
}

impl Refusal {
    /// 405 with the methods that there are.
    pub(super) fn wrong_method(allowed: &[&'static str]) -> Self {
        let header = HeaderValue::from_str(&allowed.join(", ")).ok().map(|value| (ALLOW, value));
        let error = WebError::of_status(StatusCode::METHOD_NOT_ALLOWED);
        Self(Box::new(Told { error, header, quota: Quota::default() }))
    }

    /// 401 for a program that sent no credential, or none that is known.
    pub(super) fn unauthorized(words: &'static str) -> Self {
        let title = "A credential is needed";
        let error = WebError { title, words: words.into(), ..WebError::sign_in(urls::LOGIN.to_owned()) };
        let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        Self(Box::new(Told { error, header, quota: Quota::default() }))
    }

    /// 429 with what is allowed.
    pub(super) fn too_often(quota: Quota, retry_after: Duration) -> Self {
        let seconds = retry_after.as_secs().max(1);
        let words = "There were too many calls in a short time.";
        let error = WebError { words: words.into(), ..WebError::busy(seconds) };
        Self(Box::new(Told { error, header: None, quota }))
    }

    /// The document of a refusal.
    pub(super) fn answer(self, begun: &Begun) -> HttpResponse {
        let Told { error, header, quota } = *self.0;
        log(&error);
        let mut answer = HttpResponse::build(error.status);
        if let Some(header) = header {
            answer.insert_header(header);
        }
        if let Some(seconds) = error.retry_after {
            answer.insert_header((RETRY_AFTER, HeaderValue::from(seconds)));
        }
        answer.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/problem+json")));
        let mut answer = answer.body(error.problem(&begun.request_id).to_string());
        allowance(&mut answer, quota);
        answer
    }
}

/// The methods of a path.
pub(super) fn options(allowed: &[&'static str]) -> HttpResponse {
    HttpResponse::NoContent().insert_header((ALLOW, allowed.join(", "))).finish()
}

/// The service's answer, its body as it arrives. A stream ends with the session or the API key of its call; the connection
/// breaks then, so that nobody takes half an answer for one.
pub(super) fn passed(reply: Reply, is_head: bool, bond: &Bond) -> HttpResponse {
    let status = StatusCode::from_u16(reply.status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut answer = HttpResponse::build(status);
    headers(&mut answer, &reply.headers);
    if let Some(cache) = reply.cache {
        answer.insert_header((CACHE_STATUS, cache.to_string()));
    }
    let (length, bodiless) = (reply.length, status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED);
    if bodiless {
        return answer.finish();
    }
    let body = match reply.body {
        ReplyBody::Whole(_) if is_head => {
            return answer.body(SizedStream::new(length.unwrap_or(0), futures_util::stream::empty::<Piece>()));
        }
        ReplyBody::Whole(body) => return answer.body(body),
        ReplyBody::Stream(body) => body.map(|piece| piece.map_err(Box::<dyn std::error::Error>::from)),
    };
    let body = if is_short(length) || is_head { body.boxed_local() } else { bond.hold(body, |words| Err(words.into())) };
    match length {
        Some(length) if is_head => answer.body(SizedStream::new(length, futures_util::stream::empty::<Piece>())),
        Some(0) => answer.finish(),
        Some(length) => answer.body(SizedStream::new(length, body)),
        None => answer.streaming(body),
    }
}

type Piece = Result<Bytes, Box<dyn std::error::Error>>;

/// Too short to be worth watching over.
const fn is_short(length: Option<u64>) -> bool {
    matches!(length, Some(length) if length <= 64 * 1024)
}

/// What a caller is told of its allowance.
pub(super) fn allowance(answer: &mut HttpResponse, quota: Quota) {
    for (name, value) in quota.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            answer.headers_mut().insert(name, value);
        }
    }
}

fn headers(answer: &mut HttpResponseBuilder, theirs: &http::HeaderMap) {
    for (name, value) in theirs {
        let value = if *name == http::header::CONTENT_DISPOSITION {
            attachment(value.as_bytes())
        } else {
            HeaderValue::from_bytes(value.as_bytes()).ok()
        };
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_str().as_bytes()), value) {
            answer.append_header((name, value));
        }
    }
}

/// Always a file to keep, never a page to show; under the name the service proposes, made safe.
fn attachment(theirs: &[u8]) -> Option<HeaderValue> {
    let named = file_name(theirs).map(|name| format!("; filename=\"{}\"", Hostile::new(name).filename()));
    HeaderValue::from_str(&format!("attachment{}", named.unwrap_or_default())).ok()
}

/// What stands on every answer.
pub(super) fn finish(answer: &mut HttpResponse<BoxBody>, begun: &Begun) {
    let is_page = answer.headers().get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/html"));
    let validated = answer.headers().contains_key(ETAG);
    let has_body = !matches!(answer.body().size(), BodySize::None);
    let headers = answer.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&begun.request_id) {
        headers.insert(super::ID, id);
    }
    if is_page && !headers.contains_key(CONTENT_DISPOSITION) {
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    if has_body {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    }
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
        (REFERRER_POLICY, "no-referrer"),
        // A browser that has it asks before it shows it again.
        (CACHE_CONTROL, if validated { "private, no-cache" } else { "no-store" }),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if begun.site.as_ref().is_some_and(|site| site.is_secure()) {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000; includeSubDomains"));
    }
}
