//! Views, lock-outs and grants: on the embedded store with a clock moved by hand, and views on a real Redis as well.

use std::collections::HashSet;

use super::*;
use crate::contract::shares::ShareType;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::share_entry::{Access, Maker, Outcome};
use crate::gateway::domain::share_policy::tests::GIVEN as POLICY;
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::platform::clock::Timestamp;
use crate::platform::secret::Secret;

fn ledger(bench: &Bench) -> Ledger {
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    Ledger::new(bench.store.clone(), ring, bench.clock.clone(), Brake::new(100, 15))
}

fn entry(id: &str, now: Timestamp) -> Entry {
    let maker = Maker { key: "maker".to_owned(), name: "Alice".into() };
    Entry {
        project: "project".into(),
        ends: Some(now.after(Duration::from_hours(24))),
        needs_code: true,
        ..Entry::new(id.parse().unwrap(), "t1".parse().unwrap(), ShareType::Report, maker, now, 180)
    }
}

async fn both(test: impl AsyncFn(&Bench)) {
    test(&Bench::file()).await;
    test(&Bench::redis().await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
async fn of_fifty_who_open_at_once_as_many_get_in_as_there_are_views() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let share = Entry { most_views: Some(3), ..entry("limited", bench.clock.now()) };
        let mark = Mark::of(&tenant, &share.id);
        assert!(ledger.begin(&tenant, &share).await.unwrap());
        assert!(!ledger.begin(&tenant, &share).await.unwrap());
        let tries: Vec<_> = (0..50)
            .map(|_| {
                let (ledger, tenant, mark) = (ledger.clone(), tenant.clone(), mark.clone());
                tokio::spawn(async move { ledger.take_view(&tenant, &mark, 0).await.unwrap() })
            })
            .collect();
        let taken: HashSet<u32> = futures_util::future::join_all(tries)
            .await
            .into_iter()
            .filter_map(|view| if let View::Taken(entry) = view.unwrap() { Some(entry.views) } else { None })
            .collect();
        assert_eq!(taken, HashSet::from([1, 2, 3]));
        let after = ledger.entry(&tenant, &mark).await.unwrap().unwrap();
        assert_eq!((after.views, after.left(), after.state(bench.clock.now())), (3, Some(0), State::UsedUp));
    })
    .await;
}

#[tokio::test]
async fn entries_are_of_their_tenant_listed_newest_first_and_gone_when_they_are_forgotten() {
    both(async |bench| {
        let (ledger, now) = (ledger(bench), bench.clock.now());
        for (at, id) in ["one", "two", "three"].into_iter().enumerate() {
            let made = now.after(Duration::from_secs(u64::try_from(at).unwrap()));
            assert!(ledger.begin(&acme(), &Entry { made, ..entry(id, now) }).await.unwrap());
        }
        let ids = async |tenant: &TenantId| {
            let all = ledger.all(tenant).await.unwrap();
            all.into_iter().map(|(_, entry)| entry.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&acme()).await, ["three", "two", "one"]);
        assert_eq!(ids(&globex()).await, Vec::<String>::new());
        let two = Mark::of(&acme(), &"two".parse().unwrap());
        assert_eq!(ledger.entry(&globex(), &two).await.unwrap(), None);
        ledger.forget(&acme(), &two).await.unwrap();
        assert_eq!(ids(&acme()).await, ["three", "one"]);
        let ended = ledger.change(&acme(), &two, |_| Ok::<_, LedgerError>(())).await.unwrap();
        assert_eq!(ended, None);
    })
    .await;
}

