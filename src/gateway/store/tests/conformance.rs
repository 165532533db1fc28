//! Every operation of the contract, on both backends.

use std::time::Duration;

use tokio::task::JoinSet;

use super::bench::{Bench, acme, globex, until};
use super::on_both;
use crate::gateway::store::{Count, Event, Key, Store, Swap};

const LONG: Option<Duration> = Some(Duration::from_mins(10));
const SHORT: Duration = Duration::from_millis(300);
const MANY: usize = 100;

on_both! {
    a_record_is_read_as_it_was_written
    a_record_without_lifetime_stays_and_one_with_a_lifetime_says_how_long
    a_record_is_inserted_only_where_there_is_none
    a_swap_needs_the_version_that_was_read
    a_swap_never_brings_a_record_back
    a_version_is_never_used_twice
    a_record_runs_out
    a_touched_record_lives_longer_and_keeps_its_version
    a_record_is_taken_once
    one_tenant_never_sees_the_record_of_another
    big_and_odd_values_come_back_whole
    a_set_keeps_its_members_in_order_and_once
    a_set_lives_as_long_as_its_longest_lifetime
    a_counter_counts_inside_its_window
    a_counter_takes_many_at_once
    a_lease_has_one_holder_and_its_fence_grows
    a_lease_that_ran_out_goes_to_the_next_and_the_first_cannot_keep_it
    a_message_reaches_all_who_listen_to_its_channel
    of_many_swaps_of_one_version_one_is_done
    many_writers_that_read_and_swap_lose_nothing
    of_many_takers_one_gets_the_record
    of_many_inserts_one_is_done
    many_counts_at_once_are_all_counted
    of_many_who_want_a_lease_one_holds_it
    one_key_names_a_record_a_set_a_counter_and_a_lease
}

fn key(id: &str) -> Key {
    Key::new(&acme(), "thing", id)
}

async fn a_record_is_read_as_it_was_written(bench: Bench) {
    let store = &bench.store;
    assert_eq!(store.get(&key("a")).await.unwrap(), None);
    let version = store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), record.version), (b"one".as_slice(), version));
    let version = store.put(&key("a"), b"two".to_vec(), LONG).await.unwrap();
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), record.version), (b"two".as_slice(), version));
    assert!(store.delete(&key("a")).await.unwrap());
    assert!(!store.delete(&key("a")).await.unwrap());
    assert_eq!(store.get(&key("a")).await.unwrap(), None);
}

async fn a_record_without_lifetime_stays_and_one_with_a_lifetime_says_how_long(bench: Bench) {
    bench.store.put(&key("a"), vec![1], None).await.unwrap();
    bench.store.put(&key("b"), vec![1], LONG).await.unwrap();
    assert_eq!(bench.store.get(&key("a")).await.unwrap().unwrap().expires_in, None);
    let left = bench.store.get(&key("b")).await.unwrap().unwrap().expires_in.unwrap();
    assert!(left <= LONG.unwrap() && left > LONG.unwrap() / 2);
    bench.store.put(&key("b"), vec![1], None).await.unwrap();
    assert_eq!(bench.store.get(&key("b")).await.unwrap().unwrap().expires_in, None);
}

async fn a_record_is_inserted_only_where_there_is_none(bench: Bench) {
    let version = bench.store.insert(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    assert!(version.is_some());
    assert_eq!(bench.store.insert(&key("a"), b"two".to_vec(), LONG).await.unwrap(), None);
    let record = bench.store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), Some(record.version)), (b"one".as_slice(), version));
}

async fn a_swap_needs_the_version_that_was_read(bench: Bench) {
    let store = &bench.store;
    let first = store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    let Swap::Done(second) = store.compare_and_set(&key("a"), first, b"two".to_vec(), LONG).await.unwrap() else {
        panic!("the version was right")
    };
    assert_eq!(store.compare_and_set(&key("a"), first, b"three".to_vec(), LONG).await.unwrap(), Swap::Conflict);
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!((record.value.as_slice(), record.version), (b"two".as_slice(), second));
}

async fn a_swap_never_brings_a_record_back(bench: Bench) {
    let version = bench.store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    bench.store.delete(&key("a")).await.unwrap();
    assert_eq!(bench.store.compare_and_set(&key("a"), version, b"two".to_vec(), LONG).await.unwrap(), Swap::Gone);
    assert!(!bench.store.touch(&key("a"), SHORT).await.unwrap());
    assert_eq!(bench.store.get(&key("a")).await.unwrap(), None);
}

