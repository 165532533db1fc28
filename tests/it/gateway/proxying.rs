//! What goes through a gateway, byte by byte: nothing of the caller's own that is not on the list, nothing of the service's
//! either, bodies as they come, and an end on one side that is an end on the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::support::client::http;
use crate::support::front::Front;
use crate::support::upstream::{Asked, Says, Upstream, answer, json};
use crate::support::{eventually, read_to};

struct Rig {
    upstream: Upstream,
    front: Front,
    client: Client,
}

impl Rig {
    async fn new() -> Self {
        let upstream = Upstream::start().await;
        let front = Front::new(&upstream.base).await;
        Self { upstream, front, client: http() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/scanner{path}", self.front.base)).bearer_auth("token-of-alice")
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    /// Sends bytes as they are, and reads until the other side closes or falls silent.
    async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        let mut all = Vec::new();
        let _ = tokio::time::timeout(Duration::from_millis(700), stream.read_to_end(&mut all)).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.host()).await.unwrap()
    }

    fn host(&self) -> &str {
        self.front.base.strip_prefix("http://").unwrap()
    }
}

fn names(asked: &Asked) -> Vec<String> {
    let lines = asked.head.lines().skip(1).filter(|line| !line.is_empty());
    let mut names: Vec<String> = lines.map(|line| line.split(':').next().unwrap().to_ascii_lowercase()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_sees_the_listed_headers_and_ours_and_the_caller_none_of_its_own() {
    let rig = Rig::new().await;
    let headers = "content-type: application/json\r\nset-cookie: sid=1\r\nserver: secret/1\r\nalt-svc: h3=\":1\"\r\n\
                   x-powered-by: x\r\nconnection: keep-alive, x-inner\r\nx-inner: 1\r\netag: \"7\"\r\nx-request-id: theirs\r\n";
    rig.upstream.says([Says::Bytes(answer("200 OK", headers, b"{}"))]);
    let request = rig
        .request(Method::GET, "/api/v1/tasks/t1?a=%20+%2B&a=&b")
        .header("accept", "application/json")
        .header("if-none-match", "\"8\"")
        .header("x-user-language", "zh")
        .header("x-forwarded-user", "eve")
        .header("x_forwarded_user", "eve")
        .header("x-forwarded-for", "6.6.6.6")
        .header("x-tenant-id", "globex")
        .header("forwarded", "for=6.6.6.6")
        .header("x-real-ip", "6.6.6.6")
        .header("te", "trailers")
        .header("proxy-authorization", "Basic eDp5")
        .header("x-foo", "1")
        .header("x-request-id", "mine")
        .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0b1902b7-01");
    let answer = request.send().await.unwrap();
    let asked = &rig.upstream.asked()[0];
    assert!(asked.head.starts_with("GET /scanner/api/v1/tasks/t1?a=%20+%2B&a=&b HTTP/1.1\r\n"), "{}", asked.head);
    let ours = ["authorization", "host", "traceparent", "user-agent", "x-request-id"];
    let mut expected = [&ours[..], &["accept", "if-none-match", "x-user-language"]].concat();
    expected.sort_unstable();
    assert_eq!(names(asked), expected);
    assert!(asked.head.contains("authorization: Bearer token-of-alice\r\n"));
    assert!(asked.head.contains("00-4bf92f3577b34da6a3ce929d0e0e4736-") && !asked.head.contains("00f067aa0b1902b7"));
    let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert!(asked.head.contains(&format!("x-request-id: {id}\r\n")), "one id on both sides");
    for name in ["set-cookie", "server", "alt-svc", "x-powered-by", "x-inner"] {
        assert!(!answer.headers().contains_key(name), "{name}");
    }
    assert_eq!(answer.headers()["etag"], "\"7\"");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_can_be_read_in_two_ways_never_leaves_the_gateway() {
    let rig = Rig::new().await;
    let long = format!("/scanner/api/v1/tasks/{}", "a".repeat(16 * 1024));
    for path in [
        "/scanner/api/v1/tasks/..%2f..%2fbiz",
        "/scanner/api/v1/tasks/%2e%2e/x",
        "/scanner/api/v1/tasks/../../../biz",
        "/scanner//api/v1/tasks/1",
        "/scanner/api/v1/tasks/a\\b",
        "/scanner/api/v1/tasks/%5c",
        "/scanner/api/v1/tasks/%00",
        "/scanner/api/v1/tasks/%252e",
        "/scanner/api/v1/tasks/1;v=1",
        "/scanner/api/v1/tasks/%c0%af",
        "/scanner/api/v1/tasks/1/.",
        "/scanner/api/v1/tasks/a#/../../x",
        "/scanner/api/v1/tasks/a?b#c",
        "/scanner/api/v2/other",
        "/scanner/api/v1/tasks/%74%61%73k/results",
        "/biz/api/v1/auth/clerk/other",
        &long,
    ] {
        let host = rig.host().to_owned();
        let said = rig
            .raw(
                format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer t\r\nconnection: close\r\n\r\n").as_bytes(),
            )
            .await;
        let status = said.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(["400", "404", "414", "431"].contains(&&*status), "{path}: {said}");
    }
    assert!(rig.upstream.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fragment_is_refused_in_words_on_every_request_of_a_connection_and_a_long_path_is_414() {
    let rig = Rig::new().await;
    let mut stream = rig.connect().await;
    let ask =
        |path: &str| format!("GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\nx-note: #1\r\n\r\n", rig.host());
    let long = format!("/scanner/api/v1/tasks/{}", "a".repeat(2_100));
    for (path, status) in [
        ("/scanner/api/v1/tasks/a", "200"),
        ("/scanner/api/v1/tasks/a#b", "400"),
        ("/scanner/api/v1/tasks/a?b=c#d", "400"),
        ("/scanner/api/v1/tasks/a?b=c", "200"),
        (&long, "414"),
    ] {
        stream.write_all(ask(path).as_bytes()).await.unwrap();
        let said = read_to(&mut stream, "}").await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {said}");
        assert!(status == "200" || said.contains("errCode"), "{said}");
        // The rest of the document.
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.read(&mut [0; 4096])).await;
    }
    assert_eq!(rig.upstream.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_has_said_all_and_reads_on_is_answered() {
    let rig = Rig::new().await;
    let (pieces, more) = mpsc::channel(1);
    rig.upstream.says([Says::Then(Vec::new(), Arc::new(tokio::sync::Mutex::new(more)))]);
    let mut stream = rig.connect().await;
    let head = format!("GET /scanner/api/v2/tasks/t/report HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\n\r\n", rig.host());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    // It is asked whether it reads, which no client minds.
    assert_eq!(read_to(&mut stream, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    let begun = b"HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n";
    pieces.send(begun.to_vec()).await.unwrap();
    let first = read_to(&mut stream, "abc").await;
    assert!(first.starts_with("HTTP/1.1 200 OK"), "{first}");
    pieces.send(b"3\r\ndef\r\n0\r\n\r\n".to_vec()).await.unwrap();
    let last = read_to(&mut stream, "\r\n0\r\n").await;
    assert!(last.contains("def"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_chunks_is_as_long_as_they_are_whatever_else_it_says_of_its_length() {
    let rig = Rig::new().await;
    for length in [0, 2, 10] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ncontent-length: {length}\r\n");
        let whole = format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        rig.upstream.says([Says::Bytes(whole.into_bytes())]);
        let mut stream = rig.connect().await;
        let path = "/scanner/api/v2/tasks/t/report";
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\n\r\n", rig.host());
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = read_to(&mut stream, "\r\n0\r\n").await.to_lowercase();
        assert!(answer.contains("hello") && !answer.contains("content-length"), "{length}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_the_service_passes_whatever_its_status_and_what_it_lacks_is_told() {
    let rig = Rig::new().await;
    let body = r#"{"success":false,"message":"no","data":{"errCode":1010,"errDetail":"no"}}"#;
    rig.upstream.says([Says::Bytes(json("500 Internal Server Error", body))]);
    let answer = rig.request(Method::GET, "/api/v1/tasks/t").send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap().as_str()), (500, body));
    assert_eq!(rig.upstream.asked().len(), 1, "1010 is never asked again");
    rig.upstream.says([Says::Bytes(answer_of_range())]);
    let part = rig.request(Method::GET, "/api/v2/tasks/t/report").header("range", "bytes=0-3").header("if-range", "\"r\"");
    let part = part.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!((part.status().as_u16(), part.headers()["content-range"].to_str().unwrap()), (206, "bytes 0-3/10"));
    assert_eq!(part.headers()["content-encoding"], "gzip");
    assert_eq!(part.headers()["content-disposition"], "attachment; filename=\"x.html\"");
    let asked = rig.upstream.asked().pop().unwrap().head;
    for line in ["range: bytes=0-3\r\n", "if-range: \"r\"\r\n", "accept-encoding: gzip\r\n"] {
        assert!(asked.contains(line), "{asked}");
    }
    rig.upstream.says([Says::Bytes(b"HTTP/1.1 304 Not Modified\r\netag: \"r\"\r\n\r\n".to_vec())]);
    let same = rig.request(Method::GET, "/api/v2/tasks/t/report").header("if-none-match", "\"r\"").send().await.unwrap();
    assert_eq!((same.status().as_u16(), same.headers()["etag"].to_str().unwrap()), (304, "\"r\""));
    rig.upstream
        .says([Says::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 1234\r\ncontent-type: application/pdf\r\n\r\n".to_vec())]);
    let head = rig.request(Method::HEAD, "/api/v2/tasks/t/report").send().await.unwrap();
    assert_eq!((head.status().as_u16(), head.headers()["content-length"].to_str().unwrap()), (200, "1234"));
    assert!(rig.upstream.asked().pop().unwrap().head.starts_with("HEAD /scanner/api/v2/tasks/t/report HTTP/1.1\r\n"));
}

fn answer_of_range() -> Vec<u8> {
    let headers = "content-type: text/html\r\ncontent-encoding: gzip\r\ncontent-range: bytes 0-3/10\r\n\
                   content-disposition: inline; filename=\"../x.html\"\r\n";
    answer("206 Partial Content", headers, b"abcd")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_connection_names_passes_in_neither_direction_and_a_trace_of_several_lines_passes_whole() {
    let rig = Rig::new().await;
    let lines = "content-type: application/pdf\r\netag: \"1\"\r\nx-user-language: en\r\nconnection: keep-alive, ETag\r\n";
    rig.upstream.says([Says::Bytes(answer("200 OK", lines, b"%PDF"))]);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0b1902b7-01";
    let ask = async |lines: &str| {
        let path = "/scanner/api/v2/tasks/t/report";
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\n{lines}\r\n", rig.host());
        let mut stream = rig.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        (read_to(&mut stream, "%PDF").await, rig.upstream.asked().pop().unwrap().head)
    };
    let trace = format!("traceparent: {parent}\r\ntracestate: a=1\r\ntracestate: b=2, c=3\r\n");
    let named =
        "range: bytes=0-1\r\nlast-event-id: 7\r\naccept: a/b\r\nconnection: Range,keep-alive\r\nconnection: last-event-id\r\n";
    let (told, asked) = ask(&format!("{trace}{named}")).await;
    assert!(asked.contains("accept: a/b\r\n") && !asked.contains("range:") && !asked.contains("last-event-id"), "{asked}");
    assert!(asked.contains("tracestate: a=1,b=2, c=3\r\n"), "{asked}");
    assert!(told.contains("x-user-language: en") && !told.contains("etag"), "{told}");
    for odd in [format!("{trace}connection: traceparent\r\n"), format!("{trace}traceparent: {parent}\r\n")] {
        let (_, asked) = ask(&odd).await;
        assert!(!asked.contains("4bf92f3577b34da6a3ce929d0e0e4736") && !asked.contains("tracestate"), "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_protocol_and_a_browsers_question_for_a_password_never_pass() {
    let rig = Rig::new().await;
    rig.upstream
        .says([Says::Bytes(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nraw".to_vec())]);
    for (verb, path) in [("GET", "/api/v1/tasks/t"), ("GET", "/api/v2/tasks/t/report"), ("POST", "/api/v2/tasks")] {
        let host = rig.host();
        let lines = "authorization: Bearer t\r\nconnection: upgrade\r\nupgrade: x\r\ncontent-length: 2\r\n";
        let told = rig.raw(format!("{verb} /scanner{path} HTTP/1.1\r\nhost: {host}\r\n{lines}\r\n{{}}").as_bytes()).await;
        assert!(told.starts_with("HTTP/1.1 502") && told.contains("errCode") && !told.contains("raw"), "{told}");
    }
    let bearer = "Bearer error=\"invalid_token\"";
    for (status, challenge, left) in [
        ("401 Unauthorized", "Basic realm=\"x\"", vec!["Bearer"]),
        ("401 Unauthorized", bearer, vec![bearer]),
        ("401 Unauthorized", "Negotiate", vec!["Bearer"]),
        ("403 Forbidden", "Basic realm=\"x\"", vec![]),
        ("200 OK", bearer, vec![]),
    ] {
        for path in ["/api/v1/tasks/t", "/api/v2/tasks/t/report"] {
            rig.upstream.says([Says::Bytes(answer(status, &format!("www-authenticate: {challenge}\r\n"), b"{}"))]);
            let answer = rig.request(Method::GET, path).header("accept-language", challenge).send().await.unwrap();
            assert_eq!(answer.status().as_u16().to_string(), status[..3]);
            let all: Vec<_> = answer.headers().get_all("www-authenticate").iter().collect();
            assert_eq!(all, left, "{status} {challenge}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_browser_could_show_as_a_page_is_a_file_under_its_own_name() {
    let rig = Rig::new().await;
    let ask = async |lines: &str| {
        rig.upstream.says([Says::Bytes(answer("200 OK", lines, b"<x/>"))]);
        let answer = rig.request(Method::GET, "/api/v2/tasks/t/report").send().await.unwrap();
        answer.headers().get("content-disposition").map(|value| value.to_str().unwrap().to_owned())
    };
    for media in [
        "text/html",
        "Text/HTML; charset=utf-8",
        "application/xhtml+xml",
        "IMAGE/SVG+XML",
        "text/xml",
        "application/xml;q=1",
        "application/pdf\r\ncontent-type: text/html",
        "application/pdf, text/html",
    ] {
        assert_eq!(ask(&format!("content-type: {media}\r\n")).await.as_deref(), Some("attachment"), "{media}");
    }
    assert_eq!(ask("content-type: application/pdf\r\n").await, None);
    let named = "content-type: application/pdf\r\ncontent-disposition: inline; filename*=UTF-8''%E8%AE%A2%E5%8D%95.pdf\r\n";
    let told = "attachment; filename=\"pdf\"; filename*=UTF-8''%E8%AE%A2%E5%8D%95.pdf";
    assert_eq!(ask(named).await.as_deref(), Some(told));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_may_store_what_can_be_asked_for_again_and_what_the_service_lets_it() {
    let rig = Rig::new().await;
    let create = "/api/v2/tasks";
    for (method, path, lines, expected) in [
        (Method::GET, "/api/v2/tasks/t/report", "etag: \"1\"\r\n", "private, no-cache"),
        (
            Method::GET,
            "/api/v2/tasks/t/report",
            "etag: \"1\"\r\ncache-control: max-age=9\r\ncache-control: No-Store\r\n",
            "no-store",
        ),
        (Method::GET, "/api/v2/tasks/t/report", "", "no-store"),
        (Method::GET, "/api/v1/tasks/a", "", "private, no-cache"),
        (Method::GET, "/api/v1/tasks/b", "etag: \"1\"\r\ncache-control: no-store\r\n", "no-store"),
        (Method::POST, "/api/v1/tasks/search", "", "no-store"),
        (Method::POST, create, "etag: \"1\"\r\n", "no-store"),
    ] {
        let lines = format!("content-type: application/json\r\n{lines}");
        rig.upstream.says([Says::Bytes(answer("200 OK", &lines, b"{}"))]);
        let request = rig.request(method.clone(), path);
        let request = if method == Method::POST { request.json(&serde_json::json!({})) } else { request };
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["cache-control"], expected, "{method} {path} {lines}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_compressed_is_refused_before_the_service_is_asked() {
    let rig = Rig::new().await;
    let send = async |path: &str, media: &str, coding: &str| {
        let request = rig.request(Method::POST, path).header("content-type", media).header("content-encoding", coding);
        request.body("{}").send().await.unwrap()
    };
    let form = "multipart/form-data; boundary=b";
    for coding in ["gzip", "identity, br", "GZIP"] {
        for (path, media) in [("/api/v1/tasks/search", "application/json"), ("/api/v1/files/upload", form)] {
            let refused = send(path, media, coding).await;
            assert_eq!((refused.status().as_u16(), refused.headers()["accept-encoding"].to_str().unwrap()), (415, "identity"));
            let told: Value = refused.json().await.unwrap();
            assert!(told["message"].as_str().unwrap().contains("Content-Encoding"), "{told}");
        }
    }
    assert!(rig.upstream.asked().is_empty());
    assert_eq!(send("/api/v1/tasks/search", "application/json", "Identity").await.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_counts_tells_what_is_left() {
    let rig = Rig::new().await;
    let url = |path: &str| format!("{}/scanner{path}", rig.front.base);
    let task = "/api/v1/tasks/t";
    for (request, status) in [
        (rig.client.get(url(task)), 401),
        (rig.client.get(url(task)).bearer_auth("t").header("cookie", "cardea=x"), 400),
        (rig.client.get(url("/api/v1/shares/public/nobody-has-this")), 403),
        (rig.request(Method::POST, "/api/v1/tasks/search").header("content-encoding", "gzip").body("{}"), 415),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status);
        for name in ["ratelimit", "ratelimit-policy"] {
            assert!(answer.headers().contains_key(name), "{status}: {:?}", answer.headers());
        }
    }
    let nowhere = rig.request(Method::GET, "/api/v9/nothing").send().await.unwrap();
    assert!(nowhere.status() == 404 && !nowhere.headers().contains_key("ratelimit"), "{:?}", nowhere.headers());
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_tried_again_and_changes_never() {
    let rig = Rig::new().await;
    let bad = || Says::Bytes(json("503 Service Unavailable", "{}"));
    rig.upstream.says([bad(), Says::Bytes(json("200 OK", "{\"taskId\":\"t\"}"))]);
    assert_eq!(rig.get("/api/v1/tasks/t").await.0, StatusCode::OK);
    assert_eq!(rig.upstream.asked().len(), 2);
    rig.upstream.says([bad()]);
    let create = rig.request(Method::POST, "/api/v2/tasks").json(&serde_json::json!({})).send().await.unwrap();
    assert_eq!((create.status().as_u16(), rig.upstream.asked().len()), (503, 3));
    for says in [Says::Hangup, Says::Bytes(b"HTTP/1.1 garbage\r\n\r\n".to_vec())] {
        rig.upstream.says([says]);
        let before = rig.upstream.asked().len();
        let create = rig.request(Method::POST, "/api/v2/tasks").json(&serde_json::json!({})).send().await.unwrap();
        let status = create.status().as_u16();
        let told: Value = create.json().await.unwrap();
        assert_eq!((status, rig.upstream.asked().len()), (502, before + 1), "{told}");
        assert!(told["data"]["errCode"].is_u64() && told["request_id"].is_string(), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_passes_unchanged_while_it_comes_and_a_caller_that_goes_takes_it_along() {
    let rig = Rig::new().await;
    rig.upstream.says([Says::Bytes(json("200 OK", "{\"sha256\":\"x\"}"))]);
    let form = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\x00\xff\r\n--b--\r\n";
    let request = rig.request(Method::POST, "/api/v1/files/upload").header("content-type", "multipart/form-data; boundary=b");
    assert_eq!(request.body(form.to_vec()).send().await.unwrap().status(), StatusCode::OK);
    let asked = rig.upstream.asked().pop().unwrap();
    assert_eq!((asked.body.as_slice(), asked.body_bytes), (form.as_slice(), form.len()));
    assert!(asked.head.contains("content-type: multipart/form-data; boundary=b\r\n"));
    // Half a body, then nobody.
    let mut stream = rig.connect().await;
    let head = format!(
        "POST /scanner/api/v1/files/upload HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\ncontent-length: 1000\r\n\
         content-type: multipart/form-data; boundary=b\r\n\r\n--b\r\n",
        rig.host()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    eventually("the beginning", async || rig.upstream.asked().get(1).filter(|asked| asked.body_bytes == 5).map(|_| ())).await;
    let left = Instant::now();
    drop(stream);
    eventually("the end", async || rig.upstream.asked()[1].is_gone.then_some(())).await;
    assert!(left.elapsed() < Duration::from_secs(1), "{:?}", left.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_while_the_service_thinks_or_sends_is_gone_there_within_a_second() {
    let rig = Rig::new().await;
    let (_pieces, more) = mpsc::channel(1);
    let sends = Says::Then(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n".to_vec(),
        Arc::new(tokio::sync::Mutex::new(more)),
    );
    for (at, says) in [Says::Silence, sends].into_iter().enumerate() {
        rig.upstream.says([says]);
        let mut stream = rig.connect().await;
        let head =
            format!("GET /scanner/api/v2/tasks/t/report HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer t\r\n\r\n", rig.host());
        stream.write_all(head.as_bytes()).await.unwrap();
        rig.upstream.asked_times(at + 1).await;
        if at == 1 {
            let mut some = [0; 64];
            assert!(stream.read(&mut some).await.unwrap() > 0);
        }
        let left = Instant::now();
        drop(stream);
        eventually("the end", async || rig.upstream.asked()[at].is_gone.then_some(())).await;
        assert!(left.elapsed() < Duration::from_secs(1), "{at}: {:?}", left.elapsed());
    }
}

/// A request of a program, or of a proxy in front of us, that speaks HTTP/1.0.
fn old(rig: &Rig, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer t\r\nconnection: keep-alive\r\n\r\n", rig.host())
        .into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_unknown_length_has_no_chunks_in_http_1_0_and_ends_with_its_connection() {
    let rig = Rig::new().await;
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n".to_vec();
    for is_whole in [true, false] {
        let (pieces, more) = mpsc::channel(1);
        rig.upstream.says([Says::Then(head.clone(), Arc::new(tokio::sync::Mutex::new(more)))]);
        let mut stream = rig.connect().await;
        stream.write_all(&old(&rig, "/scanner/api/v2/tasks/t/report")).await.unwrap();
        let first = read_to(&mut stream, "abc").await.to_lowercase();
        assert!(first.starts_with("http/1.0 200 ok\r\n") && first.ends_with("\r\n\r\nabc"), "{first}");
        for name in ["transfer-encoding:", "content-length:", "keep-alive"] {
            assert!(!first.contains(name), "{name}: {first}");
        }
        if is_whole {
            pieces.send(b"3\r\ndef\r\n0\r\n\r\n".to_vec()).await.unwrap();
        } else {
            pieces.send(b"3\r\ndef\r\n".to_vec()).await.unwrap();
            assert_eq!(read_to(&mut stream, "def").await, "def");
        }
        drop(pieces);
        let mut rest = Vec::new();
        let end = stream.read_to_end(&mut rest).await;
        if is_whole {
            assert_eq!((end.unwrap(), rest.as_slice()), (3, b"def".as_slice()));
        } else {
            assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset, "a cut body does not look whole");
        }
    }
    // What has a length keeps it, and its connection.
    rig.upstream.says([Says::Bytes(json("200 OK", "{}"))]);
    let mut stream = rig.connect().await;
    for _ in 0..2 {
        stream.write_all(&old(&rig, "/scanner/api/v1/tasks/t1")).await.unwrap();
        let said = read_to(&mut stream, "{}").await.to_lowercase();
        assert!(said.contains("content-length: 2\r\n") && said.contains("connection: keep-alive\r\n"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_of_http_1_0_that_goes_is_gone_at_the_service_and_one_that_only_sends_no_more_has_its_answer() {
    let rig = Rig::new().await;
    rig.upstream.says([Says::Silence]);
    let mut stream = rig.connect().await;
    stream.write_all(&old(&rig, "/scanner/api/v1/tasks/gone")).await.unwrap();
    rig.upstream.asked_times(1).await;
    let left = Instant::now();
    drop(stream);
    eventually("the end", async || rig.upstream.asked()[0].is_gone.then_some(())).await;
    assert!(left.elapsed() < Duration::from_secs(5), "{:?}", left.elapsed());

    let (pieces, more) = mpsc::channel(1);
    rig.upstream.says([Says::Then(Vec::new(), Arc::new(tokio::sync::Mutex::new(more)))]);
    let mut stream = rig.connect().await;
    stream.write_all(&old(&rig, "/scanner/api/v1/tasks/half")).await.unwrap();
    stream.shutdown().await.unwrap();
    rig.upstream.asked_times(2).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    pieces.send(json("200 OK", "{}")).await.unwrap();
    let said = read_to(&mut stream, "{}").await;
    assert!(said.starts_with("HTTP/1.0 200"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_comes_piece_by_piece_and_a_cut_one_is_seen_to_be_cut() {
    let rig = Rig::new().await;
    let (pieces, more) = mpsc::channel(1);
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream;charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    rig.upstream.says([Says::Then(head, Arc::new(tokio::sync::Mutex::new(more)))]);
    let mut answer = rig.request(Method::GET, "/api/v2/tasks/t/report").header("last-event-id", "7").send().await.unwrap();
    assert!(rig.upstream.asked()[0].head.contains("last-event-id: 7\r\n"));
    for number in 0..3 {
        // The next piece is only sent when the last has arrived: nothing waits in between.
        pieces.send(format!("8\r\ndata: {number}\n\r\n").into_bytes()).await.unwrap();
        assert_eq!(answer.chunk().await.unwrap().unwrap(), format!("data: {number}\n"));
    }
    drop(pieces);
    assert!(answer.chunk().await.is_err(), "no end was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_used_again_and_one_that_the_service_closed_costs_nobody_anything() {
    let rig = Rig::new().await;
    for _ in 0..5 {
        assert_eq!(rig.get("/api/v1/tasks/t").await.0, StatusCode::OK);
    }
    assert_eq!(rig.upstream.connections(), 1);
    let closing = answer("200 OK", "content-type: application/json\r\nconnection: close\r\n", b"{}");
    rig.upstream.says([Says::Bytes(closing)]);
    for _ in 0..3 {
        assert_eq!(rig.get("/api/v1/tasks/t").await.0, StatusCode::OK);
    }
}
