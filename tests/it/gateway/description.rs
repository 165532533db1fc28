//! What the gateway says it serves, against what it serves: the document is valid, the page tells the same operations, and
//! schemathesis, which makes up requests from the document, finds no answer that the document does not allow.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::{Browser, http};
use crate::support::demo::{Demo, data_folder};
use crate::support::eventually;
use crate::support::scanner::form;
use crate::support::shop::shop;

/// Test cases of each operation that are made up, beside those that its bounds give.
const MADE_UP: &str = "15";

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn demo(environment: &[(&str, &str)]) -> Demo {
    Demo::start_in(data_folder(), 0, environment)
}

async fn get(address: &str) -> reqwest::Response {
    http().get(address).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn anybody_can_read_the_document_and_asking_again_costs_nothing() {
    let demo = demo(&[]);
    let address = format!("{}/openapi.json", demo.portal);
    let answer = get(&address).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.headers()["cache-control"], "public, no-cache");
    assert!(!answer.headers().contains_key("set-cookie"));
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    let document: Value = answer.json().await.unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{"url": demo.portal}]));
    for (known, status) in [(&*tag, 304), (&*format!("\"x\", W/{tag}"), 304), ("*", 304), ("\"x\"", 200)] {
        let again = http().get(&address).header("if-none-match", known).send().await.unwrap();
        assert_eq!(again.status().as_u16(), status, "{known}");
        assert_eq!(again.headers()["etag"], *tag);
        assert_eq!(again.bytes().await.unwrap().is_empty(), status == 304);
    }
    let head = http().head(&address).send().await.unwrap();
    assert_eq!((head.status(), head.headers()["etag"].to_str().unwrap()), (StatusCode::OK, &*tag));
    let other: Value = get(&format!("{}/openapi.json", demo.globex)).await.json().await.unwrap();
    assert_eq!(other["servers"], json!([{"url": demo.globex}]), "each tenant has its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_valid_openapi_and_says_what_a_tenant_has() {
    let mut found = Vec::new();
    for switched in ["false", "true"] {
        let demo = demo(&[
            ("CARDEA__GATEWAY__TENANT__API__ADDITIONS", switched),
            ("CARDEA__GATEWAY__TENANT__API__ACCESS_TOKENS", switched),
        ]);
        let bytes = get(&format!("{}/openapi.json", demo.portal)).await.bytes().await.unwrap();
        assert_eq!(errors(&bytes), "");
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let operations = document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len());
        let schemes = document["components"]["securitySchemes"].as_object().unwrap().contains_key("accessToken");
        found.push((operations.sum::<usize>(), schemes));
        let page = get(&format!("{}/developers", demo.portal)).await.text().await.unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap();
                assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
                assert!(page.contains(&format!("<code>{} {path}</code>", method.to_uppercase())), "{name}");
            }
        }
    }
    assert_eq!(found, [(29, false), (32, true)]);
    let wrong = errors(br#"{"openapi": "3.1.0", "info": {"title": "x"}, "paths": {}}"#);
    assert!(wrong.contains("version"), "what is wrong is seen: {wrong}");
}

