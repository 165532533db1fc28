//! Who uses a key, on both backends and by two replicas.

use std::net::IpAddr;
use std::time::Duration;

use super::api_keys::create;
use super::parts;
use crate::gateway::domain::uses::Origin;
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::gateway::store::tests::on_both;
use crate::gateway::vault::IssuedKeys;

on_both! {
    uses_of_all_replicas_are_told_by_operation_and_network
    what_is_told_apart_is_bounded_and_nothing_is_lost
    days_before_the_last_seven_are_forgotten
}

fn from(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn origin(operation: &str, network: &str, count: u64) -> Origin {
    Origin { operation: operation.to_owned(), network: network.to_owned(), count }
}

async fn uses_of_all_replicas_are_told_by_operation_and_network(bench: Bench) {
    let (one, two) = (IssuedKeys::new(&parts(&bench)), IssuedKeys::new(&parts(&bench)));
    let (key, _) = create(&one).await;
    for _ in 0..3 {
        one.note_origin(&acme(), &key.id, ("getTask", from("192.0.2.7")));
        two.note_origin(&acme(), &key.id, ("getTask", from("192.0.2.200")));
    }
    two.note_origin(&acme(), &key.id, ("createTask", from("::ffff:192.0.2.9")));
    two.note_origin(&globex(), &key.id, ("deleteTasks", from("192.0.2.9")));
    let own = one.origins(&acme(), &key.id).await.unwrap();
    assert_eq!(own.all, [origin("getTask", "192.0.2.0/24", 3)], "what is not written yet is told where it was counted");
    one.flush().await;
    two.flush().await;
    let all = [origin("getTask", "192.0.2.0/24", 6), origin("createTask", "192.0.2.0/24", 1)];
    for keys in [&one, &two] {
        let told = keys.origins(&acme(), &key.id).await.unwrap();
        assert_eq!((told.all.as_slice(), told.others), (all.as_slice(), 0));
    }
    assert!(one.origins(&acme(), "another").await.unwrap().all.is_empty());
    let record = bench.store.get(&Key::new(&acme(), "api-key-origins", &key.id)).await.unwrap().unwrap();
    assert!(!record.value.windows(7).any(|window| window == b"getTask"), "sealed");
    assert!(record.expires_in.is_some());
}

async fn what_is_told_apart_is_bounded_and_nothing_is_lost(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, _) = create(&keys).await;
    for round in 0..2 {
        for network in 0..50_u8 {
            keys.note_origin(&acme(), &key.id, ("getTask", IpAddr::from([10, round, network, 1])));
        }
        keys.flush().await;
    }
    let told = keys.origins(&acme(), &key.id).await.unwrap();
    assert_eq!((told.all.len(), told.others), (3, 97), "three pairs are told apart, as the settings say");
}

async fn days_before_the_last_seven_are_forgotten(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, _) = create(&keys).await;
    for day in 0..8 {
        keys.note_origin(&acme(), &key.id, ("getTask", from("192.0.2.7")));
        if day < 7 {
            bench.clock.advance(Duration::from_hours(24));
        }
    }
    assert_eq!(keys.origins(&acme(), &key.id).await.unwrap().all, [origin("getTask", "192.0.2.0/24", 7)]);
    keys.flush().await;
    bench.clock.advance(Duration::from_hours(24 * 6));
    assert_eq!(keys.origins(&acme(), &key.id).await.unwrap().all, [origin("getTask", "192.0.2.0/24", 1)]);
    bench.clock.advance(Duration::from_hours(24));
    assert!(keys.origins(&acme(), &key.id).await.unwrap().all.is_empty());
}
