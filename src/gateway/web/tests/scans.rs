//! From the list of tasks to the report: what a browser of a signed-in person gets.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::scan_bench::{Answer, Bench};
use crate::platform::digest::{hex, sha256};

fn task(at: usize, status: &str) -> Value {
    json!({"taskId": format!("t{at}"), "projectName": format!("shop {at}"), "taskStatus": status, "lang": "JAVA",
        "createdAt": "2026-11-28T01:00:00Z", "createdBy": "alice", "resultsStat": {"total": 2, "criticalCount": 1, "lowCount": 1}})
}

fn finding(at: usize, severity: &str) -> Value {
    json!({"vulId": format!("v{at}"), "taskId": "t0", "severity": severity, "title": format!("Flaw number {at}"), "cveIds": [format!("CVE-2026-{at}")],
        "component": {"name": "org.example:lib", "version": "1.0", "path": "a.war!/lib.jar"}, "fixedVersion": "1.1"})
}

fn within(what: &str, done: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_list_of_ten_thousand_tasks_is_walked_page_by_page() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = (0..10_000).map(|at| task(at, "SUCCESS")).collect();
    let first = bench.get("/tasks");
    assert_eq!(first.status, 200);
    assert!(
        first.text().contains("10,000 tasks, page 1 of 200") && first.text().contains("href=\"/tasks?page=2\""),
        "{}",
        first.text()
    );
    assert!(first.body.len() < 300_000);
    let last = bench.get("/tasks?page=200");
    assert!(last.text().contains(">shop 9999<") && !last.text().contains("rel=\"next\""));
    let beyond = bench.get("/tasks?page=201&status=finished");
    assert_eq!((beyond.status, beyond.header("location").as_str()), (303, "/tasks?status=finished&page=200"));
}

#[test]
fn filters_live_in_the_address_whether_the_service_knows_them_or_not() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = (0..300).map(|at| task(at, if at == 250 { "FAILED" } else { "SUCCESS" })).collect();
    for plain in [false, true] {
        bench.service.plain.store(plain, Ordering::SeqCst);
        let found = bench.get("/tasks?status=failed&project=shop").text();
        assert!(found.contains("1 task") && found.contains(">shop 250<") && !found.contains(">shop 1<"), "{found}");
        assert!(found.contains("value=\"failed\" checked") && found.contains("value=\"shop\""));
    }
    let nothing = bench.get("/tasks?status=running&project=%3Cscript%3E").text();
    assert!(
        nothing.contains("status is Running") && nothing.contains("Clear the filters") && !nothing.contains("<script>"),
        "{nothing}"
    );
    let refused = bench.get("/tasks?status=bogus");
    assert!(refused.status == 400 && refused.text().contains("bogus"));
}

#[test]
fn a_form_without_the_session_s_token_uploads_nothing() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let answer = bench.multipart(&format!("{draft}/artifact"), "", &[("csrf", "other")], "shop.war", b"PK");
    assert_eq!(answer.status, 403);
    assert_eq!(bench.multipart("/uploads", "", &[], "shop.war", b"PK").status, 403);
    let foreign = bench.head("POST", "/tasks/new", "").replace("same-origin", "cross-site");
    assert_eq!(bench.send(&foreign, b"").status, 403);
    assert_eq!(bench.service.received.load(Ordering::SeqCst), 0);
}

/// As the page's script sends a file.
fn script_upload(bench: &Bench, query: &str, file: &[u8]) -> Answer {
    let more = format!("x-csrf-token: {}\r\nsec-fetch-mode: cors\r\n", bench.csrf);
    bench.multipart(&format!("/uploads{query}"), &more, &[], "shop.war", file)
}

