//! Two replicas on one Redis: what one changes counts for the other within a second, and a store that is away is told.

use std::time::Duration;

use super::api_keys::{create, here, refusal};
use super::{Parts, parts};
use crate::config::gateway::Vault as Settings;
use crate::gateway::domain::api_key::{KeyRefusal, KeyText, Overlap};
use crate::gateway::store::Store;
use crate::gateway::store::tests::bench::{Bench, acme, until};
use crate::gateway::vault::{IssuedKeys, ServerKeys};
use crate::platform::random;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// A replica with a connection of its own, so that word has to travel; without it, its copies would stand for minutes.
fn replica(bench: &Bench) -> Parts {
    let store = Store::redis(&bench.redis.as_ref().unwrap().settings(), &bench.shutdown).unwrap();
    let parts = parts(bench);
    Parts { store, settings: Settings { copy_ms: 600_000, ..parts.settings }, ..parts }
}

/// A replica that hears nothing: its tasks have ended. Its copies stand for as long as settings allow at most.
fn deaf(bench: &Bench) -> Parts {
    let shutdown = Shutdown::default();
    shutdown.begin();
    Parts { shutdown, settings: Settings { copy_ms: 1000, ..parts(bench).settings }, ..replica(bench) }
}

/// Until the replica hears what is said on the store: its connection for messages is made by itself.
async fn hears(bench: &Bench, replica: &Parts) {
    let mut heard = replica.store.subscribe("ready");
    until("the connection for messages", async || {
        bench.store.publish("ready", b"?").await.unwrap();
        tokio::time::timeout(Duration::from_millis(20), heard.next()).await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_one_replica_revokes_is_out_on_the_other_when_word_comes() {
    let bench = Bench::redis().await;
    let (own, there) = (replica(&bench), replica(&bench));
    hears(&bench, &there).await;
    let (one, two) = (IssuedKeys::new(&own), IssuedKeys::new(&there));
    for _ in 0..3 {
        let (key, text) = create(&one).await;
        until("the key on the other replica", async || refusal(&two, &acme(), &text).await.is_none()).await;
        one.revoke(&acme(), &key.id).await.unwrap();
        until("the end on the other replica", async || refusal(&two, &acme(), &text).await == Some(KeyRefusal::Unknown)).await;
        assert_eq!(refusal(&one, &acme(), &text).await, Some(KeyRefusal::Unknown));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_any_word_a_revoked_key_is_out_when_the_copy_of_a_second_ends() {
    let bench = Bench::redis().await;
    let one = IssuedKeys::new(&replica(&bench));
    let two = IssuedKeys::new(&deaf(&bench));
    let (key, text) = create(&one).await;
    assert_eq!(refusal(&two, &acme(), &text).await, None);
    one.revoke(&acme(), &key.id).await.unwrap();
    until("the end of the copy", async || refusal(&two, &acme(), &text).await == Some(KeyRefusal::Unknown)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_overlaps_on_both_replicas_and_ends_on_both() {
    let bench = Bench::redis().await;
    let (own, there) = (replica(&bench), replica(&bench));
    hears(&bench, &there).await;
    let (one, two) = (IssuedKeys::new(&own), IssuedKeys::new(&there));
    let (key, first) = create(&one).await;
    until("the first text", async || refusal(&two, &acme(), &first).await.is_none()).await;
    let (_, second) = one.rotate(&acme(), &key.id, (None, Overlap::Hour.time())).await.unwrap();
    until("the second text", async || refusal(&two, &acme(), &second).await.is_none()).await;
    for keys in [&one, &two] {
        assert_eq!((refusal(keys, &acme(), &first).await, refusal(keys, &acme(), &second).await), (None, None));
    }
    bench.clock.advance(Overlap::Hour.time());
    for keys in [&one, &two] {
        assert_eq!(refusal(keys, &acme(), &first).await, Some(KeyRefusal::Expired), "no copy keeps it alive");
        assert_eq!(refusal(keys, &acme(), &second).await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_active_server_key_is_used_by_the_other_replica_at_once() {
    let bench = Bench::redis().await;
    let there = replica(&bench);
    hears(&bench, &there).await;
    let (one, two) = (ServerKeys::new(&replica(&bench)), ServerKeys::new(&there));
    let first = async |keys: &ServerKeys| {
        let active = keys.active(&acme()).await.unwrap();
        active.first().map(|(_, secret)| secret.expose().to_owned()).unwrap_or_default()
    };
    one.add_active(&acme(), "a".into(), Secret::new("sk-a"), "alice".into()).await.unwrap();
    until("the first key", async || first(&two).await == "sk-a").await;
    let b = one.add(&acme(), "b".into(), Secret::new("sk-b"), "alice".into()).await.unwrap();
    one.activate(&acme(), &b.id).await.unwrap();
    until("the second key", async || first(&two).await == "sk-b").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_cost_no_store_and_keys_cannot_be_told_while_it_is_away() {
    let mut bench = Bench::redis().await;
    let keys = IssuedKeys::new(&replica(&bench));
    let (_, text) = create(&keys).await;
    assert_eq!(refusal(&keys, &acme(), &text).await, None);
    let asked = calls(&bench).await;
    for _ in 0..1000 {
        let (id, secret) = (random::letters(12).unwrap(), random::letters(43).unwrap());
        let guess = KeyText { id: &id, secret: &secret }.write();
        assert_eq!(refusal(&keys, &acme(), &guess).await, Some(KeyRefusal::Unknown));
        keys.verify(&acme(), &text, here()).await.unwrap();
    }
    assert!(calls(&bench).await - asked < 50, "the connection of the test and its pings only");
    bench.redis.as_mut().unwrap().kill();
    let (cold, acme) = (IssuedKeys::new(&parts(&bench)), acme());
    let many = (0..20).map(|_| refusal(&cold, &acme, &text));
    let refused = futures_util::future::join_all(many).await;
    assert!(refused.iter().all(|why| *why == Some(KeyRefusal::Unavailable)), "{refused:?}");
}

/// Commands that Redis has processed.
async fn calls(bench: &Bench) -> u64 {
    let redis::Value::BulkString(text) = bench.redis.as_ref().unwrap().command(&["INFO", "stats"]).await else { panic!() };
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
    line.unwrap().trim().parse().unwrap()
}

#[tokio::test]
#[ignore = "a measurement: run it alone and with optimisation"]
async fn what_a_verified_key_costs() {
    let bench = Bench::file();
    let keys = IssuedKeys::new(&parts(&bench));
    let (_, text) = create(&keys).await;
    let began = std::time::Instant::now();
    for _ in 0..100_000 {
        keys.verify(&acme(), &text, here()).await.unwrap();
    }
    println!("{:?} for each", began.elapsed() / 100_000);
}
