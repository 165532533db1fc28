//! One question at a time, whatever becomes of the one who asks it.

use std::sync::atomic::AtomicBool;

use futures_util::future::join_all;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use super::*;
use crate::gateway::cache::Why;
use crate::gateway::store::tests::bench::until;

/// A service that answers when it is let.
#[derive(Clone)]
struct Slow {
    service: Service,
    gate: Arc<Semaphore>,
    gave_up: Arc<AtomicBool>,
}

/// Tells when a request is dropped before its answer.
struct Watched(Option<Arc<AtomicBool>>);

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(gave_up) = &self.0 {
            gave_up.store(true, Ordering::SeqCst);
        }
    }
}

impl Slow {
    fn saying(body: &str) -> Self {
        Self { service: Service::saying(body), gate: Arc::new(Semaphore::new(0)), gave_up: Arc::default() }
    }

    fn ask(&self) -> impl FnOnce() -> futures_util::future::BoxFuture<'static, Outcome> + Send + 'static {
        let Self { service, gate, gave_up } = self.clone();
        move || {
            Box::pin(async move {
                service.0.0.fetch_add(1, Ordering::SeqCst);
                let mut watched = Watched(Some(gave_up));
                gate.acquire().await.unwrap().forget();
                watched.0 = None;
                service.0.1.lock().unwrap().clone()
            })
        }
    }

