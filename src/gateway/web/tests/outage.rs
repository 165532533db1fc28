//! The portal while its store is away: its own page for people, the interface's error for programs, and nobody loses a cookie.

use actix_web::test::{self, TestRequest};
use serde_json::Value;

use super::bench::{Answer, Bench, Browser};
use crate::config::gateway::Backend;
use crate::gateway::store::tests::bench::RedisServer;

fn is_the_page_of_globex(answer: &Answer, asked: &str) {
    assert_eq!((answer.status.as_u16(), answer.header("retry-after").as_str()), (503, "5"), "{asked}: {}", answer.body);
    assert!(answer.header("content-type").starts_with("text/html"), "{asked}");
    let page = &answer.body;
    assert!(page.contains("Back in a moment") && page.contains("globex &#38; Sons security portal"), "{asked}: {page}");
    assert!(page.contains("rel=\"stylesheet\" href=\"/assets/theme.") && page.contains(&answer.header("x-request-id")), "{page}");
    assert!(!page.contains(">Sign in</a>"), "nobody can sign in now, and whoever is signed in still is: {page}");
    assert!(answer.header("content-security-policy").contains("style-src 'self'"), "the page may have its looks");
    assert_eq!(answer.header("set-cookie"), "", "{asked}: cookies stay as they are");
    answer.is_clean();
}

#[actix_web::test]
async fn while_sessions_cannot_be_read_there_is_a_page_of_the_tenant_and_an_error_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let mut redis = RedisServer::start(folder.path()).await;
    let url = redis.settings().url;
    let bench = Bench::with(|settings| {
        settings.store.backend = Backend::Redis;
        settings.store.redis_url = Some(url);
    });
    let portal = bench.portal().await;
    let mut alice = Browser::new("globex.example");
    assert_eq!(alice.get(&portal, "/test/sign-in/alice/member").await.status, 303);
    let drafts = alice.get(&portal, "/tasks/new").await;
    assert_eq!(drafts.status, 200, "{}", drafts.body);
    let csrf = drafts.field("csrf");
    redis.kill();
    for path in ["/", "/tasks", "/shares", "/nowhere"] {
        is_the_page_of_globex(&alice.get(&portal, path).await, path);
    }
    let filtered = alice.get(&portal, "/tasks?status=running").await;
    assert!(filtered.body.contains("href=\"/tasks?status=running\">Load this page again"), "{}", filtered.body);
    is_the_page_of_globex(&alice.post(&portal, "/tasks/new", &[("csrf", &csrf), ("project", "x")]).await, "a form");
    is_the_page_of_globex(&alice.post(&portal, "/auth/logout", &[("csrf", &csrf)]).await, "a sign-out");
    let mut program =
        TestRequest::with_uri("/tasks").insert_header(("host", "globex.example")).insert_header(("accept", "application/json"));
    for cookie in &alice.cookies {
        program = program.cookie(cookie.clone());
    }
    let answer = (portal.0)(program).await;
    assert_eq!((answer.status().as_u16(), answer.headers().get("retry-after").unwrap().as_bytes()), (503, b"5".as_slice()));
    let told: Value = serde_json::from_slice(&test::read_body(answer).await).unwrap();
    assert_eq!((&told["success"], &told["data"]["errCode"]), (&Value::Bool(false), &Value::from(5030)), "{told}");
    assert!(told["message"].is_string() && told["data"]["errDetail"] == told["message"], "{told}");
    let mut stranger = Browser::new("globex.example");
    assert_eq!(stranger.get(&portal, "/auth/signed-out").await.status, 200, "without a cookie there is nothing to read");
}
