//! What acme owns when the table is asked: files, tasks in each state, shares of each kind, and a target that runs here.

use std::sync::{Arc, Mutex};

use cardea::config::scanner::Scanner as Settings;
use cardea::config::{self, Kind, Sources};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::jar;
use crate::support::scanner::{ACME, TestScanner, answer, spawn_scanner_with};
use crate::support::shop;
use crate::support::userinfo::Userinfo;

pub(super) const CODE: &str = "open-sesame";

pub(super) struct World {
    pub(super) scanner: TestScanner,
    /// Where it looks up tokens, unless that is somewhere else.
    _userinfo: Option<Userinfo>,
    /// An uploaded artifact.
    pub(super) hash: String,
    /// A task that has succeeded, and one of its findings.
    pub(super) task: String,
    pub(super) vul: String,
    /// A task that has not ended, and one to delete.
    pub(super) running: String,
    pub(super) doomed: String,
    /// Shares: open, with a code, one to change, one to delete, and an id nothing was made with.
    pub(super) open: String,
    pub(super) locked: String,
    pub(super) changed: String,
    pub(super) ended: String,
    pub(super) fresh: String,
    /// A chain of `task`, where chains are offered.
    pub(super) chain: String,
    /// A web server that shows what ownership asks for, and the content it shows.
    pub(super) site: String,
    pub(super) content: String,
    /// One that does not show it.
    pub(super) bare_site: String,
    /// A diagnosis of `site`.
    pub(super) diagnosis: String,
}

/// The settings as the configuration gives them, with what the operations that are there need switched on.
fn settings(given: &mut Settings) {
    let own = json!({"scanner": {
        "listen": given.listen, "data": given.data, "publishable_key": given.publishable_key, "userinfo_url": given.userinfo_url,
        // One worker, so that a task behind slow ones stays open as long as the table is asked.
        "scan_workers": 1, "workers": 1,
        "outbound": {"allow": ["127.0.0.0/8"]},
        // Tests run as root, too, where Chromium's sandbox cannot be had.
        "browser": {"sandbox": false}
    }});
    let sources = Sources { own: Some(toml::Table::try_from(own).unwrap()), ..Sources::default() };
    let (accounts, analysis) = (given.accounts.clone(), given.analysis.clone());
    *given = config::load(Kind::Scanner, &sources).unwrap().scanner.unwrap();
    given.accounts = accounts;
    given.analysis = analysis;
}

/// The artifact of the task that has succeeded.
fn artifact() -> Vec<u8> {
    shop::shop()
}

impl World {
    pub(super) async fn new() -> Self {
        let userinfo = Userinfo::start().await;
        let url = userinfo.url.clone();
        Self { _userinfo: Some(userinfo), ..Self::believing(url).await }
    }

    /// One whose service asks there whose a token is.
    pub(super) async fn believing(url: String) -> Self {
        let scanner = spawn_scanner_with(|given| {
            given.userinfo_url = url;
            settings(given);
        })
        .await;
        let task = scanner.scanned(ACME, "shop.war", artifact()).await;
        let vul = text(&scanner.findings(ACME, &task).await[0], "vulId");
        let doomed = scanner.scanned(ACME, "old.jar", jar::library("com.example", "old", "1.0")).await;
        let hash = scanner.upload(ACME, "a.jar", jar::library("com.example", "a", "1.0")).await;
        let slow = scanner.upload(ACME, "slow.war", crate::scanner::tasks::slow_war()).await;
        for before in 0..6 {
            scanner.create_task(ACME, &format!("slow {before}"), &slow).await;
        }
        let running = scanner.create_task(ACME, "slow", &slow).await;
        let open = share(&scanner, &task, json!({})).await;
        let locked = share(&scanner, &task, json!({"extractionCode": CODE})).await;
        let (changed, ended) = (share(&scanner, &task, json!({})).await, share(&scanner, &task, json!({})).await);
        let fresh = share_id(&scanner).await;
        let shown = Arc::new(Mutex::new(String::new()));
        let site = site(Arc::clone(&shown)).await;
        let content = told(&scanner, "GET /api/v1/domain-ownership/random-content", json!(null)).await;
        let content = text(&content, "content");
        shown.lock().unwrap().clone_from(&content);
        let diagnosis = told(&scanner, "POST /api/v1/network-diagnostics", json!({"testUrl": site})).await;
        let diagnosis = text(&diagnosis, "id");
        let chains = format!("POST /api/v1/tasks/{task}/exploit-chains/search");
        let chains = told(&scanner, &chains, json!({})).await;
        let chain = text(&chains["data"][0], "vulId");
        let bare_site = self::site(Arc::default()).await;
        Self {
            scanner,
            _userinfo: None,
            hash,
            task,
            vul,
            running,
            doomed,
            open,
            locked,
            changed,
            ended,
            fresh,
            chain,
            site,
            bare_site,
            content,
            diagnosis,
        }
    }
}

impl World {
    /// Makes the shares once more where the world is asked now, and ends those made `direct` at the service: a gateway knows what
    /// came through it, and nothing else.
    pub(super) async fn share_again(&mut self, direct: &str) {
        let through = std::mem::replace(&mut self.scanner.base, direct.to_owned());
        let before = [&self.open, &self.locked, &self.changed, &self.ended];
        let (status, told) = self.scanner.post(ACME, "/api/v1/shares/delete", json!({ "shareIds": before })).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        self.scanner.base = through;
        self.open = share(&self.scanner, &self.task, json!({})).await;
        self.locked = share(&self.scanner, &self.task, json!({"extractionCode": CODE})).await;
        self.changed = share(&self.scanner, &self.task, json!({})).await;
        self.ended = share(&self.scanner, &self.task, json!({})).await;
        self.fresh = share_id(&self.scanner).await;
    }
}

/// What an operation answers acme.
async fn told(scanner: &TestScanner, line: &str, body: Value) -> Value {
    let (method, path) = line.split_once(' ').unwrap();
    let (status, answer) = if method == "GET" { scanner.get(ACME, path).await } else { scanner.post(ACME, path, body).await };
    assert_eq!(status, StatusCode::OK, "{line}: {answer}");
    answer
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}")).to_owned()
}

async fn as_acme(scanner: &TestScanner, path: &str, body: Value) -> Value {
    let (status, answer) = answer(scanner.as_bearer(scanner.request(Method::POST, path), ACME).json(&body)).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

async fn share_id(scanner: &TestScanner) -> String {
    text(&as_acme(scanner, "/api/v1/shares/generate-id", json!({})).await, "shareId")
}

async fn share(scanner: &TestScanner, task: &str, further: Value) -> String {
    let id = share_id(scanner).await;
    let mut body = json!({"shareId": id, "taskId": task, "shareType": "REPORT"});
    body.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    as_acme(scanner, "/api/v1/shares", body).await;
    id
}

/// A web server that answers every path with `shown`.
#[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
async fn site(shown: Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let body = shown.lock().unwrap().clone();
            tokio::spawn(async move {
                let _ = connection.read(&mut [0; 4096]).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
            });
        }
    });
    url
}
