//! The second tier: sealed, bound to its tenant, and never needed.

use std::net::TcpListener;

use super::*;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::store::tests::bench::until;
use crate::gateway::store::{Key, RedisSettings};
use crate::platform::digest::hex;
use crate::platform::secret::Secret;

/// Where the answer to a question is in the store.
fn place(question: &Question) -> Key {
    Key::new(&question.tenant, "cache", &hex(&question.digest))
}

async fn until_stored(bench: &Bench, question: &Question) -> Vec<u8> {
    let key = place(question);
    until("the answer in the store", async || bench.store.get(&key).await.unwrap().is_some()).await;
    bench.store.get(&key).await.unwrap().unwrap().value
}

#[tokio::test]
async fn a_long_lived_answer_is_found_by_another_replica_and_after_a_restart_with_its_age() {
    for bench in benches().await {
        let service = Service::saying(ENDED);
        let (first, _) = cache(&bench).through(&task(), service.ask()).await.unwrap();
        until_stored(&bench, &task()).await;
        bench.pass(seconds(100));
        let there = other_replica(&bench);
        let (kept, status) = there.through(&task(), service.ask()).await.unwrap();
        assert_eq!((text(&kept), kept.etag(), service.asked()), (ENDED, first.etag(), 1));
        assert_eq!(kept.headers["content-type"], "application/json");
        let CacheStatus::Hit { ttl } = status else { panic!("{status}") };
        // Redis counts by its own clock, which did not move.
        assert!(if bench.redis.is_some() { (250..=300).contains(&ttl) } else { ttl == 200 }, "{ttl}");
        bench.shutdown.begin();
    }
}

#[tokio::test]
async fn short_lived_and_large_answers_stay_out_of_the_store() {
    for bench in benches().await {
        let cache = cache(&bench);
        let large = asks(&acme(), user("alice"), "getTask", &["2"], "");
        cache.get(&list(), &Service::saying("[]")).await;
        cache.get(&asks(&acme(), user("alice"), "getTask", &["3"], ""), &Service::saying(RUNNING)).await;
        cache.get(&large, &Service::saying(&format!(r#"{{"taskStatus":"SUCCESS","x":"{}"}}"#, "x".repeat(1 << 18)))).await;
        assert!(cache.is_hit(&large).await, "in memory it is");
        // Written last, found first: the others would be there by now.
        cache.get(&task(), &Service::saying(ENDED)).await;
        until_stored(&bench, &task()).await;
        let mut kept = 0;
        bench.store.survey(&mut |seen| kept += u32::from(seen.kind == "cache")).await.unwrap();
        assert_eq!(kept, 1);
        let none = Settings { store_answer_bytes: 0, ..settings() };
        let none = cache_on(&bench.store, &none, &bench.clock, &bench.shutdown);
        let (_, status) = none.get(&large, &Service::saying(ENDED)).await;
        assert!(matches!(status, CacheStatus::Asked { stored: true, .. }));
    }
}

#[tokio::test]
async fn an_answer_moved_to_another_tenant_or_question_or_changed_does_not_open() {
    for bench in benches().await {
        cache(&bench).get(&task(), &Service::saying(ENDED)).await;
        let sealed = until_stored(&bench, &task()).await;
        let life = Some(seconds(3000));
        let theirs = asks(&globex(), user("alice"), "getTask", &["1"], "");
        let others = asks(&acme(), user("bob"), "getTask", &["1"], "");
        for question in [&theirs, &others] {
            bench.store.put(&place(question), sealed.clone(), life).await.unwrap();
            let service = Service::saying(r#"{"taskStatus":"SUCCESS","own":1}"#);
            assert!(other_replica(&bench).get(question, &service).await.0.contains("own"));
        }
        let mut changed = sealed;
        *changed.last_mut().unwrap() ^= 1;
        bench.store.put(&place(&task()), changed, life).await.unwrap();
        let service = Service::saying(r#"{"taskStatus":"SUCCESS","anew":1}"#);
        assert!(other_replica(&bench).get(&task(), &service).await.0.contains("anew"));
        bench.shutdown.begin();
    }
}

#[tokio::test]
async fn nothing_of_an_answer_can_be_read_at_rest() {
    for bench in benches().await {
        let (cache, secret) = (cache(&bench), "finding-in-plain-words");
        let body = format!(r#"{{"taskStatus":"SUCCESS","title":"{secret}"}}"#);
        cache.get(&asks(&acme(), user("alice-key"), "getTask", &["task-one"], ""), &Service::saying(&body)).await;
        until_stored(&bench, &asks(&acme(), user("alice-key"), "getTask", &["task-one"], "")).await;
        drop(cache);
        bench.shutdown.begin();
        bench.shutdown.drain(seconds(20)).await;
        let bytes = bench.at_rest().await;
        for words in [secret, "alice-key", "task-one", "getTask"] {
            assert!(!bytes.windows(words.len()).any(|window| window == words.as_bytes()), "{words}");
        }
        assert!(bytes.windows(5).any(|window| window == b"cache"), "it is there");
    }
}

#[tokio::test]
async fn an_answer_that_is_over_leaves_the_store_too() {
    for bench in benches().await {
        let cache = cache(&bench);
        cache.get(&task(), &Service::saying(ENDED)).await;
        until_stored(&bench, &task()).await;
        // Stale here: asked again, and gone at the service.
        let there = other_replica(&bench);
        cache.changed(&acme(), &[Subject::Tasks]).await;
        let gone = Service::saying("");
        gone.says(Ok(answer(404, &[], "{}")));
        assert_eq!(cache.through(&task(), gone.ask()).await.unwrap().0.status, 404);
        let key = place(&task());
        until("the store without it", async || bench.store.get(&key).await.unwrap().is_none()).await;
        until("word of the change", async || there.through(&task(), gone.ask()).await.unwrap().0.status == 404).await;
        bench.shutdown.begin();
    }
}

#[tokio::test]
async fn a_store_that_is_away_or_hangs_costs_a_wait_that_is_bounded_and_nothing_else() {
    let bench = Bench::file();
    // One that accepts and never says a word; its own waits would be longer than any test.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let long = seconds(3600);
    let redis = RedisSettings {
        url: Secret::new(format!("redis://{}", silent.local_addr().unwrap())),
        layout: Layout::One,
        roots: None,
        prefix: "test:".to_owned(),
        connect_timeout: long,
        response_timeout: long,
    };
    let store = Store::redis(&redis, &bench.shutdown).unwrap();
    let quick = Settings { store_wait_ms: 50, ..settings() };
    let cache = cache_on(&store, &quick, &bench.clock, &bench.shutdown);
    let service = Service::saying(ENDED);
    for _ in 0..3 {
        let (_, status) = cache.get(&task(), &service).await;
        assert!(matches!(status, CacheStatus::Asked { stored: true, .. }), "{status}");
        assert!(cache.is_hit(&task()).await);
        cache.changed(&acme(), &[Subject::Tasks]).await;
    }
    assert_eq!(service.asked(), 3);
    bench.shutdown.begin();
}
