//! A change ends what is kept of what it changed, everywhere, and whatever was asked before it.

use std::sync::atomic::AtomicU64;

use tokio::task::JoinSet;

use super::*;
use crate::gateway::domain::route_table::{Subject, TABLE};
use crate::gateway::store::tests::bench::until;

#[tokio::test]
async fn a_change_ends_what_it_is_about_in_its_tenant_and_nothing_else() {
    for bench in benches().await {
        let cache = cache(&bench);
        let (own, theirs) = (task(), asks(&globex(), user("carol"), "getTask", &["1"], ""));
        let constant = asks(&acme(), Whose::Public, "getPublishableKey", &[], "");
        let service = Service::saying(ENDED);
        for question in [&own, &theirs, &constant, &list()] {
            cache.get(question, &service).await;
        }
        cache.changed(&acme(), &[Subject::TaskLists]).await;
        assert!(cache.is_hit(&own).await && cache.is_hit(&theirs).await && cache.is_hit(&constant).await);
        assert!(!cache.is_hit(&list()).await);
        cache.changed(&acme(), &[Subject::Tasks, Subject::TaskLists]).await;
        assert!(!cache.is_hit(&own).await && !cache.is_hit(&list()).await);
        assert!(cache.is_hit(&theirs).await && cache.is_hit(&constant).await);
        cache.changed(&acme(), &[]).await;
        cache.changed(&acme(), &[Subject::Shares]).await;
        assert!(cache.is_hit(&own).await, "kept again after the change");
    }
}

#[tokio::test]
async fn deleting_and_ending_tasks_end_every_kind_of_answer_about_them() {
    let bench = Bench::file();
    let cache = cache(&bench);
    for change in ["deleteTasks", "terminateTasks"] {
        let change = TABLE.iter().find(|route| route.name == change).unwrap();
        let about: Vec<Question> =
            ["getTask", "statResults", "searchResults", "getResult", "searchExploitChains", "searchComponents"]
                .into_iter()
                .map(|route| asks(&acme(), user("alice"), route, &["1", "2"], "{}"))
                .chain([list()])
                .collect();
        for question in &about {
            cache.get(question, &Service::saying(ENDED)).await;
            assert!(cache.is_hit(question).await);
        }
        cache.changing(&acme(), change.ends).done(false).await;
        for question in &about {
            assert!(!cache.is_hit(question).await);
        }
    }
}