#[tokio::test]
async fn a_share_that_is_over_stays_as_a_tombstone_for_its_days_and_opens_no_more() {
    let bench = Bench::file();
    let (ledger, tenant) = (ledger(&bench), acme());
    let share = entry("s", bench.clock.now());
    let mark = Mark::of(&tenant, &share.id);
    ledger.begin(&tenant, &share).await.unwrap();
    bench.pass(Duration::from_hours(25));
    let state = async || ledger.entry(&tenant, &mark).await.unwrap().map(|entry| entry.state(bench.clock.now()));
    assert_eq!(state().await, Some(State::Expired));
    assert_eq!(ledger.take_view(&tenant, &mark, 0).await.unwrap(), View::None);
    bench.pass(Duration::from_hours(179 * 24));
    assert_eq!(state().await, Some(State::Expired));
    bench.pass(Duration::from_hours(3 * 24));
    assert_eq!(state().await, None);
    assert!(ledger.all(&tenant).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_code_that_was_replaced_meanwhile_takes_no_view_of_the_new_one() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let share = Entry { most_views: Some(1), ..entry("s", bench.clock.now()) };
        let mark = Mark::of(&tenant, &share.id);
        ledger.begin(&tenant, &share).await.unwrap();
        let check = Ledger::check_of(&Secret::new("NEWERCODE")).unwrap();
        let renew = |entry: &mut Entry| -> Result<(), LedgerError> {
            entry.renew_code(check.clone());
            Ok(())
        };
        ledger.change(&tenant, &mark, renew).await.unwrap().unwrap();
        assert_eq!(ledger.take_view(&tenant, &mark, 0).await.unwrap(), View::None);
        assert!(matches!(ledger.take_view(&tenant, &mark, 1).await.unwrap(), View::Taken(_)));
    })
    .await;
}

#[tokio::test]
async fn a_door_that_was_closed_for_another_code_opens_again_as_it_was_unless_something_happened() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let share = entry("s", bench.clock.now());
        let mark = Mark::of(&tenant, &share.id);
        ledger.begin(&tenant, &share).await.unwrap();
        let before = ledger.close_code(&tenant, &mark).await.unwrap().unwrap();
        assert_eq!(before, share);
        assert_eq!(ledger.take_view(&tenant, &mark, 0).await.unwrap(), View::None, "whoever is cut off here leaves it so");
        ledger.reopen_code(&tenant, &mark, &before).await.unwrap();
        assert_eq!(ledger.entry(&tenant, &mark).await.unwrap().unwrap(), share);
        let before = ledger.close_code(&tenant, &mark).await.unwrap().unwrap();
        ledger.end(&tenant, &mark, &"Dora".into()).await.unwrap().unwrap();
        ledger.reopen_code(&tenant, &mark, &before).await.unwrap();
        let ended = ledger.entry(&tenant, &mark).await.unwrap().unwrap();
        assert_eq!((ended.state(bench.clock.now()), ended.version > before.version), (State::Ended, true));
    })
    .await;
}

/// A share with something to tell, and what of it is at rest.
async fn telling(ledger: &Ledger, id: &str, now: Timestamp) -> Mark {
    let findings = vec!["v1".parse().unwrap(), "v2".parse().unwrap()];
    let share = Entry { note: "read this".into(), kind: ShareType::Vul, findings, most_views: Some(1), ..entry(id, now) };
    assert!(ledger.begin(&acme(), &share).await.unwrap());
    Mark::of(&acme(), &share.id)
}

async fn at_rest(ledger: &Ledger, mark: &Mark) -> Entry {
    let key = key(&acme(), mark);
    let record = ledger.store.get(&key).await.unwrap().unwrap();
    serde_json::from_slice(&ledger.ring.open(ENTRY, &key.context(), &[], &record.value).unwrap()).unwrap()
}

fn tells(entry: &Entry) -> bool {
    assert_eq!((entry.finding_count(), entry.check.is_none(), entry.maker.name.raw()), (2, true, "Alice"), "what stays");
    assert_eq!(entry.note.is_empty(), entry.findings.is_empty());
    !entry.note.is_empty()
}

