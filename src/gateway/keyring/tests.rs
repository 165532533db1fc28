//! Replicas with different rings on one store.

use std::sync::Arc;
use std::time::Duration;

use super::{Keyring, count};
use crate::gateway::audit::{Audit, Limits};
use crate::gateway::store::tests::bench::{Bench, acme, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Store};
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

const EVERY: Duration = Duration::from_secs(1);

on_both! {
    what_stands_under_which_key_is_counted
    a_record_in_another_form_is_the_same_record
}

fn ring(ids: &[&str]) -> Arc<Ring> {
    Arc::new(Ring::new(ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]))).unwrap())
}

fn audit(bench: &Bench, ring: &Arc<Ring>) -> Audit {
    Audit::new(bench.store.clone(), Arc::clone(ring), bench.clock.clone(), Limits::PLENTY, &bench.shutdown)
}

/// A replica that follows the others until its own end.
async fn replica(bench: &Bench, ids: &[&str]) -> (Arc<Ring>, Shutdown) {
    let (ring, end) = (ring(ids), Shutdown::default());
    let keyring = Keyring::new((bench.store.clone(), Arc::clone(&ring)), audit(bench, &ring), vec![acme()], EVERY).unwrap();
    keyring.follow(&end).await;
    (ring, end)
}

async fn seal(store: &Store, ring: &Ring, kind: &'static str, id: &str) {
    let key = Key::new(&acme(), kind, id);
    let sealed = ring.seal(kind, &key.context(), &[], b"content").unwrap();
    store.put(&key, sealed, Some(Duration::from_hours(1))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_seals_only_when_every_replica_has_it_and_that_is_written_down_once() {
    let bench = Bench::redis().await;
    let (first, first_end) = replica(&bench, &["k1"]).await;
    let (second, second_end) = replica(&bench, &["k1"]).await;
    assert_eq!((first.sealing(), second.sealing()), ("k1", "k1"));
    first_end.begin();
    first_end.drain(Duration::from_secs(10)).await;
    let (first, _end) = replica(&bench, &["k2", "k1"]).await;
    // The other one could not open what the new key seals.
    assert_eq!(first.sealing(), "k1");
    let ear = audit(&bench, &first);
    assert!(ear.newest(&acme(), 10).await.is_empty());
    second_end.begin();
    second_end.drain(Duration::from_secs(10)).await;
    let (second, _end) = replica(&bench, &["k2", "k1"]).await;
    until("both to seal with the new key", async || first.sealing() == "k2" && second.sealing() == "k2").await;
    until("the change to be written down", async || !ear.newest(&acme(), 10).await.is_empty()).await;
    assert_eq!(ear.newest(&acme(), 10).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_died_is_waited_for_no_longer_than_three_turns() {
    let bench = Bench::redis().await;
    let (dead, alone) = (ring(&["k1"]), ring(&["k2", "k1"]));
    let keyring = |ring: &Arc<Ring>| {
        Keyring::new((bench.store.clone(), Arc::clone(ring)), audit(&bench, ring), vec![acme()], EVERY).unwrap()
    };
    // It takes one turn and is never heard of again.
    keyring(&dead).turn().await;
    keyring(&alone).follow(&bench.shutdown).await;
    assert_eq!(alone.sealing(), "k1");
    until("the dead one to be forgotten", async || alone.sealing() == "k2").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_store_is_away_the_oldest_key_seals() {
    let mut bench = Bench::redis().await;
    bench.redis.as_mut().unwrap().kill();
    let (ring, _end) = replica(&bench, &["k2", "k1"]).await;
    assert_eq!(ring.sealing(), "k1");
    bench.redis.as_mut().unwrap().resume().await;
    until("the newest", async || ring.sealing() == "k2").await;
}

#[tokio::test]
async fn on_an_embedded_store_a_new_key_seals_at_once_and_that_is_written_down() {
    let bench = Bench::file();
    let (old, _end) = replica(&bench, &["k1"]).await;
    assert_eq!(old.sealing(), "k1");
    let (new, _end) = replica(&bench, &["k2", "k1"]).await;
    assert_eq!(new.sealing(), "k2");
    let ear = audit(&bench, &new);
    until("the change to be written down", async || ear.newest(&acme(), 10).await.len() == 1).await;
}

async fn what_stands_under_which_key_is_counted(bench: Bench) {
    let (old, both) = (ring(&["k1"]), ring(&["k2", "k1"]));
    for id in ["a", "b", "c"] {
        seal(&bench.store, &old, "session", id).await;
    }
    seal(&bench.store, &old, "audit", "1").await;
    seal(&bench.store, &both, "session", "d").await;
    seal(&bench.store, &ring(&["k9"]), "tokens", "e").await;
    // Not sealed, and no records.
    bench.store.put(&Key::new(&acme(), "session", "dead"), b"ended".to_vec(), None).await.unwrap();
    bench.store.add(&Key::new(&acme(), "session", "set"), "member", None).await.unwrap();
    bench.store.count(&Key::new(&acme(), "session", "count"), EVERY).await.unwrap();
    let ids = || vec!["k2".to_owned(), "k1".to_owned(), "k0".to_owned()];
    let text = count(&bench.store, ids()).await.unwrap().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[1].starts_with("  k2: 1 records (session 1); seals"), "{text}");
    assert!(lines[2].starts_with("  k1: 4 records (audit 1, session 3); is needed"), "{text}");
    assert!(lines[3].starts_with("  k0: 0 records; nothing needs it"), "{text}");
    assert!(lines[4].starts_with("  k9: 1 records (tokens 1); not in the settings"), "{text}");
    for id in ["a", "b", "c"] {
        bench.store.delete(&Key::new(&acme(), "session", id)).await.unwrap();
    }
    let text = count(&bench.store, ids()).await.unwrap().to_string();
    assert!(text.contains("k1: 1 records (audit 1); is needed"), "{text}");
    seal(&bench.store, &old, "cache", "answer").await;
    let text = count(&bench.store, ids()).await.unwrap().to_string();
    assert!(text.contains("k1: 2 records (audit 1, cache 1); is needed"), "{text}");
    bench.store.delete(&Key::new(&acme(), "audit", "1")).await.unwrap();
    let text = count(&bench.store, ids()).await.unwrap().to_string();
    assert!(text.contains("k1: 1 records (cache 1); only kept answers need it"), "{text}");
    bench.store.delete(&Key::new(&acme(), "cache", "answer")).await.unwrap();
    let text = count(&bench.store, ids()).await.unwrap().to_string();
    assert!(text.contains("k1: 0 records; nothing needs it"), "{text}");
}

async fn a_record_in_another_form_is_the_same_record(bench: Bench) {
    let (store, key) = (&bench.store, Key::new(&acme(), "session", "a"));
    let version = store.put(&key, vec![1], Some(Duration::from_hours(1))).await.unwrap();
    store.rewrap(&key, version, Some(vec![2])).await;
    let record = store.get(&key).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), record.version), ([2].as_slice(), version));
    assert!(record.expires_in.is_some_and(|left| left > Duration::from_mins(50)));
    // Who wrote in the meantime, or ended it, wins.
    let next = store.put(&key, vec![3], None).await.unwrap();
    store.rewrap(&key, version, Some(vec![4])).await;
    let record = store.get(&key).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), record.version), ([3].as_slice(), next));
    store.delete(&key).await.unwrap();
    store.rewrap(&key, next, Some(vec![5])).await;
    assert!(store.get(&key).await.unwrap().is_none());
}