#[test]
fn a_script_asks_first_and_then_sends() {
    let bench = Bench::new();
    let hash = hex(&sha256(b"PK"));
    let exists = |bench: &Bench| bench.get(&format!("/uploads/{hash}")).text();
    assert_eq!(exists(&bench), "{\"exists\":false}");
    let stored = script_upload(&bench, &format!("?sha256={hash}"), b"PK");
    assert_eq!((stored.status, stored.text()), (200, format!("{{\"sha256\":\"{hash}\"}}")));
    assert_eq!(exists(&bench), "{\"exists\":true}");
    assert_eq!(bench.get("/uploads/xyz").status, 404);
}

#[test]
fn a_file_that_changed_on_the_way_is_refused_and_not_stored() {
    let bench = Bench::new();
    let refused = script_upload(&bench, &format!("?sha256={}", "0".repeat(64)), &vec![7; 3_000_000]);
    assert_eq!(refused.status, 400);
    let problem: Value = serde_json::from_slice(&refused.body).unwrap();
    assert!(problem["message"].as_str().unwrap().contains("changed on the way"), "{problem}");
    assert!(bench.service.files.lock().unwrap().is_empty());
    assert_eq!(script_upload(&bench, "?sha256=abc", b"PK").status, 400);
}

#[test]
fn a_file_above_the_limit_is_refused_announced_or_not() {
    let bench = Bench::new();
    let announced = script_upload(&bench, "", &vec![7; 9_500_000]);
    assert_eq!(announced.status, 413, "{}", announced.text());
    assert_eq!(bench.service.received.load(Ordering::SeqCst), 0);
    let streamed = script_upload(&bench, "", &vec![7; 8_000_001]);
    assert!(streamed.status == 413 && streamed.text().contains("larger than 8 MB"), "{}", streamed.text());
    assert!(bench.service.files.lock().unwrap().is_empty());
}

#[test]
fn a_sender_that_falls_silent_or_goes_away_leaves_nothing_behind() {
    let bench = Bench::new();
    let more = format!(
        "x-csrf-token: {}\r\nsec-fetch-mode: cors\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 5000000\r\n",
        bench.csrf
    );
    let mut start = bench.head("POST", "/uploads", &more).into_bytes();
    start.extend_from_slice(b"--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\n\r\n");
    start.extend_from_slice(&vec![7; 300_000]);

    let mut silent = bench.connect();
    silent.write_all(&start).unwrap();
    let refused = Answer::read(&mut silent);
    assert!(refused.status == 400 && refused.text().contains("stopped before it was whole"), "{}", refused.text());

    let before = bench.service.received.load(Ordering::SeqCst);
    let mut gone = bench.connect();
    gone.write_all(&start).unwrap();
    within("the first bytes reach the service", || bench.service.received.load(Ordering::SeqCst) > before);
    drop(gone);
    assert_eq!(bench.get("/tasks").status, 200);
    assert!(bench.service.files.lock().unwrap().is_empty());
}

fn event(lines: &mut impl Iterator<Item = String>) -> Value {
    let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
    serde_json::from_str(&data).unwrap()
}

#[test]
fn a_live_status_follows_the_task_to_its_end() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![task(0, "RUNNING")];
    let mut stream = bench.connect();
    stream.write_all(bench.head("GET", "/tasks/t0/live", "").as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(
        head.iter().any(|line| line == "content-type: text/event-stream")
            && head.iter().any(|line| line == "x-accel-buffering: no")
    );
    let first = event(&mut lines);
    assert_eq!((&first["word"], &first["kind"], &first["ended"]), (&json!("Running"), &json!("running"), &json!(false)));
    assert!(lines.by_ref().any(|line| line == ": as before"), "a quiet stream still has a pulse");
    bench.service.tasks.lock().unwrap()[0]["progress"] = json!(40);
    assert_eq!(event(&mut lines)["words"], json!("40 of 100 done."));
    bench.service.tasks.lock().unwrap()[0]["taskStatus"] = json!("SUCCESS");
    assert_eq!(event(&mut lines)["ended"], json!(true));
    assert!(lines.all(|line| !line.starts_with("data:")), "nothing follows the end");
}

