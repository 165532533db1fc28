//! Redis away, back, empty, slow, and not there at all.

use std::time::Duration;

use super::bench::{Bench, RedisServer, acme, until};
use crate::gateway::store::{Event, Key, Layout, OpenError, RedisSettings, Store, Swap};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

const HOUR: Option<Duration> = Some(Duration::from_hours(1));

fn key() -> Key {
    Key::new(&acme(), "thing", "a")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_redis_is_away_nothing_is_found_and_nothing_is_not_found() {
    let mut bench = Bench::redis().await;
    let version = bench.store.put(&key(), vec![1], HOUR).await.unwrap();
    let lease = bench.store.acquire(&key(), HOUR.unwrap()).await.unwrap().unwrap();
    let mut ear = bench.store.subscribe("news");
    bench.redis.as_mut().unwrap().kill();
    let store = &bench.store;
    assert!(store.get(&key()).await.is_err());
    assert!(store.put(&key(), vec![2], HOUR).await.is_err());
    assert!(store.insert(&key(), vec![2], HOUR).await.is_err());
    assert!(store.compare_and_set(&key(), version, vec![2], HOUR).await.is_err());
    assert!(store.touch(&key(), HOUR.unwrap()).await.is_err());
    assert!(store.take(&key()).await.is_err());
    assert!(store.delete(&key()).await.is_err());
    assert!(store.add(&key(), "m", HOUR).await.is_err());
    assert!(store.remove(&key(), "m").await.is_err());
    assert!(store.members(&key()).await.is_err());
    assert!(store.count(&key(), HOUR.unwrap()).await.is_err());
    assert!(store.peek(&key()).await.is_err());
    assert!(store.reset(&key()).await.is_err());
    assert!(store.acquire(&key(), HOUR.unwrap()).await.is_err());
    assert!(store.renew(&lease, HOUR.unwrap()).await.is_err());
    assert!(store.release(&lease).await.is_err());
    assert!(store.publish("news", b"x").await.is_err());
    bench.redis.as_mut().unwrap().resume().await;
    until("the store", async || bench.store.get(&key()).await.is_ok()).await;
    assert_eq!(bench.store.compare_and_set(&key(), version, vec![2], HOUR).await.unwrap(), Swap::Gone);
    // Who listens is told that something may be missing, and hears again.
    let mut missed = false;
    until("messages", async || {
        bench.store.publish("news", b"back").await.unwrap();
        match tokio::time::timeout(Duration::from_millis(50), ear.next()).await {
            Ok(Some(Event::Missed)) => {
                missed = true;
                false
            }
            Ok(Some(Event::Message(_))) => true,
            _ => false,
        }
    })
    .await;
    assert!(missed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_starts_before_its_redis() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut server = RedisServer::start(folder.path()).await;
    server.kill();
    let store = Store::redis(&server.settings(), &Shutdown::default()).unwrap();
    assert!(store.get(&key()).await.is_err());
    server.resume().await;
    until("the store", async || store.get(&key()).await.is_ok()).await;
    store.put(&key(), vec![1], HOUR).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_redis_closes_or_a_lost_script_is_not_seen() {
    let bench = Bench::redis().await;
    let version = bench.store.put(&key(), vec![1], HOUR).await.unwrap();
    let redis = bench.redis.as_ref().unwrap();
    redis.command(&["CLIENT", "KILL", "TYPE", "normal"]).await;
    redis.command(&["SCRIPT", "FLUSH"]).await;
    let swapped = bench.store.compare_and_set(&key(), version, vec![2], HOUR).await;
    assert!(matches!(swapped, Ok(Swap::Done(_))), "{swapped:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_does_not_answer_is_unavailable_in_time() {
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = RedisSettings {
        url: Secret::new(format!("redis://127.0.0.1:{}", deaf.local_addr().unwrap().port())),
        layout: Layout::One,
        roots: None,
        prefix: "test:".to_owned(),
        connect_timeout: Duration::from_millis(200),
        response_timeout: Duration::from_millis(200),
    };
    let store = Store::redis(&settings, &Shutdown::default()).unwrap();
    let error = store.get(&key()).await.unwrap_err();
    assert!(error.to_string().starts_with("the store does not answer"));
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_repeating_it() {
    let settings = RedisSettings {
        url: Secret::new("http://user:hunter2@nowhere"),
        layout: Layout::One,
        roots: None,
        prefix: String::new(),
        connect_timeout: Duration::from_secs(1),
        response_timeout: Duration::from_secs(1),
    };
    let error = Store::redis(&settings, &Shutdown::default()).err().unwrap();
    assert!(matches!(error, OpenError::Settings(_)));
    assert!(!error.to_string().contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_name_in_redis_has_the_prefix_and_the_tenant_in_its_hash_tag() {
    let bench = Bench::redis().await;
    bench.store.put(&key(), vec![1], HOUR).await.unwrap();
    bench.store.add(&key(), "m", HOUR).await.unwrap();
    bench.store.count(&key(), HOUR.unwrap()).await.unwrap();
    bench.store.acquire(&key(), HOUR.unwrap()).await.unwrap();
    let names: Vec<String> = redis::from_redis_value(bench.redis.as_ref().unwrap().command(&["KEYS", "*"]).await).unwrap();
    assert_eq!(names.len(), 5);
    for name in names {
        assert!(name.starts_with("test:{acme:a}:thing:"), "{name}");
    }
}
