//! Uploads: streamed, hashed on the way, kept for one account, and nothing left of those that fail.

use cardea::platform::digest;
use reqwest::{Body, Method, StatusCode, multipart};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::eventually;
use crate::support::scanner::{ACME, GLOBEX, TestScanner, answer, assert_refused, form, spawn_scanner, spawn_scanner_with};

const UPLOAD: &str = "/api/v1/files/upload";

fn sha256(bytes: &[u8]) -> String {
    digest::hex(&digest::sha256(bytes))
}

/// Files the service keeps, and uploads on their way.
fn left_behind(scanner: &TestScanner) -> (usize, usize) {
    let count = |folder: &str| {
        walkdir::WalkDir::new(scanner.data().join(folder))
            .into_iter()
            .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_type().is_file()))
            .count()
    };
    (count("files"), count("incoming"))
}

async fn nothing_is_left(scanner: &TestScanner) {
    eventually("an empty folder", async || (left_behind(scanner) == (0, 0)).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_answers_with_hash_name_size_and_date() {
    let scanner = spawn_scanner().await;
    let (status, body) =
        answer(scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).multipart(form("a.jar", b"hello".to_vec()))).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(body["sha256"], sha256(b"hello"));
    assert_eq!(body["fileName"], "a.jar");
    assert_eq!(body["size"], 5);
    assert!(body["createdAt"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_may_come_in_chunks_without_a_length() {
    let scanner = spawn_scanner().await;
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let chunks: Vec<Result<Vec<u8>, std::io::Error>> = bytes.chunks(70_000).map(|chunk| Ok(chunk.to_vec())).collect();
    let part = multipart::Part::stream(Body::wrap_stream(futures_util::stream::iter(chunks))).file_name("big.war");
    let upload = scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).multipart(multipart::Form::new().part("file", part));
    let (status, body) = answer(upload).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["sha256"], sha256(&bytes));
    assert_eq!(body["size"], bytes.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hash_that_differs_is_refused_and_nothing_is_kept() {
    let scanner = spawn_scanner().await;
    let path = format!("{UPLOAD}?sha256={}", sha256(b"other"));
    assert_refused(
        answer(scanner.request(Method::POST, &path).bearer_auth(ACME).multipart(form("a.jar", b"hello".to_vec()))).await,
        400,
        4000,
    );
    let check = format!("/api/v1/files/check-exist/{}", sha256(b"hello"));
    assert_refused(scanner.post_nothing(ACME, &check).await, 404, 4040);
    nothing_is_left(&scanner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hash_of_the_right_value_is_accepted_in_any_case() {
    let scanner = spawn_scanner().await;
    let path = format!("{UPLOAD}?sha256={}&forceUpload=true", sha256(b"hello").to_uppercase());
    let (status, _) =
        answer(scanner.request(Method::POST, &path).bearer_auth(ACME).multipart(form("a.jar", b"hello".to_vec()))).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hash_of_the_wrong_length_is_refused() {
    let scanner = spawn_scanner().await;
    let path = format!("{UPLOAD}?sha256=abc");
    assert_refused(
        answer(scanner.request(Method::POST, &path).bearer_auth(ACME).multipart(form("a.jar", b"hello".to_vec()))).await,
        400,
        4000,
    );
    assert_refused(scanner.post_nothing(ACME, "/api/v1/files/check-exist/abc").await, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_exist_answers_with_the_hash_as_a_string() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", b"hello".to_vec()).await;
    let (status, body) = scanner.post_nothing(ACME, &format!("/api/v1/files/check-exist/{hash}")).await;
    assert_eq!((status, body), (StatusCode::OK, json!(hash)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_file_keeps_its_record_unless_forced() {
    let scanner = spawn_scanner().await;
    scanner.upload(ACME, "first.jar", b"hello".to_vec()).await;
    let (_, again) =
        answer(scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).multipart(form("second.jar", b"hello".to_vec()))).await;
    assert_eq!(again["fileName"], "first.jar");
    let forced = scanner.request(Method::POST, &format!("{UPLOAD}?forceUpload=true")).bearer_auth(ACME);
    let (_, forced) = answer(forced.multipart(form("third.jar", b"hello".to_vec()))).await;
    assert_eq!(forced["fileName"], "third.jar");
    assert_eq!(left_behind(&scanner), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_account_does_not_exist() {
    let scanner = spawn_scanner().await;
    let hash = scanner.upload(ACME, "a.jar", b"hello".to_vec()).await;
    assert_refused(scanner.post_nothing(GLOBEX, &format!("/api/v1/files/check-exist/{hash}")).await, 404, 4040);
    let create = json!({"projectName": "theirs", "lang": "JAVA", "primarySourceCode": hash});
    assert_refused(scanner.post(GLOBEX, "/api/v2/tasks", create).await, 400, 4001);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_file_uploaded_many_times_at_once_is_one_file() {
    let scanner = spawn_scanner().await;
    let bytes = vec![7_u8; 300_000];
    let uploads = (0..8).map(|_| scanner.upload(ACME, "a.jar", bytes.clone()));
    let hashes = futures_util::future::join_all(uploads).await;
    assert!(hashes.iter().all(|hash| *hash == sha256(&bytes)));
    assert_eq!(left_behind(&scanner), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_cut_leaves_nothing() {
    let scanner = spawn_scanner().await;
    let mut connection = TcpStream::connect(scanner.base.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /scanner{UPLOAD} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ACME}\r\ntransfer-encoding: chunked\r\n\
         content-type: multipart/form-data; boundary=B\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let body = "--B\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\n\r\nhello";
    connection.write_all(format!("{:x}\r\n{body}\r\n", body.len()).as_bytes()).await.unwrap();
    eventually("the upload on its way", async || (left_behind(&scanner) == (0, 1)).then_some(())).await;
    drop(connection);
    nothing_is_left(&scanner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_stops_moving_is_refused() {
    let scanner = spawn_scanner_with(|settings| settings.upload.idle_seconds = 1).await;
    let mut connection = TcpStream::connect(scanner.base.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /scanner{UPLOAD} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ACME}\r\ncontent-length: 5000\r\n\
         content-type: multipart/form-data; boundary=B\r\n\r\n--B\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nhello"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0_u8; 4096];
    let length = connection.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    nothing_is_left(&scanner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_removes_what_an_upload_left_unfinished() {
    let scanner = spawn_scanner().await;
    std::fs::write(scanner.data().join("incoming/left-over"), b"half").unwrap();
    let scanner = scanner.restart(|_| {}).await;
    assert_eq!(left_behind(&scanner), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_bytes_are_refused_announced_or_not() {
    let scanner = spawn_scanner_with(|settings| settings.upload.max_bytes = 100_000).await;
    let announced = scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).header("connection", "close");
    assert_refused(answer(announced.multipart(form("a.jar", vec![0; 150_000]))).await, 413, 4130);
    let chunks = (0..3).map(|_| Ok::<_, std::io::Error>(vec![0_u8; 50_000]));
    let part = multipart::Part::stream(Body::wrap_stream(futures_util::stream::iter(chunks))).file_name("a.jar");
    let streamed = scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).multipart(multipart::Form::new().part("file", part));
    assert_refused(answer(streamed).await, 413, 4130);
    nothing_is_left(&scanner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_form_or_has_no_file_is_refused() {
    let scanner = spawn_scanner().await;
    let post = || scanner.request(Method::POST, UPLOAD).bearer_auth(ACME);
    assert_refused(answer(post().body("hello")).await, 400, 4000);
    assert_refused(answer(post().json(&json!({"file": "hello"}))).await, 400, 4000);
    assert_refused(answer(post().multipart(multipart::Form::new().text("other", "hello"))).await, 400, 4000);
    let two = form("a.jar", b"one".to_vec()).part("file", multipart::Part::bytes(b"two".to_vec()));
    assert_refused(answer(post().multipart(two)).await, 400, 4000);
    assert_refused(
        answer(
            scanner.request(Method::POST, &format!("{UPLOAD}?forceUpload=maybe")).bearer_auth(ACME).multipart(form("a", vec![1])),
        )
        .await,
        400,
        4000,
    );
    nothing_is_left(&scanner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_name_cannot_lead_elsewhere() {
    let scanner = spawn_scanner().await;
    let name = "../..\\../etc/<svg onload=alert(1)>.jar";
    let (status, body) =
        answer(scanner.request(Method::POST, UPLOAD).bearer_auth(ACME).multipart(form(name, b"hello".to_vec()))).await;
    assert_eq!(status, StatusCode::OK);
    let kept = body["fileName"].as_str().unwrap();
    assert!(!kept.contains(['/', '\\']), "{kept}");
    assert_eq!(left_behind(&scanner), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_name_is_taken_as_it_was_sent_without_its_folders() {
    let scanner = spawn_scanner().await;
    let cases = [
        (r#"filename="a %22quoted%22.jar""#, "a \"quoted\".jar"),
        (r#"filename="say \"hi\".jar""#, "say \"hi\".jar"),
        (r#"filename="line%0D%0Abreak.jar""#, "linebreak.jar"),
        (r#"filename="50%20.jar""#, "50%20.jar"),
        (r#"filename="C:\work\new\shop.jar""#, "shop.jar"),
        (r#"filename="../../etc/passwd""#, "passwd"),
        (r#"filename="订单.jar""#, "订单.jar"),
        (r"filename=x.jar; filename*=utf-8''%e8%ae%a2%e5%8d%95.jar", "订单.jar"),
        (r#"filename="..""#, "file"),
        (r#"filename="""#, "file"),
    ];
    for (nth, (sent, kept)) in cases.into_iter().enumerate() {
        let body = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; {sent}\r\n\r\nbytes {nth}\r\n--b--\r\n");
        let request = scanner.request(Method::POST, UPLOAD).bearer_auth(ACME);
        let (status, body) = answer(request.header("content-type", "multipart/form-data; boundary=b").body(body)).await;
        assert_eq!((status, &body["fileName"]), (StatusCode::OK, &json!(kept)), "{sent}: {body}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn everything_in_the_data_folder_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let scanner = spawn_scanner().await;
    scanner.scanned(ACME, "shop.war", crate::support::jar::vulnerable_war()).await;
    let (data, clock) = (scanner.data().to_owned(), scanner.clock.clone());
    let record = tempfile::NamedTempFile::with_suffix(".json").unwrap();
    let advisory = json!({"id": "GHSA-mine", "modified": "2026-01-01T00:00:00Z", "summary": "x", "severity": [], "affected": [{
        "package": {"ecosystem": "Maven", "name": "com.example:a"},
        "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]
    }]});
    std::fs::write(record.path(), advisory.to_string()).unwrap();
    let path = record.path().to_owned();
    tokio::task::spawn_blocking(move || cardea::scanner::import_advisories(&data, &path, &clock).unwrap()).await.unwrap();
    let mut seen = Vec::new();
    for entry in walkdir::WalkDir::new(scanner.data()).min_depth(1) {
        let entry = entry.unwrap();
        let wanted = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, wanted, "{:o} of {}", mode, entry.path().display());
        seen.push(entry.file_name().to_string_lossy().into_owned());
    }
    for name in ["scanner.redb", "seal.key", "files", "incoming", "advisories", "advisories.jsonl"] {
        assert!(seen.iter().any(|seen| seen == name), "{name}: {seen:?}");
    }
}
