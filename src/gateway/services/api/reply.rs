//! What a caller is answered: by the service just now, or with what is kept.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;

use crate::gateway::cache::{Brought, CacheStatus, Fetched, JUDGED, Kept, is_no_store};
use crate::gateway::domain::forwarding;
use crate::gateway::services::error::Error;
use crate::gateway::services::pace::Place;
use crate::gateway::upstream::UpstreamError;
use crate::gateway::upstream::proxy::{Answer, AnswerBody};
use crate::platform::clock::Timestamp;

/// An answer, whatever its status.
pub(in crate::gateway) struct Reply {
    pub(in crate::gateway) status: StatusCode,
    /// Those that pass.
    pub(in crate::gateway) headers: HeaderMap,
    /// Bytes of the body, where that is known; of an answer to `HEAD` those that it would have.
    pub(in crate::gateway) length: Option<u64>,
    pub(in crate::gateway) body: ReplyBody,
    /// How it came, where it may be kept.
    pub(in crate::gateway) cache: Option<CacheStatus>,
    /// The service said that nobody may store it.
    pub(in crate::gateway) is_no_store: bool,
    /// All that the service said, for whoever judges whether it may be kept.
    judged: Option<Box<HeaderMap>>,
}

/// The body of an answer.
pub(in crate::gateway) enum ReplyBody {
    Whole(Bytes),
    Stream(Passing),
}

/// A body that arrives; holds its place at the service until it ends.
pub(in crate::gateway) struct Passing {
    body: AnswerBody,
    _place: Place,
}

impl Stream for Passing {
    type Item = Result<Bytes, UpstreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}

impl Reply {
    /// The service's answer as it is.
    pub(super) fn of(answer: Answer, place: Place) -> Self {
        // Where a body comes in chunks, that is how long it is, whatever else is said (RFC 9112, 6.3).
        let is_chunked = answer.headers.contains_key(header::TRANSFER_ENCODING);
        let length = answer.headers.get(header::CONTENT_LENGTH).filter(|_| !is_chunked);
        let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
        let theirs = answer.headers.iter().map(|(name, value)| (name.as_str(), value));
        let mut headers = forwarding::passing(&forwarding::ANSWER, theirs);
        forwarding::challenges(answer.status, &mut headers);
        let body = ReplyBody::Stream(Passing { body: answer.body, _place: place });
        let (is_no_store, judged) = (is_no_store(&answer.headers), Some(Box::new(answer.headers)));
        Self { status: answer.status, headers, length, body, cache: None, is_no_store, judged }
    }

    /// Read whole, to be kept; or as it comes, where it is a stream by its type or more than `most` bytes.
    pub(super) async fn fetched(mut self, most: usize) -> Result<Brought<Self>, Error> {
        let whole = match &mut self.body {
            ReplyBody::Whole(body) => Some(body.clone()),
            ReplyBody::Stream(_) if is_stream(&self.headers) => None,
            ReplyBody::Stream(passing) => passing.body.gathered(most).await?,
        };
        let Some(body) = whole else { return Ok(self.for_one()) };
        let Self { status, mut headers, judged, .. } = self;
        if let Some(all) = judged {
            for name in JUDGED {
                // All of its lines: any of them may forbid it.
                for value in all.get_all(&name) {
                    headers.append(&name, value.clone());
                }
            }
        }
        Ok(Brought::Whole(Fetched { status: status.as_u16(), headers, body }))
    }

    /// For the one who asked.
    pub(super) fn for_one(self) -> Brought<Self> {
        Brought::Passing(self.status.as_u16(), self)
    }

    /// An answer that came past the cache, for a caller of `HEAD` without its body.
    pub(super) fn passed(self, cache: CacheStatus, is_head: bool) -> Self {
        let body = if is_head { ReplyBody::Whole(Bytes::new()) } else { self.body };
        Self { body, cache: Some(cache), judged: None, ..self }
    }