#[test]
fn a_live_status_of_an_unknown_task_is_not_found() {
    let bench = Bench::new();
    assert_eq!(bench.get("/tasks/t0/live").status, 404);
}

#[test]
fn stopping_and_deleting_are_told_once_on_the_next_page() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![task(0, "RUNNING")];
    assert!(bench.get("/tasks/t0").text().contains("data-live=\"/tasks/t0/live\""));
    let stopped = bench.post("/tasks/t0/terminate", "");
    assert_eq!((stopped.status, stopped.header("location").as_str()), (303, "/tasks/t0"));
    assert!(stopped.header("set-cookie").starts_with("cardea-news=task-terminated"));
    assert_eq!(bench.post("/tasks/t0/terminate", "").status, 409);
    let ask = bench.get("/tasks/t0/delete").text();
    assert!(ask.contains("shop 0") && ask.contains("every share of it stops working"));
    let deleted = bench.post("/tasks/t0/delete", "");
    assert_eq!((deleted.status, deleted.header("location").as_str()), (303, "/tasks"));
    assert_eq!(bench.get("/tasks/t0").status, 404);
}

#[test]
fn findings_are_filtered_paged_and_walked_in_order() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![task(0, "SUCCESS")];
    *bench.service.findings.lock().unwrap() = (0..120).map(|at| finding(at, if at < 60 { "critical" } else { "low" })).collect();
    for plain in [false, true] {
        bench.service.plain.store(plain, Ordering::SeqCst);
        let low = bench.get("/tasks/t0/findings?severity=low&page=2").text();
        assert!(
            low.contains("60 findings, page 2 of 2") && low.contains("/tasks/t0/findings/v110?severity=low&#38;page=2"),
            "{low}"
        );
    }
    let text = bench.get("/tasks/t0/findings?q=cve-2026-117").text();
    assert!(text.contains("1 finding,") || text.contains("1 finding"), "{text}");
    assert!(text.contains("Flaw number 117") && !text.contains("Flaw number 116"));
    // The last of page 1 leads to the first of page 2, and back.
    let end = bench.get("/tasks/t0/findings/v49").text();
    assert!(end.contains("Finding 50 of 120") && end.contains("href=\"/tasks/t0/findings/v50?page=2\""), "{end}");
    let next = bench.get("/tasks/t0/findings/v50?page=2").text();
    assert!(next.contains("Finding 51 of 120") && next.contains("href=\"/tasks/t0/findings/v49\""), "{next}");
    let first = bench.get("/tasks/t0/findings/v60?severity=low").text();
    assert!(first.contains("Finding 1 of 60 that fit your filter") && !first.contains("Previous finding"), "{first}");
    assert_eq!(bench.get("/tasks/t0/findings/unknown").status, 404);
}

#[test]
fn a_report_comes_as_a_file_that_runs_nothing() {
    let bench = Bench::new();
    *bench.service.report.lock().unwrap() = ("text/html; charset=utf-8".to_owned(), "<script>1</script>".to_owned());
    let html = bench.get("/tasks/t0/report?type=html&lang=zh");
    assert_eq!((html.status, html.text().as_str()), (200, "<script>1</script>"));
    assert_eq!(html.header("content-disposition"), "attachment; filename=\"r.exe.html\"");
    assert_eq!(
        (html.header("content-security-policy").as_str(), html.header("x-content-type-options").as_str()),
        ("sandbox", "nosniff")
    );
    assert_eq!((html.header("content-length").as_str(), html.header("set-cookie").as_str()), ("18", ""));
    let other = bench.get("/tasks/t0/report?type=pdf");
    assert_eq!(other.status, 502, "{}", other.text());
    assert_eq!(bench.get("/tasks/t0/report?type=exe").status, 400);
    assert_eq!(bench.get("/tasks/t0/report?type=pdf&lang=fr").status, 400);
}

