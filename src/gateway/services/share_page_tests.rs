//! Lock-out and grants on the embedded store with a clock moved by hand.

use super::*;
use crate::platform::clock::{Clock, Timestamp};

struct Bench {
    clock: Clock,
    guard: Guard,
    grants: Grants,
    _folder: tempfile::TempDir,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(Timestamp(1_795_828_230_250));
    let store = Store::embedded(&folder.path().join("store.redb"), clock.clone()).unwrap();
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    let guard = Guard { store: store.clone(), by_network: 5, anywhere: 20, lifetime: 100, window: Duration::from_mins(15) };
    Bench { clock, guard, grants: Grants { store, ring, lifetime: Duration::from_mins(30) }, _folder: folder }
}

fn place(share: &str, network: &str) -> Place {
    Place {
        tenant: TenantId::parse("acme").unwrap(),
        share: share.parse().unwrap(),
        network: network.to_owned(),
        request_id: "r".to_owned(),
    }
}

async fn wrong(guard: &Guard, place: &Place) {
    assert_eq!(guard.admit(place).await.unwrap(), None);
    guard.wrong(place, true).await.unwrap();
}

#[tokio::test]
async fn five_wrong_codes_close_the_door_for_their_network_only_and_for_a_while() {
    let bench = bench();
    let (here, there) = (place("s", "192.0.2.0/24"), place("s", "198.51.100.0/24"));
    for _ in 0..5 {
        wrong(&bench.guard, &here).await;
    }
    bench.clock.advance(Duration::from_mins(5));
    assert_eq!(bench.guard.admit(&here).await.unwrap(), Some(600));
    assert_eq!(bench.guard.admit(&there).await.unwrap(), None);
    assert_eq!(bench.guard.admit(&place("other", "192.0.2.0/24")).await.unwrap(), None);
    bench.clock.advance(Duration::from_secs(601));
    assert_eq!(bench.guard.admit(&here).await.unwrap(), None);
}

#[tokio::test]
async fn parallel_tries_from_one_network_cannot_slip_through() {
    let bench = bench();
    let here = place("s", "192.0.2.0/24");
    let tries = futures_util::future::join_all((0..50).map(|_| bench.guard.admit(&here))).await;
    assert_eq!(tries.into_iter().filter(|wait| matches!(wait, Ok(None))).count(), 5);
}

#[tokio::test]
async fn a_right_code_clears_the_count_of_its_network() {
    let bench = bench();
    let here = place("s", "192.0.2.0/24");
    for _ in 0..4 {
        wrong(&bench.guard, &here).await;
    }
    assert_eq!(bench.guard.admit(&here).await.unwrap(), None);
    bench.guard.clear(&here).await.unwrap();
    for _ in 0..5 {
        wrong(&bench.guard, &here).await;
    }
    assert!(bench.guard.admit(&here).await.unwrap().is_some());
}

#[tokio::test]
async fn wrong_codes_of_many_networks_close_the_share_and_in_the_end_kill_its_code() {
    let bench = bench();
    for round in 0..5_u32 {
        for network in 0..20_u32 {
            wrong(&bench.guard, &place("s", &format!("10.{round}.{network}.0/24"))).await;
        }
        assert_eq!(bench.guard.admit(&place("s", "203.0.113.0/24")).await.unwrap(), Some(900));
        let dead = bench.guard.is_dead(&place("s", "203.0.113.0/24")).await.unwrap();
        assert_eq!(dead, round == 4);
        bench.clock.advance(Duration::from_secs(901));
    }
    assert_eq!(bench.guard.admit(&place("s", "203.0.113.0/24")).await.unwrap(), None);
    assert!(bench.guard.is_dead(&place("s", "203.0.113.0/24")).await.unwrap());
    assert!(!bench.guard.is_dead(&place("t", "203.0.113.0/24")).await.unwrap());
}

#[tokio::test]
async fn made_up_ids_are_closed_like_real_ones_and_leave_nothing_for_long() {
    let bench = bench();
    let place = |network: u32| place("made-up", &format!("10.0.{network}.0/24"));
    for network in 0..20 {
        assert_eq!(bench.guard.admit(&place(network)).await.unwrap(), None);
        bench.guard.wrong(&place(network), false).await.unwrap();
    }
    assert!(bench.guard.admit(&place(99)).await.unwrap().is_some());
    assert_eq!(bench.guard.store.peek(&in_life(&place(0))).await.unwrap(), None);
}

#[tokio::test]
async fn a_grant_opens_its_own_share_of_its_own_tenant_until_it_runs_out() {
    let bench = bench();
    let here = place("s", "192.0.2.0/24");
    let handle = bench.grants.give(&here, Some(&Secret::new("ABCDEFGH"))).await.unwrap();
    let code = |found: Option<Option<Secret>>| found.map(|code| code.map(|code| code.expose().to_owned()));
    assert_eq!(code(bench.grants.open(&here, &handle).await.unwrap()), Some(Some("ABCDEFGH".to_owned())));
    assert_eq!(code(bench.grants.open(&place("t", "192.0.2.0/24"), &handle).await.unwrap()), None);
    let foreign = Place { tenant: TenantId::parse("globex").unwrap(), ..here.clone() };
    assert_eq!(code(bench.grants.open(&foreign, &handle).await.unwrap()), None);
    assert_eq!(code(bench.grants.open(&here, &Secret::new("guess")).await.unwrap()), None);

    let without = bench.grants.give(&here, None).await.unwrap();
    assert_eq!(code(bench.grants.open(&here, &without).await.unwrap()), Some(None));
    bench.grants.drop(&here, &without).await.unwrap();
    assert_eq!(code(bench.grants.open(&here, &without).await.unwrap()), None);

    bench.clock.advance(Duration::from_secs(1801));
    assert_eq!(code(bench.grants.open(&here, &handle).await.unwrap()), None);
}

#[tokio::test]
async fn the_store_holds_neither_the_code_nor_the_browsers_part_in_the_clear() {
    let bench = bench();
    let here = place("s", "192.0.2.0/24");
    let handle = bench.grants.give(&here, Some(&Secret::new("ABCDEFGH"))).await.unwrap();
    let record = bench.grants.store.get(&grant(&here, &handle)).await.unwrap().unwrap();
    let holds = |needle: &[u8]| record.value.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(b"ABCDEFGH") && !holds(handle.expose().as_bytes()));
    assert!(!grant(&here, &handle).context().contains(handle.expose()));
}