    /// The answer read whole, and what it says; nothing is lost of it.
    pub(super) async fn read(self, most: usize) -> Result<(Self, Value), Error> {
        if self.headers.contains_key(header::CONTENT_ENCODING) {
            return Err(Error::Unusable(UNREADABLE));
        }
        let body = match self.body {
            ReplyBody::Whole(body) => body,
            ReplyBody::Stream(passing) => passing.body.whole(most).await?.ok_or(Error::Unusable(TOO_LARGE))?,
        };
        let said = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&body) };
        let said = said.map_err(|_| Error::Unusable(UNREADABLE))?;
        Ok((Self { length: Some(body.len() as u64), body: ReplyBody::Whole(body), judged: None, ..self }, said))
    }

    /// With something else in the place of what the service said. What names its state names another.
    pub(super) fn with(mut self, said: &Value) -> Result<Self, Error> {
        let body = Bytes::from(serde_json::to_vec(said).map_err(|error| Error::Internal(error.to_string()))?);
        for name in [header::ETAG, header::LAST_MODIFIED, header::ACCEPT_RANGES, header::CONTENT_RANGE] {
            self.headers.remove(name);
        }
        Ok(Self { length: Some(body.len() as u64), body: ReplyBody::Whole(body), ..self })
    }

    /// What is kept. `asked` are the headers of a caller who may have the same already, or wants only what it had.
    ///
    /// # Errors
    /// [`Error::Precondition`].
    pub(super) fn kept(
        kept: &Arc<Kept>,
        (cache, now): (CacheStatus, Timestamp),
        asked: Option<&HeaderMap>,
        is_head: bool,
    ) -> Result<Self, Error> {
        if asked.is_some_and(|asked| kept.is_not_what_they_want(asked)) {
            return Err(Error::Precondition);
        }
        let mut headers = kept.headers.clone();
        if let Some(etag) = kept.etag() {
            headers.insert(header::ETAG, etag.clone());
            headers.insert(header::AGE, HeaderValue::from(kept.age(now).as_secs()));
        }
        let (cache, is_no_store) = (Some(cache), kept.is_no_store);
        if asked.is_some_and(|asked| kept.is_what_they_have(asked)) {
            let status = StatusCode::NOT_MODIFIED;
            let body = ReplyBody::Whole(Bytes::new());
            return Ok(Self { status, headers, length: None, body, cache, is_no_store, judged: None });
        }
        let length = Some(kept.body.len() as u64);
        let body = if is_head { Bytes::new() } else { kept.body.clone() };
        let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::BAD_GATEWAY);
        Ok(Self { status, headers, length, body: ReplyBody::Whole(body), cache, is_no_store, judged: None })
    }
}

/// Whether it comes in parts that are each read at once, and may have no end: nobody is to wait for all of it.
fn is_stream(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    media.is_some_and(|media| STREAMS.iter().any(|stream| media.trim().eq_ignore_ascii_case(stream)))
}

/// Whether a caller asks for events as they happen. Such an answer is never kept, so the service may know what is asked for.
pub(super) fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let media = accepted.flat_map(|value| value.split(',')).filter_map(|range| range.split(';').next());
    media.map(str::trim).any(|media| media.eq_ignore_ascii_case(EVENTS))
}

/// Where answers are kept, their tags are ours: the service would judge a condition by tags that it has never seen. So whoever
/// wants a part on a condition is answered as if the whole was asked for, as anybody may be (RFC 9110, 14.2); the condition is
/// judged by what is kept, and that of `If-Range` goes with the part (13.1.5).
pub(super) fn whole_on_condition(headers: &mut HeaderMap) {
    if TAGGED.iter().any(|name| headers.contains_key(name)) {
        headers.remove(header::RANGE);
        headers.remove(header::IF_RANGE);
    }
}

/// Conditions that name tags.
static TAGGED: [HeaderName; 3] = [header::IF_MATCH, header::IF_NONE_MATCH, header::IF_RANGE];
const EVENTS: &str = "text/event-stream";
/// Media types that are streams.
const STREAMS: [&str; 5] =
    [EVENTS, "application/x-ndjson", "application/json-seq", "application/stream+json", "multipart/x-mixed-replace"];
/// Of an answer that has to be read before it goes on, and has no end within what is read.
const TOO_LARGE: &str = "The answer of the scanning service is larger than allowed.";
/// Of an answer that has to be read before it goes on.
const UNREADABLE: &str = "The answer of the scanning service is not what the interface says, so it is not passed on.";
