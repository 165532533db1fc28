//! The reference scanning service on a free port, in the test's own process, and short ways to talk to it.

use std::path::Path;
use std::time::Duration;

use cardea::config::scanner::{
    Account, Allowed, Analysis, Archive, Browser, CallGraph, Diagnostics, Groups, Isolation, Outbound, Ownership,
    Scanner as Settings, Sessions, Shares, Sources, Upload,
};
use cardea::platform::clock::{Clock, Timestamp};
use cardea::platform::secret::Secret;
use cardea::platform::shutdown::Shutdown;
use cardea::scanner::{Running, Scanner};
use reqwest::{Client, Method, RequestBuilder, StatusCode, multipart};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::eventually;

/// Server keys of the two accounts.
pub(crate) const ACME: &str = "sk-acme";
pub(crate) const GLOBEX: &str = "sk-globex";

/// A running service. It ends with the test, or with [`TestScanner::stop`].
pub(crate) struct TestScanner {
    pub(crate) base: String,
    /// What callers show in the place of acme's server key, where a gateway stands before the service.
    pub(crate) shown: Shown,
    pub(crate) clock: Clock,
    client: Client,
    ending: Ending,
    folder: TempDir,
}

/// What stands for acme at a gateway.
#[derive(Clone, Default)]
pub(crate) enum Shown {
    /// The server key itself.
    #[default]
    ServerKey,
    ApiKey(String),
    /// A session, as a script of the portal's own page shows it.
    Session {
        cookies: String,
        csrf: String,
    },
}

/// Ends the service when the test lets go of it.
struct Ending(Shutdown);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.begin();
    }
}

/// Starts the service with an empty data folder.
pub(crate) async fn spawn_scanner() -> TestScanner {
    spawn_scanner_with(|_| {}).await
}

/// Starts the service with changed settings.
pub(crate) async fn spawn_scanner_with(change: impl FnOnce(&mut Settings)) -> TestScanner {
    start(tempfile::tempdir().unwrap(), Clock::system(), change).await
}

/// Starts the service with a clock that only moves by hand.
pub(crate) async fn spawn_scanner_with_manual_clock() -> TestScanner {
    spawn_scanner_with_manual_clock_and(|_| {}).await
}

/// The same with changed settings.
pub(crate) async fn spawn_scanner_with_manual_clock_and(change: impl FnOnce(&mut Settings)) -> TestScanner {
    let start_of_time = Timestamp::parse_rfc3339("2026-06-01T12:00:00Z").unwrap();
    start(tempfile::tempdir().unwrap(), Clock::manual(start_of_time), change).await
}

/// Opens addresses that are not public, by entries of the allow list.
pub(crate) fn open(settings: &mut Settings, entries: &[String]) {
    settings.outbound.allow.extend(entries.iter().map(|entry| Allowed::parse(entry).unwrap()));
}

async fn start(folder: TempDir, clock: Clock, change: impl FnOnce(&mut Settings)) -> TestScanner {
    let mut settings = settings(folder.path());
    change(&mut settings);
    let (running, shutdown): (Running, Shutdown) = eventually("the data folder of the earlier run", async || {
        let shutdown = Shutdown::default();
        Some((Scanner::start(settings.clone(), clock.clone(), &shutdown).await.ok()?, shutdown))
    })
    .await;
    let base = format!("http://{}", running.address());
    TestScanner { base, shown: Shown::default(), clock, client: client(), ending: Ending(shutdown), folder }
}