/// What the official schema has against a document; nothing when it is valid.
fn errors(bytes: &[u8]) -> String {
    let needed = tests().join("node_modules/@seriousme/openapi-schema-validator");
    assert!(needed.exists(), "{} is missing; `.ci/test` sets it up", needed.display());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("openapi.json");
    fs::write(&file, bytes).unwrap();
    let done = Command::new("node").arg("openapi/validate.mjs").arg(&file).current_dir(tests()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(matches!(done.status.code(), Some(0 | 3)), "the validator failed: {said}");
    said
}

/// A portal that takes access tokens, whose service takes its server key for one.
struct Open {
    demo: Demo,
    key: String,
}

impl Open {
    fn start() -> Self {
        let demo = demo(&[
            ("CARDEA__GATEWAY__TENANT__API__ADDITIONS", "true"),
            ("CARDEA__GATEWAY__TENANT__API__ACCESS_TOKENS", "true"),
            // Each call of the operation would start a Chromium; without one the service says that it has none.
            ("CARDEA__SCANNER__BROWSER__EXECUTABLE", "/nonexistent/chromium"),
        ]);
        let key = demo.sheet()["tenants"]["acme"]["sk"].as_str().unwrap().to_owned();
        Self { demo, key }
    }

    async fn ask(&self, path: &str, body: Value) -> Value {
        let request = http().post(format!("{}/scanner{path}", self.demo.portal)).bearer_auth(&self.key);
        let answer = request.json(&body).send().await.unwrap();
        let (status, bytes) = (answer.status(), answer.bytes().await.unwrap());
        assert_eq!(status, StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&bytes));
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Scans the shop; gives what can be asked about afterwards, as parameters of paths.
    async fn scan(&self) -> Vec<(&'static str, String)> {
        let upload = format!("{}/scanner/api/v1/files/upload", self.demo.portal);
        let file = http().post(upload).bearer_auth(&self.key).multipart(form("shop.war", shop())).send().await;
        let sha256 = file.unwrap().json::<Value>().await.unwrap()["sha256"].as_str().unwrap().to_owned();
        let create = json!({"projectName": "Shop", "lang": "JAVA", "primarySourceCode": sha256});
        let task = self.ask("/api/v2/tasks", create).await["taskId"].as_str().unwrap().to_owned();
        let address = format!("{}/scanner/api/v1/tasks/{task}", self.demo.portal);
        eventually("the end of the scan", async || {
            let answer = http().get(&address).bearer_auth(&self.key).send().await.unwrap();
            let task: Value = answer.json().await.unwrap();
            (task["taskStatus"] == "SUCCESS").then_some(())
        })
        .await;
        let found = self.ask(&format!("/api/v1/tasks/{task}/results/search"), json!({})).await;
        let vul = found["data"][0]["vulId"].as_str().unwrap().to_owned();
        let share = self.ask("/api/v1/shares/generate-id", json!({})).await["shareId"].as_str().unwrap().to_owned();
        self.ask("/api/v1/shares", json!({"shareId": share, "taskId": task, "shareType": "REPORT"})).await;
        let check = self.ask("/api/v1/network-diagnostics", json!({"testUrl": "not an address"})).await;
        let check = check["id"].as_str().unwrap().to_owned();
        vec![("taskId", task), ("sha256", sha256), ("vulId", vul), ("shareId", share), ("id", check)]
    }

    /// Lets schemathesis try every operation, with these parameters in paths; any others where there are none.
    fn try_all(&self, known: &[(&'static str, String)]) {
        let modules = tests().join("python_modules");
        assert!(modules.join("schemathesis").exists(), "{} is missing; `.ci/test` sets it up", modules.display());
        let folder = TempDir::new().unwrap();
        let mut settings = fs::read_to_string(tests().join("openapi/schemathesis.toml")).unwrap();
        if !known.is_empty() {
            let all: Vec<String> = known.iter().map(|(name, value)| format!("\"path.{name}\" = \"{value}\"\n")).collect();
            // A form that takes no typesetting; the others are asked for where nothing is known.
            settings = format!("{settings}\n[parameters]\n\"query.type\" = \"cyclonedx\"\n{}", all.concat());
        }
        fs::write(folder.path().join("schemathesis.toml"), settings).unwrap();
        let done = Command::new("python3")
            .args(["-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"])
            .arg(format!("{}/openapi.json", self.demo.portal))
            .args(["--url", &self.demo.portal, "--phases", "examples,coverage,fuzzing", "--max-examples", MADE_UP])
            .args(["--header", &format!("Authorization: Bearer {}", self.key)])
            .env("PYTHONPATH", &modules)
            .env("NO_COLOR", "1")
            .current_dir(folder.path())
            .output()
            .expect("python3 is installed");
        let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{}", said.replace(&self.key, "KEY"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_made_up_request_gets_an_answer_that_the_document_does_not_allow() {
    let open = Open::start();
    open.try_all(&[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_does_one_about_things_that_are_there() {
    let open = Open::start();
    let known = open.scan().await;
    open.try_all(&known);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_signed_in_finds_the_page_from_every_page() {
    let demo = demo(&[]);
    let mut browser = Browser::new();
    let home = browser.sign_in(&demo.portal, "bob").await;
    assert!(home.text().contains("href=\"/developers\""));
    let page = browser.get(&format!("{}/developers", demo.portal)).await;
    assert_eq!(page.status, 200);
    let told = page.text();
    assert!(told.contains("Sign out"), "the page knows who reads it");
    for wanted in ["href=\"/admin/keys\"", "hidden field csrf", "RateLimit-Policy", "shop.war | cut", "id=\"errors\""] {
        assert!(told.contains(wanted), "{wanted}");
    }
    let once = "A part cannot be reached for a moment.";
    assert_eq!(told.matches(once).count(), 1, "errors are told once");
}
