//! What a caller is answered: by the service just now, or with what is kept.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;

use crate::gateway::cache::{CacheStatus, Fetched, JUDGED, Kept};
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
        let length = answer.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let theirs = answer.headers.iter().map(|(name, value)| (name.as_str(), value));
        let headers = forwarding::passing(&forwarding::ANSWER, theirs);
        let body = ReplyBody::Stream(Passing { body: answer.body, _place: place });
        Self { status: answer.status, headers, length, body, cache: None, judged: Some(Box::new(answer.headers)) }
    }

    /// Read whole, to be kept.
    pub(super) async fn fetched(self, most: usize) -> Result<Fetched, Error> {
        let Self { status, mut headers, body, judged, .. } = self;
        for name in JUDGED {
            if let Some(value) = judged.as_ref().and_then(|all| all.get(&name)) {
                headers.insert(name, value.clone());
            }
        }
        let body = match body {
            ReplyBody::Whole(body) => body,
            ReplyBody::Stream(passing) => passing.body.whole(most).await?.ok_or(Error::Unusable(TOO_LARGE))?,
        };
        Ok(Fetched { status: status.as_u16(), headers, body })
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

    /// What is kept. `asked` are the headers of a caller who may have the same already.
    pub(super) fn kept(
        kept: &Arc<Kept>,
        (cache, now): (CacheStatus, Timestamp),
        asked: Option<&HeaderMap>,
        is_head: bool,
    ) -> Self {
        let mut headers = kept.headers.clone();
        if let Some(etag) = kept.etag() {
            headers.insert(header::ETAG, etag.clone());
            headers.insert(header::AGE, HeaderValue::from(kept.age(now).as_secs()));
        }
        let cache = Some(cache);
        if asked.is_some_and(|asked| kept.is_what_they_have(asked)) {
            let status = StatusCode::NOT_MODIFIED;
            return Self { status, headers, length: None, body: ReplyBody::Whole(Bytes::new()), cache, judged: None };
        }
        let length = Some(kept.body.len() as u64);
        let body = if is_head { Bytes::new() } else { kept.body.clone() };
        let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::BAD_GATEWAY);
        Self { status, headers, length, body: ReplyBody::Whole(body), cache, judged: None }
    }
}

/// Of an answer that is too large to be kept.
pub(super) const TOO_LARGE: &str = "The answer of the scanning service is larger than allowed.";
/// Of an answer that has to be read before it goes on.
const UNREADABLE: &str = "The answer of the scanning service is not what the interface says, so it is not passed on.";
