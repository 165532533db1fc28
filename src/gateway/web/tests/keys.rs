//! Administration of server keys.

use super::bench::{Bench, Browser, GOOD_KEY, XSS, alice};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::KeyUser;
use crate::gateway::store::tests::bench::until;
use crate::platform::secret::Secret;

#[actix_web::test]
async fn members_do_not_get_in() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut bob = Browser::new("acme.example");
    bob.get(&portal, "/test/sign-in/bob/member").await;
    assert_eq!(bob.get(&portal, "/admin/keys").await.status, 403);
    let csrf = bob.get(&portal, "/shares").await.field("csrf");
    assert_eq!(bob.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "x"), ("key", GOOD_KEY)]).await.status, 403);
    assert!(bench.vault.list(&TenantId::parse("acme").unwrap()).await.unwrap().is_empty());
}

#[actix_web::test]
async fn a_key_is_added_tested_made_active_and_removed_without_ever_being_shown() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/admin").await;
    let empty = alice.get(&portal, "/admin/keys").await;
    empty.is_clean();
    let csrf = empty.field("csrf");

    let added = alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", XSS), ("key", GOOD_KEY)]).await;
    assert_eq!(added.status, 422, "a label of more than 60 characters is refused");
    added.is_clean();
    let added =
        alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "<script>alert(1)</script>"), ("key", GOOD_KEY)]).await;
    assert_eq!((added.status.as_u16(), added.header("location").as_str()), (303, "/admin/keys"));
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.body.contains("…LAST") && list.body.contains("Accepted") && !list.body.contains(GOOD_KEY), "{}", list.body);

    let twice = alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "again"), ("key", GOOD_KEY)]).await;
    assert_eq!(twice.status, 422);
    assert!(!twice.body.contains(GOOD_KEY) && twice.body.contains("added before"));
    for bad in ["", "two words", "ümlaut", &"x".repeat(513)] {
        assert_eq!(
            alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "b"), ("key", bad)]).await.status,
            422,
            "{bad}"
        );
    }

    let refused =
        alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "bad"), ("key", "sk-unknown-to-the-service")]).await;
    assert_eq!(refused.status, 303);
    let keys = bench.vault.list(&acme).await.unwrap();
    assert_eq!(
        keys.iter().map(|key| (key.active, key.last_tested.as_ref().unwrap().ok)).collect::<Vec<_>>(),
        [(true, true), (false, false)]
    );
    let at = |id: &str, act: &str| format!("/admin/keys/{id}/{act}");
    let answer = alice.post(&portal, &at(&keys[1].id, "activate"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 409);
    assert!(bench.vault.list(&acme).await.unwrap()[0].active);
    assert_eq!(alice.post(&portal, &at(&keys[0].id, "test"), &[("csrf", &csrf)]).await.status, 303);
    assert_eq!(alice.post(&portal, &at("nothing", "test"), &[("csrf", &csrf)]).await.status, 404);
    assert_eq!(alice.post(&portal, &at(&keys[0].id, "remove"), &[("csrf", "forged"), ("confirm", "yes")]).await.status, 403);

    let asks = alice.post(&portal, &at(&keys[0].id, "remove"), &[("csrf", &csrf)]).await;
    asks.is_clean();
    assert!(asks.body.contains("This is the active key"));
    assert_eq!(bench.vault.list(&acme).await.unwrap().len(), 2);
    assert_eq!(alice.post(&portal, &at(&keys[0].id, "remove"), &[("csrf", &csrf), ("confirm", "yes")]).await.status, 303);
    assert_eq!(bench.vault.list(&acme).await.unwrap().len(), 1);
}

#[actix_web::test]
async fn a_service_that_is_down_changes_nothing_about_the_keys() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    for (label, key) in [("one", GOOD_KEY), ("two", "sk-unknown-to-the-service")] {
        alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", label), ("key", key)]).await;
    }
    let before = bench.vault.list(&acme).await.unwrap();
    bench.fake.lock().unwrap().broken = Some(503);
    let second = format!("/admin/keys/{}/activate", before[1].id);
    assert_eq!(alice.post(&portal, &second, &[("csrf", &csrf)]).await.status, 502);
    assert_eq!(bench.vault.list(&acme).await.unwrap(), before);
}

#[actix_web::test]
async fn one_tenant_never_sees_the_keys_of_another() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "acme-only"), ("key", GOOD_KEY)]).await;
    let id = bench.vault.list(&TenantId::parse("acme").unwrap()).await.unwrap()[0].id.clone();
    let mut carol = Browser::new("globex.example");
    carol.get(&portal, "/test/sign-in/carol/admin").await;
    let list = carol.get(&portal, "/admin/keys").await;
    assert!(!list.body.contains("acme-only"));
    let csrf = list.field("csrf");
    assert_eq!(
        carol.post(&portal, &format!("/admin/keys/{id}/remove"), &[("csrf", &csrf), ("confirm", "yes")]).await.status,
        404
    );
    let mut copied = Browser { cookies: alice.cookies.clone(), ..Browser::new("globex.example") };
    assert_eq!(copied.get(&portal, "/admin/keys").await.status, 303);
}