async fn a_version_is_never_used_twice(bench: Bench) {
    let first = bench.store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    bench.store.delete(&key("a")).await.unwrap();
    bench.store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    assert_eq!(bench.store.compare_and_set(&key("a"), first, b"two".to_vec(), LONG).await.unwrap(), Swap::Conflict);
}

async fn a_record_runs_out(bench: Bench) {
    bench.store.put(&key("a"), vec![1], Some(SHORT)).await.unwrap();
    let version = bench.store.put(&key("b"), vec![1], LONG).await.unwrap();
    assert!(matches!(bench.store.compare_and_set(&key("b"), version, vec![2], Some(SHORT)).await.unwrap(), Swap::Done(_)));
    bench.store.insert(&key("c"), vec![1], Some(SHORT)).await.unwrap();
    bench.pass(SHORT);
    for id in ["a", "b", "c"] {
        until("the end of a record", async || bench.store.get(&key(id)).await.unwrap().is_none()).await;
        assert_eq!(bench.store.take(&key(id)).await.unwrap(), None);
        assert!(!bench.store.touch(&key(id), SHORT).await.unwrap());
        assert!(!bench.store.delete(&key(id)).await.unwrap());
        assert!(bench.store.insert(&key(id), vec![2], LONG).await.unwrap().is_some());
    }
}

async fn a_touched_record_lives_longer_and_keeps_its_version(bench: Bench) {
    let version = bench.store.put(&key("a"), vec![1], Some(Duration::from_mins(1))).await.unwrap();
    assert!(bench.store.touch(&key("a"), Duration::from_mins(10)).await.unwrap());
    bench.pass(Duration::from_mins(5));
    let record = bench.store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!(record.version, version);
    assert!(record.expires_in.unwrap() > Duration::from_secs(100));
    assert!(bench.store.touch(&key("a"), SHORT).await.unwrap());
    bench.pass(SHORT);
    until("the end of a touched record", async || bench.store.get(&key("a")).await.unwrap().is_none()).await;
}

async fn a_record_is_taken_once(bench: Bench) {
    bench.store.put(&key("a"), b"one".to_vec(), LONG).await.unwrap();
    assert_eq!(bench.store.take(&key("a")).await.unwrap(), Some(b"one".to_vec()));
    assert_eq!(bench.store.take(&key("a")).await.unwrap(), None);
}

async fn one_tenant_never_sees_the_record_of_another(bench: Bench) {
    bench.store.put(&Key::new(&acme(), "thing", "a"), vec![1], LONG).await.unwrap();
    bench.store.add(&Key::new(&acme(), "thing", "a"), "m", LONG).await.unwrap();
    let other = Key::new(&globex(), "thing", "a");
    assert_eq!(bench.store.get(&other).await.unwrap(), None);
    assert_eq!(bench.store.take(&other).await.unwrap(), None);
    assert!(bench.store.members(&other).await.unwrap().is_empty());
}

async fn big_and_odd_values_come_back_whole(bench: Bench) {
    let big: Vec<u8> = (0..4_000_000_u32).map(|n| (n % 251) as u8).collect();
    for value in [big, Vec::new(), vec![0; 64], b"\r\n$-1\r\n\xff\xfe".to_vec()] {
        bench.store.put(&key("a"), value.clone(), LONG).await.unwrap();
        assert!(bench.store.get(&key("a")).await.unwrap().unwrap().value == value);
        assert!(bench.store.take(&key("a")).await.unwrap().unwrap() == value);
    }
}

async fn a_set_keeps_its_members_in_order_and_once(bench: Bench) {
    let store = &bench.store;
    for member in ["b", "a", "c", "a"] {
        store.add(&key("s"), member, LONG).await.unwrap();
    }
    assert_eq!(store.members(&key("s")).await.unwrap(), ["a", "b", "c"]);
    assert!(store.remove(&key("s"), "b").await.unwrap());
    assert!(!store.remove(&key("s"), "b").await.unwrap());
    assert_eq!(store.members(&key("s")).await.unwrap(), ["a", "c"]);
    assert!(store.remove(&key("s"), "a").await.unwrap() && store.remove(&key("s"), "c").await.unwrap());
    assert!(store.members(&key("s")).await.unwrap().is_empty());
}

