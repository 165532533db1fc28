//! The same table through a gateway: whoever calls gets what the service itself would answer.

use super::answers::{errors, foreign, succeeds};
use super::operation::{Ask, Sends};
use super::rows;
use super::world::{CODE, World};
use crate::support::front::Front;
use crate::support::scanner::ACME;

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
