//! What the public client needs of a service (WIRE 19), walked as that client does: lower-case header name, chunked uploads
//! without a length, a POST without body or content type, its own field names, the older prefix, and its repeats.

use bytes::Bytes;
use futures_util::stream;
use reqwest::{Body, Method, RequestBuilder, StatusCode, multipart};
use serde_json::{Value, json};

use crate::support::jar;
use crate::support::scanner::{TestScanner, answer, assert_refused, spawn_scanner_with};
use crate::support::userinfo::Userinfo;

/// Where that client looks for the service.
const PREFIX: &str = "/oxpecker";
/// The access token it holds.
const TOKEN: &str = "alice";

struct Client {
    scanner: TestScanner,
    _userinfo: Userinfo,
}

impl Client {
    async fn new() -> Self {
        let userinfo = Userinfo::start().await;
        let url = userinfo.url.clone();
        let scanner = spawn_scanner_with(|settings| {
            settings.legacy_prefix = true;
            settings.userinfo_url = url;
        })
        .await;
        Self { scanner, _userinfo: userinfo }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        // Below `/scanner` the path would be another: the address is made as that client makes it.
        let bare = self.scanner.get_bare(&format!("{PREFIX}{path}")).build().unwrap();
        let request = self.scanner.request(method, "");
        let (client, request) = request.build_split();
        let mut request = request.unwrap();
        *request.url_mut() = bare.url().clone();
        RequestBuilder::from_parts(client, request).header("authorization", format!("Bearer {TOKEN}"))
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = answer(self.request(Method::GET, path)).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    /// An upload in chunks that tells no length, as a stream does.
    async fn upload(&self, name: &str, bytes: Vec<u8>) -> Value {
        let pieces: Vec<_> = bytes.chunks(7).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece))).collect();
        let part = multipart::Part::stream(Body::wrap_stream(stream::iter(pieces))).file_name(name.to_owned());
        let request = self.request(Method::POST, "/api/v1/files/upload").multipart(multipart::Form::new().part("file", part));
        let (client, request) = request.build_split();
        let request = request.unwrap();
        assert!(!request.headers().contains_key("content-length"));
        let (status, body) = answer(RequestBuilder::from_parts(client, request)).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_client_gets_from_upload_to_result() {
    let client = Client::new().await;
    let artifact = client.upload("shop.war", jar::vulnerable_war()).await;
    assert_eq!(text(&artifact["sha256"]).len(), 64);
    let source = client.upload("sources-shop-1.zip", jar::archive(&[("src/A.java", b"class A {}")])).await;
    let body = json!({
        "projectName": "shop.war", "lang": "java", "javaPackage": artifact["sha256"],
        "sandboxAuthInfos": [{
            "roleName": "admin", "loginUrl": "https://shop.example/login",
            "originRequestData": {
                "cookies": [{
                    "name": "sid", "value": "c00kie", "path": "/", "domain": "shop.example", "size": 9, "secure": true,
                    "expires": -1, "session": true, "httpOnly": true, "priority": "Medium", "sameParty": false,
                    "sourceScheme": "Secure"
                }],
                "headers": [{
                    "url": "https://shop.example/", "method": "GET", "requestHeaders": [{"name": "A", "value": "b"}]
                }],
                "localStorage": {"a": "b"}, "sessionStorage": {}, "roleName": "admin"
            }
        }],
        "sourceCodeInfos": [{"type": "BACKEND", "sourceCode": source["sha256"], "fileName": "sources-shop-1.zip"}]
    });
    // That client sends a create again whenever anything went wrong on the way.
    let mut created = Vec::new();
    for _ in 0..4 {
        let (status, answer) = client.post("/api/v2/tasks", body.clone()).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        created.push(text(&answer["taskId"]).to_owned());
        assert!(answer["status"].is_string() && answer["createdAt"].is_string());
    }
    created.dedup();
    assert_eq!(created.len(), 1, "a repeated create is one task");
    assert!((1..=32).contains(&created[0].len()));
    let task = client.scanner.ended(TOKEN, &created[0]).await;
    assert_eq!(task, client.get(&format!("/api/v1/tasks/{}", created[0])).await);
    for field in ["total", "lowCount", "mediumCount", "highCount", "criticalCount", "purchased"] {
        assert!(task["resultsStat"][field].is_u64(), "{field}");
    }
    assert!(cardea::platform::clock::Timestamp::parse_rfc3339(text(&task["createdAt"])).is_some());
    assert!(task["enableStaticVerification"].is_boolean());
    let origin = &task["params"]["originRequestData"];
    assert_eq!((&origin["javaPackage"], &origin["sourceCodeInfos"][0]["type"]), (&artifact["sha256"], &json!("BACKEND")));
    let (_, tasks) = client.post("/api/v1/tasks/search", json!({"page": 0, "size": 10})).await;
    assert_eq!((&tasks["total"], &tasks["data"][0]["taskId"]), (&json!(1), &json!(created[0])));
    let search = json!({"page": 0, "size": 100, "filters": [], "sorts": ["severity"]});
    let (_, found) = client.post(&format!("/api/v1/tasks/{}/results/search", created[0]), search).await;
    let row = &found["data"][0];
    assert_eq!(row["purchaseStatus"], "PURCHASED", "any other would be locked");
    let finding = client.get(&format!("/api/v1/tasks/{}/results/{}", created[0], text(&row["vulId"]))).await;
    for field in ["fixSuggestion", "pocScript", "pocScriptOutput"] {
        assert!(finding[field].is_string(), "{field} is a string");
    }
    let fix: Value = serde_json::from_str(text(&finding["fixSuggestion"])).unwrap();
    assert!(fix.is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_client_is_told_401_for_a_bad_token_under_every_prefix() {
    let client = Client::new().await;
    for path in ["/api/v1/tasks/x", "/api/v1/tasks/x/results/y"] {
        let bad = client.request(Method::GET, path).build().unwrap();
        let url = bad.url().to_string();
        let address = url.strip_prefix(&client.scanner.base).unwrap();
        assert_refused(answer(client.scanner.get_bare(address).bearer_auth("expired")).await, 401, 4010);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_without_body_and_content_type_reaches_its_operation() {
    let client = Client::new().await;
    let request = || client.request(Method::POST, "/api/v1/browsers");
    assert!(!request().build().unwrap().headers().contains_key("content-type"));
    let (status, body) = answer(request()).await;
    let code = body["data"]["errCode"].as_u64();
    // A service without a browser says so; it never asks for a body.
    let fits = status == StatusCode::OK || code == Some(4042);
    assert!(fits, "{status} {body}");
    let empty = answer(client.request(Method::POST, "/api/v1/tasks/search")).await;
    assert_eq!((empty.0, &empty.1["total"]), (StatusCode::OK, &json!(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_sent_again_is_the_same_file() {
    let client = Client::new().await;
    let first = client.upload("a.jar", jar::library("g", "a", "1")).await;
    assert_eq!(client.upload("renamed.jar", jar::library("g", "a", "1")).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_paths_of_subscriptions_are_not_there_and_never_say_1010() {
    let client = Client::new().await;
    for path in ["exceed-credit-limit", "active-subscription-category"] {
        let (status, body) =
            answer(client.scanner.get_bare(&format!("/biz/api/v1/subscribe/stripe/{path}")).bearer_auth(TOKEN)).await;
        assert_refused((status, body), 404, 4040);
    }
}
