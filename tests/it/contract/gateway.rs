//! The same table through a gateway: whoever calls gets what the service itself would answer.

use cardea::config::{self, Kind, Sources};
use cardea::gateway::Gateway;
use cardea::platform::clock::Clock;
use cardea::platform::shutdown::Shutdown;
use tempfile::TempDir;

use super::answers::{errors, foreign, succeeds};
use super::operation::{Ask, Sends};
use super::rows;
use super::world::{CODE, World};
use crate::support::redis::free_port;
use crate::support::scanner::ACME;

/// A gateway in front of the world's service, that takes access tokens; ends with the test.
struct Front {
    base: String,
    shutdown: Shutdown,
    _folder: TempDir,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.shutdown.begin();
    }
}

impl Front {
    async fn new(service: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let text = format!(
            r#"
[gateway.server]
listen = "127.0.0.1:{port}"
[gateway.session]
cookie_name = "cardea"
[gateway.store]
path = "{path}"
[[gateway.keys]]
id = "k1"
key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
[gateway.tenants.acme]
name = "Acme"
hosts = ["127.0.0.1:{port}"]
public_url = "http://127.0.0.1:{port}"
[gateway.tenants.acme.identity]
auth_url = "http://127.0.0.1:9"
client_id = "portal"
client_secret = "secret"
[gateway.tenants.acme.service]
base_url = "{service}"
[gateway.tenants.acme.api]
additions = true
access_tokens = true
"#,
            path = folder.path().join("gateway.redb").display()
        );
        let sources = Sources { own: Some(toml::from_str(&text).unwrap()), ..Sources::default() };
        let settings = config::load(Kind::Serve, &sources).unwrap().gateway.unwrap();
        let shutdown = Shutdown::default();
        let running = Gateway::start(settings, Clock::system(), &shutdown).await.unwrap();
        Self { base: format!("http://{}", running.address()), shutdown, _folder: folder }
    }
}

/// A world that is asked through a gateway, and the address of its service.
async fn world() -> (World, Front, String) {
    let mut world = World::new().await;
    let front = Front::new(&world.scanner.base).await;
    let direct = std::mem::replace(&mut world.scanner.base, front.base.clone());
    (world, front, direct)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_succeeds_through_the_gateway() {
    let (world, _front, _) = world().await;
    for operation in &rows::all(&world) {
        succeeds(&world.scanner, operation).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_error_comes_through_the_gateway_as_such() {
    let (world, _front, _) = world().await;
    errors(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_account_does_not_exist_through_the_gateway_either() {
    let (world, _front, _) = world().await;
    foreign(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_byte_for_byte_what_the_service_answers_itself() {
    let (mut world, front, direct) = world().await;
    let with_code = || serde_json::json!({"extractionCode": CODE});
    let (task, vul) = (&world.task, &world.vul);
    let reads = [
        Ask::get(format!("/api/v1/tasks/{task}")),
        Ask::get(format!("/api/v1/tasks/{task}/results/{vul}")),
        Ask::post_nothing(format!("/api/v1/tasks/{task}/results/stat")),
        Ask::post(format!("/api/v1/tasks/{task}/results/search"), serde_json::json!({"size": 100, "sorts": ["severity"]})),
        Ask::post(format!("/api/v1/tasks/{task}/exploit-chains/search"), serde_json::json!({})),
        Ask::post(format!("/api/v1/tasks/{task}/components/search"), serde_json::json!({})),
        Ask::post("/api/v1/tasks/search", serde_json::json!({"page": 0, "size": 3})),
        Ask::post("/api/v1/shares/search", serde_json::json!({})),
        Ask::post_nothing(format!("/api/v1/files/check-exist/{}", world.hash)),
        Ask::get(format!("/api/v2/tasks/{task}/report?type=html")),
        Ask::get(format!("/api/v2/tasks/{task}/report?type=cyclonedx")),
        Ask::get(format!("/api/v1/shares/public/{}", world.open)),
        Ask::post(format!("/api/v1/shares/public/{}", world.locked), with_code()),
        Ask::get(format!("/api/v1/shares/public/{}/vuls/{vul}", world.open)),
        Ask::post(format!("/api/v1/shares/public/{}/vuls/{vul}", world.locked), with_code()),
        Ask::get("/biz/api/v1/auth/clerk/publishable-key"),
        // What the service refuses, it refuses in its own words.
        Ask::get("/api/v1/tasks/unknown"),
        Ask::post("/api/v2/tasks", serde_json::json!({"projectName": 7})),
        Ask::new(reqwest::Method::GET, format!("/api/v1/shares/public/{}", world.locked), Sends::Nothing),
    ];
    for ask in reads {
        let mut answers = Vec::new();
        for base in [&direct, &front.base] {
            world.scanner.base.clone_from(base);
            let answer = ask.request(&world.scanner, Some(ACME)).send().await.unwrap();
            let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            let (status, kind, name) = (answer.status(), header("content-type"), header("content-disposition"));
            answers.push((status, kind, name, answer.bytes().await.unwrap()));
        }
        assert_eq!(answers[0], answers[1], "{}", ask.path);
    }
}