async fn a_set_lives_as_long_as_its_longest_lifetime(bench: Bench) {
    let store = &bench.store;
    store.add(&key("s"), "long", LONG).await.unwrap();
    store.add(&key("s"), "short", Some(SHORT)).await.unwrap();
    store.add(&key("t"), "short", Some(SHORT)).await.unwrap();
    store.add(&key("u"), "ever", None).await.unwrap();
    store.add(&key("u"), "short", Some(SHORT)).await.unwrap();
    bench.pass(SHORT);
    until("the end of a set", async || store.members(&key("t")).await.unwrap().is_empty()).await;
    assert_eq!(store.members(&key("s")).await.unwrap(), ["long", "short"]);
    assert_eq!(store.members(&key("u")).await.unwrap(), ["ever", "short"]);
}

async fn a_counter_counts_inside_its_window(bench: Bench) {
    let store = &bench.store;
    assert_eq!(store.peek(&key("c")).await.unwrap(), None);
    for value in 1..=3 {
        let count = store.count(&key("c"), Duration::from_mins(1)).await.unwrap();
        assert_eq!(count.value, value);
        assert!(count.resets_in <= Duration::from_mins(1) && count.resets_in > Duration::from_secs(30));
    }
    assert_eq!(store.peek(&key("c")).await.unwrap().unwrap().value, 3);
    store.reset(&key("c")).await.unwrap();
    assert_eq!(store.peek(&key("c")).await.unwrap(), None);
    assert_eq!(store.count(&key("c"), SHORT).await.unwrap().value, 1);
    bench.pass(SHORT);
    until("the end of a window", async || store.peek(&key("c")).await.unwrap().is_none()).await;
    let Count { value, .. } = store.count(&key("c"), SHORT).await.unwrap();
    assert_eq!(value, 1);
}

async fn a_counter_takes_many_at_once(bench: Bench) {
    let store = &bench.store;
    let window = Duration::from_mins(1);
    assert_eq!(store.count_by(&key("c"), 40, window).await.unwrap().value, 40);
    assert_eq!(store.count(&key("c"), window).await.unwrap().value, 41);
    let count = store.count_by(&key("c"), 40, window).await.unwrap();
    assert_eq!(count.value, 81);
    assert!(count.resets_in <= window && count.resets_in > Duration::from_secs(30), "the first count opened the window");
    assert_eq!(store.peek(&key("c")).await.unwrap().unwrap().value, 81);
    let shared = key("d");
    let both = tokio::join!(store.count_by(&shared, 3, window), store.count_by(&shared, 4, window));
    assert_eq!(both.0.unwrap().value.max(both.1.unwrap().value), 7);
    store.count_by(&key("e"), 9, SHORT).await.unwrap();
    bench.pass(SHORT);
    until("the end of a window", async || store.peek(&key("e")).await.unwrap().is_none()).await;
    assert_eq!(store.count_by(&key("e"), 2, SHORT).await.unwrap().value, 2);
}

async fn a_lease_has_one_holder_and_its_fence_grows(bench: Bench) {
    let store = &bench.store;
    let long = Duration::from_mins(1);
    let mut fence = 0;
    for _ in 0..20 {
        let lease = store.acquire(&key("l"), long).await.unwrap().unwrap();
        assert!(lease.fence > fence);
        fence = lease.fence;
        assert_eq!(store.acquire(&key("l"), long).await.unwrap(), None);
        assert!(store.renew(&lease, long).await.unwrap());
        assert!(store.release(&lease).await.unwrap());
        assert!(!store.release(&lease).await.unwrap());
        assert!(!store.renew(&lease, long).await.unwrap());
    }
}

async fn a_lease_that_ran_out_goes_to_the_next_and_the_first_cannot_keep_it(bench: Bench) {
    let store = &bench.store;
    let first = store.acquire(&key("l"), SHORT).await.unwrap().unwrap();
    bench.pass(SHORT);
    let mut second = None;
    until("the lease to run out", async || {
        second = store.acquire(&key("l"), Duration::from_mins(1)).await.unwrap();
        second.is_some()
    })
    .await;
    let second = second.unwrap();
    assert!(second.fence > first.fence);
    assert!(!store.renew(&first, SHORT).await.unwrap());
    assert!(!store.release(&first).await.unwrap());
    assert!(store.renew(&second, SHORT).await.unwrap());
}

