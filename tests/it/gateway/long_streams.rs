//! Long bodies through the API: little memory, no file, no end before theirs, and an end when they stop.

use std::time::Duration;

use bytes::Bytes;
use cardea::platform::digest::{hex, sha256};
use futures_util::future::{Either, select};
use futures_util::stream;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::support::client::http;
use crate::support::front::Front;
use crate::support::large::{CHUNK, chunk, file, hash};
use crate::support::replicas::{Replicas, Setup};
use crate::support::upstream::{Says, Upstream, answer, json};
use crate::support::{eventually, read_to};

const MIB: usize = 1 << 20;
/// What the gateway may take for a stream of any size.
const GROWTH_KIB: u64 = 32 * 1024;
const SK: &str = "server-key-one-0123456789";
const UPLOAD: &str = "/scanner/api/v1/files/upload";
const REPORT: &str = "/scanner/api/v2/tasks/t1/report";

/// A gateway with a program that has a key.
struct Rig {
    replicas: Replicas,
    client: Client,
    key: String,
}

impl Rig {
    async fn new(setup: Setup) -> Self {
        let replicas = Replicas::embedded_with(setup).await;
        replicas.service.desk().keys = vec![SK.to_owned()];
        let portal = replicas.all[0].url.clone();
        let mut dora = replicas.signed_in().await;
        dora.add_server_key(&portal, "first", SK).await;
        let key = dora.issue_api_key(&portal, &[]).await;
        Self { replicas, client: http(), key }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.replicas.all[0].url)
    }

    async fn upload(&self, query: &str, body: reqwest::Body) -> reqwest::Result<Response> {
        let form = Form::new().part("file", Part::stream(body).file_name("large.war"));
        let request = self.client.post(self.url(&format!("{UPLOAD}{query}"))).bearer_auth(&self.key);
        request.multipart(form).send().await
    }

    /// Runs `work` and gives by how many KiB the gateway's memory grew meanwhile.
    async fn growth<T>(&self, work: impl Future<Output = T>) -> (T, u64) {
        let gateway = &self.replicas.all[0];
        gateway.forget_peak();
        let before = gateway.peak_kib();
        let done = work.await;
        (done, gateway.peak_kib().saturating_sub(before))
    }

    /// Files that are open for what passes: none but those of the store and of the system.
    fn files(&self) -> Vec<String> {
        let known = ["socket:", "pipe:", "anon_inode:", "/dev/", "/proc/", "/sys/"];
        let all = self.replicas.all[0].open_files();
        let is_store = |file: &str| std::path::Path::new(file).extension().is_some_and(|extension| extension == "redb");
        all.into_iter().filter(|file| !known.iter().any(|start| file.starts_with(start)) && !is_store(file)).collect()
    }
}

/// A body that comes as the other end of the channel says.
fn fed() -> (mpsc::Sender<std::io::Result<Bytes>>, reqwest::Body) {
    let (sender, receiver) = mpsc::channel(1);
    let body =
        stream::unfold(receiver, async |mut receiver: mpsc::Receiver<_>| receiver.recv().await.map(|chunk| (chunk, receiver)));
    (sender, reqwest::Body::wrap_stream(body))
}

