//! Server keys on both backends.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{parts, parts_with, settings};
use crate::config::gateway::Vault as Settings;
use crate::gateway::domain::uses::{KeyUser, Uses};
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;
use crate::gateway::store::{Key, Store};
use crate::gateway::vault::{Parts, ServerKeys, VaultError};
use crate::platform::secret::Secret;

on_both! {
    a_key_is_active_when_it_is_made_so_and_the_newest_of_two_is_the_first
    one_of_two_active_keys_can_be_made_inactive_and_the_last_cannot
    metadata_says_enough_to_recognise_a_key_and_never_the_key
    of_many_activations_at_once_two_keys_are_active_and_one_is_the_first
    many_keys_added_at_once_are_all_kept_up_to_the_limit
    a_removed_key_is_gone_and_no_inactive_one_takes_its_place
    a_test_is_written_down
    uses_are_counted_by_day_kept_for_some_days_and_written_once_in_a_while
    uses_that_cannot_be_written_wait
    uses_are_written_by_themselves_as_often_as_the_settings_say
    keys_of_one_tenant_are_unknown_to_another_even_as_a_copied_record
    a_record_that_does_not_open_is_never_overwritten
    a_key_that_no_header_can_carry_is_refused
    keys_are_sealed_anew_when_they_are_used
    a_record_of_the_version_before_is_understood
}

const SK: &str = "sk-test-0123456789abcdef";
const KIND: &str = "server-keys";

fn vault(bench: &Bench) -> ServerKeys {
    ServerKeys::new(&parts(bench))
}

fn secret(text: impl Into<String>) -> Secret {
    Secret::new(text)
}

fn key(tenant: &crate::gateway::domain::tenant::TenantId) -> Key {
    Key::new(tenant, KIND, "all")
}

/// Secrets of the active keys, the first one first.
async fn active(vault: &ServerKeys) -> Vec<String> {
    vault.active(&acme()).await.unwrap().iter().map(|(_, secret)| secret.expose().to_owned()).collect()
}

async fn add(vault: &ServerKeys, text: &str) -> String {
    vault.add(&acme(), "key".into(), secret(text), "alice".into()).await.unwrap().id
}

async fn a_key_is_active_when_it_is_made_so_and_the_newest_of_two_is_the_first(bench: Bench) {
    let vault = vault(&bench);
    assert!(vault.list(&acme()).await.unwrap().is_empty() && active(&vault).await.is_empty());
    let (a, b, c) = (add(&vault, "sk-a").await, add(&vault, "sk-b").await, add(&vault, "sk-c").await);
    assert!(active(&vault).await.is_empty(), "a key that nobody tested is not used");
    // All within one millisecond of this clock.
    assert!(vault.activate(&acme(), &a).await.unwrap().active);
    assert_eq!(active(&vault).await, ["sk-a"]);
    vault.activate(&acme(), &b).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-b", "sk-a"]);
    vault.activate(&acme(), &c).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-c", "sk-b"], "the oldest of three stands down");
    vault.activate(&acme(), &b).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-b", "sk-c"]);
    vault.activate(&acme(), &b).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-b", "sk-c"]);
    assert_eq!(vault.activate(&acme(), "none").await, Err(VaultError::Unknown));
    assert_eq!(active(&vault).await, ["sk-b", "sk-c"]);
    assert_eq!(vault.reveal(&acme(), &a).await.unwrap().1.expose(), "sk-a");
    vault.add_active(&acme(), "operator".into(), secret("sk-d"), "Settings".into()).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-d", "sk-b"]);
}

