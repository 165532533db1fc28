//! The vault on both backends.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{MOST_KEYS, Vault, VaultError};
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Store};
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

on_both! {
    the_first_key_is_active_and_later_ones_when_they_are_made_so
    metadata_says_enough_to_recognise_a_key_and_never_the_key
    of_many_activations_at_once_one_key_is_active
    many_keys_added_at_once_are_all_kept_up_to_the_limit
    a_removed_key_is_gone_and_no_other_takes_its_place
    a_test_and_a_use_are_written_down
    keys_of_one_tenant_are_unknown_to_another_even_as_a_copied_record
    a_record_that_does_not_open_is_never_overwritten
    a_key_that_no_header_can_carry_is_refused
    keys_are_sealed_anew_when_they_are_used
}

const SK: &str = "sk-test-0123456789abcdef";

fn ring(id: &str) -> Arc<Ring> {
    Arc::new(Ring::new([(id.to_owned(), vec![id.as_bytes()[1]; 32])]).unwrap())
}

fn vault(bench: &Bench) -> Vault {
    Vault::new(bench.store.clone(), ring("k1"), bench.clock.clone())
}

fn secret(text: impl Into<String>) -> Secret {
    Secret::new(text)
}

async fn the_first_key_is_active_and_later_ones_when_they_are_made_so(bench: Bench) {
    let vault = vault(&bench);
    assert!(vault.list(&acme()).await.unwrap().is_empty());
    assert!(vault.active(&acme()).await.unwrap().is_none());
    let first = vault.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    let second = vault.add(&acme(), "second".into(), secret("sk-other-0123456789"), "alice".into()).await.unwrap();
    assert!(first.active && !second.active);
    let (about, sk) = vault.active(&acme()).await.unwrap().unwrap();
    assert_eq!((about.id.as_str(), sk.expose()), (first.id.as_str(), SK));
    assert!(vault.activate(&acme(), &second.id).await.unwrap().active);
    let (about, sk) = vault.active(&acme()).await.unwrap().unwrap();
    assert_eq!((about.id, sk.expose()), (second.id.clone(), "sk-other-0123456789"));
    let list = vault.list(&acme()).await.unwrap();
    assert_eq!(
        list.iter().map(|key| (key.id.as_str(), key.active)).collect::<Vec<_>>(),
        [(&*first.id, false), (&*second.id, true)]
    );
    assert_eq!(vault.activate(&acme(), "none").await, Err(VaultError::Unknown));
    assert_eq!(vault.reveal(&acme(), &first.id).await.unwrap().1.expose(), SK);
}

async fn metadata_says_enough_to_recognise_a_key_and_never_the_key(bench: Bench) {
    let vault = vault(&bench);
    let key = vault.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    assert_eq!((key.last_four.as_str(), key.fingerprint.len()), ("cdef", 16));
    assert_eq!((key.created_at, key.created_by.raw()), (bench.clock.now(), "alice"));
    assert!(!format!("{key:?}").contains(SK) && !serde_json::to_string(&key).unwrap().contains(SK));
    let short = vault.add(&acme(), "short".into(), secret("abc"), "alice".into()).await.unwrap();
    assert_eq!(short.last_four, "");
    let again = vault.add(&acme(), "again".into(), secret(SK), "alice".into()).await;
    assert_eq!(again, Err(VaultError::Duplicate));
    let elsewhere = vault.add(&globex(), "same".into(), secret(SK), "carol".into()).await.unwrap();
    assert_ne!(elsewhere.fingerprint, key.fingerprint);
}

async fn of_many_activations_at_once_one_key_is_active(bench: Bench) {
    let vault = vault(&bench);
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(vault.add(&acme(), "key".into(), secret(format!("{SK}{number}")), "alice".into()).await.unwrap().id);
    }
    let mut tasks = JoinSet::new();
    for number in 0..20 {
        let (vault, id) = (vault.clone(), ids[number % ids.len()].clone());
        tasks.spawn(async move { vault.activate(&acme(), &id).await.unwrap() });
    }
    tasks.join_all().await;
    let list = vault.list(&acme()).await.unwrap();
    assert_eq!((list.len(), list.iter().filter(|key| key.active).count()), (5, 1));
}

