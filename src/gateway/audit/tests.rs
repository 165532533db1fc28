//! The chain on both backends: written by several at once, changed, cut, holed, sealed anew, without the note of its end; what
//! strangers can have written; and an outage that loses nothing.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::{Audit, Limits, Verdict};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::{Bench, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Store};
use crate::platform::seal::{Ring, key_id};
use crate::platform::shutdown::Shutdown;

const DAY: Duration = Duration::from_hours(24);

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn ring(ids: &[&str]) -> Arc<Ring> {
    Arc::new(Ring::new(ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]))).unwrap())
}

fn trail_with(bench: &Bench, ring: Arc<Ring>, limits: Limits) -> Audit {
    Audit::new(bench.store.clone(), ring, bench.clock.clone(), limits, &bench.shutdown)
}

fn trail(bench: &Bench) -> Audit {
    trail_with(bench, ring(&["k1"]), Limits::PLENTY)
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

fn note_of_the_end() -> Key {
    Key::new(&acme(), "audit-end", "end")
}

async fn without_the_note_of_its_end_a_trail_is_not_called_whole_and_goes_on_after_its_last_record(bench: Bench) {
    let audit = with_events(&bench, 6).await;
    until("the note", async || bench.store.delete(&note_of_the_end()).await.unwrap()).await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::EndUnknown { first: 1, last: 6 });
    bench.store.put(&note_of_the_end(), b"no note".to_vec(), None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::EndUnknown { first: 1, last: 6 });
    bench.store.delete(&note_of_the_end()).await.unwrap();
    bench.store.delete(&record(1)).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 1, how: "it is missing" }));
    // A gateway that starts now does not begin at 1 again.
    let restarted = trail(&bench);
    restarted.record(&acme(), event("n7"));
    until("the next event", async || restarted.list(&acme(), None, 1).await.unwrap()[0].number == 7).await;
    assert!(bench.store.get(&record(1)).await.unwrap().is_none());
    assert!(matches!(restarted.verify(&acme()).await.unwrap(), Verdict::Broken { number: 1, how: "it is missing" }));
    for number in 1..=7 {
        bench.store.delete(&record(number)).await.unwrap();
    }
    until("the note", async || bench.store.delete(&note_of_the_end()).await.unwrap()).await;
    assert_eq!(restarted.verify(&acme()).await.unwrap(), Verdict::Whole { first: 0, last: 0 });
}

async fn a_last_record_that_does_not_open_is_told_and_not_written_over_when_the_note_is_gone(bench: Bench) {
    let audit = with_events(&bench, 3).await;
    until("the note", async || bench.store.delete(&note_of_the_end()).await.unwrap()).await;
    bench.store.put(&record(3), b"garbage".to_vec(), None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 3, how: "it does not open" });
    let restarted = trail(&bench);
    restarted.record(&acme(), event("n4"));
    bench.store.put(&record(3), b"garbage".to_vec(), None).await.unwrap();
    assert_eq!(bench.store.get(&record(3)).await.unwrap().unwrap().value, b"garbage");
    assert_eq!(restarted.verify(&acme()).await.unwrap(), Verdict::Broken { number: 3, how: "it does not open" });
}

async fn a_note_that_was_put_back_hides_no_record_behind_a_hole(bench: Bench) {
    let audit = with_events(&bench, 3).await;
    until("the note of 3", async || {
        let note = bench.store.get(&note_of_the_end()).await.unwrap();
        note.is_some_and(|note| String::from_utf8(note.value).unwrap().contains("\"number\":3"))
    })
    .await;
    let old = bench.store.get(&note_of_the_end()).await.unwrap().unwrap().value;
    for number in 4..=6 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    until("the note of 6", async || {
        let note = bench.store.get(&note_of_the_end()).await.unwrap().unwrap().value;
        String::from_utf8(note).unwrap().contains("\"number\":6")
    })
    .await;
    bench.store.put(&note_of_the_end(), old, None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 6 }, "it says about where the end is");
    bench.store.delete(&record(4)).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 4, .. }));
    let nowhere = br#"{"number":18446744073709551615,"hash":"","at":null}"#;
    bench.store.put(&note_of_the_end(), nowhere.to_vec(), None).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { .. }));
}

