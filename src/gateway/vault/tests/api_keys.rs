//! API keys on both backends.

use std::net::IpAddr;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{parts, parts_with, settings};
use crate::gateway::domain::api_key::{AllowList, ApiKey, Group, KeyRefusal, KeyText, Overlap, Scopes};
use crate::gateway::domain::route_table::named;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::gateway::store::tests::on_both;
use crate::gateway::vault::{IssuedKeys, NewApiKey, VaultError, use_of};
use crate::platform::random;
use crate::platform::secret::Secret;

on_both! {
    a_key_lets_in_until_it_expires_and_for_its_tenant_only
    the_text_of_a_key_is_nowhere_in_what_is_kept
    a_changed_a_guessed_and_a_made_up_text_are_unknown
    a_key_is_good_from_its_own_networks_only
    a_rotated_key_works_with_both_texts_until_the_overlap_ends_and_not_longer
    a_rotation_without_overlap_ends_every_text_before_it
    an_overlap_makes_no_text_live_longer
    a_key_can_be_rotated_so_often_only_while_its_texts_overlap
    an_expired_key_that_is_rotated_works_again
    a_revoked_key_is_unknown_at_once
    what_hangs_on_a_text_hears_of_its_end_and_of_no_other
    many_keys_created_at_once_are_all_kept_up_to_the_limit
    uses_are_told_for_each_text
    keys_are_sealed_anew_when_they_are_read_and_copied_records_do_not_open
}

pub(super) const DAY: Duration = Duration::from_hours(24);

pub(super) fn here() -> IpAddr {
    "192.0.2.7".parse().unwrap()
}

pub(super) fn new(label: &str, networks: &str) -> NewApiKey {
    let networks = AllowList::parse(networks, 9).unwrap();
    NewApiKey { label: label.into(), scopes: Scopes::of(&[Group::Read], []), networks, days: 30 }
}

pub(super) async fn create(keys: &IssuedKeys) -> (ApiKey, Secret) {
    keys.create(&acme(), new("build", ""), ("alice-key".to_owned(), "alice".into())).await.unwrap()
}

/// Why the text is refused, if it is.
pub(super) async fn refusal(keys: &IssuedKeys, tenant: &TenantId, text: &Secret) -> Option<KeyRefusal> {
    keys.verify(tenant, text, here()).await.err().map(|refused| refused.why)
}

async fn a_key_lets_in_until_it_expires_and_for_its_tenant_only(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    assert!(keys.list(&acme()).await.unwrap().is_empty());
    let (key, text) = create(&keys).await;
    assert_eq!(
        (key.created_at, key.created_by.raw(), key.ends()),
        (bench.clock.now(), "alice", bench.clock.now().after(DAY * 30))
    );
    let verified = keys.verify(&acme(), &text, here()).await.unwrap();
    assert_eq!(*verified, key);
    assert!(verified.may(named("getTask").unwrap()) && !verified.may(named("createTask").unwrap()));
    assert_eq!(refusal(&keys, &globex(), &text).await, Some(KeyRefusal::Unknown));
    bench.clock.advance((DAY * 30).saturating_sub(Duration::from_millis(1)));
    assert_eq!(refusal(&keys, &acme(), &text).await, None);
    bench.clock.advance(Duration::from_millis(1));
    let refused = keys.verify(&acme(), &text, here()).await.unwrap_err();
    assert_eq!((refused.why, refused.key.unwrap().id.clone()), (KeyRefusal::Expired, key.id));
    assert_eq!(keys.list(&acme()).await.unwrap().len(), 1, "it is still shown");
}

async fn the_text_of_a_key_is_nowhere_in_what_is_kept(bench: Bench) {
    let parts = parts(&bench);
    let (_, text) = create(&IssuedKeys::new(&parts)).await;
    let place = Key::new(&acme(), "api-keys", "all");
    let sealed = bench.store.get(&place).await.unwrap().unwrap().value;
    let plain = parts.ring.open("api-keys", &place.context(), &[], &sealed).unwrap();
    let secret = KeyText::read(text.expose()).unwrap().secret;
    let plain = String::from_utf8(plain.to_vec()).unwrap();
    assert!(plain.contains("build") && !plain.contains(secret) && !plain.contains(&secret[..8]), "{plain}");
}

async fn a_changed_a_guessed_and_a_made_up_text_are_unknown(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, text) = create(&keys).await;
    let secret = random::letters(43).unwrap();
    let guessed = KeyText { id: &key.id, secret: &secret }.write();
    let made_up = KeyText { id: "000000000000", secret: KeyText::read(text.expose()).unwrap().secret }.write();
    let cut = Secret::new(&text.expose()[..65]);
    for wrong in [guessed, made_up, cut, Secret::new(""), Secret::new("cdk_"), Secret::new("x".repeat(10_000))] {
        assert_eq!(refusal(&keys, &acme(), &wrong).await, Some(KeyRefusal::Unknown));
        assert!(keys.verify(&acme(), &wrong, here()).await.unwrap_err().key.is_none(), "nothing is told about the key");
    }
    assert_eq!(refusal(&keys, &acme(), &text).await, None);
}

