//! The roster on both backends.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::gateway::store::tests::bench::{Bench, acme, globex};

const KEPT: Duration = Duration::from_hours(24);

fn roster(bench: &Bench) -> Roster {
    let ring = Ring::new([("k".to_owned(), vec![7; 32])]).unwrap();
    Roster::new((bench.store.clone(), Arc::new(ring)), bench.clock.clone(), Duration::ZERO, &bench.shutdown)
}

fn who(tenant: TenantId, subject: &str) -> Principal {
    Principal {
        tenant,
        issuer: "https://id.example".to_owned(),
        subject: subject.to_owned(),
        name: format!("Name of {subject}").into(),
        email: format!("{subject}@acme.example").into(),
        role: Role::Member,
    }
}

async fn people_come_are_disabled_and_come_again(bench: Bench) {
    let (roster, bob, carol) = (roster(&bench), who(acme(), "bob"), who(globex(), "carol"));
    assert!(roster.enter(&bob, KEPT).await.unwrap() && roster.enter(&carol, KEPT).await.unwrap());
    bench.pass(Duration::from_secs(5));
    let renamed = Principal { name: "Bob".into(), role: Role::Administrator, ..bob.clone() };
    assert!(roster.enter(&renamed, KEPT).await.unwrap());
    let all = roster.everybody(&acme(), 10).await.unwrap();
    assert!(all.complete && all.people.len() == 1, "{all:?}");
    let (key, person) = &all.people[0];
    assert_eq!((key, person.name.raw(), person.role), (&bob.key(), "Bob", Role::Administrator));
    assert!(person.first_at < person.last_at);
    assert_eq!(person.principal(&acme()), renamed);

    let (by, reason) = ("Alice".into(), "left the company".into());
    assert_eq!(roster.disable(&globex(), &bob.key(), (&by, &reason)).await.unwrap(), None, "another tenant's");
    assert_eq!(roster.disable(&acme(), &bob.key(), (&by, &reason)).await.unwrap(), Some(true));
    assert_eq!(roster.disable(&acme(), &bob.key(), (&"Eve".into(), &"x".into())).await.unwrap(), Some(false));
    assert!(roster.is_disabled(&acme(), &bob.key()).await.unwrap());
    assert!(
        !roster.is_disabled(&globex(), &carol.key()).await.unwrap() && !roster.is_disabled(&globex(), &bob.key()).await.unwrap()
    );
    assert!(roster.is_anybody_disabled(&acme()).await.unwrap() && !roster.is_anybody_disabled(&globex()).await.unwrap());
    assert!(!roster.enter(&bob, KEPT).await.unwrap());
    let person = roster.person(&acme(), &bob.key()).await.unwrap().unwrap();
    assert_eq!((person.name.raw(), person.disabled.unwrap().reason.raw()), ("Bob", "left the company"));
    assert_eq!(roster.enable(&acme(), &bob.key(), KEPT).await.unwrap(), Some(true));
    assert_eq!(roster.enable(&acme(), &bob.key(), KEPT).await.unwrap(), Some(false));
    assert!(!roster.is_disabled(&acme(), &bob.key()).await.unwrap() && !roster.is_anybody_disabled(&acme()).await.unwrap());
    assert_eq!(roster.disable(&acme(), "nobody", (&by, &reason)).await.unwrap(), None);
    assert!(!roster.is_anybody_disabled(&acme()).await.unwrap());
    assert!(roster.enter(&bob, KEPT).await.unwrap());
    for number in 0..4 {
        roster.enter(&who(acme(), &number.to_string()), KEPT).await.unwrap();
    }
    assert!(!roster.everybody(&acme(), 4).await.unwrap().complete);
    let at_rest = bench.at_rest().await;
    for secret in ["Name of bob", "bob@acme.example", "left the company"] {
        assert!(!at_rest.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
}

#[tokio::test]
async fn people_come_are_disabled_and_come_again_in_a_file() {
    people_come_are_disabled_and_come_again(Bench::file()).await;
}

#[tokio::test]
async fn people_come_are_disabled_and_come_again_in_redis() {
    people_come_are_disabled_and_come_again(Bench::redis().await).await;
}

#[tokio::test]
async fn who_does_not_come_any_more_is_forgotten_and_who_is_disabled_is_not() {
    let bench = Bench::file();
    let roster = roster(&bench);
    for name in ["bob", "eve"] {
        roster.enter(&who(acme(), name), KEPT).await.unwrap();
    }
    roster.disable(&acme(), &who(acme(), "eve").key(), (&"Alice".into(), &"x".into())).await.unwrap();
    bench.pass(KEPT * 2);
    let left = roster.everybody(&acme(), 10).await.unwrap().people;
    assert_eq!(left.iter().map(|(_, person)| person.subject.as_str()).collect::<Vec<_>>(), ["eve"]);
    assert_eq!(roster.count(&acme()).await.unwrap(), 1);
    roster.enable(&acme(), &left[0].0, KEPT).await.unwrap();
    bench.pass(KEPT * 2);
    assert_eq!(roster.everybody(&acme(), 10).await.unwrap().people, []);
}