async fn many_keys_added_at_once_are_all_kept_up_to_the_limit(bench: Bench) {
    let vault = vault(&bench);
    let mut tasks = JoinSet::new();
    for number in 0..MOST_KEYS + 5 {
        let vault = vault.clone();
        tasks.spawn(async move { vault.add(&acme(), "key".into(), secret(format!("{SK}{number}")), "alice".into()).await });
    }
    let (added, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((added.len(), refused.len()), (MOST_KEYS, 5));
    assert!(refused.iter().all(|outcome| *outcome == Err(VaultError::Full)));
    let list = vault.list(&acme()).await.unwrap();
    assert_eq!((list.len(), list.iter().filter(|key| key.active).count()), (MOST_KEYS, 1));
}

async fn a_removed_key_is_gone_and_no_other_takes_its_place(bench: Bench) {
    let vault = vault(&bench);
    let first = vault.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    vault.add(&acme(), "second".into(), secret("sk-other-0123456789"), "alice".into()).await.unwrap();
    vault.remove(&acme(), &first.id).await.unwrap();
    assert!(vault.active(&acme()).await.unwrap().is_none());
    assert_eq!(vault.list(&acme()).await.unwrap().len(), 1);
    assert_eq!(vault.remove(&acme(), &first.id).await, Err(VaultError::Unknown));
    assert!(matches!(vault.reveal(&acme(), &first.id).await, Err(VaultError::Unknown)));
}

async fn a_test_and_a_use_are_written_down(bench: Bench) {
    let vault = vault(&bench);
    let key = vault.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    let tested = vault.note_test(&acme(), &key.id, false, "401: unknown key".into()).await.unwrap().last_tested.unwrap();
    assert_eq!((tested.ok, tested.words.raw(), tested.at), (false, "401: unknown key", bench.clock.now()));
    vault.note_use(&acme(), &key).await.unwrap();
    let used = vault.active(&acme()).await.unwrap().unwrap().0;
    assert_eq!(used.last_used, Some(bench.clock.now()));
    let first_use = bench.clock.now();
    bench.clock.advance(Duration::from_secs(30));
    vault.note_use(&acme(), &used).await.unwrap();
    assert_eq!(vault.list(&acme()).await.unwrap().first().unwrap().last_used, Some(first_use));
    bench.clock.advance(Duration::from_secs(30));
    vault.note_use(&acme(), &used).await.unwrap();
    assert_eq!(vault.list(&acme()).await.unwrap().first().unwrap().last_used, Some(bench.clock.now()));
    assert_eq!(vault.note_test(&acme(), "none", true, "fine".into()).await, Err(VaultError::Unknown));
}

async fn keys_of_one_tenant_are_unknown_to_another_even_as_a_copied_record(bench: Bench) {
    let vault = vault(&bench);
    let key = vault.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    assert!(vault.active(&globex()).await.unwrap().is_none());
    assert_eq!(vault.remove(&globex(), &key.id).await, Err(VaultError::Unknown));
    copy(&bench.store, &super::key(&acme()), &super::key(&globex())).await;
    assert!(matches!(vault.active(&globex()).await, Err(VaultError::Sealed)));
    assert_eq!(vault.list(&globex()).await, Err(VaultError::Sealed));
}

async fn a_record_that_does_not_open_is_never_overwritten(bench: Bench) {
    let theirs = vault(&bench);
    theirs.add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    let other = Vault::new(bench.store.clone(), ring("other"), bench.clock.clone());
    let added = other.add(&acme(), "second".into(), secret("sk-other-0123456789"), "alice".into()).await;
    assert_eq!(added, Err(VaultError::Sealed));
    assert_eq!(theirs.active(&acme()).await.unwrap().unwrap().1.expose(), SK);
}

async fn a_key_that_no_header_can_carry_is_refused(bench: Bench) {
    for bad in ["", " ", "a b", "a\r\nX: y", "ä", "a\0", &"x".repeat(4097)] {
        let added = vault(&bench).add(&acme(), "bad".into(), secret(bad), "alice".into()).await;
        assert_eq!(added, Err(VaultError::Malformed), "{bad:?}");
    }
}

async fn copy(store: &Store, from: &Key, to: &Key) {
    let record = store.get(from).await.unwrap().unwrap();
    store.put(to, record.value, record.expires_in).await.unwrap();
}

async fn keys_are_sealed_anew_when_they_are_used(bench: Bench) {
    let first = vault(&bench).add(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    let with = |ids: &[&str]| {
        let keys = ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]));
        Vault::new(bench.store.clone(), Arc::new(Ring::new(keys).unwrap()), bench.clock.clone())
    };
    assert_eq!(with(&["k2"]).list(&acme()).await, Err(VaultError::Sealed));
    with(&["k2", "k1"]).list(&acme()).await.unwrap();
    assert_eq!(with(&["k2"]).reveal(&acme(), &first.id).await.unwrap().1.expose(), SK);
}
