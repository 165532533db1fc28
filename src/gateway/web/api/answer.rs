//! Answers of API calls: the service's as it is, ours as documents; the same security headers on both.

use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody, SizedStream};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, REFERRER_POLICY, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use futures_util::StreamExt as _;

use super::Begun;
use super::bond::Bond;
use super::presence::Watched;
use crate::gateway::domain::route_table::Verb;
use crate::gateway::services::api::{Reply, ReplyBody};
use crate::gateway::services::error::Error;
use crate::gateway::services::pace::Quota;
use crate::gateway::web::attachment::attachment;
use crate::gateway::web::error::WebError;
use crate::gateway::web::listener::Peer;
use crate::gateway::web::middleware::error_page::log;
use crate::gateway::web::urls;
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

    /// 415 for a body that is compressed.
    pub(super) fn coded() -> Self {
        let error = WebError::unsupported_media_type("The body has a Content-Encoding. Send it as it is, without one.");
        let header = Some((ACCEPT_ENCODING, HeaderValue::from_static("identity")));
        Self(Box::new(Told { error, header, quota: Quota::default() }))
    }

    /// With what its caller is allowed: it counted.
    pub(super) fn counted(mut self, quota: Quota) -> Self {
        self.0.quota = quota;
        self
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

/// The service's answer, its body as it arrives. A stream ends with the session or the API key of its call, and when its caller
/// has left; the connection breaks then, so that nobody takes half an answer for one.
pub(super) fn passed(reply: Reply, (verb, is_head): (Verb, bool), (bond, peer): (&Bond, Option<Peer>)) -> HttpResponse {
    let status = StatusCode::from_u16(reply.status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut answer = HttpResponse::build(status);
    headers(&mut answer, &reply.headers);
    if verb == Verb::Get && reply.headers.contains_key(http::header::ETAG) && !reply.is_no_store {
        // A browser that has it asks before it shows it again.
        answer.insert_header((CACHE_CONTROL, HeaderValue::from_static("private, no-cache")));
    }
    if let Some(cache) = reply.cache {
        answer.insert_header((CACHE_STATUS, cache.to_string()));
    }
    let (length, bodiless) = (reply.length, status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED);
    if bodiless {
        return answer.finish();
    }
    let body = match reply.body {
        ReplyBody::Whole(_) if is_head => {
            let nothing = futures_util::stream::empty::<Piece>();
            return match length {
                Some(length) => answer.body(SizedStream::new(length, nothing)),
                None => answer.streaming(nothing),
            };
        }
        ReplyBody::Whole(body) => return answer.body(body),
        ReplyBody::Stream(body) => body.map(|piece| piece.map_err(Box::<dyn std::error::Error>::from)),
    };
    let last = |words: &'static str| Err(words.into());
    let body = if is_short(length) { bond.hold_brief(body, last) } else { bond.hold(body, last) };
    let body = Watched::new(body, peer);
    match length {
        Some(length) if is_head => answer.body(SizedStream::new(length, futures_util::stream::empty::<Piece>())),
        Some(0) => answer.finish(),
        Some(length) => answer.body(SizedStream::new(length, body)),
        None => answer.streaming(body),
    }
}

pub(super) type Piece = Result<Bytes, Box<dyn std::error::Error>>;

/// So short that it is most often there at once.
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
            file(value.as_bytes())
        } else {
            HeaderValue::from_bytes(value.as_bytes()).ok()
        };
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_str().as_bytes()), value) {
            answer.append_header((name, value));
        }
    }
}

/// Always a file to keep, never a page to show; under the name the service proposes, made safe.
fn file(theirs: &[u8]) -> Option<HeaderValue> {
    let Some(name) = file_name(theirs) else { return Some(HeaderValue::from_static("attachment")) };
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    HeaderValue::try_from(if is_plain { format!("attachment; filename=\"{name}\"") } else { attachment(&name) }).ok()
}

/// Whether a browser could show it as a page, or as a picture that holds one. Of several types it takes any.
fn is_page(headers: &HeaderMap) -> bool {
    let types = headers.get_all(CONTENT_TYPE).flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut names =
        types.map(|media| media.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase());
    names.any(|name| matches!(&*name, b"text/html" | b"text/xml" | b"application/xml") || name.ends_with(b"+xml"))
}

/// What stands on every answer.
pub(super) fn finish(answer: &mut HttpResponse<BoxBody>, begun: &Begun) {
    let is_page = is_page(answer.headers());
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
    let fixed =
        [(X_CONTENT_TYPE_OPTIONS, "nosniff"), (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"), (REFERRER_POLICY, "no-referrer")];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if begun.site.as_ref().is_some_and(|site| site.is_secure()) {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000; includeSubDomains"));
    }
}
