//! Remote browsers with a real Chromium: who gets one, what its page is, and that nothing stays behind. What people do with
//! it is in tests/browser/remote.mjs.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::redis::free_port;
use crate::support::scanner::{
    ACME, GLOBEX, TestScanner, assert_refused, spawn_scanner, spawn_scanner_with, spawn_scanner_with_manual_clock,
};
use crate::support::{demo, eventually};

const BROWSERS: &str = "/api/v1/browsers";

/// Opens a browser; gives the address of its page below the service.
async fn open(scanner: &TestScanner, bearer: &str) -> String {
    let (status, body) = scanner.post_nothing(bearer, BROWSERS).await;
    assert_eq!(status, 200, "{body}");
    let url = body["url"].as_str().unwrap();
    assert!(url.contains(body["browserBoxId"].as_str().unwrap()), "{body}");
    url.strip_prefix(&scanner.base).unwrap().to_owned()
}

/// Processes whose command line names something below `folder`.
fn processes(folder: &Path) -> Vec<String> {
    let named = folder.join("browser");
    let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(named.to_str().unwrap()).then(|| format!("{} {line}", process.path().display()))
    });
    lines.collect()
}

fn profiles(folder: &Path) -> usize {
    fs::read_dir(folder.join("browser")).map_or(0, Iterator::count)
}

