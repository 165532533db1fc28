//! A scanning service that only writes down who asked with what, believes the tokens of a [`Provider`], and is as slow as
//! a test wants it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::Receiver;

use super::provider::Provider;
use super::spawn;

/// A call as it came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// Path, without the query.
    pub(crate) path: String,
    pub(crate) bearer: String,
    /// What it was answered with.
    pub(crate) status: u16,
}

/// What it did and how it behaves.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) calls: Vec<Call>,
    /// How long it thinks.
    pub(crate) latency: Duration,
    /// Answered instead of everything else, without looking at the token.
    pub(crate) status: Option<u16>,
    /// Body of good answers, instead of an empty list.
    pub(crate) body: Option<serde_json::Value>,
    /// Server keys that it believes besides.
    pub(crate) keys: Vec<String>,
    /// Good answers tell as whom it was asked, in a field `bearer`.
    pub(crate) mirrors: bool,
    /// How long it waits after each piece of a body that it reads.
    pub(crate) chews: Duration,
    /// Reports have so many bytes, in place of no end.
    pub(crate) report: Option<usize>,
    /// Bytes of reports that were asked of it.
    pub(crate) sent: usize,
    /// Calls that came and are not answered yet.
    pub(crate) waiting: usize,
    /// Bytes of the uploads that are on their way.
    pub(crate) received: usize,
    /// Uploads that stopped before they were whole.
    pub(crate) cut: usize,
}

/// A running service. It ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) base: String,
    provider: Provider,
    desk: Arc<Mutex<Desk>>,
}

impl Service {
    pub(crate) async fn start(provider: &Provider) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let service = Self { base, provider: provider.clone(), desk: Arc::default() };
        let serving = service.clone();
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = serving.clone();
                spawn(async move {
                    let answer = service_fn(move |request| {
                        let service = service.clone();
                        async move { Ok::<_, Infallible>(service.answer(request).await) }
                    });
                    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        service
    }

    /// What it did, and its behaviour to be changed. Not held over a wait.
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<BoxBody<Bytes, Infallible>> {
        let (head, body) = request.into_parts();
        let bearer = head.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let bearer = bearer.trim_start_matches("Bearer ").to_owned();
        self.take(body).await;
        let (latency, forced) = {
            let mut desk = self.desk();
            desk.waiting += 1;
            (desk.latency, desk.status)
        };
        tokio::time::sleep(latency).await;
        let path = head.uri.path().to_owned();
        let mut desk = self.desk();
        let is_known = self.provider.believes(&bearer) || desk.keys.contains(&bearer);
        let status = forced.unwrap_or(if is_known { 200 } else { 401 });
        desk.waiting -= 1;
        let mut good = desk.body.clone().unwrap_or_else(|| json!({ "list": [], "total": 0 }));
        if desk.mirrors {
            good["bearer"] = json!(bearer);
        }
        let is_report = status == 200 && path.ends_with("/report");
        desk.calls.push(Call { method: head.method.to_string(), path, bearer, status });
        let body = if status == 200 { good } else { json!({ "status": status, "message": "no" }) };
        let builder = Response::builder().status(status);
        if is_report {
            let builder = builder.header("content-type", "application/pdf");
            return match desk.report {
                None => builder.body(endless()).unwrap(),
                Some(bytes) => builder.header("content-length", bytes).body(self.clone().long(bytes)).unwrap(),
            };
        }
        builder.header("content-type", "application/json").body(Full::from(body.to_string()).boxed()).unwrap()
    }

    /// Reads a body to its end, counting. One that is dropped with its connection was cut as well.
    async fn take(&self, mut body: Incoming) {
        let mut taking = Taking { service: self, is_whole: false };
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => {
                    let chews = {
                        let mut desk = self.desk();
                        desk.received += frame.data_ref().map_or(0, Bytes::len);
                        desk.chews
                    };
                    if !chews.is_zero() {
                        tokio::time::sleep(chews).await;
                    }
                }
                Err(_) => return,
            }
        }
        taking.is_whole = true;
    }

    /// A report of so many bytes, as fast as somebody reads.
    fn long(self, bytes: usize) -> BoxBody<Bytes, Infallible> {
        let piece = Bytes::from(vec![b'r'; PIECE]);
        let pieces = stream::unfold(bytes, move |left| {
            let piece = piece.slice(..left.min(PIECE));
            self.desk().sent += piece.len();
            std::future::ready((left > 0).then(|| (Ok(Frame::data(piece.clone())), left - piece.len())))
        });
        StreamBody::new(Box::pin(pieces)).boxed()
    }
}

/// A body that is being read.
struct Taking<'s> {
    service: &'s Service,
    is_whole: bool,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.service.desk().cut += 1;
        }
    }
}

/// Bytes of a piece of a report.
const PIECE: usize = 64 * 1024;

/// A report that never ends: a few bytes now and then, for as long as somebody reads.
fn endless() -> BoxBody<Bytes, Infallible> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    spawn(async move {
        while sender.send(Ok(Frame::data(Bytes::from_static(b"%PDF ")))).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    StreamBody::new(Box::pin(stream::unfold(receiver, next))).boxed()
}

type Piece = Result<Frame<Bytes>, Infallible>;

async fn next(mut pieces: Receiver<Piece>) -> Option<(Piece, Receiver<Piece>)> {
    pieces.recv().await.map(|piece| (piece, pieces))
}
