//! What can go wrong with a call to the service: where the fault lies, what it is, and whether trying again can help.
//! Reads error bodies as WIRE 18 #1 says; their text is untrusted.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::contract::error::codes;
use crate::platform::hostile::Hostile;

use super::{coded, reading};

/// Error answers are read up to here.
pub(super) const ERROR_BODY: usize = 64 * 1024;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The service answered, and this is its answer.
    Service,
    /// The service was not reached or its answer was not received whole.
    Network,
    /// The sender of the streamed body stopped or failed.
    Sender,
    /// The request could not be built here.
    Ours,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 401: the credential is not believed (any more).
    Unauthorized,
    /// 402 or 403.
    Forbidden,
    NotFound,
    /// 400 or another 4xx: the request is not accepted as it is.
    Invalid,
    Conflict,
    TooLarge,
    TooMany {
        retry_after: Option<Duration>,
    },
    /// errCode 1010: the subscription does not cover this. Never tried again.
    Subscription,
    /// Not reached, cut, or 5xx.
    Unavailable,
    Timeout,
    /// An answer that cannot be read: no JSON where JSON is due, larger than allowed, a redirect.
    Garbage,
    /// The service stored something else than was sent.
    HashMismatch,
    /// The sender's stream ended with an error.
    BodyBroken,
}

/// A failed call. Display is for logs: it holds no credential and no address.
#[derive(Clone, Debug, thiserror::Error)]
#[error("upstream {kind:?} from {origin:?} (status {status:?}, code {code:?}, their request {their_request_id:?}): {}", text.log())]
pub(crate) struct UpstreamError {
    pub origin: Origin,
    pub kind: Kind,
    /// Whether the same request may help later. Says nothing about whether it is safe to repeat.
    pub retry: bool,
    pub status: Option<u16>,
    /// `errCode` of the answer.
    pub code: Option<i64>,
    /// The service's words or what happened on the way, at most 500 characters.
    pub text: Hostile,
    /// `X-Request-Id` of the answer.
    pub their_request_id: Option<Hostile>,
    stage: Stage,
}

/// How far a call came that failed on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No connection came about: the service has seen nothing of the call.
    Connecting,
    /// The service closed the connection while a body was on its way to it, and no answer could be read.
    Sending,
    /// Anything behind that, and what was no matter of the way.
    Beyond,
}

impl UpstreamError {
    fn new(origin: Origin, kind: Kind, retry: bool, text: impl Into<Hostile>) -> Self {
        let text = text.into();
        Self { origin, kind, retry, status: None, code: None, text, their_request_id: None, stage: Stage::Beyond }
    }

    pub(super) fn unusable_credential() -> Self {
        Self::new(Origin::Ours, Kind::Unauthorized, false, "the credential cannot stand in a header")
    }

    pub(super) fn ours(text: &str) -> Self {
        Self::new(Origin::Ours, Kind::Invalid, false, text)
    }

    pub(super) fn timeout() -> Self {
        Self::new(Origin::Network, Kind::Timeout, true, "no answer in time")
    }

    pub(super) fn garbage(text: &str) -> Self {
        Self::new(Origin::Service, Kind::Garbage, false, text)
    }

    pub(super) fn hash_mismatch() -> Self {
        Self::new(Origin::Service, Kind::HashMismatch, true, "the service stored something else than was sent")
    }

    pub(super) fn body_broken() -> Self {
        Self::new(Origin::Sender, Kind::BodyBroken, false, "the body ended before it was whole")
    }

    /// Nothing moved for too long, and it was the sender of the body who was waited for.
    pub(super) fn sender_silent() -> Self {
        Self::new(Origin::Sender, Kind::BodyBroken, false, "the sender of the body was silent for too long")
    }

    /// Whether it says that the service fails. Nothing is said by a sender who stopped, by what could not be sent, and by a
    /// service that did not want the rest of a body.
    pub(crate) fn is_failure_of_the_service(&self) -> bool {
        self.origin == Origin::Network && self.stage != Stage::Sending
    }

    /// Whether the service closed the connection while a body was on its way to it, and no answer could be read.
    pub(crate) fn broke_off_while_sending(&self) -> bool {
        self.stage == Stage::Sending
    }

    /// Whether no connection came about, so that the service has seen nothing of the call.
    pub(crate) fn is_unconnected(&self) -> bool {
        self.stage == Stage::Connecting
    }