/// Sends a file of this size, which the service reads with a pause after each piece.
#[expect(clippy::print_stdout, reason = "the figure is for whoever measures")]
async fn an_upload_passes(mebibytes: usize, chews: Duration) {
    let rig = Rig::new(Setup::default()).await;
    assert_eq!(rig.upload("", file(32)).await.unwrap().status(), 200);
    let before = (rig.replicas.service.desk().received, rig.files());
    rig.replicas.service.desk().chews = chews;
    let chunks = mebibytes * MIB / CHUNK;
    let query = format!("?sha256={}", hash(chunks));
    let watched = async {
        let sending = Box::pin(rig.upload(&query, file(chunks)));
        let half = Box::pin(async {
            while rig.replicas.service.desk().received - before.0 <= mebibytes * MIB / 2 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            rig.files()
        });
        match select(sending, half).await {
            Either::Left((answer, _)) => (answer, Vec::new()),
            Either::Right((files, sending)) => (sending.await, files),
        }
    };
    let ((answer, files), grown) = rig.growth(watched).await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    let received = rig.replicas.service.desk().received - before.0;
    assert!(received >= mebibytes * MIB, "all of it passed: {received}");
    assert_eq!(files, before.1, "no file for what passes");
    println!("{mebibytes} MiB up: the peak of the gateway's memory grew by {grown} KiB");
    assert!(grown < GROWTH_KIB, "{grown} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_upload_passes_in_little_memory_and_without_a_file() {
    an_upload_passes(256, Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_reads_slowly_makes_the_sender_wait_and_nothing_pile_up() {
    an_upload_passes(64, Duration::from_millis(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: the bar of two gibibytes"]
async fn two_gibibytes_pass_in_little_memory() {
    // The limit is on the whole form.
    an_upload_passes(2047, Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half an hour: the bar of two gibibytes at a megabyte a second"]
async fn two_gibibytes_pass_in_little_memory_at_a_service_that_reads_a_megabyte_a_second() {
    an_upload_passes(2047, Duration::from_millis(60)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_report_passes_in_little_memory_and_only_as_fast_as_it_is_read() {
    let rig = Rig::new(Setup::default()).await;
    let bytes = 256 * MIB;
    rig.replicas.service.desk().report = Some(bytes);
    let before = rig.files();
    let reading = async {
        let mut report = rig.client.get(rig.url(REPORT)).bearer_auth(&rig.key).send().await.unwrap();
        assert_eq!((report.status().as_u16(), report.content_length()), (200, Some(bytes as u64)));
        let mut read = report.chunk().await.unwrap().unwrap().len();
        // Nobody reads on: buffers fill, and the service waits.
        let mut sent = 0;
        eventually("the service to wait", async || {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let now = rig.replicas.service.desk().sent;
            (std::mem::replace(&mut sent, now) == now).then_some(())
        })
        .await;
        assert!(sent < bytes / 4, "{sent} bytes were sent to nobody");
        assert_eq!(rig.files(), before, "no file for what passes");
        while let Some(chunk) = report.chunk().await.unwrap() {
            assert!(chunk.iter().all(|byte| *byte == b'r'));
            read += chunk.len();
        }
        read
    };
    let (read, grown) = rig.growth(reading).await;
    assert_eq!(read, bytes);
    println!("256 MiB down: the peak of the gateway's memory grew by {grown} KiB");
    assert!(grown < GROWTH_KIB, "{grown} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_the_announced_one_never_arrives_whole() {
    let upstream = Upstream::start().await;
    let front = Front::new(&upstream.base).await;
    let content = b"the file".repeat(100_000);
    let send = async |sha256: &str| {
        let form = Form::new().part("file", Part::bytes(content.clone()).file_name("a.jar"));
        let url = format!("{}{UPLOAD}?sha256={sha256}", front.base);
        http().post(url).bearer_auth("t").multipart(form).send().await.unwrap()
    };
    upstream.says([Says::Bytes(json("200 OK", "{}"))]);
    assert_eq!(send(&hex(&sha256(&content))).await.status(), 200);
    let refused = send(&"0".repeat(64)).await;
    assert_eq!(refused.status(), 400);
    let told: Value = refused.json().await.unwrap();
    assert!(told["data"]["errCode"] == 4000 && told["message"].as_str().unwrap().contains("sha256"), "{told}");
    eventually("the cut at the service", async || upstream.asked().get(1).filter(|asked| asked.is_gone).map(|_| ())).await;
    assert!(upstream.asked()[1].body_bytes < upstream.asked()[0].body_bytes);
    // The service goes on to be asked.
    assert_eq!(send(&hex(&sha256(&content))).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sha256_is_compared_however_it_is_spelled_and_a_form_of_two_readings_never_arrives_whole() {
    let upstream = Upstream::start().await;
    let front = Front::new(&upstream.base).await;
    upstream.says([Says::Bytes(json("200 OK", "{}"))]);
    let right = hex(&sha256(b"good"));
    let part = |head: &str, content: &str| format!("--b\r\n{head}\r\n\r\n{content}\r\n");
    let plain = "Content-Disposition: form-data; name=\"file\"; filename=\"a.jar\"";
    let good = format!("{}--b--\r\n", part(plain, "good"));
    let send = async |query: &str, form: &str| {
        let request = http().post(format!("{}{UPLOAD}?{query}", front.base)).bearer_auth("t");
        let request = request.header("content-type", "multipart/form-data; boundary=b").body(form.to_owned());
        request.send().await.unwrap().status().as_u16()
    };
    let evil = format!("{}--b--\r\n", part(plain, "evil"));
    for query in ["sha256=", "%73ha256=", "forceUpload=true&sha256="].map(|start| format!("{start}{right}")) {
        assert_eq!(send(&query, &good).await, 200, "{query}");
        assert_eq!(send(&query, &evil).await, 400, "{query}");
    }
    let encoded = format!("sha256=%{:02x}{}", right.as_bytes()[0], &right[1..]);
    assert_eq!((send(&encoded, &good).await, send(&encoded, &evil).await), (200, 400));
    let before = upstream.asked().len();
    for query in [format!("sha256={right}&sha256={right}"), "sha256=abc&x".to_owned(), format!("sha256={right}&%73ha256=")] {
        assert_eq!(send(&query, &evil).await, 400, "{query}");
    }
    assert_eq!(upstream.asked().len(), before, "these are not even begun");
    let other = |head: &str| format!("{}{}--b--\r\n", part(plain, "good"), part(head, "evil"));
    for form in [
        other(plain),
        other("Content-Disposition: form-data; name = \"file\""),
        other("Content-Disposition: form-data; name*=utf-8''file"),
        other("Content-Disposition: form-data;\r\n name=\"file\""),
        other("Content-Disposition: form-data; name=\"fi\\le\""),
        other("Content-Disposition : form-data; name=\"file\""),
        part(plain, "good"),
        format!("{}--b--\r\n", part("Content-Disposition: form-data; name=\"note\"", "evil")),
    ] {
        let before = upstream.asked().len();
        assert_eq!(send(&format!("sha256={right}"), &form).await, 400, "{form}");
        eventually("a cut", async || {
            upstream.asked()[before..].iter().all(|asked| asked.is_gone && asked.body_bytes < form.len()).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_headers_of_a_part_may_be_as_long_as_is_set_where_the_file_is_hashed() {
    let upstream = Upstream::start().await;
    let narrow = Front::with(&upstream.base, "[gateway.limits]\npart_head_bytes = 256\n").await;
    let usual = Front::new(&upstream.base).await;
    let hashed = format!("?sha256={}", hex(&sha256(b"good")));
    // With the blank line behind them, the headers of its one part have so many bytes.
    let form = |bytes: usize| {
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\nX-More: ";
        let more = "x".repeat(bytes - head.len() - 4);
        format!("--b\r\n{head}{more}\r\n\r\ngood\r\n--b--\r\n")
    };
    let send = async |front: &Front, query: &str, bytes: usize| {
        let request = http().post(format!("{}{UPLOAD}{query}", front.base)).bearer_auth("t");
        let request = request.header("content-type", "multipart/form-data; boundary=b").body(form(bytes));
        request.send().await.unwrap().status().as_u16()
    };
    for (front, most) in [(&narrow, 256), (&usual, 16 * 1024)] {
        assert_eq!(send(front, &hashed, most).await, 200, "{most}");
        assert_eq!(send(front, "", most + 1).await, 200, "where nothing is hashed nobody reads them");
        let before = upstream.asked().len();
        assert_eq!(send(front, &hashed, most + 1).await, 400, "{most}");
        let whole = form(most + 1).len();
        eventually("a cut", async || {
            upstream.asked()[before..].iter().all(|asked| asked.is_gone && asked.body_bytes < whole).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_says_before_the_body_is_there_is_said_to_the_sender() {
    let upstream = Upstream::start().await;
    let front = Front::new(&upstream.base).await;
    upstream.says([Says::AtOnce(json("403 Forbidden", r#"{"message":"enough"}"#))]);
    let (sender, body) = fed();
    let form = Form::new().part("file", Part::stream(body).file_name("large.war"));
    let upload = http().post(format!("{}{UPLOAD}", front.base)).bearer_auth("t").multipart(form).send();
    let (answer, sent) = tokio::join!(upload, sender.send(Ok(chunk(0))));
    sent.unwrap();
    // The sender still has the other end of its body in its hand.
    let answer = answer.unwrap();
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap().as_str()), (403, r#"{"message":"enough"}"#));
    drop(sender);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_refused_whether_its_length_is_told_or_not() {
    let upstream = Upstream::start().await;
    let front = Front::with(&upstream.base, "[gateway.limits]\nupload_bytes = 200000\njson_bytes = 1024\n").await;
    let bearer = |path: &str| http().post(format!("{}{path}", front.base)).bearer_auth("t");
    let problem = async |answer: reqwest::Result<Response>| {
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 413);
        let told: Value = answer.json().await.unwrap();
        assert!(told["success"] == false && told["message"].as_str().unwrap().contains("larger"), "{told}");
    };
    let search = |bytes: usize| {
        let request = bearer("/scanner/api/v1/tasks/search").header("content-type", "application/json");
        request.body(format!("{{\"projectName\":\"{}\"}}", "x".repeat(bytes)))
    };
    assert_eq!(search(900).send().await.unwrap().status(), 200);
    problem(search(1024).send().await).await;
    assert_eq!(upstream.asked().len(), 1);
    // Nor is it sent for.
    let host = front.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /scanner/api/v1/tasks/search HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t\r\nexpect: 100-continue\r\n\
         content-type: application/json\r\ncontent-length: 1025\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = read_to(&mut stream, "}").await;
    assert!(told.starts_with("HTTP/1.1 413") && !told.contains("100 Continue"), "{told}");
    // What is told to be too large is not begun.
    let form = Form::new().part("file", Part::bytes(vec![0; 200_000]).file_name("a.jar"));
    problem(bearer(UPLOAD).multipart(form).send().await).await;
    assert_eq!(upstream.asked().len(), 1);
    let (sender, body) = fed();
    let form = Form::new().part("file", Part::stream(body).file_name("a.jar"));
    let feed = async {
        for number in 0..8 {
            // It may be refused before all of it was sent.
            let _ = sender.send(Ok(chunk(number))).await;
        }
        drop(sender);
    };
    let (answer, ()) = tokio::join!(bearer(UPLOAD).multipart(form).send(), feed);
    if answer.is_ok() {
        problem(answer).await;
    }
    eventually("the cut at the service", async || upstream.asked().get(1).filter(|asked| asked.is_gone).map(|_| ())).await;
}

/// Sends an upload of this size as it comes; what is answered, whether or not all of it was taken.
async fn push(base: &str, bytes: usize) -> String {
    let host = base.strip_prefix("http://").unwrap();
    let (mut back, mut body) = TcpStream::connect(host).await.unwrap().into_split();
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t\r\ncontent-length: {bytes}\r\n\
         content-type: multipart/form-data; boundary=b\r\n\r\n"
    );
    let sends = async {
        let _ = body.write_all(head.as_bytes()).await;
        let _ = body.write_all(&vec![b'x'; bytes]).await;
        std::future::pending::<()>().await;
    };
    let reads = async {
        let mut all = Vec::new();
        while !all.windows(4).any(|end| end == b"\r\n\r\n") && back.read_buf(&mut all).await.is_ok_and(|read| read > 0) {}
        String::from_utf8_lossy(&all).into_owned()
    };
    tokio::select! {
        () = sends => unreachable!(),
        told = reads => told,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_says_before_it_closes_upon_an_upload_is_heard() {
    let upstream = Upstream::start().await;
    let extra = "[gateway.api.breaker]\nfailures = 3\n";
    let front = Front::with(&upstream.base, extra).await;
    let task = async || http().get(format!("{}/scanner/api/v1/tasks/t", front.base)).bearer_auth("t").send().await.unwrap();
    let large = r#"{"message":"too large"}"#;
    let lines = "content-type: application/json\r\nconnection: close\r\n";
    upstream.says([Says::Abrupt(answer("413 Payload Too Large", lines, large.as_bytes()))]);
    for number in 0..12 {
        let told = push(&front.base, 3 << 20).await;
        assert!(told.starts_with("HTTP/1.1 413"), "{number}: {told}");
    }
    // An option says how long it may take to be read: so short, it need not be heard, but nothing hangs and nothing breaks.
    let hurried = Front::with(&upstream.base, "[gateway.upstream]\nearly_answer_ms = 1\n").await;
    let told = push(&hurried.base, 3 << 20).await;
    assert!(told.starts_with("HTTP/1.1 413") || told.starts_with("HTTP/1.1 502"), "{told}");
    // Without a word it is no answer; and it says nothing of a service that answers others.
    upstream.says([Says::Abrupt(Vec::new())]);
    for _ in 0..4 {
        let told = push(&front.base, 3 << 20).await;
        assert!(told.starts_with("HTTP/1.1 502"), "{told}");
    }
    upstream.says([Says::Bytes(answer("200 OK", "content-type: application/json\r\n", b"{}"))]);
    assert_eq!(task().await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_falls_silent_is_told_that_it_stopped_whoever_notices_first() {
    let upstream = Upstream::start().await;
    let extra = "[gateway.limits]\nbody_idle_seconds = 30\n[gateway.upstream]\nidle_timeout_ms = 500\ntimeout_ms = 500\n";
    let front = Front::with(&upstream.base, extra).await;
    let host = front.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t\r\ncontent-length: 1000\r\n\
         content-type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let told = read_to(&mut stream, "}").await;
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("The upload stopped"), "{told}");
}

#[tokio::test]
async fn an_upload_that_stops_moving_is_cut_on_both_sides_and_one_that_crawls_is_not() {
    let extra = "[gateway.limits]\nbody_idle_seconds = 2\n[gateway.upstream]\ntimeout_ms = 1000\n".to_owned();
    let rig = Rig::new(Setup { extra, ..Setup::default() }).await;
    let (sender, body) = fed();
    let crawls = async {
        for number in 0..8 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            sender.send(Ok(chunk(number))).await.unwrap();
        }
        drop(sender);
    };
    let (answer, ()) = tokio::join!(rig.upload("", body), crawls);
    assert_eq!(answer.unwrap().status(), 200, "no time for the whole");
    let (sender, body) = fed();
    let stops = async { sender.send(Ok(chunk(0))).await.unwrap() };
    let (answer, ()) = tokio::join!(rig.upload("", body), stops);
    // Told, or cut: the sender may not look before it has sent everything.
    assert!(answer.map_or(true, |answer| answer.status() == 400));
    eventually("the cut at the service", async || (rig.replicas.service.desk().cut == 1).then_some(())).await;
}

#[tokio::test]
async fn a_call_under_way_is_finished_before_the_process_ends() {
    let mut rig = Rig::new(Setup::default()).await;
    let (sender, body) = fed();
    let received = rig.replicas.service.desk().received;
    let feed = async {
        for number in 0..16 {
            sender.send(Ok(chunk(number))).await.unwrap();
        }
        eventually("the beginning", async || (rig.replicas.service.desk().received > received).then_some(())).await;
        rig.replicas.all[0].terminate();
        eventually("the word that it ends", async || rig.replicas.logs().contains("asked to end").then_some(())).await;
        for number in 16..32 {
            sender.send(Ok(chunk(number))).await.unwrap();
        }
        drop(sender);
    };
    let query = format!("?sha256={}", hash(32));
    let (answer, ()) = tokio::join!(rig.upload(&query, body), feed);
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    rig.replicas.all[0].ended().await;
}

#[tokio::test]
async fn the_body_of_a_call_is_sent_for_only_when_the_call_is_let_in() {
    let rig = Rig::new(Setup::default()).await;
    let port = rig.replicas.all[0].port;
    let body = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\n\r\nabc\r\n--b--\r\n";
    let head = |bearer: &str| {
        format!(
            "POST {UPLOAD} HTTP/1.1\r\nhost: localhost:{port}\r\nauthorization: Bearer {bearer}\r\nexpect: 100-continue\r\n\
             content-type: multipart/form-data; boundary=b\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
    };
    rig.replicas.service.desk().calls.clear();
    let mut stranger = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stranger.write_all(head("nobody").as_bytes()).await.unwrap();
    let refused = read_to(&mut stranger, "\u{0}").await;
    assert!(refused.starts_with("HTTP/1.1 401") && !refused.contains("100 Continue"), "{refused}");
    assert!(rig.replicas.service.desk().calls.is_empty());
    let mut program = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    program.write_all(head(&rig.key).as_bytes()).await.unwrap();
    assert_eq!(read_to(&mut program, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    program.write_all(body.as_bytes()).await.unwrap();
    let answer = read_to(&mut program, "}").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(rig.replicas.service.desk().calls.len(), 1);
}