async fn under(store: &Store, id: &str) -> usize {
    let mut count = 0;
    let mut visit = |seen: crate::gateway::store::Seen<'_>| {
        count += usize::from(seen.kind == "audit" && key_id(seen.start) == Some(id));
    };
    store.survey(&mut visit).await.unwrap();
    count
}

async fn a_trail_is_sealed_anew_when_another_key_seals_and_its_chain_stays(bench: Bench) {
    let before = with_events(&bench, 8).await.list(&acme(), None, 10).await.unwrap();
    // One that nobody can seal anew does not keep the others from it.
    let old = bench.store.get(&record(5)).await.unwrap().unwrap();
    let mut damaged = old.value.clone();
    *damaged.last_mut().unwrap() ^= 1;
    bench.store.put(&record(5), damaged, None).await.unwrap();
    let both = ring(&["k2", "k1"]);
    let audit = trail_with(&bench, Arc::clone(&both), Limits::PLENTY);
    both.seal_with("k1");
    audit.reseal(Duration::from_millis(10), NonZeroU32::new(60_000).unwrap(), &bench.shutdown);
    audit.record(&acme(), event("n9"));
    until("the ninth", async || length(&audit).await > 0 && under(&bench.store, "k1").await == 9).await;
    both.seal_with("k2");
    until("all to be sealed anew", async || under(&bench.store, "k2").await == 8).await;
    assert_eq!(under(&bench.store, "k1").await, 1);
    bench.store.put(&record(5), old.value, Some(DAY)).await.unwrap();
    let later = trail_with(&bench, both, Limits::PLENTY);
    later.reseal(Duration::from_millis(10), NonZeroU32::new(60_000).unwrap(), &bench.shutdown);
    until("the last one", async || under(&bench.store, "k1").await == 0).await;
    // Without the old key all is as it was.
    let audit = trail_with(&bench, ring(&["k2"]), Limits::PLENTY);
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 9 });
    assert_eq!(audit.list(&acme(), Some(9), 10).await.unwrap(), before);
    let left = bench.store.get(&record(1)).await.unwrap().unwrap().expires_in;
    assert!(left.is_some_and(|left| left > 29 * DAY), "{left:?}");
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
    without_the_note_of_its_end_a_trail_is_not_called_whole_and_goes_on_after_its_last_record
    a_last_record_that_does_not_open_is_told_and_not_written_over_when_the_note_is_gone
    a_note_that_was_put_back_hides_no_record_behind_a_hole
    a_trail_is_sealed_anew_when_another_key_seals_and_its_chain_stays
    nothing_that_was_said_is_readable_at_rest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_cause_is_written_down_up_to_a_limit_and_the_rest_as_a_count() {
    let bench = Bench::file();
    let limits = Limits { strangers_per_minute: NonZeroU32::new(3).unwrap(), ..Limits::PLENTY };
    let (audit, globex) = (trail_with(&bench, ring(&["k1"]), limits), TenantId::parse("globex").unwrap());
    for _ in 0..10 {
        audit.record(&acme(), Event::new(Deed::SignInRefused, "unknown_or_used"));
        audit.record(&acme(), Event::new(Deed::CrossSite, "origin"));
        audit.record(&acme(), Event::new(Deed::TenantMismatch, "callback"));
    }
    for number in 0..5 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    audit.record(&globex, Event::new(Deed::CrossSite, "origin"));
    until("what is let in", async || length(&audit).await == 3 + 5).await;
    until("the other tenant's", async || audit.list(&globex, None, 10).await.unwrap().len() == 1).await;
    bench.pass(Duration::from_mins(1));
    until("the count", async || length(&audit).await == 3 + 5 + 1).await;
    let count = audit.list(&acme(), None, 1).await.unwrap().remove(0).event;
    assert_eq!((count.deed, count.detail.as_str()), (Deed::LeftOut, "cross_site 9, sign_in_refused 9, tenant_mismatch 9"));
    // What is left out when the process ends is counted, too.
    audit.record(&acme(), Event::new(Deed::CrossSite, "origin"));
    bench.shutdown.begin();
    bench.shutdown.drain(Duration::from_secs(10)).await;
    let count = audit.list(&acme(), None, 1).await.unwrap().remove(0);
    assert_eq!((count.number, count.event.deed, count.event.detail.as_str()), (10, Deed::LeftOut, "cross_site 1"));
    assert_eq!(audit.list(&globex, None, 10).await.unwrap().len(), 1, "nothing was left out there");
}