#[tokio::test]
async fn other_replicas_know_of_a_change_and_do_not_find_the_old_answer_in_the_store() {
    for bench in benches().await {
        let (here, there) = (cache(&bench), other_replica(&bench));
        let (tasks, lists) = (task(), list());
        let service = Service::saying(ENDED);
        for question in [&tasks, &lists] {
            here.get(question, &service).await;
            there.get(question, &service).await;
        }
        // Its listener connects by itself.
        until("the other replica", async || {
            here.changed(&acme(), &[Subject::TaskLists]).await;
            !there.is_hit(&lists).await
        })
        .await;
        here.changed(&acme(), &[Subject::Tasks]).await;
        let after = Service::saying(r#"{"taskStatus":"SUCCESS","after":true}"#);
        until("word of the change", async || there.get(&tasks, &after).await.0.contains("after")).await;
        assert_eq!(here.get(&tasks, &after).await.0, there.get(&tasks, &after).await.0);
        assert!(after.asked() <= 2);
        bench.shutdown.begin();
    }
}

#[tokio::test]
async fn what_was_asked_before_a_change_is_not_kept_after_it() {
    for bench in benches().await {
        let cache = cache(&bench);
        let (changing, question) = (cache.clone(), task());
        let ask = move || async move {
            // The change happens while the service answers.
            changing.changed(&acme(), &[Subject::Tasks]).await;
            Ok(answer(200, &[], ENDED))
        };
        let (kept, status) = cache.through(&question, ask).await.unwrap();
        assert_eq!(text(&kept), ENDED);
        assert!(!status.to_string().contains("stored"), "{status}");
        assert!(!cache.is_hit(&question).await);
        // Nor is it in the store.
        assert!(!other_replica(&bench).is_hit(&asks(&acme(), user("bob"), "getTask", &["1"], "")).await);
        cache.changed(&acme(), &[Subject::Tasks]).await;
        let again = Service::saying(ENDED);
        cache.get(&question, &again).await;
        assert_eq!(again.asked(), 1);
    }
}

#[tokio::test]
async fn a_change_whose_request_is_dropped_counts_as_made() {
    for bench in benches().await {
        let cache = cache(&bench);
        cache.get(&task(), &Service::saying(ENDED)).await;
        drop(cache.changing(&acme(), &[Subject::Tasks]));
        assert!(!cache.is_hit(&task()).await);
        until("the store to know", async || cache.0.epochs.is_told(&acme(), Some(Subject::Tasks))).await;
    }
}

#[tokio::test]
async fn what_is_read_before_a_change_of_unknown_end_comes_about_is_not_kept_for_long() {
    for bench in benches().await {
        let (cache, other) = (cache(&bench), other_replica(&bench));
        cache.changing(&acme(), &[Subject::Tasks]).done(true).await;
        // The service has not got to it: what is read now looks as if it had ended well before.
        cache.get(&task(), &Service::saying(ENDED)).await;
        other.get(&task(), &Service::saying(ENDED)).await;
        until("both to forget it", async || !cache.is_hit(&task()).await && !other.is_hit(&task()).await).await;
    }
}

#[tokio::test]
async fn a_change_of_a_stranger_is_waited_for_by_nobody() {
    let bench = Bench::file();
    let cache = cache(&bench);
    cache.changing_for(&acme(), &[Subject::Tasks], true).done(true).await;
    drop(cache.changing_for(&acme(), &[Subject::Tasks], true));
    cache.get(&task(), &Service::saying(ENDED)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(cache.is_hit(&task()).await);
}

#[tokio::test]
async fn when_word_may_have_been_lost_everything_is_asked_anew() {
    let mut bench = Bench::redis().await;
    let cache = cache(&bench);
    cache.get(&list(), &Service::saying("[1]")).await;
    let server = bench.redis.as_mut().unwrap();
    server.kill();
    server.resume().await;
    until("the broken connection to be noticed", async || {
        let epoch = cache.0.epochs.of(&acme(), Some(Subject::TaskLists)).unwrap();
        epoch > 0
    })
    .await;
    assert!(!cache.is_hit(&list()).await);
}

#[tokio::test]
async fn a_change_that_the_store_could_not_be_told_is_told_later_and_the_store_is_not_believed_until_then() {
    let mut bench = Bench::redis().await;
    let quick = Settings { store_wait_ms: 200, ..settings() };
    let cache = cache_on(&bench.store, &quick, &bench.clock, &bench.shutdown);
    cache.get(&task(), &Service::saying(ENDED)).await;
    let server = bench.redis.as_mut().unwrap();
    server.kill();
    cache.changed(&acme(), &[Subject::Tasks]).await;
    assert!(!cache.0.epochs.is_told(&acme(), Some(Subject::Tasks)) && cache.0.epochs.is_told(&globex(), Some(Subject::Tasks)));
    let (_, status) = cache.get(&task(), &Service::saying(ENDED)).await;
    assert!(matches!(status, CacheStatus::Asked { stored: true, .. }), "memory serves on: {status}");
    bench.redis.as_mut().unwrap().resume().await;
    until("the store to be told", async || cache.0.epochs.is_told(&acme(), Some(Subject::Tasks))).await;
}

/// A service whose one task has a number that changes count up. Its answers take a few turns of the other tasks.
async fn numbered(state: Arc<AtomicU64>, slowness: u64) -> Outcome {
    let number = state.load(Ordering::SeqCst);
    for _ in 0..slowness {
        tokio::task::yield_now().await;
    }
    Ok(answer(200, &[], &format!(r#"{{"taskStatus":"SUCCESS","number":{number}}}"#)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_asks_after_a_change_never_gets_what_was_before_it() {
    for bench in benches().await {
        let (state, changed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let cache = cache(&bench);
        let mut all = JoinSet::new();
        for reader in 0..8_u64 {
            let (state, changed, store, clock, shutdown) =
                (Arc::clone(&state), Arc::clone(&changed), bench.store.clone(), bench.clock.clone(), bench.shutdown.clone());
            let mut cache = cache.clone();
            all.spawn(async move {
                for turn in 0..150 {
                    // As after a restart: only the store can have kept something.
                    if reader == 0 && turn % 10 == 0 {
                        cache = cache_on(&store, &settings(), &clock, &shutdown);
                    }
                    let floor = changed.load(Ordering::SeqCst);
                    let state = Arc::clone(&state);
                    let (kept, status) = cache.through(&task(), move || numbered(state, (reader + turn) % 7)).await.unwrap();
                    let number = serde_json::from_slice::<serde_json::Value>(&kept.body).unwrap()["number"].as_u64().unwrap();
                    // Another replica may be told a little later; it has its own test.
                    assert!(number >= floor || reader == 0 && turn % 10 != 0, "{number} after {floor}: {status}");
                    tokio::task::yield_now().await;
                }
            });
        }
        for _ in 0..2 {
            let (state, changed, cache) = (Arc::clone(&state), Arc::clone(&changed), cache.clone());
            all.spawn(async move {
                for _ in 0..40 {
                    let changing = cache.changing(&acme(), &[Subject::Tasks]);
                    let number = state.fetch_add(1, Ordering::SeqCst) + 1;
                    tokio::task::yield_now().await;
                    changing.done(false).await;
                    changed.fetch_max(number, Ordering::SeqCst);
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                }
            });
        }
        all.join_all().await;
        assert_eq!((state.load(Ordering::SeqCst), cache.0.flights.len()), (80, 0));
        bench.shutdown.begin();
    }
}
