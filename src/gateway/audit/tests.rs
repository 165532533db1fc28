//! The chain on both backends: written by several at once, changed, cut, holed, sealed anew, without the note of its end; what
//! strangers can have written; and an outage that loses nothing.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::{Audit, Limits, Line, Listing, Verdict, Wanted};
use crate::gateway::domain::audit::{Deed, Event, Written};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::{Bench, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Store};
use crate::platform::seal::{Ring, key_id};
use crate::platform::shutdown::Shutdown;

const DAY: Duration = Duration::from_hours(24);

pub(super) fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

pub(super) fn ring(ids: &[&str]) -> Arc<Ring> {
    Arc::new(Ring::new(ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]))).unwrap())
}

pub(super) fn trail_with(bench: &Bench, ring: Arc<Ring>, limits: Limits) -> Audit {
    Audit::new(bench.store.clone(), ring, bench.clock.clone(), limits, &bench.shutdown)
}

pub(super) fn trail(bench: &Bench) -> Audit {
    trail_with(bench, ring(&["k1"]), Limits::PLENTY)
}

fn event(detail: &str) -> Event {
    Event::new(Deed::SignIn, detail).by("user-key", "session-id").from("10.0.0.0/24", "request-id")
}

async fn newest(audit: &Audit, tenant: &TenantId, count: usize) -> Vec<Written> {
    audit.newest(tenant, count).await
}

async fn length(audit: &Audit) -> usize {
    newest(audit, &acme(), 1000).await.len()
}

pub(super) async fn with_events(bench: &Bench, count: usize) -> Audit {
    let audit = trail(bench);
    for number in 1..=count {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    until("the events", async || length(&audit).await == count).await;
    noted(bench, count as u64).await;
    audit
}

pub(super) fn record(number: u64) -> Key {
    Key::new(&acme(), "audit", &number.to_string())
}

async fn events_are_kept_in_order_with_everything_that_was_said(bench: Bench) {
    let audit = with_events(&bench, 5).await;
    let all = newest(&audit, &acme(), 10).await;
    let numbers: Vec<u64> = all.iter().map(|written| written.number).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!(all[1].event, event("n4"));
    assert_eq!(newest(&audit, &acme(), 2).await, all[..2]);
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 5 });
    let globex = TenantId::parse("globex").unwrap();
    assert!(newest(&audit, &globex, 10).await.is_empty(), "another tenant's chain is another");
    assert_eq!(audit.verify(&globex).await.unwrap(), Verdict::Whole { first: 0, last: 0 });
}

async fn several_writers_make_one_chain_without_gaps_or_losses(bench: Bench) {
    let trails = [trail(&bench), trail(&bench), trail(&bench)];
    // As at a start: the trail is there before anybody writes.
    trails[0].begin(vec![acme()], &bench.shutdown).await;
    for number in 0..20 {
        for (index, audit) in trails.iter().enumerate() {
            audit.record(&acme(), event(&format!("{index}-{number}")));
        }
    }
    until("all events", async || length(&trails[0]).await == 60).await;
    assert_eq!(trails[1].verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 60 });
    let told: BTreeSet<String> = newest(&trails[2], &acme(), 100).await.into_iter().map(|written| written.event.detail).collect();
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
    until("the next event", async || newest(&restarted, &acme(), 1).await[0].number == 7).await;
    assert!(bench.store.get(&record(1)).await.unwrap().is_none());
    assert!(matches!(restarted.verify(&acme()).await.unwrap(), Verdict::Broken { number: 1, how: "it is missing" }));
    for number in 1..=7 {
        bench.store.delete(&record(number)).await.unwrap();
    }
    until("the note", async || bench.store.delete(&note_of_the_end()).await.unwrap()).await;
    assert_eq!(restarted.verify(&acme()).await.unwrap(), Verdict::Whole { first: 0, last: 0 }, "the store is empty");
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