#[tokio::test]
async fn what_strangers_cause_leaves_half_of_the_waiting_room_to_others() {
    let bench = Bench::file();
    let audit = trail_with(&bench, ring(&["k1"]), Limits { waiting: 8, ..Limits::PLENTY });
    // The writer has had no turn yet.
    for _ in 0..20 {
        audit.record(&acme(), Event::new(Deed::SignInRefused, "trouble"));
    }
    assert_eq!(audit.waiting(), 4);
    for number in 0..4 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    assert_eq!(audit.waiting(), 8);
    until("all", async || length(&audit).await == 8).await;
}

/// Opens a file as a command does; `None` when it is told to be damaged.
async fn told(path: &std::path::Path, bench: &Bench) -> Option<(Verdict, Vec<crate::gateway::domain::audit::Written>)> {
    let store = Store::embedded(path, bench.clock.clone()).ok()?;
    let end = Shutdown::default();
    let audit = Audit::new(store.clone(), ring(&["k1"]), bench.clock.clone(), Limits::PLENTY, &end);
    let verdict = audit.verify(&acme()).await.ok();
    let list = audit.list(&acme(), None, 1000).await.ok();
    let _ = crate::gateway::keyring::count(&store, vec!["k1".to_owned()]).await;
    end.begin();
    verdict.zip(list)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_any_bit_of_its_file_flipped_a_trail_is_whole_only_when_all_of_it_is_there() {
    let bench = Bench::file();
    let all = with_events(&bench, 40).await.list(&acme(), None, 1000).await.unwrap();
    let third = bench.store.get(&record(3)).await.unwrap().unwrap().value;
    bench.shutdown.begin();
    bench.shutdown.drain(Duration::from_secs(10)).await;
    let folder = tempfile::TempDir::new().unwrap();
    let spare = Bench::file();
    // A file of its own for each: the one before may not be closed yet.
    let look_at = async |name: usize, bytes: &[u8]| {
        let path = folder.path().join(format!("{name}.redb"));
        std::fs::write(&path, bytes).unwrap();
        let told = told(&path, &spare).await;
        std::fs::remove_file(&path).unwrap();
        told
    };
    let file = bench.at_rest().await;
    let mut places = vec![(4096, 0)];
    let mut random = 1_u64;
    while places.len() < 300 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        places.push(((random >> 33) as usize % file.len(), (random >> 20) % 8));
    }
    let mut outcomes = [0; 3];
    for (number, (place, bit)) in places.into_iter().enumerate() {
        let mut flipped = file.clone();
        flipped[place] ^= 1 << bit;
        match look_at(number, &flipped).await {
            Some((Verdict::Whole { first: 1, last: 40 }, list)) => {
                assert_eq!(list, all, "bit {bit} of byte {place}");
                outcomes[0] += 1;
            }
            Some((Verdict::Whole { first, last }, _)) => panic!("bit {bit} of byte {place}: whole from {first} to {last}"),
            Some(_) => outcomes[1] += 1,
            None => outcomes[2] += 1,
        }
    }
    println!("whole because elsewhere, broken, damaged: {outcomes:?}");
    // Where the record itself is, in all pages that hold it, the trail is never whole.
    let mut flipped = file.clone();
    let found: Vec<usize> = (0..file.len() - third.len()).filter(|place| file[*place..].starts_with(&third)).collect();
    assert!(!found.is_empty());
    for place in found {
        flipped[place + third.len() / 2] ^= 1;
    }
    let outcome = look_at(300, &flipped).await.map(|(verdict, _)| verdict);
    assert!(matches!(outcome, None | Some(Verdict::Broken { number: 3, .. })), "{outcome:?}");
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
