//! One request and its answer over a connection that is there: bounded in time and size.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, LOCATION, SERVER, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use url::{Position, Url};

use super::Channel;
use crate::platform::hostile::Hostile;

/// How the service introduces itself.
const AGENT: &str = concat!("cardea-scanner/", env!("CARGO_PKG_VERSION"));
/// All headers of an answer together, in bytes.
const HEADER_BYTES: usize = 64 << 10;
/// Headers of an answer.
const MOST_HEADERS: usize = 100;
/// The longest header value that is told, in characters.
const LONGEST_VALUE: usize = 120;

/// Bounds of one exchange.
#[derive(Clone, Copy, Debug)]
pub(in crate::scanner) struct Limits {
    /// Bytes of the body that are read; what lies beyond is left.
    pub(in crate::scanner) body: usize,
    /// Until all headers are there, and again until the body is.
    pub(in crate::scanner) within: Duration,
}

/// An answer. Texts of the server are safe to show, the body and where it points are not.
#[derive(Debug)]
pub(in crate::scanner) struct Answer {
    pub(in crate::scanner) status: u16,
    /// The words that go with the status; empty for one nobody knows.
    pub(in crate::scanner) reason: &'static str,
    pub(in crate::scanner) server: Option<String>,
    pub(in crate::scanner) content_type: Option<String>,
    /// Where a redirect leads, as it came.
    pub(in crate::scanner) location: Option<String>,
    pub(in crate::scanner) body: Vec<u8>,
    /// Whether the body ended within the limit.
    pub(in crate::scanner) is_whole: bool,
}

impl Answer {
    /// Whether it sends its reader elsewhere.
    pub(in crate::scanner) const fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308) && self.location.is_some()
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum HttpFault {
    #[error("the server took the request, and its answer did not come in time")]
    Slow,
    #[error("the server began to answer, and the rest did not come in time")]
    SlowBody,
    #[error("the server closed the connection without an answer")]
    Closed,
    #[error("the server broke its answer off")]
    Cut,
    #[error("what the server answers is not HTTP")]
    NotHttp,
    #[error("the headers of the answer are too large")]
    TooLarge,
    #[error("the address cannot be asked for")]
    Request,
}

pub(super) async fn exchange(channel: Channel, method: Method, url: &Url, limits: Limits) -> Result<Answer, HttpFault> {
    let request = Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, "*/*")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| HttpFault::Request)?;
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEADER_BYTES).max_headers(MOST_HEADERS);
    let (mut sender, connection) = builder.handshake(TokioIo::new(channel)).await.map_err(|error| fault(&error))?;
    let talk = Box::pin(async move {
        let answer = tokio::time::timeout(limits.within, sender.send_request(request)).await;
        read(answer.map_err(|_| HttpFault::Slow)?.map_err(|error| fault(&error))?, limits).await
    });
    // The connection has to be driven while the talk goes on; when it ends first, what it has brought is still read.
    match select(talk, Box::pin(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((_, talk)) => talk.await,
    }
}

async fn read(answer: Response<Incoming>, limits: Limits) -> Result<Answer, HttpFault> {
    let text = |name| answer.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let shown = |name| text(name).map(|value| Hostile::from(value).short(LONGEST_VALUE));
    let status = answer.status();
    let mut read = Answer {
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        server: shown(SERVER),
        content_type: shown(CONTENT_TYPE),
        location: text(LOCATION),
        body: Vec::new(),
        is_whole: false,
    };
    let mut body = answer.into_body();
    let all = async {
        while let Some(frame) = body.frame().await {
            let Ok(chunk) = frame.map_err(|_| HttpFault::Cut)?.into_data() else { continue };
            let left = limits.body.saturating_sub(read.body.len());
            if chunk.len() > left {
                read.body.extend(chunk.iter().take(left));
                return Ok(false);
            }
            read.body.extend_from_slice(&chunk);
        }
        Ok(true)
    };
    let is_whole = tokio::time::timeout(limits.within, all).await.map_err(|_| HttpFault::SlowBody)??;
    read.is_whole = is_whole;
    Ok(read)
}

fn fault(error: &hyper::Error) -> HttpFault {
    match error {
        _ if error.is_parse_too_large() => HttpFault::TooLarge,
        _ if error.is_parse() => HttpFault::NotHttp,
        _ if error.is_user() => HttpFault::Request,
        _ => HttpFault::Closed,
    }
}