/// The sealed note, once it is that of event `number`.
pub(super) async fn noted(bench: &Bench, number: u64) -> Vec<u8> {
    let mut note = Vec::new();
    until("the note", async || {
        let Some(record) = bench.store.get(&note_of_the_end()).await.unwrap() else { return false };
        note = record.value;
        let key = note_of_the_end();
        let Ok(plain) = ring(&["k1"]).open("audit-end", &key.context(), &[], &note) else { return false };
        String::from_utf8(plain.to_vec()).unwrap().contains(&format!("\"number\":{number},"))
    })
    .await;
    note
}

async fn a_note_that_was_put_back_hides_no_record_behind_a_hole(bench: Bench) {
    let audit = with_events(&bench, 3).await;
    let old = noted(&bench, 3).await;
    for number in 4..=6 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    noted(&bench, 6).await;
    bench.store.put(&note_of_the_end(), old, None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 6 }, "it says about where the end is");
    bench.store.delete(&record(4)).await.unwrap();
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 4, .. }));
}

/// A note as somebody without the sealing key can write one: nothing of it is believed.
fn forged(number: u64) -> Vec<u8> {
    format!(r#"{{"number":{number},"hash":"","at":0}}"#).into_bytes()
}

async fn a_forged_note_excuses_nothing(bench: Bench) {
    let audit = with_events(&bench, 40).await;
    let note = noted(&bench, 40).await;
    let mut kept = Vec::new();
    for number in 1..=40 {
        kept.push(bench.store.get(&record(number)).await.unwrap().unwrap().value);
    }
    let flipped = [&kept[8][..kept[8].len() - 1], &[kept[8].last().unwrap() ^ 1]].concat();
    // Where the note says the end is, what is deleted, and what is told of it.
    let gone = |number, how| Verdict::Broken { number, how };
    let late = "it is missing or does not open, and there are later ones";
    let cases = [
        (40, 40..=40, Verdict::EndUnknown { first: 1, last: 39 }),
        (40, 1..=40, Verdict::Gone),
        (41, 5..=30, gone(30, "it is missing")),
        (41, 9..=9, gone(9, "it does not open")),
        (41, 0..=0, Verdict::EndUnknown { first: 1, last: 40 }),
        (u64::MAX, 0..=0, Verdict::EndUnknown { first: 1, last: 40 }),
    ];
    for (number, deleted, told) in cases {
        bench.store.put(&note_of_the_end(), forged(number), None).await.unwrap();
        for number in deleted.clone() {
            bench.store.delete(&record(number)).await.unwrap();
        }
        if deleted == (9..=9) {
            bench.store.put(&record(9), flipped.clone(), Some(DAY)).await.unwrap();
        }
        assert_eq!(audit.verify(&acme()).await.unwrap(), told, "a note of {number} and {deleted:?} gone");
        for number in deleted.filter(|number| *number > 0) {
            bench.store.put(&record(number), kept[usize::try_from(number).unwrap() - 1].clone(), Some(30 * DAY)).await.unwrap();
        }
    }
    // One of another trail, or of another place, is no better.
    let globex = TenantId::parse("globex").unwrap();
    audit.record(&globex, event("n1"));
    let theirs = Key::new(&globex, "audit-end", "end");
    until("the other note", async || bench.store.get(&theirs).await.unwrap().is_some()).await;
    let other = bench.store.get(&theirs).await.unwrap().unwrap().value;
    bench.store.put(&note_of_the_end(), other, None).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::EndUnknown { first: 1, last: 40 });
    // Nor does something in the place of a record at the end of all numbers lead anywhere.
    bench.store.put(&note_of_the_end(), note, None).await.unwrap();
    bench.store.put(&record(u64::MAX), b"made up".to_vec(), Some(DAY)).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), gone(41, late));
    assert_eq!(length(&audit).await, 40);
    bench.store.delete(&record(u64::MAX)).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 40 });
}