#[actix_web::test]
async fn a_key_that_could_not_be_tested_is_kept_and_not_used() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    bench.fake.lock().unwrap().broken = Some(503);
    assert_eq!(alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "one"), ("key", GOOD_KEY)]).await.status, 303);
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.body.contains("could not be asked about it") && list.body.contains("No key is active"), "{}", list.body);
    assert!(bench.vault.active(&acme).await.unwrap().is_empty());
    bench.fake.lock().unwrap().broken = None;
    let id = bench.vault.list(&acme).await.unwrap()[0].id.clone();
    assert_eq!(alice.post(&portal, &format!("/admin/keys/{id}/activate"), &[("csrf", &csrf)]).await.status, 303);
    assert_eq!(bench.vault.active(&acme).await.unwrap().len(), 1);
    assert_eq!(alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "two"), ("key", "sk-refused")]).await.status, 303);
    assert!(alice.get(&portal, "/admin/keys").await.body.contains("does not accept it, so it is not active"));
}

#[actix_web::test]
async fn two_keys_are_active_while_one_takes_the_place_of_the_other_and_everything_is_written_down() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let old = bench.vault.add_active(&acme, "old".into(), Secret::new("sk-old"), "Settings".into()).await.unwrap();
    alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "new"), ("key", GOOD_KEY)]).await;
    let new = bench.vault.list(&acme).await.unwrap()[1].id.clone();
    let at = |id: &str, act: &str| format!("/admin/keys/{id}/{act}");
    assert_eq!(alice.post(&portal, &at(&old.id, "deactivate"), &[("csrf", &csrf)]).await.status, 409, "it is the only one");
    alice.post(&portal, &at(&new, "activate"), &[("csrf", &csrf)]).await;
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.body.contains("aria-current=\"page\">Keys</a></li><li><a href=\"/admin/audit\">Audit log</a>"), "{}", list.body);
    assert!(list.body.contains("Standby") && list.body.contains("2 calls in 30 days"), "{}", list.body);
    assert_eq!(alice.post(&portal, &at(&old.id, "deactivate"), &[("csrf", "forged")]).await.status, 403);
    assert_eq!(alice.post(&portal, &at(&old.id, "deactivate"), &[("csrf", &csrf)]).await.status, 303);
    let active = bench.vault.active(&acme).await.unwrap();
    assert_eq!(active.iter().map(|(key, _)| key.id.as_str()).collect::<Vec<_>>(), [new.as_str()]);
    alice.post(&portal, &at(&old.id, "remove"), &[("csrf", &csrf), ("confirm", "yes")]).await;
    let wanted = [("added", &new), ("activated", &new), ("deactivated", &old.id), ("removed", &old.id)];
    let wanted: Vec<String> = wanted.into_iter().map(|(what, id)| format!("{what} {id}")).collect();
    until("the audit trail", async || bench.written("server_key").await == wanted).await;
}

#[actix_web::test]
async fn the_page_of_a_server_key_tells_its_uses_and_what_was_done_to_it_and_never_the_key() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let empty = alice.get(&portal, "/admin/keys/nothing").await;
    assert_eq!(empty.status, 404);
    alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "<b>main</b>\u{202e}"), ("key", GOOD_KEY)]).await;
    let id = bench.vault.list(&acme).await.unwrap()[0].id.clone();
    until("the audit trail", async || bench.written("server_key").await.len() == 2).await;
    let page = alice.get(&portal, &format!("/admin/keys/{id}")).await;
    page.is_clean();
    for words in ["…LAST", "Active", "Activated", "Added", "1 call in 30 days, on 1 day.", "less than a minute ago"] {
        assert!(page.body.contains(words), "{words} in {}", page.body);
    }
    assert!(!page.body.contains(GOOD_KEY));
    for (operation, user) in
        [("getReport", KeyUser::Recipients), ("getReport", KeyUser::Recipients), ("getTask", KeyUser::ApiKey("gone"))]
    {
        bench.vault.count_use(&acme, &id, (operation, user));
    }
    let page = alice.get(&portal, &format!("/admin/keys/{id}")).await;
    page.is_clean();
    for words in [
        "About 4 calls in the last 7 days",
        "<code>getReport</code></th><td data-label=\"For\">People who open shares</td><td data-label=\"Calls\">2</td>",
        "<code>getTask</code></th><td data-label=\"For\">An API key that was revoked</td>",
        "<code>searchTasks</code></th><td data-label=\"For\">Tests by administrators</td>",
    ] {
        assert!(page.body.contains(words), "{words} in {}", page.body);
    }
    let asks = alice.post(&portal, &format!("/admin/keys/{id}/remove"), &[("csrf", &csrf)]).await;
    assert!(asks.body.contains("The same as a table") && asks.body.contains("People who open shares"), "{}", asks.body);
    let mut carol = Browser::new("globex.example");
    carol.get(&portal, "/test/sign-in/carol/admin").await;
    assert_eq!(carol.get(&portal, &format!("/admin/keys/{id}")).await.status, 404);
}
