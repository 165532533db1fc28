//! The same table through a gateway: whoever calls gets what the service itself would answer.

use super::answers::{errors, foreign, succeeds};
use super::operation::{Ask, Operation};
use super::rows;
use super::world::{CODE, World};
use crate::support::client::Browser;
use crate::support::front::Front;
use crate::support::provider::Provider;
use crate::support::replicas::{Replicas, Setup};
use crate::support::scanner::{ACME, Shown};

/// A world that is asked through a gateway, and the address of its service.
async fn world() -> (World, Front, String) {
    let mut world = World::new().await;
    let front = Front::new(&world.scanner.base).await;
    let direct = std::mem::replace(&mut world.scanner.base, front.base.clone());
    world.share_again(&direct).await;
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
    errors(&world, of_the_gateway).await;
}

/// To a recipient without the right code the gateway does not tell an unknown share from one that is there.
fn of_the_gateway(operation: &Operation, status: u16, code: u32) -> (u16, u32) {
    match (operation.public && operation.name.starts_with("SHARE_"), status) {
        (true, 404) if operation.ask.method == reqwest::Method::GET => (403, 4031),
        (true, 404) => (403, 4032),
        _ => (status, code),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_account_does_not_exist_through_the_gateway_either() {
    let (world, _front, _) = world().await;
    foreign(&world).await;
}

/// A gateway with people and keys in front of a world, its administrator, and the address of its service.
async fn office(world: &mut World, provider: Option<Provider>) -> (Replicas, Browser, String) {
    let base = Some(world.scanner.base.clone());
    let extra = "[gateway.tenant.api]\nadditions = true\naccess_tokens = true\n".to_owned();
    let replicas = Replicas::embedded_with(Setup { extra, provider, base, ..Setup::default() }).await;
    replicas.provider.state().person.insert("organization".to_owned(), "acme".into());
    // Whether the service believes their token or not.
    let mut dora = Browser::new();
    dora.sign_in_at(&replicas.all[0].url).await;
    let direct = std::mem::replace(&mut world.scanner.base, replicas.all[0].url.clone());
    (replicas, dora, direct)
}

/// As [`office`], with an API key in the place of acme's server key.
async fn by_api_key(world: &mut World) -> (Replicas, String) {
    let (replicas, mut dora, direct) = office(world, None).await;
    dora.add_server_key(&replicas.all[0].url, "acme", ACME).await;
    world.scanner.shown = Shown::ApiKey(dora.issue_api_key(&replicas.all[0].url, &[]).await);
    world.share_again(&direct).await;
    (replicas, direct)
}

/// A world whose service believes the tokens of a provider, and a gateway in front of it with somebody who is signed in there.
async fn by_session() -> (World, Replicas, String) {
    let provider = Provider::start().await;
    let mut world = World::believing(format!("{}/oauth/userinfo", provider.issuer)).await;
    let (replicas, mut dora, direct) = office(&mut world, Some(provider)).await;
    let portal = url::Url::parse(&replicas.all[0].url).unwrap();
    let csrf = dora.get(&format!("{}/admin/keys", replicas.all[0].url)).await.hidden("csrf");
    world.scanner.shown = Shown::Session { cookies: dora.cookies_for(&portal), csrf };
    world.share_again(&direct).await;
    (world, replicas, direct)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_succeeds_and_fails_for_an_api_key_as_it_does_for_the_server_key() {
    let mut world = World::new().await;
    let (_replicas, _) = by_api_key(&mut world).await;
    errors(&world, of_the_gateway).await;
    for operation in &rows::all(&world) {
        succeeds(&world.scanner, operation).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_succeeds_for_somebody_who_is_signed_in() {
    let (world, _replicas, _) = by_session().await;
    for operation in &rows::all(&world) {
        succeeds(&world.scanner, operation).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_are_byte_for_byte_what_the_service_answers_itself() {
    let (mut world, front, direct) = world().await;
    same_bytes(&mut world, &direct, &front.base).await;
    let mut world = World::new().await;
    let (replicas, direct) = by_api_key(&mut world).await;
    same_bytes(&mut world, &direct, &replicas.all[0].url).await;
    let (mut world, replicas, direct) = by_session().await;
    same_bytes(&mut world, &direct, &replicas.all[0].url).await;
}

/// That whoever stands for acme at the gateway gets what acme gets of the service itself.
async fn same_bytes(world: &mut World, direct: &str, through: &str) {
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
        Ask::post(format!("/api/v1/shares/public/{}/vuls/unknown", world.locked), with_code()),
    ];
    let shown = world.scanner.shown.clone();
    for ask in reads {
        let mut answers = Vec::new();
        for (base, shown) in [(direct, Shown::ServerKey), (through, shown.clone())] {
            (world.scanner.base, world.scanner.shown) = (base.to_owned(), shown);
            let answer = ask.request(&world.scanner, Some(ACME)).send().await.unwrap();
            let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            let (status, kind, name) = (answer.status(), header("content-type"), header("content-disposition"));
            answers.push((status, kind, name, answer.bytes().await.unwrap()));
        }
        assert_eq!(answers[0], answers[1], "{}", ask.path);
    }
}