async fn a_restarted_gateway_seals_no_forged_note_into_the_chain(bench: Bench) {
    with_events(&bench, 6).await;
    noted(&bench, 6).await;
    for (deleted, told) in
        [(5..=6, Verdict::Doubtful { first: 1, last: 5, number: 5 }), (1..=5, Verdict::Doubtful { first: 1, last: 1, number: 1 })]
    {
        bench.store.put(&note_of_the_end(), forged(157), None).await.unwrap();
        for number in deleted {
            bench.store.delete(&record(number)).await.unwrap();
        }
        let restarted = trail(&bench);
        let before = length(&restarted).await;
        restarted.record(&acme(), event("later"));
        until("the next event", async || length(&restarted).await == before + 1).await;
        noted(&bench, before as u64 + 1).await;
        assert_eq!(restarted.verify(&acme()).await.unwrap(), told);
    }
}

async fn a_trail_that_was_wiped_is_not_called_new(bench: Bench) {
    let audit = trail(&bench);
    audit.begin(vec![acme()], &bench.shutdown).await;
    // Somebody has signed in, and the event is on its way.
    bench.store.put(&Key::new(&acme(), "session", "s1"), b"sealed".to_vec(), Some(DAY)).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 0, last: 0 });
    for number in 1..=3 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    noted(&bench, 3).await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 3 });
    for number in 1..=3 {
        bench.store.delete(&record(number)).await.unwrap();
    }
    bench.store.delete(&note_of_the_end()).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Gone);
    // Nor does the next start make it new.
    let restarted = trail(&bench);
    restarted.begin(vec![acme()], &bench.shutdown).await;
    assert_eq!(restarted.verify(&acme()).await.unwrap(), Verdict::Gone);
    restarted.record(&acme(), event("later"));
    until("the next event", async || length(&restarted).await == 1).await;
    noted(&bench, 1).await;
    assert_eq!(restarted.verify(&acme()).await.unwrap(), Verdict::Doubtful { first: 1, last: 1, number: 1 });
}

async fn a_damaged_trail_keeps_only_its_own_events_waiting(bench: Bench) {
    let audit = trail_with(&bench, ring(&["k1"]), Limits { waiting: 4, ..Limits::PLENTY });
    audit.record(&acme(), event("n1"));
    noted(&bench, 1).await;
    bench.store.put(&record(2), b"in the way".to_vec(), Some(DAY)).await.unwrap();
    let globex = TenantId::parse("globex").unwrap();
    for number in 1..=20_usize {
        audit.record(&acme(), event(&format!("n{number}")));
        audit.record(&globex, event(&format!("n{number}")));
        until("the other tenant's", async || newest(&audit, &globex, 100).await.len() == number).await;
    }
    assert_eq!(audit.waiting(), 4, "so many wait, those beyond are in the log only");
    assert!(matches!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 2, .. }));
    bench.store.delete(&record(2)).await.unwrap();
    until("those that waited", async || length(&audit).await == 5).await;
    until("none to wait", async || audit.waiting() == 0).await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 5 });
}

async fn a_list_shows_what_is_wanted_and_where_something_is_missing(bench: Bench) {
    let audit = trail(&bench);
    for number in 1..=3 {
        audit.record(&acme(), event(&format!("n{number}")));
        audit.record(&acme(), Event::new(Deed::SignInRefused, "unknown_or_used"));
        audit.record(&acme(), Event::new(Deed::CrossSite, "origin"));
    }
    noted(&bench, 9).await;
    let numbers = |listing: &Listing| {
        let each = listing.lines.iter().map(|line| match line {
            Line::Event(written) => (written.number, written.number),
            Line::Missing { first, last, .. } => (*first, *last),
        });
        each.collect::<Vec<_>>()
    };
    let list = async |wanted: Wanted, count| audit.list(&acme(), &wanted, count).await.unwrap();
    let ours = list(Wanted::NoStrangers, 2).await;
    assert_eq!(numbers(&ours), [(7, 7), (4, 4)]);
    assert_eq!(ours.left_out.into_iter().collect::<Vec<_>>(), [("cross_site", 2), ("sign_in_refused", 2)]);
    let named = list(Wanted::Only(vec![Deed::CrossSite, Deed::SignIn]), 3).await;
    assert_eq!(numbers(&named), [(9, 9), (7, 7), (6, 6)]);
    assert_eq!(list(Wanted::All, 100).await.lines.len(), 9);
    // A hole, something that does not open, a cut end and a cut beginning.
    for number in [1, 4, 5, 9] {
        bench.store.delete(&record(number)).await.unwrap();
    }
    bench.store.put(&record(7), b"garbage".to_vec(), Some(DAY)).await.unwrap();
    let all = list(Wanted::All, 100).await;
    assert_eq!(numbers(&all), [(9, 9), (8, 8), (7, 7), (6, 6), (4, 5), (3, 3), (2, 2), (1, 1)]);
    assert!(matches!(all.lines[0], Line::Missing { how: "it is missing", .. }));
    assert!(matches!(all.lines[2], Line::Missing { how: "it does not open", .. }));
}

