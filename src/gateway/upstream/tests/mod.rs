//! Tests of this room with programmable services on real sockets.

mod answers;
#[path = "../../../../tests/it/support/class_file.rs"]
#[expect(clippy::duplicate_mod, reason = "tests of the engine make classes too")]
mod class_file;
mod identity;
mod identity_logout;
#[path = "../../../../tests/it/support/jar.rs"]
#[expect(dead_code, reason = "shared with the integration tests, which need more of it")]
mod jar;
mod operations;
mod reading;
mod reference;
#[path = "../../../../tests/it/support/shop.rs"]
mod shop;
mod streams;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Call, Credential, ScanningService, Transport};
use crate::config::gateway::{PublicAuth, Service, Upstream};
use crate::contract::reports::ReportLanguage;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// `GET /path?query`.
    line: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Seen {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What the fake does with a request.
#[derive(Clone)]
enum Reply {
    /// Status and JSON, then the connection ends.
    Json(u16, Value),
    /// Bytes as they are, then the connection ends.
    Raw(Vec<u8>),
    /// Bytes as they are, then silence.
    Stall(Vec<u8>),
    /// Bytes one after the other with a pause before each.
    Drip(Vec<u8>, Duration),
}

/// A service on a socket whose answers a test decides.
struct Fake {
    base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    _tasks: Shutdown,
}

impl Fake {
    /// `answer` gets the number of the request, from 0, and the request.
    async fn new(answer: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(true, answer).await
    }

    /// As [`Fake::new`], but the body is left unread before the answer.
    async fn impatient(answer: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(false, answer).await
    }

    async fn serve(reads: bool, answer: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (seen, answer, tasks) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer), Shutdown::default());
        let (log, spawner) = (Arc::clone(&seen), tasks.clone());
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                spawner.spawn(async move {
                    let _ = exchange(stream, reads, &log, answer.as_ref()).await;
                });
            }
        });
        Self { base, seen, _tasks: tasks }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    fn service(&self) -> ScanningService {
        service(&self.base, PublicAuth::None)
    }
}

async fn exchange(
    mut stream: TcpStream,
    reads: bool,
    log: &Mutex<Vec<Seen>>,
    answer: &(dyn Fn(usize, &Seen) -> Reply + Send + Sync),
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse::<usize>().ok());
    let chunked = headers.contains_key("transfer-encoding");
    let whole = |body: &[u8]| length.map_or(!chunked || body.ends_with(b"\r\n0\r\n\r\n"), |length| body.len() >= length);
    while reads && !whole(&bytes[head..]) {
        if stream.read_buf(&mut bytes).await? == 0 {
            break;
        }
    }
    let seen = Seen { line, headers, body: bytes[head..].to_vec() };
    let number = {
        let mut log = log.lock().unwrap();
        log.push(seen.clone());
        log.len() - 1
    };
    match answer(number, &seen) {
        Reply::Json(status, body) => stream.write_all(&head_and(status, "application/json", body.to_string().as_bytes())).await?,
        Reply::Raw(raw) => stream.write_all(&raw).await?,
        Reply::Drip(raw, pause) => {
            for piece in raw.chunks(raw.len().div_ceil(6)) {
                tokio::time::sleep(pause).await;
                stream.write_all(piece).await?;
            }
        }
        Reply::Stall(raw) => {
            stream.write_all(&raw).await?;
            std::future::pending::<()>().await;
        }
    }
    stream.shutdown().await
}

/// An answer that ends with its connection.
fn head_and(status: u16, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nx-request-id: theirs\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn limits() -> Upstream {
    Upstream {
        connect_timeout_ms: 500,
        timeout_ms: 700,
        idle_timeout_ms: 400,
        max_answer_bytes: 100_000,
        retries: 2,
        keep_alive_ms: 1000,
        keep_alive_most: 8,
        early_answer_ms: 1000,
    }
}

fn service(base: &str, public_auth: PublicAuth) -> ScanningService {
    let settings = Service {
        base_url: base.to_owned(),
        prefix: "/scanner".to_owned(),
        public_auth,
        browser_origins: Vec::new(),
        server_key: None,
    };
    ScanningService::new(&settings, Transport::new(&limits()).unwrap()).unwrap()
}

fn call(credential: Credential) -> Call {
    Call { credential, request_id: "ours".to_owned(), language: ReportLanguage::Chinese }
}

fn user() -> Call {
    call(Credential::UserToken(Secret::new("a-user-token")))
}

/// An address nobody listens on.
async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// What takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);
