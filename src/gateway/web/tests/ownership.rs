//! Proof of control over a domain: the content stays until it runs out, and a look for it says how it went.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::scan_bench::Bench;
use crate::platform::clock::{Clock, Timestamp};

const PLACE: &str = "origin=https%3A%2F%2Fa.example%3A8443";

#[test]
fn the_content_is_shown_with_its_deadline_downloaded_and_looked_for() {
    let clock = Clock::manual(Timestamp::parse_rfc3339("2026-11-28T10:00:00Z").unwrap());
    let bench = Bench::at(clock.clone());
    let draft = bench.draft("");
    assert!(bench.get(&format!("{draft}/ownership")).text().contains("nothing to prove without a target"));
    assert_eq!(bench.service.contents.load(Ordering::SeqCst), 0);
    bench.step(&draft, "target", "url=https%3A%2F%2Fa.example%3A8443%2Fapp&login_url=");
    let page = bench.get(&format!("{draft}/ownership")).text();
    let content = format!("{:064x}", 0);
    assert!(page.contains("https://a.example:8443/.well-known/hash.txt") && page.contains("28 Nov 2026, 13:00 UTC"), "{page}");
    assert!(
        page.contains(&format!("return 200 &#34;{content}&#34;")) || page.contains(&format!("return 200 \"{content}\"")),
        "{page}"
    );
    assert!(page.contains(&format!("a.example. 300 IN TXT \"hash={content}\"")), "{page}");
    let file = bench.get(&format!("{draft}/ownership/hash.txt"));
    assert_eq!(
        (file.text(), file.header("content-disposition")),
        (content.clone(), "attachment; filename=\"hash.txt\"".to_owned())
    );
    let not_yet = bench.post(&format!("{draft}/ownership"), PLACE);
    assert!(not_yet.status == 422 && not_yet.text().contains("Neither &#60;file&#62; nor record"), "{}", not_yet.text());
    assert!(not_yet.text().contains(&content), "the content stays");
    bench.service.owned.store(true, Ordering::SeqCst);
    let verified = bench.post(&format!("{draft}/ownership"), PLACE);
    assert_eq!((verified.status, verified.header("location")), (303, format!("{draft}/ownership")));
    assert_eq!(
        bench.service.verifications.lock().unwrap()[1],
        json!({"url": "https://a.example:8443/app", "domain": "a.example:8443", "content": content})
    );
    assert!(bench.get(&format!("{draft}/ownership")).text().contains("https://a.example:8443 is verified"));
    assert!(bench.get(&format!("{draft}/check")).text().contains("https://a.example:8443 was verified"));
    bench.step(&draft, "target", "url=https%3A%2F%2Fb.example&login_url=");
    assert!(!bench.get(&format!("{draft}/ownership")).text().contains("is verified"), "another domain was proved");
    assert_eq!(bench.post(&format!("{draft}/ownership"), PLACE).status, 400, "the scan does not aim there any more");
    assert_eq!(bench.service.contents.load(Ordering::SeqCst), 1, "one content for all of this");
}

#[test]
fn content_that_has_run_out_is_replaced() {
    let clock = Clock::manual(Timestamp::parse_rfc3339("2026-11-28T10:00:00Z").unwrap());
    let bench = Bench::at(clock.clone());
    let draft = bench.draft("");
    bench.step(&draft, "target", "url=https%3A%2F%2Fa.example&login_url=");
    assert!(bench.get(&format!("{draft}/ownership")).text().contains(&format!("{:064x}", 0)));
    clock.advance(Duration::from_hours(3));
    let later = bench.of("alice");
    let page = later.get(&format!("{draft}/ownership")).text();
    assert!(page.contains(&format!("{:064x}", 1)) && page.contains("28 Nov 2026, 16:00 UTC"), "{page}");
}

#[test]
fn every_domain_a_group_aims_at_is_proved_by_itself() {
    let bench = Bench::new();
    let draft = bench.draft("");
    bench.service.owned.store(true, Ordering::SeqCst);
    bench.step(&draft, "target", "url=https%3A%2F%2Fa.example&login_url=");
    for (name, target) in [("a.jar", "https://a.example/other"), ("b.jar", "https://b.example/")] {
        bench.add_file(&draft, "artifact", name, name.as_bytes(), &[("target", target)]);
    }
    let page = bench.get(&format!("{draft}/ownership")).text();
    assert_eq!(page.matches("name=\"origin\"").count(), 2, "{page}");
    assert_eq!(bench.post(&format!("{draft}/ownership"), "origin=https%3A%2F%2Fb.example").status, 303);
    let half = bench.get(&format!("{draft}/ownership")).text();
    assert!(half.contains("https://b.example is verified") && half.contains("Skip this step"), "{half}");
    assert_eq!(bench.post(&format!("{draft}/ownership"), "origin=https%3A%2F%2Fa.example").status, 303);
    assert!(!bench.get(&format!("{draft}/ownership")).text().contains("Skip this step"));
    assert_eq!(bench.service.verifications.lock().unwrap()[0]["url"], json!("https://b.example/"));
    let check = bench.get(&format!("{draft}/check")).text();
    assert!(check.contains("https://a.example/, https://b.example/") && check.contains("name=\"sure\""), "{check}");
}