#[test]
fn the_first_page_counts_what_runs_and_what_is_open() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![task(0, "RUNNING"), task(1, "SUCCESS"), task(2, "FINISHED")];
    let home = bench.get("/").text();
    assert!(home.contains("<p class=\"stat\">2</p>") && home.contains("2 newest finished tasks"), "{home}");
    assert!(home.contains("Running tasks") && home.contains("<p class=\"stat\">1</p>"));
    let stranger =
        bench.send("GET / HTTP/1.1\r\nhost: acme.example\r\nconnection: close\r\naccept: text/html\r\n\r\n", b"").text();
    assert!(stranger.contains("security portal") && !stranger.contains("shop"));
    let away =
        bench.send("GET /tasks?page=2 HTTP/1.1\r\nhost: acme.example\r\nconnection: close\r\naccept: text/html\r\n\r\n", b"");
    assert_eq!((away.status, away.header("location").as_str()), (303, "/auth/login?return_to=%2Ftasks%3Fpage%3D2"));
}

#[test]
fn a_session_whose_token_is_no_good_goes_to_the_provider_and_not_in_circles() {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![task(0, "RUNNING")];
    bench.service.refuses.store(true, Ordering::SeqCst);
    let away = bench.get("/tasks?page=2");
    assert_eq!((away.status, away.header("location").as_str()), (303, "/auth/login?again=1&return_to=%2Ftasks%3Fpage%3D2"));
    let provider = bench.get(&away.header("location")).header("location");
    assert!(provider.starts_with("http://127.0.0.1:9/oauth/authorize?"), "{provider}");
    // A form is not redirected there: browsers let no answer to one lead to another origin.
    let told = bench.post("/tasks/t0/terminate", "");
    let page = told.text();
    assert_eq!((told.status, told.header("location").as_str()), (401, ""), "{page}");
    assert!(page.contains("a new sign-in") && page.contains("not done, or not all of it"), "{page}");
    assert!(page.contains("href=\"/auth/login?again=1&#38;return_to=%2Ftasks%2Ft0\">Sign in</a>"), "{page}");
    assert!(page.matches("/auth/login").count() == 1 && !page.contains("Sign out"), "{page}");
    // Without need the provider is left alone.
    assert_eq!(bench.get("/auth/login?return_to=%2Ftasks").header("location"), "/tasks");
}

#[test]
fn settings_of_a_scan_are_told_in_plain_words_and_never_as_code() {
    let bench = Bench::new();
    let origin = json!({"projectName": "<script>alert(1)</script>", "lang": "JAVA", "primarySourceCodeFileName": "shop.war",
        "sandboxHomePageUrl": "https://a.example/app?key=TOPSECRET", "enableDeepLook": true, "nothing": [],
        "sourceCodeInfos": [{"type": "BACKEND", "sourceCode": "0".repeat(64), "fileName": "code.zip"},
            {"type": "FRONTEND", "fileName": "<img src=x onerror=alert(2)>.zip"}]});
    *bench.service.tasks.lock().unwrap() = vec![json!({"taskId": "t1", "projectName": "shop", "taskStatus": "FAILED",
        "params": {"originRequestData": origin}})];
    let page = bench.get("/tasks/t1").text();
    for words in [
        "<dt>Source code</dt><dd>Part: Backend; File: code.zip<br>Part: Frontend; File: &#60;img src=x onerror=alert(2)&#62;.zip</dd>",
        "<dt>Address of the deployed service</dt><dd>https://a.example/app (with a query that is not shown)</dd>",
        "<dt>Enable deep look</dt><dd>yes</dd>",
        "<dt>Language</dt><dd>Java</dd>",
        "&#60;script&#62;alert(1)",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    for bad in ["[{", "&#34;type", "TOPSECRET", "<script>alert", "<img"] {
        assert!(!page.contains(bad), "{bad} in {page}");
    }
}