    /// No connection came about.
    pub(super) fn unreachable() -> Self {
        Self { stage: Stage::Connecting, ..Self::new(Origin::Network, Kind::Unavailable, true, "no connection") }
    }

    /// A connection ended in the middle.
    pub(super) fn broke() -> Self {
        Self::new(Origin::Network, Kind::Unavailable, true, "the connection broke")
    }

    /// A connection ended while a body was sent on it.
    pub(super) fn broke_off() -> Self {
        let text = "the service closed the connection while the body was sent";
        Self { stage: Stage::Sending, ..Self::new(Origin::Network, Kind::Unavailable, true, text) }
    }

    /// An error of the transport. Addresses are left out.
    pub(super) fn transport(error: &reqwest::Error) -> Self {
        let stage = if error.is_connect() { Stage::Connecting } else { Stage::Beyond };
        if error.is_timeout() {
            return Self { stage, ..Self::timeout() };
        }
        if error.is_builder() {
            return Self::ours("the request cannot be built");
        }
        if error.is_connect() { Self::unreachable() } else { Self::broke() }
    }

    /// Whether the body of an error answer says that the subscription does not cover the call (errCode 1010): that is final,
    /// whatever its status. `None` where the body cannot be read because of how it is compressed.
    pub(super) fn is_about_the_subscription(headers: &HeaderMap, body: &[u8]) -> Option<bool> {
        let body = coded::plain(headers, body, ERROR_BODY)?;
        Some(read_body(&body).0 == Some(i64::from(codes::SUBSCRIPTION)))
    }

    /// An answer of status 200 that says in its envelope that it is none: the code tells the status it should have had.
    pub(super) fn refused_in_envelope(headers: &HeaderMap, body: &[u8]) -> Self {
        let (code, _) = read_body(body);
        let status = code
            .and_then(|code| u16::try_from(code / 10).ok())
            .and_then(|status| StatusCode::from_u16(status).ok())
            .filter(|status| status.is_client_error() || status.is_server_error());
        Self::answer(status.unwrap_or(StatusCode::BAD_REQUEST), headers, body)
    }

    /// An answer that is no success.
    pub(super) fn answer(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let (code, text) = read_body(body);
        let kind = kind_of(status, code, headers);
        let retry = match kind {
            Kind::Unavailable => status != StatusCode::NOT_IMPLEMENTED,
            Kind::TooMany { .. } | Kind::Timeout => true,
            _ => false,
        };
        let mut error = Self::new(Origin::Service, kind, retry, text);
        error.status = Some(status.as_u16());
        error.code = code;
        error.their_request_id = headers.get("x-request-id").and_then(|id| id.to_str().ok()).map(Hostile::from);
        error
    }
}

fn kind_of(status: StatusCode, code: Option<i64>, headers: &HeaderMap) -> Kind {
    if code == Some(i64::from(codes::SUBSCRIPTION)) {
        return Kind::Subscription;
    }
    match status.as_u16() {
        401 => Kind::Unauthorized,
        402 | 403 => Kind::Forbidden,
        404 | 410 => Kind::NotFound,
        408 | 504 => Kind::Timeout,
        409 | 412 => Kind::Conflict,
        413 => Kind::TooLarge,
        429 => Kind::TooMany { retry_after: retry_after(headers) },
        400..=499 => Kind::Invalid,
        500..=599 => Kind::Unavailable,
        _ => Kind::Garbage,
    }
}

/// Seconds of `Retry-After`, at most a day; the date form is left aside.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.min(86_400)))
}

/// Code and words of an error body.
fn read_body(body: &[u8]) -> (Option<i64>, Hostile) {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let text: String = String::from_utf8_lossy(body).chars().take(500).collect();
        return (None, Hostile::new(text));
    };
    let data = value.get("data").unwrap_or(&Value::Null);
    let code =
        reading::integer(data, &["errCode", "errorCode"]).or_else(|| reading::integer(&value, &["errCode", "errorCode", "code"]));
    let mut text = reading::text(&value, &["message", "msg", "errorMessage", "error", "detail", "errDetail"]);
    if text.is_empty() {
        text = reading::text(data, &["errDetail", "errorDetail", "message"]);
    }
    if let (true, Value::String(words)) = (text.is_empty(), &value) {
        text = Hostile::new(words.clone());
    }
    let text: String = text.raw().chars().take(500).collect();
    (code, Hostile::new(text))
}