async fn one_of_two_active_keys_can_be_made_inactive_and_the_last_cannot(bench: Bench) {
    let vault = vault(&bench);
    let (a, b) = (add(&vault, "sk-a").await, add(&vault, "sk-b").await);
    vault.activate(&acme(), &a).await.unwrap();
    assert_eq!(vault.deactivate(&acme(), &a).await, Err(VaultError::OnlyActive));
    assert!(!vault.deactivate(&acme(), &b).await.unwrap().active, "it was not");
    vault.activate(&acme(), &b).await.unwrap();
    assert!(!vault.deactivate(&acme(), &b).await.unwrap().active);
    assert_eq!(active(&vault).await, ["sk-a"]);
    assert_eq!(vault.deactivate(&acme(), "none").await, Err(VaultError::Unknown));
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

async fn of_many_activations_at_once_two_keys_are_active_and_one_is_the_first(bench: Bench) {
    let vault = vault(&bench);
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(add(&vault, &format!("{SK}{number}")).await);
    }
    let mut tasks = JoinSet::new();
    for number in 0..20 {
        let (vault, id) = (vault.clone(), ids[number % ids.len()].clone());
        tasks.spawn(async move { vault.activate(&acme(), &id).await.unwrap() });
    }
    tasks.join_all().await;
    let list = vault.list(&acme()).await.unwrap();
    assert_eq!((list.len(), list.iter().filter(|key| key.active).count()), (5, 2));
    let active = vault.active(&acme()).await.unwrap();
    assert!(active[0].0.since() > active[1].0.since());
}