    async fn until_asked(&self, times: u32) {
        until("the question", async || self.service.asked() == times).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_who_ask_the_same_make_one_call_on_whatever_worker() {
    for bench in benches().await {
        let (cache, slow) = (cache(&bench), Slow::saying(RUNNING));
        let mut all = JoinSet::new();
        for _ in 0..500 {
            let (cache, ask) = (cache.clone(), slow.ask());
            all.spawn(async move { cache.through(&task(), ask).await.map(|(kept, status)| (text(&kept).to_owned(), status)) });
        }
        slow.until_asked(1).await;
        slow.gate.add_permits(500);
        let answers: Vec<_> = all.join_all().await.into_iter().map(Result::unwrap).collect();
        assert_eq!(slow.service.asked(), 1);
        assert!(answers.iter().all(|(body, _)| body == RUNNING));
        let leaders = |(_, status): &&(String, CacheStatus)| matches!(status, CacheStatus::Asked { collapsed: false, .. });
        assert_eq!(answers.iter().filter(leaders).count(), 1);
        assert_eq!(cache.0.flights.len(), 0);
    }
}

#[tokio::test]
async fn those_who_waited_share_a_failure_of_the_service_and_the_next_one_asks_again() {
    let bench = Bench::file();
    let outcomes: [Outcome; 3] =
        [Err(Trouble::Away), Ok(answer(503, &[], "busy")), Ok(answer(404, &[("cache-control", "no-store")], "none"))];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let (cache, slow) = (cache(&bench), Slow::saying(""));
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        slow.service.says(outcome.clone());
        let all = join_all((0..20).map(|_| cache.through(&question, slow.ask())));
        let (answers, ()) = tokio::join!(all, async {
            slow.until_asked(1).await;
            slow.gate.add_permits(1);
        });
        assert_eq!(slow.service.asked(), 1);
        for answer in answers {
            let answer = answer.map(|(kept, _)| (kept.status, kept.body.clone()));
            assert_eq!(answer, outcome.clone().map(|fetched| (fetched.status, fetched.body)));
        }
        assert_eq!(cache.get(&question, &Service::saying(RUNNING)).await.0, RUNNING, "a failure is not kept");
    }
}

#[tokio::test]
async fn one_who_has_no_place_at_the_service_takes_nobody_along_and_the_next_one_asks_for_all() {
    let bench = Bench::file();
    let (cache, full, free) = (cache(&bench), Slow::saying(""), Slow::saying(RUNNING));
    full.service.says(Err(Trouble::NoPlace));
    let question = task();
    let first = cache.through(&question, full.ask());
    let others = join_all((0..20).map(|_| cache.through(&question, free.ask())));
    let (first, others, ()) = tokio::join!(first, others, async {
        full.until_asked(1).await;
        full.gate.add_permits(1);
        free.until_asked(1).await;
        free.gate.add_permits(1);
    });
    assert_eq!(first.err(), Some(Trouble::NoPlace));
    assert!(others.into_iter().all(|answer| text(&answer.unwrap().0) == RUNNING));
    assert_eq!((free.service.asked(), cache.0.flights.len()), (1, 0), "one asks for all the others");
}

#[tokio::test]
async fn behind_two_who_have_no_place_nobody_waits_for_a_third() {
    let bench = Bench::file();
    let (cache, full, free) = (cache(&bench), Slow::saying(""), Slow::saying(RUNNING));
    full.service.says(Err(Trouble::NoPlace));
    free.gate.add_permits(1);
    let question = task();
    let all = join_all((0..20).map(|_| full.ask()).chain([free.ask()]).map(|ask| cache.through(&question, ask)));
    let (mut answers, ()) = tokio::join!(all, async {
        for asked in [1, 2] {
            full.until_asked(asked).await;
            full.gate.add_permits(1);
        }
        full.until_asked(20).await;
        full.gate.add_permits(18);
    });
    let last = answers.pop().unwrap();
    assert_eq!(text(&last.unwrap().0), RUNNING);
    assert!(answers.into_iter().all(|answer| answer.err() == Some(Trouble::NoPlace)));
    assert_eq!(free.service.asked(), 1);
}

#[tokio::test]
async fn who_has_no_place_at_the_service_is_given_an_old_answer_where_there_is_one() {
    let bench = Bench::file();
    let (cache, service) = (cache(&bench), Service::saying(RUNNING));
    cache.get(&task(), &service).await;
    bench.pass(seconds(2));
    service.says(Err(Trouble::NoPlace));
    let (kept, status) = cache.through(&task(), service.ask()).await.unwrap();
    assert_eq!((text(&kept), status.is_stale()), (RUNNING, true));
}

#[tokio::test]
async fn what_is_about_one_callers_credential_or_forbids_it_is_not_shared() {
    let bench = Bench::file();
    let outcomes: [Outcome; 5] = [
        Err(Trouble::SignedOut),
        Ok(answer(401, &[], "")),
        Ok(answer(403, &[], "")),
        Ok(answer(200, &[("cache-control", "no-store")], "")),
        Ok(answer(200, &[("set-cookie", "a=b")], "")),
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let (cache, slow) = (cache(&bench), Slow::saying(""));
        let question = asks(&acme(), user("alice"), "getTask", &[&number.to_string()], "");
        slow.service.says(outcome);
        let all = join_all((0..5).map(|_| cache.through(&question, slow.ask())));
        let ((), answers) = tokio::join!(
            async {
                slow.until_asked(1).await;
                slow.gate.add_permits(5);
            },
            all
        );
        assert_eq!((slow.service.asked(), answers.len()), (5, 5));
    }
}

#[tokio::test]
async fn nobody_waits_for_an_answer_that_was_forbidden_to_be_shared_just_now() {
    let bench = Bench::file();
    let (cache, slow) = (cache(&bench), Slow::saying(""));
    slow.service.says(Ok(answer(200, &[("cache-control", "no-store")], "{}")));
    slow.gate.add_permits(1);
    let question = task();
    cache.through(&question, slow.ask()).await.unwrap();
    let all = join_all((0..10).map(|_| cache.through(&question, slow.ask())));
    let (answers, ()) = tokio::join!(all, async {
        // All of them are at the service at once.
        slow.until_asked(11).await;
        slow.gate.add_permits(10);
    });
    for answer in answers {
        assert_eq!(answer.unwrap().1.to_string(), "cardea; fwd=bypass; fwd-status=200");
    }
}

#[tokio::test]
async fn an_answer_that_passes_as_it_comes_is_for_the_one_who_asked_and_the_others_ask_for_themselves() {
    let bench = Bench::file();
    let cache = cache(&bench);
    cache.get(&task(), &Service::saying(RUNNING)).await;
    bench.pass(seconds(40));
    let asked = Mutex::new(Vec::new());
    let (wishes, come) = (Arc::new(asked), Arc::new(Semaphore::new(0)));
    let ask = || {
        let (wishes, come) = (Arc::clone(&wishes), Arc::clone(&come));
        move |wish: Wish| async move {
            let number = {
                let mut wishes = wishes.lock().unwrap();
                wishes.push(wish);
                wishes.len()
            };
            come.acquire().await.unwrap().forget();
            Ok(Brought::Passing(200, number))
        }
    };
    let question = task();
    let all = join_all((0..5).map(|_| cache.answer(&question, ask())));
    let (answers, ()) = tokio::join!(all, async {
        until("the first", async || wishes.lock().unwrap().len() == 1).await;
        come.add_permits(5);
    });
    let passed = |answer: Result<(Answer<usize>, CacheStatus), Trouble>| match answer.unwrap() {
        (Answer::Passing(number), status) => (number, status.to_string()),
        (Answer::Kept(kept), _) => panic!("{kept:?}"),
    };
    let mut answers: Vec<_> = answers.into_iter().map(passed).collect();
    answers.sort();
    // The first knew an old answer.
    let told = |number| format!("cardea; fwd={}; fwd-status=200", if number == 1 { "stale" } else { "miss" });
    assert_eq!(answers, (1..=5).map(|number| (number, told(number))).collect::<Vec<_>>());
    // For a while nobody waits for another or has anything read for all.
    come.add_permits(1);
    assert_eq!(passed(cache.answer(&question, ask()).await), (6, "cardea; fwd=bypass; fwd-status=200".to_owned()));
    let all_wishes = wishes.lock().unwrap().clone();
    assert_eq!(all_wishes[0], Wish::ForAll);
    assert!(all_wishes[1..].iter().all(|wish| *wish == Wish::AsItComes), "{all_wishes:?}");
}

#[tokio::test]
async fn trouble_that_passes_as_it_comes_ends_nothing_that_is_kept() {
    let bench = Bench::file();
    let cache = cache(&bench);
    cache.get(&task(), &Service::saying(RUNNING)).await;
    for (status, is_kept) in [(503, true), (500, false), (503, true), (404, false), (503, false)] {
        bench.pass(seconds(2));
        let answer = cache.answer(&task(), move |_| async move { Ok(Brought::Passing(status, ())) }).await.unwrap().0;
        assert_eq!(matches!(answer, Answer::Kept(_)), is_kept, "{status}");
    }
}

#[tokio::test]
async fn one_who_goes_away_gives_the_call_up_and_the_next_who_waits_asks() {
    let bench = Bench::file();
    let (cache, first, second) = (cache(&bench), Slow::saying("[1]"), Slow::saying("[2]"));
    let question = list();
    let mut going = Box::pin(cache.through(&question, first.ask()));
    tokio::select! {
        _ = &mut going => panic!("nobody let it answer"),
        () = first.until_asked(1) => {}
    }
    let all = join_all((0..10).map(|_| cache.through(&question, second.ask())));
    let (answers, ()) = tokio::join!(all, async {
        tokio::task::yield_now().await;
        assert_eq!(second.service.asked(), 0, "they wait");
        drop(going);
        assert!(first.gave_up.load(Ordering::SeqCst), "the call went with its asker");
        second.until_asked(1).await;
        second.gate.add_permits(1);
    });
    assert!(answers.into_iter().all(|answer| text(&answer.unwrap().0) == "[2]"));
    assert_eq!((second.service.asked(), cache.0.flights.len()), (1, 0));
}

#[tokio::test]
async fn a_waiter_who_goes_away_changes_nothing_for_the_others() {
    let bench = Bench::file();
    let (cache, slow) = (cache(&bench), Slow::saying("[1]"));
    let question = list();
    let leader = cache.through(&question, slow.ask());
    let waiter = cache.through(&question, slow.ask());
    let (answer, ()) = tokio::join!(leader, async {
        slow.until_asked(1).await;
        assert!(futures_util::poll!(Box::pin(waiter)).is_pending());
        slow.gate.add_permits(1);
    });
    assert_eq!(text(&answer.unwrap().0), "[1]");
    assert_eq!(slow.service.asked(), 1);
}

#[tokio::test]
async fn while_one_asks_behind_it_all_get_the_stale_answer_at_once() {
    LocalSet::new()
        .run_until(async {
            let bench = Bench::file();
            let (cache, slow) = (cache(&bench), Slow::saying("[2]"));
            cache.get(&list(), &Service::saying("[1]")).await;
            bench.pass(seconds(3));
            for _ in 0..20 {
                let (kept, status) = cache.through(&list(), slow.ask()).await.unwrap();
                assert_eq!((text(&kept), status.is_stale()), ("[1]", true));
            }
            slow.until_asked(1).await;
            slow.gate.add_permits(1);
            until("the new answer", async || cache.get(&list(), &Service::saying("[3]")).await.0 == "[2]").await;
            assert_eq!(slow.service.asked(), 1);
        })
        .await;
}

#[tokio::test]
async fn a_question_that_fails_behind_a_stale_answer_is_asked_again_by_the_next() {
    LocalSet::new()
        .run_until(async {
            let bench = Bench::file();
            let (cache, service) = (cache(&bench), Service::saying("[1]"));
            cache.get(&list(), &service).await;
            bench.pass(seconds(3));
            service.says(Err(Trouble::SignedOut));
            assert_eq!(cache.get(&list(), &service).await.0, "[1]");
            until("the failure", async || service.asked() == 2 && cache.0.flights.len() == 0).await;
            bench.pass(seconds(3));
            let service = Service::saying("[2]");
            let (body, status) = cache.get(&list(), &service).await;
            assert_eq!(body, "[2]");
            assert!(matches!(status, CacheStatus::Asked { why: Why::Stale, stored: true, .. }));
        })
        .await;
}