async fn a_message_reaches_all_who_listen_to_its_channel(bench: Bench) {
    let mut ears = [bench.store.subscribe("news"), bench.store.subscribe("news")];
    let mut other = bench.store.subscribe("other");
    bench.store.publish("news", b"\x00one\xff").await.unwrap();
    bench.store.publish("other", b"two").await.unwrap();
    for ear in &mut ears {
        assert_eq!(message(ear).await, b"\x00one\xff");
    }
    assert_eq!(message(&mut other).await, b"two");
}

async fn message(ear: &mut crate::gateway::store::Subscription) -> Vec<u8> {
    loop {
        match tokio::time::timeout(Duration::from_secs(20), ear.next()).await.unwrap().unwrap() {
            Event::Message(message) => return message,
            Event::Missed => {}
        }
    }
}

/// Runs `task` a hundred times at once and counts how often it said yes.
async fn at_once<T: Future<Output = bool> + Send + 'static>(store: &Store, task: impl Fn(Store) -> T) -> usize {
    let mut tasks = JoinSet::new();
    for _ in 0..MANY {
        tasks.spawn(task(store.clone()));
    }
    tasks.join_all().await.into_iter().filter(|yes| *yes).count()
}

async fn of_many_swaps_of_one_version_one_is_done(bench: Bench) {
    let version = bench.store.put(&key("a"), vec![0], LONG).await.unwrap();
    let done = at_once(&bench.store, |store| async move {
        matches!(store.compare_and_set(&key("a"), version, vec![1], LONG).await.unwrap(), Swap::Done(_))
    })
    .await;
    assert_eq!(done, 1);
}

async fn many_writers_that_read_and_swap_lose_nothing(bench: Bench) {
    bench.store.put(&key("a"), 0_u64.to_be_bytes().to_vec(), LONG).await.unwrap();
    let done = at_once(&bench.store, |store| async move {
        loop {
            let record = store.get(&key("a")).await.unwrap().unwrap();
            let next = u64::from_be_bytes(record.value.try_into().unwrap()) + 1;
            let swap = store.compare_and_set(&key("a"), record.version, next.to_be_bytes().to_vec(), LONG).await.unwrap();
            if matches!(swap, Swap::Done(_)) {
                return true;
            }
        }
    })
    .await;
    let record = bench.store.get(&key("a")).await.unwrap().unwrap();
    assert_eq!((done, u64::from_be_bytes(record.value.try_into().unwrap())), (MANY, MANY as u64));
}

async fn of_many_takers_one_gets_the_record(bench: Bench) {
    bench.store.put(&key("a"), vec![1], LONG).await.unwrap();
    assert_eq!(at_once(&bench.store, |store| async move { store.take(&key("a")).await.unwrap().is_some() }).await, 1);
}

async fn of_many_inserts_one_is_done(bench: Bench) {
    let insert = |store: Store| async move { store.insert(&key("a"), vec![1], LONG).await.unwrap().is_some() };
    assert_eq!(at_once(&bench.store, insert).await, 1);
}

async fn many_counts_at_once_are_all_counted(bench: Bench) {
    let count = |store: Store| async move { store.count(&key("c"), LONG.unwrap()).await.unwrap().value > 0 };
    assert_eq!(at_once(&bench.store, count).await, MANY);
    assert_eq!(bench.store.peek(&key("c")).await.unwrap().unwrap().value, MANY as u64);
}

async fn of_many_who_want_a_lease_one_holds_it(bench: Bench) {
    let want = |store: Store| async move { store.acquire(&key("l"), LONG.unwrap()).await.unwrap().is_some() };
    assert_eq!(at_once(&bench.store, want).await, 1);
}

async fn one_key_names_a_record_a_set_a_counter_and_a_lease(bench: Bench) {
    let store = &bench.store;
    store.put(&key("a"), vec![1], LONG).await.unwrap();
    store.add(&key("a"), "m", LONG).await.unwrap();
    store.count(&key("a"), LONG.unwrap()).await.unwrap();
    store.acquire(&key("a"), LONG.unwrap()).await.unwrap().unwrap();
    assert!(store.delete(&key("a")).await.unwrap());
    assert_eq!(store.members(&key("a")).await.unwrap(), ["m"]);
    assert_eq!(store.peek(&key("a")).await.unwrap().unwrap().value, 1);
    assert_eq!(store.acquire(&key("a"), LONG.unwrap()).await.unwrap(), None);
}
