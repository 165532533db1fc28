//! What is kept, for how long, and what is never kept.

use tokio::task::LocalSet;

use super::*;
use crate::gateway::cache::Why;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::store::tests::bench::until;

#[tokio::test]
async fn an_answer_is_given_again_until_its_time_is_over_and_a_changed_one_has_another_tag() {
    let bench = Bench::file();
    let (cache, service) = (cache(&bench), Service::saying(RUNNING));
    let (first, status) = cache.through(&task(), service.ask()).await.unwrap();
    assert_eq!(status.to_string(), "cardea; fwd=miss; fwd-status=200; ttl=1; stored");
    bench.pass(Duration::from_millis(999));
    let (again, status) = cache.through(&task(), service.ask()).await.unwrap();
    assert_eq!((text(&again), again.etag(), status), (RUNNING, first.etag(), CacheStatus::Hit { ttl: 1 }));
    assert_eq!(again.age(bench.clock.now()), Duration::from_millis(999));
    assert_eq!(again.headers["content-type"], "application/json");
    bench.pass(Duration::from_millis(1));
    service.says(Ok(answer(200, &[], r#"{"taskId":"1","taskStatus":"RUNNING","x":1}"#)));
    let (changed, status) = cache.through(&task(), service.ask()).await.unwrap();
    assert_eq!(status.to_string(), "cardea; fwd=stale; fwd-status=200; ttl=1; stored");
    assert_ne!(changed.etag(), first.etag());
    assert_eq!(service.asked(), 2);
}

#[tokio::test]
async fn a_task_is_kept_long_once_it_has_ended_and_so_is_what_was_asked_of_it_after() {
    let bench = Bench::file();
    let (cache, service) = (cache(&bench), Service::saying("{\"data\":[]}"));
    let findings = asks(&acme(), user("alice"), "searchResults", &["1"], "{}");
    let others = asks(&acme(), user("alice"), "searchResults", &["2"], "{}");
    // Asked before it was known that the task had ended: it may be half of what there will be.
    cache.get(&findings, &service).await;
    for ended in [ENDED, r#"{"data":{"taskStatus":"finished"}}"#, r#"{"status":"Cancelled","taskStatus":7}"#] {
        let own = asks(&acme(), user("alice"), "getTask", &["1"], "");
        cache.changed(&acme(), &[Subject::Tasks]).await;
        cache.get(&findings, &service).await;
        cache.get(&own, &Service::saying(ended)).await;
        bench.pass(seconds(1));
        assert!(cache.is_hit(&own).await, "{ended}");
        assert!(!cache.is_hit(&findings).await, "asked before the end was known");
        bench.pass(seconds(200));
        assert!(cache.is_hit(&findings).await, "asked after it");
    }
    cache.get(&others, &service).await;
    bench.pass(seconds(1));
    assert!(!cache.is_hit(&others).await, "another task");
    for running in [RUNNING, "no json", "[]", r#"{"taskStatus":"NEW_WORD"}"#, r#"{"data":"SUCCESS"}"#] {
        cache.changed(&acme(), &[Subject::Tasks]).await;
        cache.get(&task(), &Service::saying(running)).await;
        bench.pass(seconds(1));
        assert!(!cache.is_hit(&task()).await, "{running}");
    }
}

#[tokio::test]
async fn what_forbids_it_is_never_kept() {
    let bench = Bench::file();
    let cache = cache(&bench);
    let forbidden: [(u16, &[(&str, &str)]); 9] = [
        (200, &[("set-cookie", "a=b")]),
        (200, &[("cache-control", "private")]),
        (200, &[("cache-control", "no-store")]),
        (200, &[("vary", "*")]),
        (206, &[("content-range", "bytes 0-1/2")]),
        (200, &[("content-encoding", "br")]),
        (404, &[]),
        (401, &[]),
        (500, &[]),
    ];
    for (number, (status, lines)) in forbidden.into_iter().enumerate() {
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        let service = Service::saying("");
        service.says(Ok(answer(status, lines, ENDED)));
        for asked in 1..=3 {
            let (kept, told) = cache.through(&question, service.ask()).await.unwrap();
            assert_eq!((kept.status, kept.etag(), service.asked()), (status, None, asked), "{lines:?}");
            assert!(!told.to_string().contains("stored"), "{told}");
        }
    }
    assert_eq!(cache.0.memory.tidy().await, 0);
}

#[tokio::test]
async fn an_operation_that_is_not_to_be_kept_is_asked_each_time() {
    let bench = Bench::file();
    let (cache, service) = (cache(&bench), Service::saying("{}"));
    for (asked, route) in ["createTask", "searchShares", "getReport", "checkFile"].into_iter().enumerate() {
        let (_, status) = cache.get(&asks(&acme(), user("alice"), route, &["1"], "{}"), &service).await;
        assert_eq!(status.to_string(), "cardea; fwd=bypass; fwd-status=200");
        assert_eq!(service.asked(), u32::try_from(asked).unwrap() + 1);
    }
    let nobodys = asks(&TenantId::parse("other").unwrap(), user("alice"), "getTask", &["1"], "");
    cache.get(&nobodys, &service).await;
    cache.get(&nobodys, &service).await;
    assert_eq!(service.asked(), 6, "a tenant there is no epoch of");
    let off = Settings { memory_bytes: 0, ..settings() };
    let off = cache_on(&bench.store, &off, &bench.clock, &bench.shutdown);
    off.get(&task(), &service).await;
    off.get(&task(), &service).await;
    assert_eq!(service.asked(), 8, "a cache of no bytes");
}

#[tokio::test]
async fn a_stale_answer_is_given_while_the_service_is_asked_behind_it() {
    LocalSet::new()
        .run_until(async {
            let bench = Bench::file();
            let (cache, service) = (cache(&bench), Service::saying("[1]"));
            cache.get(&list(), &service).await;
            service.says(Ok(answer(200, &[], "[2]")));
            bench.pass(seconds(3));
            let (body, status) = cache.get(&list(), &service).await;
            assert_eq!((body.as_str(), status), ("[1]", CacheStatus::Hit { ttl: -1 }));
            assert!(status.is_stale());
            until("the answer behind it", async || cache.get(&list(), &Service::saying("[3]")).await.0 == "[2]").await;
            assert_eq!(service.asked(), 2, "asked once behind it");
            bench.pass(seconds(5));
            let (body, status) = cache.get(&list(), &Service::saying("[4]")).await;
            assert_eq!(body, "[4]", "too old to be given meanwhile");
            assert!(matches!(status, CacheStatus::Asked { why: Why::Stale, stored: true, .. }));
        })
        .await;
}

#[tokio::test]
async fn a_stale_answer_is_better_than_none_and_the_service_is_left_alone_for_a_moment() {
    let bench = Bench::file();
    let troubles: [Outcome; 4] =
        [Err(Trouble::Away), Ok(answer(502, &[], "x")), Ok(answer(503, &[], "x")), Ok(answer(504, &[], "x"))];
    for (number, trouble) in troubles.into_iter().enumerate() {
        let cache = cache(&bench);
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        let service = Service::saying(RUNNING);
        cache.get(&question, &service).await;
        service.says(trouble.clone());
        bench.pass(seconds(2));
        let (body, status) = cache.get(&question, &service).await;
        assert_eq!((body.as_str(), status.is_stale(), service.asked()), (RUNNING, true, 2), "{trouble:?}");
        let (_, status) = cache.get(&question, &service).await;
        assert_eq!((status, service.asked()), (CacheStatus::Hit { ttl: -1 }, 2), "it rests");
        bench.pass(seconds(1));
        cache.get(&question, &service).await;
        assert_eq!(service.asked(), 3, "and is asked again");
        // Another question has nothing to fall back on, also one that differs in a little only.
        let other = asks(&acme(), user("alice"), "getTask", &[&format!("{number}0")], "");
        let outcome = cache.through(&other, service.ask()).await;
        assert!(outcome.is_err() || outcome.is_ok_and(|(kept, _)| kept.status >= 502));
        bench.pass(seconds(31));
        let outcome = cache.through(&question, service.ask()).await;
        assert!(outcome.is_err() || outcome.is_ok_and(|(kept, _)| kept.status >= 502), "too old for that too");
    }
}

#[tokio::test]
async fn an_old_answer_does_not_hide_that_the_caller_is_signed_out_or_that_the_task_is_gone() {
    let bench = Bench::file();
    let cache = cache(&bench);
    for (number, status) in [401, 403, 404, 410, 400].into_iter().enumerate() {
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        let service = Service::saying(RUNNING);
        cache.get(&question, &service).await;
        bench.pass(seconds(2));
        service.says(Ok(answer(status, &[], "{}")));
        let (kept, told) = cache.through(&question, service.ask()).await.unwrap();
        assert_eq!((kept.status, told.is_stale()), (status, false));
        service.says(Err(Trouble::Away));
        assert!(cache.through(&question, service.ask()).await.is_err(), "what was kept before {status} is over");
    }
    let service = Service::saying(RUNNING);
    cache.get(&task(), &service).await;
    bench.pass(seconds(2));
    service.says(Err(Trouble::SignedOut));
    assert_eq!(cache.through(&task(), service.ask()).await.err(), Some(Trouble::SignedOut));
    // 500 may be about the subscription, which is no outage.
    service.says(Ok(answer(500, &[], "1010")));
    assert_eq!(cache.get(&task(), &service).await.0, "1010");
}

#[tokio::test]
async fn no_more_bytes_are_kept_than_allowed_and_no_answer_that_is_too_large() {
    let bench = Bench::file();
    let little = Settings { memory_bytes: 100_000, answer_bytes: 20_000, ..settings() };
    let cache = cache_on(&bench.store, &little, &bench.clock, &bench.shutdown);
    let service = Service::saying(&"x".repeat(9_000));
    for number in 0..100 {
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        cache.get(&question, &service).await;
        cache.get(&question, &service).await;
    }
    let taken = cache.0.memory.tidy().await;
    assert!((9_000..=100_000).contains(&taken), "{taken}");
    let service = Service::saying(&"x".repeat(20_001));
    cache.get(&list(), &service).await;
    cache.get(&list(), &service).await;
    assert_eq!(service.asked(), 2);
}
