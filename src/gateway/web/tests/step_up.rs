//! Changes of keys need somebody who showed lately who they are.

use std::time::Duration;

use super::bench::{Bench, GOOD_KEY, alice};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::until;

#[actix_web::test]
async fn after_a_while_keys_are_shown_and_not_changed_until_the_next_sign_in() {
    let bench = Bench::with(|settings| settings.session.step_up_minutes = 10);
    let portal = bench.portal().await;
    let (mut browser, csrf) = alice(&portal).await;
    let list = browser.get(&portal, "/admin/keys").await;
    assert!(list.body.contains("Keys can be changed until") && list.body.contains("name=\"key\""), "{}", list.body);
    bench.clock.advance(Duration::from_secs(10 * 60 - 1));
    assert_eq!(browser.get(&portal, "/admin/api-keys/new").await.status, 200);
    bench.clock.advance(Duration::from_secs(1));
    let list = browser.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.status == 200 && !list.body.contains("name=\"key\""), "{}", list.body);
    assert!(list.body.contains("Sign in once more to add a key"), "{}", list.body);

    let form = browser.get(&portal, "/admin/api-keys/new").await;
    form.is_clean();
    assert_eq!(form.status, 401);
    let way = "/auth/login?again=1&#38;other=1&#38;return_to=%2Fadmin%2Fapi-keys%2Fnew";
    assert!(form.body.contains(way) && form.body.contains("within the last 10 minutes"), "{}", form.body);
    let posts = ["/admin/api-keys", "/admin/keys", "/admin/keys/x/activate", "/admin/keys/x/deactivate", "/admin/keys/x/remove"];
    for path in posts {
        let fields =
            [("csrf", csrf.as_str()), ("label", "typed"), ("key", GOOD_KEY), ("once", "0123456789abcdef"), ("days", "3")];
        let held = browser.post(&portal, path, &fields).await;
        held.is_clean();
        assert_eq!(held.status, 401, "{path}");
        assert!(held.body.contains("what was typed into a form is not kept") && !held.body.contains(GOOD_KEY), "{}", held.body);
    }
    let acme = TenantId::parse("acme").unwrap();
    assert!(bench.vault.list(&acme).await.unwrap().is_empty());
    until("the audit trail", async || bench.written("step_up").await == vec!["held_back"; posts.len()]).await;

    let (mut browser, _) = alice(&portal).await;
    assert_eq!(browser.get(&portal, "/admin/api-keys/new").await.status, 200);
}

#[actix_web::test]
async fn a_member_is_refused_and_not_asked_to_sign_in() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut bob, csrf) = super::bench::signed_in(&portal, "acme.example", "bob", "member").await;
    bench.clock.advance(Duration::from_mins(20));
    assert_eq!(bob.get(&portal, "/admin/api-keys/new").await.status, 403);
    assert_eq!(bob.post(&portal, "/admin/api-keys", &[("csrf", &csrf)]).await.status, 403);
}