#[expect(clippy::too_many_lines, reason = "one line for each setting")]
pub(crate) fn settings(data: &Path) -> Settings {
    let account = |key: &str| Account { server_keys: vec![Secret::new(key)] };
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: data.to_owned(),
        workers: 1,
        shutdown_seconds: 5,
        scan_workers: 1,
        legacy_prefix: false,
        publishable_key: "pk_test".to_owned(),
        userinfo_url: String::new(),
        account_claim: "organization".to_owned(),
        bearer_cache_seconds: 30,
        seal_key: None,
        upload: Upload { max_bytes: 64 << 20, idle_seconds: 30 },
        archive: Archive {
            depth: 6,
            entries: 400_000,
            inflated_bytes: 4 << 30,
            nested_bytes: 512 << 20,
            ratio: 200,
            ratio_from_bytes: 1 << 20,
            seconds: 300,
            sources: Sources {
                upload_bytes: 32 << 20,
                analyses: 2,
                analyses_per_account: 2,
                waiting: 8,
                wait_seconds: 20,
                seconds: 30,
                memory_bytes: 1 << 30,
                pom_bytes: 2 << 20,
                lock_bytes: 32 << 20,
                poms: 5000,
                xml_depth: 64,
                parents: 32,
                dependencies: 2_000_000,
                packages: 200_000,
                issues: 20_000,
            },
            call_graph: CallGraph {
                class_bytes: 2 << 20,
                classes: 200_000,
                methods: 4_000_000,
                calls: 8_000_000,
                name_bytes: 256 << 20,
                steps: 20_000_000,
                targets: 8,
                subclasses: 2000,
                chains: 500,
                chain_steps: 60,
            },
        },
        analysis: Analysis {
            own_process: true,
            executable: Some(env!("CARGO_BIN_EXE_cardea").into()),
            memory_bytes: 2 << 30,
            answer_bytes: 256 << 20,
            isolation: Isolation::Required,
        },
        shares: Shares { free_tries: 5, window_seconds: 900 },
        outbound: Outbound {
            allow: Vec::new(),
            ports: vec![80..=80, 443..=443, 8000..=9999],
            name_servers: Vec::new(),
            connect_timeout_ms: 2000,
            lookup_timeout_ms: 2000,
            closed_after_ms: 20,
            extra_roots_file: None,
        },
        diagnostics: Diagnostics { per_minute: 10, at_once: 2, seconds: 30, stage_seconds: 10, kept_minutes: 10, kept: 1000 },
        // Most tests are about something else; those of ownership switch it on.
        ownership: Ownership { required: false, content_hours: 3, verified_days: 30, checks_per_minute: 20, check_seconds: 10 },
        groups: Groups { max_artifacts: 50 },
        sessions: Sessions { max_count: 20, max_bytes: 2 << 20 },
        public_url: String::new(),
        browser: Browser {
            executable: String::new(),
            // Tests run as root, too, where the sandbox cannot be had.
            sandbox: false,
            parents: vec!["http://portal.example".to_owned()],
            per_account: 2,
            per_host: 4,
            queue: 8,
            queue_seconds: 15,
            open_seconds: 120,
            idle_seconds: 300,
            life_seconds: 1800,
            absent_seconds: 30,
            linger_seconds: 0,
            start_seconds: 60,
            tabs: 20,
            contexts: 10,
            connections: 256,
            max_width: 2560,
            max_height: 1600,
            quality_min: 40,
            quality_max: 80,
        },
        accounts: [("acme".to_owned(), account(ACME)), ("globex".to_owned(), account(GLOBEX))].into(),
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are clients")]
pub(crate) fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

impl TestScanner {
    /// The folder the service keeps everything in.
    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the service as the end of its process would, and gives what it left behind.
    pub(crate) async fn stop(self) -> TempDir {
        self.ending.0.begin();
        self.ending.0.drain(Duration::from_secs(30)).await;
        self.folder
    }

    /// Ends the service and starts it again on the same data.
    pub(crate) async fn restart(self, change: impl FnOnce(&mut Settings)) -> Self {
        let clock = self.clock.clone();
        start(self.stop().await, clock, change).await
    }

    /// A request to a path below `/scanner`.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/scanner{path}", self.base))
    }

    /// Lets a request show who asks.
    pub(crate) fn as_bearer(&self, request: RequestBuilder, bearer: &str) -> RequestBuilder {
        match &self.shown {
            Shown::ApiKey(key) if bearer == ACME => request.bearer_auth(key),
            Shown::Session { cookies, csrf } if bearer == ACME => {
                request.header("cookie", cookies).header("x-csrf-token", csrf).header("sec-fetch-site", "same-origin")
            }
            _ => request.bearer_auth(bearer),
        }
    }

    /// A request to any path.
    pub(crate) fn get_bare(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base))
    }

    /// POST of JSON as `bearer`; gives status and body (`null` when it is empty or no JSON).
    pub(crate) async fn post(&self, bearer: &str, path: &str, body: Value) -> (StatusCode, Value) {
        answer(self.request(Method::POST, path).bearer_auth(bearer).json(&body)).await
    }

    /// POST without a body as `bearer`.
    pub(crate) async fn post_nothing(&self, bearer: &str, path: &str) -> (StatusCode, Value) {
        answer(self.request(Method::POST, path).bearer_auth(bearer)).await
    }

    /// GET as `bearer`.
    pub(crate) async fn get(&self, bearer: &str, path: &str) -> (StatusCode, Value) {
        answer(self.request(Method::GET, path).bearer_auth(bearer)).await
    }

    /// Uploads a file; gives its sha256.
    pub(crate) async fn upload(&self, bearer: &str, name: &str, bytes: Vec<u8>) -> String {
        let (status, body) =
            answer(self.request(Method::POST, "/api/v1/files/upload").bearer_auth(bearer).multipart(form(name, bytes))).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["sha256"].as_str().unwrap().to_owned()
    }

    /// Creates a task of an uploaded file; gives its id.
    pub(crate) async fn create_task(&self, bearer: &str, project: &str, sha256: &str) -> String {
        let body = json!({"projectName": project, "lang": "JAVA", "primarySourceCode": sha256});
        let (status, body) = self.post(bearer, "/api/v2/tasks", body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["taskId"].as_str().unwrap().to_owned()
    }

    /// Waits until a task has ended; gives it in full.
    pub(crate) async fn ended(&self, bearer: &str, task: &str) -> Value {
        self.task_when(bearer, task, |status| matches!(status, "SUCCESS" | "FAILED" | "TERMINATED")).await
    }

    /// Waits until the status of a task is right; gives the task in full.
    pub(crate) async fn task_when(&self, bearer: &str, task: &str, right: impl Fn(&str) -> bool) -> Value {
        eventually("the status of the task", async || {
            let (status, body) = self.get(bearer, &format!("/api/v1/tasks/{task}")).await;
            assert_eq!(status, StatusCode::OK, "{body}");
            right(body["taskStatus"].as_str().unwrap()).then_some(body)
        })
        .await
    }

    /// Uploads, creates and waits; gives the id of a task that succeeded.
    pub(crate) async fn scanned(&self, bearer: &str, name: &str, bytes: Vec<u8>) -> String {
        let sha256 = self.upload(bearer, name, bytes).await;
        let task = self.create_task(bearer, name, &sha256).await;
        let ended = self.ended(bearer, &task).await;
        assert_eq!(ended["taskStatus"], "SUCCESS", "{ended}");
        task
    }

    /// All findings of a task as rows.
    pub(crate) async fn findings(&self, bearer: &str, task: &str) -> Vec<Value> {
        let (status, body) = self.post(bearer, &format!("/api/v1/tasks/{task}/results/search"), json!({"size": 200})).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body["data"].as_array().unwrap().clone()
    }
}

/// A form with one part named `file`.
pub(crate) fn form(name: &str, bytes: Vec<u8>) -> multipart::Form {
    multipart::Form::new().part("file", multipart::Part::bytes(bytes).file_name(name.to_owned()))
}

/// Sends a request; gives status and body (`null` when it is empty or no JSON).
pub(crate) async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let body = answer.bytes().await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// Checks an ErrorResponse: status, code, and words that are there.
#[track_caller]
pub(crate) fn assert_refused((status, body): (StatusCode, Value), expected: u16, code: u32) {
    assert_eq!(status.as_u16(), expected, "{body}");
    assert_eq!(body["success"], false, "{body}");
    assert_eq!(body["data"]["errCode"], code, "{body}");
    assert!(!body["message"].as_str().unwrap().is_empty());
    assert!(!body["data"]["errDetail"].as_str().unwrap().is_empty());
}