async fn many_keys_added_at_once_are_all_kept_up_to_the_limit(bench: Bench) {
    let vault = vault(&bench);
    let mut tasks = JoinSet::new();
    let most = settings().server_keys;
    for number in 0..most + 5 {
        let vault = vault.clone();
        tasks.spawn(async move { vault.add(&acme(), "key".into(), secret(format!("{SK}{number}")), "alice".into()).await });
    }
    let (added, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((added.len(), refused.len()), (most, 5));
    assert!(refused.iter().all(|outcome| *outcome == Err(VaultError::Full { most, kind: "server" })));
    assert_eq!(vault.list(&acme()).await.unwrap().len(), most);
}

async fn a_removed_key_is_gone_and_no_inactive_one_takes_its_place(bench: Bench) {
    let vault = vault(&bench);
    let (first, second) = (add(&vault, "sk-a").await, add(&vault, "sk-b").await);
    add(&vault, "sk-c").await;
    vault.activate(&acme(), &first).await.unwrap();
    vault.activate(&acme(), &second).await.unwrap();
    vault.remove(&acme(), &second).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-a"], "the other active one does");
    vault.remove(&acme(), &first).await.unwrap();
    assert!(active(&vault).await.is_empty());
    assert_eq!(vault.list(&acme()).await.unwrap().len(), 1);
    assert_eq!(vault.remove(&acme(), &first).await, Err(VaultError::Unknown));
    assert!(matches!(vault.reveal(&acme(), &first).await, Err(VaultError::Unknown)));
}

async fn a_test_is_written_down(bench: Bench) {
    let vault = vault(&bench);
    let key = add(&vault, SK).await;
    let tested = vault.note_test(&acme(), &key, false, "401: unknown key".into()).await.unwrap().last_tested.unwrap();
    assert_eq!((tested.ok, tested.words.raw(), tested.at), (false, "401: unknown key", bench.clock.now()));
    assert_eq!(vault.note_test(&acme(), "none", true, "fine".into()).await, Err(VaultError::Unknown));
}

async fn uses_are_counted_by_day_kept_for_some_days_and_written_once_in_a_while(bench: Bench) {
    let (vault, other) = (vault(&bench), vault(&bench));
    let (first, second) = (add(&vault, "sk-a").await, add(&vault, "sk-b").await);
    for _ in 0..3 {
        vault.count_use(&acme(), &first, ("getTask", KeyUser::Test));
    }
    other.count_use(&acme(), &first, ("getTask", KeyUser::Test));
    let of = async |vault: &ServerKeys, id: &str| vault.uses(&acme()).await.unwrap().remove(id).unwrap_or_default();
    let now = bench.clock.now();
    assert_eq!((of(&vault, &first).await.total(), of(&vault, &first).await.last), (3, Some(now)));
    assert_eq!(of(&vault, &second).await, Uses::default());
    let written = async || bench.store.get(&Key::new(&acme(), "server-key-use", "all")).await.unwrap();
    assert!(written().await.is_none(), "a use costs the store nothing");
    vault.flush().await;
    other.flush().await;
    assert_eq!((of(&vault, &first).await.total(), of(&other, &first).await.total()), (4, 4));
    let version = written().await.unwrap().version;
    vault.flush().await;
    assert_eq!(written().await.unwrap().version, version, "nothing new is not written");
    bench.clock.advance(Duration::from_hours(24 * 10));
    vault.count_use(&acme(), &first, ("getTask", KeyUser::Test));
    vault.flush().await;
    let uses = of(&other, &first).await;
    assert_eq!(uses.by_day.into_values().collect::<Vec<_>>(), [4, 1]);
    bench.clock.advance(Duration::from_hours(24 * 20));
    vault.count_use(&acme(), &first, ("getTask", KeyUser::Test));
    vault.flush().await;
    assert_eq!(of(&other, &first).await.total(), 2, "the first day is more than 30 days ago");
    assert!(vault.uses(&globex()).await.unwrap().is_empty());
}

async fn uses_that_cannot_be_written_wait(bench: Bench) {
    let vault = vault(&bench);
    let id = add(&vault, SK).await;
    let place = Key::new(&acme(), "server-key-use", "all");
    bench.store.put(&place, b"of somebody else".to_vec(), None).await.unwrap();
    vault.count_use(&acme(), &id, ("getTask", KeyUser::Test));
    vault.flush().await;
    assert!(matches!(vault.uses(&acme()).await, Err(VaultError::Sealed)));
    bench.store.delete(&place).await.unwrap();
    assert_eq!(vault.uses(&acme()).await.unwrap()[&id].total(), 1);
    bench.shutdown.begin();
    until("the last writing", async || bench.store.get(&place).await.unwrap().is_some()).await;
}

async fn uses_are_written_by_themselves_as_often_as_the_settings_say(bench: Bench) {
    let often = Settings { use_seconds: 1, ..settings() };
    let vault = ServerKeys::new(&Parts { settings: often, ..parts(&bench) });
    let id = add(&vault, SK).await;
    for round in 1..=2 {
        vault.count_use(&acme(), &id, ("getTask", KeyUser::Test));
        // Another replica sees only what is written.
        let other = self::vault(&bench);
        until("the written use", async || other.uses(&acme()).await.unwrap().get(&id).is_some_and(|uses| uses.total() == round))
            .await;
    }
}

async fn keys_of_one_tenant_are_unknown_to_another_even_as_a_copied_record(bench: Bench) {
    let vault = vault(&bench);
    let added = vault.add_active(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    assert!(vault.active(&globex()).await.unwrap().is_empty());
    assert_eq!(vault.remove(&globex(), &added.id).await, Err(VaultError::Unknown));
    copy(&bench.store, &key(&acme()), &key(&globex())).await;
    assert!(matches!(self::vault(&bench).active(&globex()).await, Err(VaultError::Sealed)));
    assert_eq!(vault.list(&globex()).await, Err(VaultError::Sealed));
}

async fn a_record_that_does_not_open_is_never_overwritten(bench: Bench) {
    let theirs = vault(&bench);
    theirs.add_active(&acme(), "first".into(), secret(SK), "alice".into()).await.unwrap();
    let other = ServerKeys::new(&parts_with(&bench, &["other"]));
    let added = other.add(&acme(), "second".into(), secret("sk-other-0123456789"), "alice".into()).await;
    assert_eq!(added, Err(VaultError::Sealed));
    assert_eq!(active(&theirs).await, [SK]);
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
    let with = |ids: &[&str]| ServerKeys::new(&parts_with(&bench, ids));
    assert_eq!(with(&["k2"]).list(&acme()).await, Err(VaultError::Sealed));
    with(&["k2", "k1"]).list(&acme()).await.unwrap();
    assert_eq!(with(&["k2"]).reveal(&acme(), &first.id).await.unwrap().1.expose(), SK);
}

async fn a_record_of_the_version_before_is_understood(bench: Bench) {
    let before = serde_json::json!([
        {"about": {"id": "old", "label": "old", "last_four": "", "fingerprint": "f", "created_at": 1, "created_by": "alice",
            "active": true, "last_tested": null, "last_used": 7}, "secret": "sk-old"},
    ]);
    let key = key(&acme());
    let sealed = parts(&bench).ring.seal(KIND, &key.context(), &[], before.to_string().as_bytes()).unwrap();
    bench.store.put(&key, sealed, None).await.unwrap();
    let vault = vault(&bench);
    assert_eq!(active(&vault).await, ["sk-old"]);
    assert_eq!(vault.uses(&acme()).await.unwrap()["old"].last.map(|at| at.0), Some(7));
    let new = add(&vault, "sk-new").await;
    vault.activate(&acme(), &new).await.unwrap();
    assert_eq!(active(&vault).await, ["sk-new", "sk-old"]);
}