async fn a_key_is_good_from_its_own_networks_only(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (_, text) =
        keys.create(&acme(), new("build", "192.0.2.0/24 2001:db8::/32"), ("alice-key".to_owned(), "alice".into())).await.unwrap();
    for (address, why) in [
        ("192.0.2.200", None),
        ("2001:db8::1", None),
        ("198.51.100.1", Some(KeyRefusal::Network)),
        ("::1", Some(KeyRefusal::Network)),
    ] {
        let refused = keys.verify(&acme(), &text, address.parse().unwrap()).await.err();
        assert_eq!(refused.map(|refused| refused.why), why, "{address}");
    }
}

async fn a_rotated_key_works_with_both_texts_until_the_overlap_ends_and_not_longer(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    for overlap in [Overlap::Hour, Overlap::Day, Overlap::Week] {
        let (key, first) =
            keys.create(&acme(), new(overlap.as_str(), ""), ("alice-key".to_owned(), "alice".into())).await.unwrap();
        bench.clock.advance(DAY);
        let (rotated, second) = keys.rotate(&acme(), &key.id, (None, overlap.time())).await.unwrap();
        assert_eq!((rotated.id.as_str(), rotated.ends()), (key.id.as_str(), bench.clock.now().after(DAY * 30)));
        assert_eq!(rotated.overlapping(bench.clock.now()).count(), 1);
        bench.clock.advance(overlap.time().saturating_sub(Duration::from_millis(1)));
        for text in [&first, &second] {
            assert_eq!(refusal(&keys, &acme(), text).await, None, "{overlap:?}");
        }
        bench.clock.advance(Duration::from_millis(1));
        assert_eq!(refusal(&keys, &acme(), &first).await, Some(KeyRefusal::Expired), "{overlap:?}");
        assert_eq!(refusal(&keys, &acme(), &second).await, None, "{overlap:?}");
    }
}

/// Whether what hangs on this text has not ended in a moment.
async fn stands(keys: &IssuedKeys, text: &Secret) -> bool {
    tokio::time::timeout(Duration::from_millis(50), keys.ended(&acme(), text)).await.is_err()
}

async fn what_hangs_on_a_text_hears_of_its_end_and_of_no_other(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let ((key, first), (other, bystander)) = (create(&keys).await, create(&keys).await);
    let (_, second) = keys.rotate(&acme(), &key.id, (None, Overlap::Hour.time())).await.unwrap();
    for text in [&first, &second, &bystander] {
        assert!(stands(&keys, text).await);
    }
    let acme = acme();
    let soon = |text| tokio::time::timeout(Duration::from_secs(30), keys.ended(&acme, text));
    // The overlap ends while it is waited for.
    let (ended, ()) = tokio::join!(soon(&first), async { bench.clock.advance(Overlap::Hour.time()) });
    ended.unwrap();
    assert!(stands(&keys, &second).await && stands(&keys, &bystander).await);
    let (ended, revoked) = tokio::join!(soon(&second), keys.revoke(&acme, &key.id));
    ended.unwrap();
    revoked.unwrap();
    assert!(stands(&keys, &bystander).await);
    bench.clock.advance(DAY * 30);
    soon(&bystander).await.unwrap();
    assert_eq!(keys.list(&acme).await.unwrap()[0].id, other.id);
}

async fn a_rotation_without_overlap_ends_every_text_before_it(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, first) = create(&keys).await;
    let (_, second) = keys.rotate(&acme(), &key.id, (None, Overlap::Week.time())).await.unwrap();
    assert_eq!(refusal(&keys, &acme(), &first).await, None);
    let (key, third) = keys.rotate(&acme(), &key.id, (None, Overlap::None.time())).await.unwrap();
    for text in [&first, &second] {
        assert_eq!(refusal(&keys, &acme(), text).await, Some(KeyRefusal::Unknown));
    }
    assert_eq!((refusal(&keys, &acme(), &third).await, key.editions.len()), (None, 1));
}

async fn an_overlap_makes_no_text_live_longer(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, first) = create(&keys).await;
    bench.clock.advance(DAY * 29);
    let (_, second) = keys.rotate(&acme(), &key.id, (None, Overlap::Week.time())).await.unwrap();
    bench.clock.advance(DAY);
    assert_eq!(refusal(&keys, &acme(), &first).await, Some(KeyRefusal::Expired));
    assert_eq!(refusal(&keys, &acme(), &second).await, None);
}