async fn under(store: &Store, id: &str) -> usize {
    let mut count = 0;
    let mut visit = |seen: crate::gateway::store::Seen<'_>| {
        count += usize::from(matches!(seen.kind, "audit" | "audit-end") && key_id(seen.start) == Some(id));
    };
    store.survey(&mut visit).await.unwrap();
    count
}

async fn a_trail_is_sealed_anew_when_another_key_seals_and_its_chain_stays(bench: Bench) {
    let before = newest(&with_events(&bench, 8).await, &acme(), 10).await;
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
    until("the ninth", async || length(&audit).await > 0 && under(&bench.store, "k1").await == 9 + 1).await;
    both.seal_with("k2");
    until("all to be sealed anew", async || under(&bench.store, "k2").await == 8 + 1).await;
    assert_eq!(under(&bench.store, "k1").await, 1);
    bench.store.put(&record(5), old.value, Some(DAY)).await.unwrap();
    let later = trail_with(&bench, both, Limits::PLENTY);
    later.reseal(Duration::from_millis(10), NonZeroU32::new(60_000).unwrap(), &bench.shutdown);
    until("the last one", async || under(&bench.store, "k1").await == 0).await;
    // Without the old key all is as it was.
    let audit = trail_with(&bench, ring(&["k2"]), Limits::PLENTY);
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 1, last: 9 });
    assert_eq!(newest(&audit, &acme(), 10).await[1..], before);
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
    a_forged_note_excuses_nothing
    a_restarted_gateway_seals_no_forged_note_into_the_chain
    a_trail_that_was_wiped_is_not_called_new
    a_damaged_trail_keeps_only_its_own_events_waiting
    a_list_shows_what_is_wanted_and_where_something_is_missing
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
    until("the other tenant's", async || newest(&audit, &globex, 10).await.len() == 1).await;
    bench.pass(Duration::from_mins(1));
    until("the count", async || length(&audit).await == 3 + 5 + 1).await;
    let count = newest(&audit, &acme(), 1).await.remove(0).event;
    assert_eq!((count.deed, count.detail.as_str()), (Deed::LeftOut, "cross_site 9, sign_in_refused 9, tenant_mismatch 9"));
    // What is left out when the process ends is counted, too.
    audit.record(&acme(), Event::new(Deed::CrossSite, "origin"));
    bench.shutdown.begin();
    bench.shutdown.drain(Duration::from_secs(10)).await;
    let count = newest(&audit, &acme(), 1).await.remove(0);
    assert_eq!((count.number, count.event.deed, count.event.detail.as_str()), (10, Deed::LeftOut, "cross_site 1"));
    assert_eq!(newest(&audit, &globex, 10).await.len(), 1, "nothing was left out there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_cause_has_a_limit_for_a_day_and_then_one_count_in_an_hour() {
    let bench = Bench::file();
    let limits = Limits { strangers_per_day: NonZeroU32::new(5).unwrap(), ..Limits::PLENTY };
    let audit = trail_with(&bench, ring(&["k1"]), limits);
    for _ in 0..8 {
        audit.record(&acme(), Event::new(Deed::SignInRefused, "unknown_or_used"));
    }
    audit.record(&acme(), event("n1"));
    until("what is let in", async || length(&audit).await == 5 + 1).await;
    bench.pass(Duration::from_mins(59));
    audit.record(&acme(), Event::new(Deed::SignInRefused, "unknown_or_used"));
    audit.record(&acme(), event("n2"));
    until("the next", async || length(&audit).await == 5 + 2).await;
    bench.pass(Duration::from_mins(1));
    until("the count", async || length(&audit).await == 5 + 3).await;
    assert_eq!(newest(&audit, &acme(), 1).await.remove(0).event.detail, "sign_in_refused 4");
    bench.pass(23 * Duration::from_hours(1));
    audit.record(&acme(), Event::new(Deed::CrossSite, "origin"));
    until("one of the next day", async || newest(&audit, &acme(), 1).await.remove(0).event.deed == Deed::CrossSite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_period_of_one_day_a_fresh_deletion_shows() {
    let bench = Bench::file();
    let audit = trail_with(&bench, ring(&["k1"]), Limits { kept: DAY, ..Limits::PLENTY });
    for number in 1..=3 {
        audit.record(&acme(), event(&format!("n{number}")));
    }
    noted(&bench, 3).await;
    bench.pass(Duration::from_hours(20));
    bench.store.delete(&record(1)).await.unwrap();
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 1, how: "it is missing" });
    bench.pass(Duration::from_hours(5));
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Whole { first: 0, last: 3 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_is_left_before_a_gap_is_no_excuse_for_it() {
    let bench = Bench::file();
    let audit = with_events(&bench, 3).await;
    noted(&bench, 3).await;
    let first = bench.store.get(&record(1)).await.unwrap().unwrap().value;
    bench.pass(31 * DAY);
    // Its time was over with that of the others.
    bench.store.put(&record(1), first, None).await.unwrap();
    let told = Verdict::Broken { number: 3, how: "it is missing, and there are earlier ones" };
    assert_eq!(audit.verify(&acme()).await.unwrap(), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_type_in_the_place_of_a_record_or_of_the_note_is_damage_and_no_outage() {
    let bench = Bench::redis().await;
    let audit = with_events(&bench, 3).await;
    noted(&bench, 3).await;
    let server = bench.redis.as_ref().unwrap();
    let put = async |id: &str, kind: &str| {
        let name = format!("test:{{acme:{id}}}:{kind}:r");
        server.command(&["DEL", &name]).await;
        server.command(&["SADD", &name, "x"]).await;
    };
    put("2", "audit").await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 2, how: "it does not open" });
    put("3", "audit").await;
    put("end", "audit-end").await;
    assert_eq!(audit.verify(&acme()).await.unwrap(), Verdict::Broken { number: 3, how: "it does not open" });
    assert_eq!(audit.list(&acme(), &Wanted::All, 10).await.unwrap().lines.len(), 3);
    put("4", "audit").await;
    let globex = TenantId::parse("globex").unwrap();
    audit.record(&acme(), event("n4"));
    audit.record(&globex, event("n1"));
    until("the other tenant's", async || newest(&audit, &globex, 10).await.len() == 1).await;
    assert_eq!(audit.waiting(), 1);
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
async fn told(path: &std::path::Path, bench: &Bench) -> Option<(Verdict, Vec<Written>)> {
    let store = Store::embedded(path, bench.clock.clone()).ok()?;
    let end = Shutdown::default();
    let audit = Audit::new(store.clone(), ring(&["k1"]), bench.clock.clone(), Limits::PLENTY, &end);
    let verdict = audit.verify(&acme()).await.ok();
    let list = newest(&audit, &acme(), 1000).await;
    let _ = crate::gateway::keyring::count(&store, vec!["k1".to_owned()]).await;
    end.begin();
    Some((verdict?, list))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_any_bit_of_its_file_flipped_a_trail_is_whole_only_when_all_of_it_is_there() {
    let bench = Bench::file();
    let all = newest(&with_events(&bench, 40).await, &acme(), 1000).await;
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