async fn nothing_stays(folder: &Path) {
    eventually("the end of every browser and its folder", async || {
        (processes(folder).is_empty() && profiles(folder) == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn without_chromium_the_service_says_so() {
    let scanner = spawn_scanner_with(|settings| "/nowhere/chromium".clone_into(&mut settings.browser.executable)).await;
    assert_refused(scanner.post_nothing(ACME, BROWSERS).await, 404, 4042);
    assert_refused(scanner.post_nothing("sk-of-nobody", BROWSERS).await, 401, 4010);
    let broken = spawn_scanner_with(|settings| "/bin/false".clone_into(&mut settings.browser.executable)).await;
    assert_refused(broken.post_nothing(ACME, BROWSERS).await, 404, 4042);
    nothing_stays(broken.data()).await;
}

#[tokio::test]
async fn the_page_of_a_browser_opens_once_and_only_its_parents_may_show_it() {
    let scanner = spawn_scanner().await;
    let path = open(&scanner, ACME).await;
    let wrong = format!("{path}x");
    for refused in [wrong.as_str(), path.split('?').next().unwrap(), "/browsers/nothing?token=x"] {
        let answer = scanner.get_bare(refused).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{refused}");
    }
    let page = scanner.get_bare(&path).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("referrer-policy"), "no-referrer");
    assert_eq!(header("cache-control"), "no-store");
    let policy = header("content-security-policy");
    assert!(policy.contains("frame-ancestors http://portal.example") && policy.contains("default-src 'none'"), "{policy}");
    let again = scanner.get_bare(&path).send().await.unwrap();
    assert_eq!(again.status(), 404, "the address is used up");
    assert!(again.text().await.unwrap().contains("used up"));

    let link = path.split('?').next().unwrap().to_owned() + "/link";
    let handshake = [("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")];
    let text = page.text().await.unwrap();
    let token = text.split("data-token=\"").nth(1).unwrap().split('"').next().unwrap();
    for (origin, token, status) in
        [(scanner.base.as_str(), "wrong", 403), ("http://evil.example", token, 403), (scanner.base.as_str(), token, 101)]
    {
        let request = handshake.iter().fold(scanner.get_bare(&link), |request, (name, value)| request.header(*name, *value));
        let request = request.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==").header("origin", origin);
        let answer = request.header("sec-websocket-protocol", format!("cardea-browser, token.{token}")).send().await.unwrap();
        assert_eq!(answer.status(), status, "{origin}");
    }
}

#[tokio::test]
async fn places_are_limited_and_who_waits_too_long_is_told_when_to_come_back() {
    let scanner = spawn_scanner_with(|settings| {
        settings.browser.per_account = 1;
        settings.browser.per_host = 2;
        settings.browser.queue = 1;
        settings.browser.queue_seconds = 2;
    })
    .await;
    open(&scanner, ACME).await;
    let refused =
        |answer: &reqwest::Response| (answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap() == "2");
    let ask = || scanner.request(Method::POST, BROWSERS).bearer_auth(ACME).send();
    // One of them waits in the queue, the other finds it full; both are told.
    let (one, other) = tokio::join!(ask(), ask());
    assert_eq!(refused(&one.unwrap()), (429, true));
    assert_eq!(refused(&other.unwrap()), (429, true));
    open(&scanner, GLOBEX).await;
    assert_refused(scanner.post_nothing(GLOBEX, BROWSERS).await, 429, 4290);
}

#[tokio::test]
async fn a_browser_nobody_opens_gives_its_place_to_who_waits() {
    let scanner = spawn_scanner_with_manual_clock().await;
    let path = open(&scanner, ACME).await;
    open(&scanner, ACME).await;
    let (waited, ()) = tokio::join!(scanner.post_nothing(ACME, BROWSERS), async {
        // The queue is served by real time, the browsers end by the clock of the service.
        tokio::task::yield_now().await;
        scanner.clock.advance(Duration::from_secs(121));
    });
    assert_eq!(waited.0, 200, "{}", waited.1);
    let late = scanner.get_bare(&path).send().await.unwrap();
    assert_eq!(late.status(), 404);
}

#[tokio::test]
async fn twenty_browsers_one_after_the_other_leave_no_process_and_no_folder() {
    let scanner = spawn_scanner_with_manual_clock().await;
    for _ in 0..20 {
        open(&scanner, ACME).await;
        assert!(!processes(scanner.data()).is_empty(), "a browser runs");
        scanner.clock.advance(Duration::from_secs(121));
        nothing_stays(scanner.data()).await;
    }
}

#[tokio::test]
async fn an_orderly_end_of_the_service_ends_its_browsers() {
    let scanner = spawn_scanner().await;
    open(&scanner, ACME).await;
    open(&scanner, GLOBEX).await;
    let folder = scanner.stop().await;
    nothing_stays(folder.path()).await;
}

#[tokio::test]
async fn the_way_out_of_the_browsers_serves_no_other_user_of_the_machine() {
    let scanner = spawn_scanner().await;
    open(&scanner, ACME).await;
    let line = processes(scanner.data()).join("\n");
    let port = line.split("--proxy-server=http://127.0.0.1:").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    // The proxy runs on this test's own thread, which a process must not hold up.
    let ask = async |command: &'static str| {
        let script = format!("echo asked; exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3");
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut asking = Command::new(words[0]);
        asking.args(&words[1..]).args(["timeout", "60", "bash", "-c", &script]);
        let output = tokio::task::spawn_blocking(move || asking.output()).await.unwrap().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let own = ask("env").await;
    assert!(own.starts_with("asked\nHTTP/1.0 400"), "a process of this user is served: {own}");
    // Only root can be somebody else.
    if is_root() {
        assert_eq!(ask("setpriv --reuid=65534 --regid=65534 --clear-groups").await, "asked\n", "nobody else is");
    }
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

/// The built binary as a scanning service.
fn service(folder: &TempDir, port: u16) -> Child {
    let file = folder.path().join("cardea.toml");
    let text = format!(
        "[scanner]\nlisten = \"127.0.0.1:{port}\"\ndata = \"{}\"\n[scanner.browser]\nsandbox = false\n\
         [scanner.accounts.acme]\nserver_keys = [\"sk-0123456789abcdef\"]\n",
        folder.path().join("data").display()
    );
    fs::write(&file, text).unwrap();
    demo::cardea().args(["scanner", "--config"]).arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests are clients")]
async fn browser_of(port: u16) -> Value {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://127.0.0.1:{port}/scanner{BROWSERS}");
    eventually("a browser of the service", async || {
        let answer = client.post(&url).bearer_auth("sk-0123456789abcdef").send().await.ok()?;
        assert_eq!(answer.status(), 200);
        answer.json().await.ok()
    })
    .await
}

#[tokio::test]
async fn a_service_that_is_killed_leaves_nothing_after_its_next_start() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let port = free_port();
    let mut killed = service(&folder, port);
    browser_of(port).await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(profiles(&data), 1, "its folder is still there");
    // Chromium ends with its pipe. One that does not is played by a process with children that names the folder.
    let profile = fs::read_dir(data.join("browser")).unwrap().flatten().next().unwrap().path();
    let mut orphan = Command::new("/bin/sh")
        .args(["-c", "sleep 1000 & sleep 1001; true"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .process_group(0)
        .spawn()
        .unwrap();
    let mut next = service(&folder, port);
    orphan.wait().unwrap();
    nothing_stays(&data).await;
    assert!(!sleeps(orphan.id()), "the whole group is gone");
    browser_of(port).await;
    Command::new("kill").args(["-TERM", &next.id().to_string()]).status().unwrap();
    next.wait().unwrap();
    nothing_stays(&data).await;
}

/// Whether a process of this group lives.
fn sleeps(group: u32) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        words.next().is_some_and(|state| state != "Z") && words.nth(1) == Some(&group.to_string())
    })
}
