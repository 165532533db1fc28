//! Policies on both backends, on one replica and on two.

use std::collections::BTreeMap;

use super::*;
use crate::gateway::domain::tenant_policy::tests::given;
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};

fn policies(bench: &Bench, life: Duration) -> Policies {
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    let (store, clock, shutdown) = (bench.store.clone(), bench.clock.clone(), bench.shutdown.clone());
    let given = BTreeMap::from([(acme(), given()), (globex(), given())]);
    Policies::new(given, Parts { store, ring, clock, shutdown, copy_life: life, versions: 3 })
}

/// Policies of a tenant whose settings let one caller call so often.
pub(in crate::gateway) fn with_calls_of_caller(bench: &Bench, (tenant, most): (TenantId, u64)) -> Policies {
    let mut policy = given();
    policy.limits.calls_of_caller = most;
    made(bench, BTreeMap::from([(tenant, policy)]))
}

/// Saves another policy of a tenant.
pub(in crate::gateway) async fn save(policies: &Policies, tenant: &TenantId, change: impl FnOnce(&mut TenantPolicy)) {
    let held = policies.held(tenant).await.unwrap();
    let mut policy = (*held.policy).clone();
    change(&mut policy);
    let outcome = policies.save(tenant, (held.version, policy), alice()).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved(_)), "{outcome:?}");
}

/// Policies in which one tenant allows so many sessions of a user.
pub(in crate::gateway) fn with_sessions_per_user(bench: &Bench, (tenant, most): (TenantId, u32)) -> Policies {
    let mut policy = given();
    policy.limits.sessions_per_user = most;
    made(bench, BTreeMap::from([(tenant, policy)]))
}

fn made(bench: &Bench, given: BTreeMap<TenantId, TenantPolicy>) -> Policies {
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    let (store, clock, shutdown) = (bench.store.clone(), bench.clock.clone(), bench.shutdown.clone());
    Policies::new(given, Parts { store, ring, clock, shutdown, copy_life: Duration::from_secs(1), versions: 3 })
}

fn alice() -> Author {
    Author { user: "a".repeat(64), name: "Alice".into() }
}

fn days(number: u32) -> TenantPolicy {
    let mut policy = given();
    policy.shares.most_days = number;
    policy
}

async fn the_second_of_two_who_save_changes_nothing(bench: Bench) {
    let policies = policies(&bench, Duration::from_mins(1));
    let held = policies.held(&acme()).await.unwrap();
    assert_eq!((held.version, &held.saved, &*held.policy), (0, &None, &given()));
    assert!(policies.versions(&acme()).await.unwrap().is_empty());
    let acme_id = acme();
    let both = [days(30), days(60)].map(|policy| policies.save(&acme_id, (0, policy), alice()));
    let outcomes: Vec<_> = futures_util::future::join_all(both).await.into_iter().map(Result::unwrap).collect();
    let saved: Vec<_> = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Saved(_))).collect();
    assert_eq!(saved.len(), 1, "{outcomes:?}");
    let of_now = policies.of(&acme()).await.unwrap();
    let Some(Outcome::Stale(told)) = outcomes.iter().find(|outcome| matches!(outcome, Outcome::Stale(_))) else { panic!() };
    assert_eq!((told.version, &told.policy), (1, &of_now), "who comes second is told what holds");
    assert_eq!(*policies.of(&globex()).await.unwrap(), given(), "another tenant's stays");
    for number in 1..6 {
        assert!(matches!(policies.save(&acme(), (number, days(10)), alice()).await.unwrap(), Outcome::Saved(_)));
    }
    let numbers: Vec<u64> = policies.versions(&acme()).await.unwrap().iter().map(|version| version.number).collect();
    assert_eq!(numbers, [6, 5, 4, 3]);
    let name = policies.versions(&acme()).await.unwrap()[0].saved.by.name.raw().to_owned();
    assert_eq!(name, "Alice");
    let at_rest = bench.at_rest().await;
    assert!(!at_rest.windows(9).any(|part| part == b"most_days") && !at_rest.windows(5).any(|part| part == b"Alice"));
}

#[tokio::test]
async fn the_second_of_two_who_save_changes_nothing_in_a_file() {
    the_second_of_two_who_save_changes_nothing(Bench::file()).await;
}

#[tokio::test]
async fn the_second_of_two_who_save_changes_nothing_in_redis() {
    the_second_of_two_who_save_changes_nothing(Bench::redis().await).await;
}

async fn word_of_a_change_reaches_another_replica(bench: Bench) {
    // Without word these would stand for minutes.
    let (here, there) = (policies(&bench, Duration::from_mins(5)), policies(&bench, Duration::from_mins(5)));
    there.begin().await;
    assert_eq!(there.last(&acme()).unwrap().version, 0);
    here.save(&acme(), (0, days(30)), alice()).await.unwrap();
    assert_eq!(here.last(&acme()).unwrap().version, 1, "at once where it was saved");
    until("the change", async || there.last(&acme()).unwrap().policy.shares.most_days == 30).await;
    assert_eq!(there.of(&acme()).await.unwrap().shares.most_days, 30);
    assert!(there.last(&TenantId::parse("nobody").unwrap()).is_none());
}

#[tokio::test]
async fn word_of_a_change_reaches_another_replica_in_a_file() {
    word_of_a_change_reaches_another_replica(Bench::file()).await;
}

#[tokio::test]
async fn word_of_a_change_reaches_another_replica_in_redis() {
    word_of_a_change_reaches_another_replica(Bench::redis().await).await;
}

#[tokio::test]
async fn what_does_not_open_is_no_policy_and_is_not_overwritten() {
    let bench = Bench::file();
    let policies = policies(&bench, Duration::ZERO);
    policies.save(&acme(), (0, days(30)), alice()).await.unwrap();
    let key = crate::gateway::store::Key::new(&acme(), "policy", "current");
    bench.store.put(&key, b"something else".to_vec(), None).await.unwrap();
    assert_eq!(policies.of(&acme()).await, Err(PolicyError::Sealed));
    assert_eq!(policies.save(&acme(), (1, days(20)), alice()).await, Err(PolicyError::Sealed));
    assert_eq!(policies.last(&acme()).unwrap().policy.shares.most_days, 30, "looks and rates go on as last known");
    assert_eq!(bench.store.get(&key).await.unwrap().unwrap().value, b"something else");
}
