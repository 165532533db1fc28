//! The end and the next start of a process: it drains, and nothing that was kept is lost.

use crate::support::client::{Browser, http};
use crate::support::demo::{Demo, data_folder};
use crate::support::jar::vulnerable_war;

#[tokio::test]
async fn a_restart_keeps_tasks_shares_and_sessions() {
    let demo = Demo::start();
    let (mut alice, mut visitor) = (Browser::new(), Browser::new());
    alice.sign_in(&demo.portal, "alice").await;
    let task = alice.scan(&demo.portal, "shop-of-acme", "shop.war", vulnerable_war()).await;
    let (link, code) = alice.share(&task.link("href", "/shares/new")).await;
    let inside = visitor.post(&link, &[("code", &code)]).await;
    assert_eq!(visitor.follow(inside).await.status, 200);
    let sheet = demo.sheet();

    let port = demo.port();
    demo.terminate();
    let (status, folder) = demo.ended().await;
    assert_eq!(status.code(), Some(0), "asked to end, it ends well: {status}");

    let demo = Demo::start_in(folder, port, &[]);
    assert_eq!(demo.sheet(), sheet, "secrets and addresses are the same");
    let page = alice.get(task.url.as_str()).await;
    assert_eq!(page.status, 200, "the session goes on: {}", page.text());
    assert!(page.text().contains("shop-of-acme") && page.text().contains("All findings"));
    assert_eq!(alice.get(&task.link("href", "/findings")).await.status, 200);
    assert!(alice.get(&format!("{}/shares", demo.portal)).await.text().contains("shop-of-acme"));
    assert_eq!(visitor.get(&format!("{link}/view")).await.status, 200, "an opened share stays open");
    let mut other = Browser::new();
    let again = other.post(&link, &[("code", &code)]).await;
    assert_eq!(other.follow(again).await.status, 200, "and opens for others");
    let next = alice.scan(&demo.portal, "second", "second.war", vulnerable_war()).await;
    assert_ne!(next.url, task.url);
}

#[tokio::test]
async fn an_open_live_stream_does_not_hold_the_end_up() {
    // A service that does not answer keeps the stream open: the status may still come.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = format!("http://{nobody}");
    let demo = Demo::start_in(data_folder(), 0, &[("CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL", &service)]);
    let mut alice = Browser::new();
    alice.sign_in_to(&format!("{}/tasks/new", demo.portal), "alice").await;
    let live = url::Url::parse(&format!("{}/tasks/{}/live", demo.portal, "0".repeat(32))).unwrap();
    let mut stream = http().get(live.clone()).header("cookie", alice.cookies_for(&live)).send().await.unwrap();
    let first = stream.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"retry:"), "{first:?}");
    demo.terminate();
    while stream.chunk().await.unwrap().is_some() {}
    let (status, _) = demo.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
}
