//! Large uploads stream through the gateway: its memory does not grow with the file, and the hash is computed on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use cardea::platform::digest::Running;
use futures_util::stream;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::support::client::Browser;
use crate::support::demo::{Demo, data_folder};
use crate::support::eventually;
use crate::support::large::{CHUNK, chunk, file, hash};

const MIB: usize = 1 << 20;
/// What the gateway may take for an upload of any size.
const GROWTH_KIB: u64 = 32 * 1024;

/// A scanning service in its own right that keeps nothing: it takes an upload, hashes the file in it and answers.
struct Sink {
    url: String,
    passed: Arc<AtomicU64>,
}

impl Sink {
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let passed = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&passed);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    let _ = take(stream, &count).await;
                });
            }
        });
        Self { url, passed }
    }
}

/// Reads one request with a chunked multipart body of one part; answers with the hash of the part.
async fn take(mut connection: TcpStream, passed: &AtomicU64) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    let head = until(&mut connection, &mut buffer, b"\r\n\r\n").await?;
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    if !head.starts_with("post ") || !head.contains("/files/upload") || !head.contains("transfer-encoding: chunked") {
        let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return connection.write_all(answer.as_bytes()).await;
    }
    let boundary = head.split("boundary=").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default().trim().to_owned();
    let ending = format!("\r\n--{boundary}--\r\n").len();
    let (mut hash, mut tail, mut in_file) = (Running::default(), Vec::new(), false);
    loop {
        let size = until(&mut connection, &mut buffer, b"\r\n").await?;
        let size = usize::from_str_radix(String::from_utf8_lossy(&size).trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        while buffer.len() < size + 2 {
            if connection.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        tail.extend(buffer.drain(..size));
        buffer.drain(..2);
        passed.fetch_add(size as u64, Ordering::Relaxed);
        if !in_file {
            let Some(at) = tail.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
            tail.drain(..at + 4);
            in_file = true;
        }
        if tail.len() > ending {
            let whole = tail.len() - ending;
            hash.update(&tail[..whole]);
            tail.drain(..whole);
        }
    }
    let told = format!(r#"{{"sha256":"{}","fileName":"large.war"}}"#, hash.finish());
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        told.len()
    );
    connection.write_all(format!("{head}{told}").as_bytes()).await
}

/// Takes bytes up to and with `mark`.
async fn until(connection: &mut TcpStream, buffer: &mut Vec<u8>, mark: &[u8]) -> std::io::Result<Vec<u8>> {
    loop {
        if let Some(at) = buffer.windows(mark.len()).position(|window| window == mark) {
            return Ok(buffer.drain(..at + mark.len()).collect());
        }
        if connection.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Sends a file of this size through the portal as its script does; gives what came back and by how many KiB memory grew.
async fn through_the_portal(mebibytes: usize) -> (serde_json::Value, u64, u64) {
    let chunks = mebibytes * MIB / CHUNK;
    let sink = Sink::start().await;
    let demo = Demo::start_in(data_folder(), 0, &[("CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL", &sink.url)]);
    let mut alice = Browser::new();
    let new = alice.sign_in_to(&format!("{}/tasks/new", demo.portal), "alice").await;
    let mut manners = Browser::own_manners(&demo.portal);
    manners.headers = vec![("x-csrf-token", new.hidden("csrf")), ("accept", "application/json".to_owned())];
    let upload = format!("{}/uploads?sha256={}", demo.portal, hash(chunks));
    let warm = Form::new().part("file", Part::stream(file(16)).file_name("small.war"));
    let warmed = alice.send(Method::POST, &format!("{}/uploads", demo.portal), &manners, |request| request.multipart(warm)).await;
    assert_eq!(warmed.status, 200, "{}", warmed.text());

    demo.forget_peak();
    let before = demo.peak_kib();
    let form = Form::new().part("file", Part::stream(file(chunks)).file_name("large.war"));
    let answer = alice.send(Method::POST, &upload, &manners, |request| request.multipart(form)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let grown = demo.peak_kib().saturating_sub(before);
    (serde_json::from_slice(&answer.bytes).unwrap(), grown, sink.passed.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gibibyte_passes_in_little_memory() {
    let (answer, grown, passed) = through_the_portal(1024).await;
    assert_eq!(answer["sha256"], hash(1024 * MIB / CHUNK), "{answer}");
    assert!(passed >= 1024 * MIB as u64, "all of it passed: {passed}");
    println!("the peak of the gateway's memory grew by {grown} KiB");
    assert!(grown < GROWTH_KIB, "{grown} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_under_way_is_finished_before_the_process_ends() {
    let sink = Sink::start().await;
    let demo = Demo::start_in(data_folder(), 0, &[("CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL", &sink.url)]);
    let mut alice = Browser::new();
    let new = alice.sign_in_to(&format!("{}/tasks/new", demo.portal), "alice").await;
    let mut manners = Browser::own_manners(&demo.portal);
    manners.headers = vec![("x-csrf-token", new.hidden("csrf")), ("accept", "application/json".to_owned())];
    let (sender, receiver) = mpsc::channel::<std::io::Result<Bytes>>(1);
    let body = stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|chunk| (chunk, receiver)));
    let form = Form::new().part("file", Part::stream(reqwest::Body::wrap_stream(body)).file_name("slow.war"));
    let address = format!("{}/uploads", demo.portal);
    let upload = alice.send(Method::POST, &address, &manners, |request| request.multipart(form));
    let feed = async {
        for number in 0..16 {
            sender.send(Ok(chunk(number))).await.unwrap();
        }
        eventually("the first bytes at the service", async || (sink.passed.load(Ordering::Relaxed) > 0).then_some(())).await;
        demo.terminate();
        eventually("the word that it ends", async || demo.log().contains("asked to end").then_some(())).await;
        for number in 16..32 {
            sender.send(Ok(chunk(number))).await.unwrap();
        }
        drop(sender);
    };
    let (answer, ()) = tokio::join!(upload, feed);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains(&hash(32)), "{}", answer.text());
    let (status, _) = demo.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
}
