//! The chain on both backends: written by several at once, changed, cut, holed; and an outage that loses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::{Audit, Verdict};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, until};
use crate::gateway::store::tests::on_both;
use crate::platform::seal::Ring;

const DAY: Duration = Duration::from_hours(24);

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn trail(bench: &Bench) -> Audit {
    let ring = Arc::new(Ring::new([("k1".to_owned(), vec![7; 32])]).unwrap());
    Audit::new(bench.store.clone(), ring, bench.clock.clone(), (30 * DAY, 100), &bench.shutdown)
}

fn event(detail: &str) -> Event {
    Event::new(Deed::SignIn, detail).by("user-key", "session-id").from("10.0.0.0/24", "request-id")
}

async fn length(audit: &Audit) -> usize {
    audit.list(&acme(), None, 1000).await.unwrap_or_default().len()
}

async fn with_events(bench: &Bench, count: usize) -> Audit {
    let audit = trail(bench);
    for number in 1..=count {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    until("the events", async || length(&audit).await == count).await;
    audit
}

fn record(number: u64) -> Key {
    Key::new(&acme(), "audit", &number.to_string())
}

async fn events_are_kept_in_order_with_everything_that_was_said(bench: Bench) {
    let audit = with_events(&bench, 5).await;
    let all = audit.list(&acme(), None, 10).await.unwrap();
    let numbers: Vec<u64> = all.iter().map(|written| written.number).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!(all[1].event, event("n4"));
    assert_eq!(audit.list(&acme(), Some(3), 1).await.unwrap()[0].number, 2, "page after page");
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 5 });
    let globex = TenantId::parse("globex").unwrap();
    assert!(audit.list(&globex, None, 10).await.unwrap().is_empty(), "another tenant's chain is another");
    assert_eq!(audit.verify(&globex).await.unwrap(), Verdict::Whole { first: 0, last: 0 });
}

async fn several_writers_make_one_chain_without_gaps_or_losses(bench: Bench) {
    let trails = [trail(&bench), trail(&bench), trail(&bench)];
    for number in 0..20 {
        for (index, audit) in trails.iter().enumerate() {
            audit.record(&acme(), event(&format!("{index}-{number}")));
        }
    }
    until("all events", async || length(&trails[0]).await == 60).await;
    assert_eq!(trails[1].verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 60 });
    let told: BTreeSet<String> =
        trails[2].list(&acme(), None, 100).await.unwrap().into_iter().map(|written| written.event.detail).collect();
    assert_eq!(told.len(), 60);
}

async fn a_record_that_was_changed_or_swapped_breaks_the_chain_there(bench: Bench) {
    let audit = with_events(&bench, 6).await;
    let third = bench.store.get(&record(3)).await.unwrap().unwrap().value;
    let mut changed = third.clone();
    *changed.last_mut().unwrap() ^= 1;
    bench.store.put(&record(3), changed, None).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 3, .. }));
    let fourth = bench.store.get(&record(4)).await.unwrap().unwrap().value;
    bench.store.put(&record(3), fourth, None).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 3, .. }), "a copy of another record");
    bench.store.put(&record(3), third, None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 6 });
}

async fn records_that_are_missing_show_unless_they_had_run_out(bench: Bench) {
    let audit = with_events(&bench, 6).await;
    let last = bench.store.get(&record(6)).await.unwrap().unwrap().value;
    bench.store.delete(&record(6)).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 6, .. }), "a cut end");
    bench.store.put(&record(6), last, None).await.unwrap();
    for number in 1..=2 {
        bench.store.delete(&record(number)).await.unwrap();
    }
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 2, .. }), "a cut beginning");
    bench.store.delete(&record(4)).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 4, .. }), "a hole");
}

async fn nothing_that_was_said_is_readable_at_rest(bench: Bench) {
    let audit = with_events(&bench, 3).await;
    drop(audit);
    let shutdown = bench.shutdown.clone();
    shutdown.begin();
    shutdown.drain(Duration::from_secs(5)).await;
    let at_rest = bench.at_rest().await;
    for said in ["user-key", "session-id", "10.0.0.0", "request-id"] {
        assert!(!at_rest.windows(said.len()).any(|window| window == said.as_bytes()), "{said}");
    }
}

on_both! {
    events_are_kept_in_order_with_everything_that_was_said
    several_writers_make_one_chain_without_gaps_or_losses
    a_record_that_was_changed_or_swapped_breaks_the_chain_there
    records_that_are_missing_show_unless_they_had_run_out
    nothing_that_was_said_is_readable_at_rest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_records_run_out_and_the_rest_is_whole() {
    let bench = Bench::file();
    let audit = with_events(&bench, 3).await;
    bench.pass(31 * DAY);
    audit.record(&acme(), event("later"));
    until("the later event", async || length(&audit).await == 1).await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 4, last: 4 });
    bench.pass(31 * DAY);
    let out = Verdict::Whole { first: 0, last: 4 };
    until("all have run out", async || audit.verify(&acme()).await.unwrap() == out).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_of_the_store_delays_records_and_loses_none() {
    let mut bench = Bench::redis().await;
    let audit = with_events(&bench, 1).await;
    let server = bench.redis.as_mut().unwrap();
    server.command(&["SAVE"]).await;
    server.kill();
    for number in 2..=10 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    bench.redis.as_mut().unwrap().resume().await;
    until("all events", async || length(&audit).await == 10).await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 10 });
}