#[tokio::test]
async fn a_share_loses_what_it_showed_whichever_way_it_ends() {
    both(async |bench| {
        let (ledger, now) = (ledger(bench), bench.clock.now());
        let marks =
            [telling(&ledger, "expired", now).await, telling(&ledger, "used", now).await, telling(&ledger, "ended", now).await];
        let [expired, used, ended] = &marks;
        assert!(ledger.end(&acme(), ended, &"Dora".into()).await.unwrap().unwrap().0);
        assert!(!tells(&at_rest(&ledger, ended).await));
        assert!(matches!(ledger.take_view(&acme(), used, 0).await.unwrap(), View::Taken(_)));
        // Whoever took the last view is inside still.
        bench.pass(Duration::from_hours(2));
        assert!(tells(&ledger.entry(&acme(), used).await.unwrap().unwrap()));
        assert!(tells(&ledger.entry(&acme(), expired).await.unwrap().unwrap()) && tells(&at_rest(&ledger, expired).await));
        bench.pass(Duration::from_hours(23));
        for mark in &marks {
            let read = ledger.entry(&acme(), mark).await.unwrap().unwrap();
            assert!(!tells(&read) && !tells(&at_rest(&ledger, mark).await), "at the first touch");
        }
        // What was read can be changed at once.
        ledger.change(&acme(), expired, |_| Ok::<_, LedgerError>(())).await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test]
async fn shares_of_deleted_tasks_keep_no_name() {
    both(async |bench| {
        let ledger = ledger(bench);
        let gone = telling(&ledger, "gone", bench.clock.now()).await;
        ledger.end_of_tasks(&acme(), &["t1".parse().unwrap()], &"Dora".into()).await.unwrap();
        let kept = at_rest(&ledger, &gone).await;
        assert!(kept.note.is_empty() && kept.findings.is_empty() && kept.project.is_empty() && kept.finding_count() == 0);
        assert!(!kept.untold, "it went with its task");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_is_made_while_others_list_is_in_the_list() {
    both(async |bench| {
        let ledger = ledger(bench);
        for number in 0..40 {
            let share = entry(&format!("s{number}"), bench.clock.now());
            let tenant = acme();
            let (made, first, second) = tokio::join!(ledger.begin(&tenant, &share), ledger.all(&tenant), ledger.all(&tenant));
            assert!(made.unwrap() && first.is_ok() && second.is_ok());
            assert_eq!(ledger.all(&tenant).await.unwrap().len(), number + 1);
        }
    })
    .await;
}

#[tokio::test]
async fn shares_that_nobody_looks_at_are_swept_by_one_replica_each_time() {
    let bench = Bench::file();
    let (ledger, every) = (ledger(&bench), Duration::from_hours(1));
    let first = telling(&ledger, "first", bench.clock.now()).await;
    bench.pass(Duration::from_hours(25));
    ledger.sweep(&acme(), every).await.unwrap();
    assert!(!tells(&at_rest(&ledger, &first).await));
    let over = Entry { note: "read this".into(), ends: Some(bench.clock.now()), ..entry("second", bench.clock.now()) };
    ledger.begin(&acme(), &over).await.unwrap();
    let second = Mark::of(&acme(), &over.id);
    bench.pass(Duration::from_mins(30));
    ledger.sweep(&acme(), every).await.unwrap();
    assert!(!at_rest(&ledger, &second).await.note.is_empty(), "there was one within the hour");
    bench.pass(Duration::from_mins(31));
    ledger.sweep(&acme(), every).await.unwrap();
    assert!(at_rest(&ledger, &second).await.note.is_empty());
}

#[tokio::test]
async fn however_many_come_the_newest_two_hundred_are_kept() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let share = entry("s", bench.clock.now());
        let mark = Mark::of(&tenant, &share.id);
        ledger.begin(&tenant, &share).await.unwrap();
        for number in 0..230_i64 {
            let at = Timestamp(bench.clock.now().0 + number);
            let access =
                Access { at, outcome: Outcome::WrongCode, network: "192.0.2.0/24".to_owned(), device: Device::default() };
            ledger.note(&tenant, &mark, &access).await;
        }
        let kept = ledger.accesses(&tenant, &mark).await.unwrap();
        let newest = bench.clock.now().0 + 229;
        assert_eq!(kept.iter().map(|access| newest - access.at.0).collect::<Vec<_>>(), (0..200).collect::<Vec<i64>>());
        assert!(ledger.accesses(&globex(), &mark).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn tries_at_what_is_not_there_take_one_place_for_all_and_the_list_of_no_share() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let mark = |number: i64| Mark::of(&tenant, &format!("made-up-{number}").parse().unwrap());
        for number in 0..230 {
            let at = Timestamp(bench.clock.now().0 + number);
            let access =
                Access { at, outcome: Outcome::WrongCode, network: "192.0.2.0/24".to_owned(), device: Device::default() };
            assert_eq!(ledger.sought(&tenant, &mark(number)).await.unwrap(), None);
            ledger.note(&tenant, &mark(number), &access).await;
            assert!(ledger.accesses(&tenant, &mark(number)).await.unwrap().is_empty());
        }
        assert_eq!(ledger.accesses(&tenant, &Mark::stand_in(&tenant)).await.unwrap().len(), 200);
        assert!(ledger.all(&tenant).await.unwrap().is_empty());
    })
    .await;
}

struct Door {
    bench: Bench,
    ledger: Ledger,
    tenant: TenantId,
    mark: Mark,
}

fn door() -> Door {
    let bench = Bench::file();
    let (ledger, tenant) = (ledger(&bench), acme());
    let mark = Mark::of(&tenant, &"s".parse().unwrap());
    Door { bench, ledger, tenant, mark }
}

impl Door {
    const fn from<'t>(&'t self, network: &'t str) -> Try<'t> {
        Try { tenant: &self.tenant, mark: &self.mark, codes: 0, network }
    }

    async fn wrong(&self, network: &str) -> Option<Reached> {
        let (guard, attempt) = (self.ledger.guard(), self.from(network));
        assert!(matches!(guard.admit(attempt, &POLICY, Duration::ZERO).await.unwrap(), Admission::Look { .. }));
        guard.wrong(attempt, true, &POLICY).await.unwrap()
    }

    async fn admits(&self, attempt: Try<'_>) -> Admission {
        self.ledger.guard().admit(attempt, &POLICY, Duration::ZERO).await.unwrap()
    }

    async fn waits(&self, attempt: Try<'_>) -> Option<u64> {
        if let Admission::Wait { seconds, .. } = self.admits(attempt).await { Some(seconds) } else { None }
    }
}

#[tokio::test]
async fn five_wrong_codes_close_the_door_for_their_network_only_and_for_a_while() {
    let door = door();
    for _ in 0..5 {
        door.wrong("192.0.2.0/24").await;
    }
    door.bench.pass(Duration::from_mins(5));
    assert_eq!(door.waits(door.from("192.0.2.0/24")).await, Some(600));
    assert_eq!(door.waits(door.from("198.51.100.0/24")).await, None);
    let other = Mark::of(&door.tenant, &"other".parse().unwrap());
    assert_eq!(door.waits(Try { mark: &other, ..door.from("192.0.2.0/24") }).await, None);
    assert_eq!(door.waits(Try { codes: 1, ..door.from("192.0.2.0/24") }).await, None);
    door.bench.pass(Duration::from_secs(601));
    assert_eq!(door.waits(door.from("192.0.2.0/24")).await, None);
}

#[tokio::test]
async fn tries_beyond_those_of_a_network_at_a_locked_share_wait_for_nobody() {
    let door = door();
    for number in 0..20 {
        door.wrong(&format!("10.0.{number}.0/24")).await;
    }
    // Once it is looked at; then nobody looks, so there is nothing to wait for.
    door.wrong("192.0.2.0/24").await;
    let patience = Duration::from_mins(1);
    let started = tokio::time::Instant::now();
    for _ in 0..8 {
        let admission = door.ledger.guard().admit(door.from("192.0.2.0/24"), &POLICY, patience).await.unwrap();
        assert!(matches!(admission, Admission::Wait { .. }), "{admission:?}");
    }
    assert!(started.elapsed() < patience, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_network_that_was_held_at_all_shares_is_looked_at_again_after_its_time() {
    let bench = Bench::file();
    let (guard, tenant) = (ledger(&bench).guard(), acme());
    for at in 0..100 {
        let mark = Mark::of(&tenant, &format!("made-up-{at}").parse().unwrap());
        guard.wrong(Try { tenant: &tenant, mark: &mark, codes: 0, network: "192.0.2.0/24" }, false, &POLICY).await.unwrap();
    }
    let mark = Mark::of(&tenant, &"another".parse().unwrap());
    let attempt = Try { tenant: &tenant, mark: &mark, codes: 0, network: "192.0.2.0/24" };
    assert_eq!(guard.admit(attempt, &POLICY, Duration::ZERO).await.unwrap(), Admission::Wait { seconds: 900, over: 0 });
    bench.pass(Duration::from_secs(901));
    assert_eq!(guard.admit(attempt, &POLICY, Duration::ZERO).await.unwrap(), Admission::Look { locked_for: None });
}

#[tokio::test]
async fn parallel_tries_from_one_network_cannot_slip_through_and_a_right_code_clears_their_count() {
    let door = door();
    let here = door.from("192.0.2.0/24");
    let tries = futures_util::future::join_all((0..50).map(|_| door.waits(here))).await;
    assert_eq!(tries.into_iter().filter(Option::is_none).count(), 5);
    door.ledger.guard().clear(here).await.unwrap();
    assert_eq!(door.waits(here).await, None);
}

#[tokio::test]
async fn wrong_codes_of_many_networks_lock_the_share_and_in_the_end_kill_its_code() {
    let door = door();
    let mut reached = Vec::new();
    for round in 0..5_u32 {
        for network in 0..20_u32 {
            reached.extend(door.wrong(&format!("10.{round}.{network}.0/24")).await);
        }
        // Once, for whoever has the right code.
        let fresh = format!("203.0.{round}.0/24");
        assert_eq!(door.admits(door.from(&fresh)).await, Admission::Look { locked_for: Some(1800) });
        assert_eq!(door.waits(door.from(&fresh)).await, Some(1800));
        assert_eq!(door.waits(door.from(&format!("10.{round}.7.0/24"))).await, Some(1800));
        door.bench.pass(Duration::from_secs(1801));
    }
    assert_eq!(reached, [Reached::Locked, Reached::Locked, Reached::Locked, Reached::Locked, Reached::Dead]);
    let locks = door.ledger.guard().locks(&door.tenant, &door.mark, 0).await.unwrap();
    assert_eq!(locks, Locks { locked_for: None, wrong: 100 });
    let renewed = door.ledger.guard().locks(&door.tenant, &door.mark, 1).await.unwrap();
    assert_eq!(renewed.wrong, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_tries_many_shares_is_held_at_all_of_them_and_leaves_nothing_more() {
    both(async |bench| {
        let (ledger, tenant) = (ledger(bench), acme());
        let guard = ledger.guard();
        let marks: Vec<Mark> = (0..140).map(|at| Mark::of(&tenant, &format!("made-up-{at}").parse().unwrap())).collect();
        let mut looked = 0;
        for mark in &marks {
            let attempt = Try { tenant: &tenant, mark, codes: 0, network: "192.0.2.0/24" };
            if matches!(guard.admit(attempt, &POLICY, Duration::ZERO).await.unwrap(), Admission::Look { .. }) {
                looked += 1;
                guard.wrong(attempt, false, &POLICY).await.unwrap();
            }
        }
        assert_eq!(looked, 100);
        // The last ones were counted nowhere, and somebody else is not held.
        let last = Try { tenant: &tenant, mark: &marks[139], codes: 0, network: "198.51.100.0/24" };
        assert_eq!(guard.locks(&tenant, &marks[139], 0).await.unwrap(), Locks::default());
        assert_eq!(guard.admit(last, &POLICY, Duration::ZERO).await.unwrap(), Admission::Look { locked_for: None });
    })
    .await;
}

#[tokio::test]
async fn made_up_ids_are_locked_like_real_ones_and_leave_nothing_for_long() {
    let door = door();
    for network in 0..20 {
        let network = format!("10.0.{network}.0/24");
        let attempt = Try { codes: 0, ..door.from(&network) };
        assert_eq!(door.admits(attempt).await, Admission::Look { locked_for: None });
        door.ledger.guard().wrong(attempt, false, &POLICY).await.unwrap();
    }
    assert_eq!(door.waits(Try { codes: 0, ..door.from("10.0.7.0/24") }).await, Some(1800));
    assert_eq!(door.ledger.guard().locks(&door.tenant, &door.mark, 0).await.unwrap().wrong, 20);
    door.bench.pass(Duration::from_secs(601));
    assert_eq!(door.ledger.guard().locks(&door.tenant, &door.mark, 0).await.unwrap().wrong, 0);
}

fn terms() -> Terms {
    let now = Timestamp(1_700_000_000_000);
    Terms::of(&entry("s", now), &POLICY, now)
}

#[tokio::test]
async fn a_grant_opens_its_own_share_of_its_own_tenant_until_it_runs_out_and_keeps_its_secrets() {
    let door = door();
    let (grants, life) = (door.ledger.grants(), Duration::from_mins(30));
    let inside = Inside { code: Some(Secret::new("ABCDEFGH")), version: 4, terms: terms() };
    let handle = grants.give(&door.tenant, &door.mark, &inside, life).await.unwrap();
    let open = async |tenant: &TenantId, mark: &Mark, handle: &Secret| {
        let found = grants.open(tenant, mark, handle).await.unwrap();
        found.map(|(inside, _)| (inside.code.map(|code| code.expose().to_owned()), inside.version))
    };
    assert_eq!(open(&door.tenant, &door.mark, &handle).await, Some((Some("ABCDEFGH".to_owned()), 4)));
    let other = Mark::of(&door.tenant, &"t".parse().unwrap());
    assert_eq!(open(&door.tenant, &other, &handle).await, None);
    assert_eq!(open(&globex(), &door.mark, &handle).await, None);
    assert_eq!(open(&door.tenant, &door.mark, &Secret::new("guess")).await, None);

    let left = grants.give(&door.tenant, &door.mark, &Inside { code: None, version: 4, terms: terms() }, life).await.unwrap();
    assert_eq!(open(&door.tenant, &door.mark, &left).await, Some((None, 4)));
    grants.drop(&door.tenant, &left).await.unwrap();
    assert_eq!(open(&door.tenant, &door.mark, &left).await, None);

    door.bench.pass(Duration::from_secs(1801));
    assert_eq!(open(&door.tenant, &door.mark, &handle).await, None);
}

#[tokio::test]
async fn the_store_holds_no_id_no_code_and_no_browsers_part_in_the_clear() {
    let bench = Bench::file();
    let (ledger, tenant) = (ledger(&bench), acme());
    let share = entry("an-id-that-is-a-capability", bench.clock.now());
    let mark = Mark::of(&tenant, &share.id);
    ledger.begin(&tenant, &share).await.unwrap();
    let inside = Inside { code: Some(Secret::new("ABCDEFGH")), version: 1, terms: terms() };
    let handle = ledger.grants().give(&tenant, &mark, &inside, Duration::from_mins(30)).await.unwrap();
    let attempt = Try { tenant: &tenant, mark: &mark, codes: 0, network: "192.0.2.0/24" };
    ledger.guard().admit(attempt, &POLICY, Duration::ZERO).await.unwrap();
    let rest = bench.at_rest().await;
    let holds = |needle: &str| rest.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(!holds("ABCDEFGH") && !holds(handle.expose()) && !holds("an-id-that-is-a-capability"));
    assert!(!holds("192.0.2.0/24"));
}
