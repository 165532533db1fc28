//! Parts of a trail, and checks that people ask for, on both backends.

use std::sync::Arc;
use std::time::Duration;

use super::tests::{acme, noted, record, ring, trail, with_events};
use super::{Audit, Found, Line};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::store::tests::bench::{Bench, until};
use crate::gateway::store::tests::on_both;
use crate::platform::shutdown::Shutdown;

on_both! {
    parts_put_together_are_the_trail_and_nothing_comes_twice
    what_is_missing_is_a_line_of_its_own
    a_check_is_told_to_everybody_and_runs_once_at_a_time
    what_a_check_found_cannot_be_made_up
}

async fn numbers(audit: &Audit, size: u64) -> Vec<u64> {
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let part = audit.part(&acme(), before, size).await.unwrap();
        assert!(part.lines.len() as u64 <= size);
        found.extend(part.lines.iter().map(|line| if let Line::Event(written) = line { written.number } else { 0 }));
        before = part.next;
        if before.is_none() {
            return found;
        }
    }
}

async fn parts_put_together_are_the_trail_and_nothing_comes_twice(bench: Bench) {
    let empty = trail(&bench).part(&acme(), None, 5).await.unwrap();
    assert!(empty.lines.is_empty() && empty.next.is_none());
    let audit = with_events(&bench, 23).await;
    for size in [1, 5, 23, 100] {
        assert_eq!(numbers(&audit, size).await, (1..=23).rev().collect::<Vec<_>>(), "by {size}");
    }
    for odd in [0, 1] {
        assert!(audit.part(&acme(), Some(odd), 5).await.unwrap().lines.is_empty());
    }
    // A number beyond the end is no way to make anybody look for long.
    assert_eq!(audit.part(&acme(), Some(u64::MAX), 5).await.unwrap(), audit.part(&acme(), None, 5).await.unwrap());
}

async fn what_is_missing_is_a_line_of_its_own(bench: Bench) {
    let audit = with_events(&bench, 9).await;
    for number in [3, 4, 7] {
        bench.store.delete(&record(number)).await.unwrap();
    }
    bench.store.put(&record(8), b"nothing that opens".to_vec(), None).await.unwrap();
    let part = audit.part(&acme(), None, 20).await.unwrap();
    let told: Vec<String> = part
        .lines
        .iter()
        .map(|line| match line {
            Line::Event(written) => written.number.to_string(),
            Line::Missing { first, last, how } => format!("{first}-{last} {how}"),
        })
        .collect();
    let wanted = ["9", "8-8 it does not open", "7-7 it is missing", "6", "5", "3-4 it is missing", "2", "1"];
    assert_eq!((told, part.next), (wanted.map(str::to_owned).to_vec(), None));
    let by_two = audit.part(&acme(), Some(8), 2).await.unwrap();
    assert_eq!((by_two.lines.len(), by_two.next), (2, Some(6)));
}

async fn a_check_is_told_to_everybody_and_runs_once_at_a_time(bench: Bench) {
    let (audit, other) = (with_events(&bench, 5).await, trail(&bench));
    let asked = || Event::new(Deed::AuditTrail, "checked").by("user-key", "session-id");
    assert!(audit.last_check(&acme()).await.unwrap().is_none());
    let shutdown = Shutdown::default();
    let begun = [audit.check(&acme(), asked(), &shutdown).await, other.check(&acme(), asked(), &shutdown).await];
    assert_eq!(begun.into_iter().filter(|begun| *begun == Ok(true)).count(), 1);
    until("the end of the check", async || other.last_check(&acme()).await.unwrap().is_some_and(|check| check.ended.is_some()))
        .await;
    let check = other.last_check(&acme()).await.unwrap().unwrap();
    assert_eq!(check.ended.unwrap().1, Found::Whole { first: 1, last: 5 });
    noted(&bench, 6).await;
    assert_eq!(audit.newest(&acme(), 1).await[0].event.detail, "checked_whole");

    assert_eq!(other.check(&acme(), asked(), &shutdown).await, Ok(false), "one has just ended");
    bench.clock.advance(Duration::from_mins(1));
    bench.store.delete(&record(3)).await.unwrap();
    until("another check", async || other.check(&acme(), asked(), &shutdown).await.unwrap()).await;
    let broken = async || {
        let check = audit.last_check(&acme()).await.unwrap().unwrap();
        matches!(check.ended, Some((_, Found::Broken { number: 3, .. })))
    };
    until("what it found", broken).await;
}

async fn what_a_check_found_cannot_be_made_up(bench: Bench) {
    use crate::gateway::store::Key;
    let audit = with_events(&bench, 2).await;
    bench.store.put(&Key::new(&acme(), "audit-check", "last"), br#"{"begun_at":0,"ended":null}"#.to_vec(), None).await.unwrap();
    assert!(audit.last_check(&acme()).await.unwrap().is_none());
    // One that was stopped is told as such, also by a replica with another ring.
    let shutdown = Shutdown::default();
    shutdown.begin();
    audit.check(&acme(), Event::new(Deed::AuditTrail, "checked"), &shutdown).await.unwrap();
    let foreign = super::tests::trail_with(&bench, Arc::clone(&ring(&["k2"])), super::Limits::PLENTY);
    assert!(foreign.last_check(&acme()).await.unwrap().is_none());
}