async fn a_key_can_be_rotated_so_often_only_while_its_texts_overlap(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, _) = create(&keys).await;
    for _ in 0..3 {
        keys.rotate(&acme(), &key.id, (None, Overlap::Week.time())).await.unwrap();
    }
    assert!(matches!(keys.rotate(&acme(), &key.id, (None, Overlap::Hour.time())).await, Err(VaultError::ManyTexts)));
    let left = &keys.list(&acme()).await.unwrap()[0];
    assert!(left.editions.iter().all(|edition| edition.ends >= bench.clock.now().after(DAY * 7)), "nothing was changed");
    keys.rotate(&acme(), &key.id, (None, Overlap::None.time())).await.unwrap();
    keys.rotate(&acme(), &key.id, (None, Overlap::Hour.time())).await.unwrap();
    assert!(matches!(keys.rotate(&acme(), "none", (None, Overlap::Hour.time())).await, Err(VaultError::Unknown)));
    assert!(matches!(keys.rotate(&globex(), &key.id, (None, Overlap::Hour.time())).await, Err(VaultError::Unknown)));
}

async fn an_expired_key_that_is_rotated_works_again(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, first) = create(&keys).await;
    bench.clock.advance(DAY * 31);
    let (_, second) = keys.rotate(&acme(), &key.id, (None, Overlap::Week.time())).await.unwrap();
    assert_eq!(refusal(&keys, &acme(), &second).await, None);
    assert_eq!(refusal(&keys, &acme(), &first).await, Some(KeyRefusal::Unknown), "the old text stays out");
}

async fn a_revoked_key_is_unknown_at_once(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let ((key, text), (_, other)) = (create(&keys).await, create(&keys).await);
    assert_eq!(refusal(&keys, &acme(), &text).await, None);
    assert!(matches!(keys.revoke(&globex(), &key.id).await, Err(VaultError::Unknown)));
    keys.revoke(&acme(), &key.id).await.unwrap();
    assert_eq!(refusal(&keys, &acme(), &text).await, Some(KeyRefusal::Unknown));
    assert_eq!(refusal(&keys, &acme(), &other).await, None);
    assert!(matches!(keys.revoke(&acme(), &key.id).await, Err(VaultError::Unknown)));
}

async fn many_keys_created_at_once_are_all_kept_up_to_the_limit(bench: Bench) {
    let (keys, most) = (IssuedKeys::new(&parts(&bench)), settings().api_keys);
    let mut tasks = JoinSet::new();
    for _ in 0..most + 5 {
        let keys = keys.clone();
        tasks.spawn(async move { keys.create(&acme(), new("build", ""), ("alice-key".to_owned(), "alice".into())).await });
    }
    let (made, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (most, 5));
    assert!(refused.iter().all(|outcome| matches!(outcome, Err(VaultError::Full { kind: "API", .. }))));
    for made in made {
        assert_eq!(refusal(&keys, &acme(), &made.unwrap().1).await, None);
    }
}

async fn uses_are_told_for_each_text(bench: Bench) {
    let keys = IssuedKeys::new(&parts(&bench));
    let (key, first) = create(&keys).await;
    let (_, second) = keys.rotate(&acme(), &key.id, (None, Overlap::Day.time())).await.unwrap();
    for text in [&first, &second, &second] {
        keys.verify(&acme(), text, here()).await.unwrap();
    }
    assert_eq!(refusal(&keys, &globex(), &first).await, Some(KeyRefusal::Unknown));
    keys.flush().await;
    let uses = keys.uses(&acme()).await.unwrap();
    assert_eq!((uses[&use_of(&key.id, 1)].total(), uses[&use_of(&key.id, 2)].total(), uses.len()), (1, 2, 2));
    assert!(keys.uses(&globex()).await.unwrap().is_empty());
}

async fn keys_are_sealed_anew_when_they_are_read_and_copied_records_do_not_open(bench: Bench) {
    let (_, text) = create(&IssuedKeys::new(&parts(&bench))).await;
    let with = |ids: &[&str]| IssuedKeys::new(&parts_with(&bench, ids));
    assert_eq!(refusal(&with(&["k2"]), &acme(), &text).await, Some(KeyRefusal::Unavailable));
    assert_eq!(refusal(&with(&["k2", "k1"]), &acme(), &text).await, None);
    assert_eq!(refusal(&with(&["k2"]), &acme(), &text).await, None);
    let record = bench.store.get(&Key::new(&acme(), "api-keys", "all")).await.unwrap().unwrap();
    bench.store.put(&Key::new(&globex(), "api-keys", "all"), record.value, None).await.unwrap();
    assert_eq!(refusal(&with(&["k2"]), &globex(), &text).await, Some(KeyRefusal::Unavailable));
}
