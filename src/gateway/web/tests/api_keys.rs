//! Administration of API keys, and what a program gets for one.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use super::bench::{Answer, Bench, Browser, Site, alice, signed_in};
use crate::gateway::domain::api_key::KeyRefusal;
use crate::gateway::domain::route_table::named;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::api_keys::ApiKeys;
use crate::gateway::store::tests::bench::until;
use crate::platform::secret::Secret;

const HERE: &str = "192.0.2.7";

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The key that a page shows.
pub(super) fn shown(answer: &Answer) -> Secret {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let after = answer.body.split("id=\"api-key\">").nth(1).unwrap_or_else(|| panic!("no key in {}", answer.body));
    Secret::new(after.split('<').next().unwrap())
}

/// Fills the form for a new key, and sends it.
pub(super) async fn create(portal: &Site, browser: &mut Browser, csrf: &str, fields: &[(&str, &str)]) -> Answer {
    let form = browser.get(portal, "/admin/api-keys/new").await;
    let once = form.field("once");
    let usual = [("csrf", csrf), ("once", &once), ("label", "build"), ("group", "read"), ("days", "30"), ("networks", "")];
    let kept = usual.into_iter().filter(|(name, _)| !fields.iter().any(|(given, _)| given == name));
    let all: Vec<(&str, &str)> = kept.chain(fields.iter().copied()).collect();
    browser.post(portal, "/admin/api-keys", &all).await
}

pub(super) async fn id(browser: &mut Browser, portal: &Site) -> String {
    let list = browser.get(portal, "/admin/keys").await;
    list.body.split("/admin/api-keys/").find_map(|rest| rest.split_once("/rotate").map(|(id, _)| id.to_owned())).unwrap()
}

#[actix_web::test]
async fn members_and_other_companies_do_not_get_in() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let text = shown(&create(&portal, &mut alice, &csrf, &[("label", "acme-only")]).await);
    let id = id(&mut alice, &portal).await;
    let (mut bob, csrf) = signed_in(&portal, "acme.example", "bob", "member").await;
    let (mut carol, foreign) = signed_in(&portal, "globex.example", "carol", "admin").await;
    for page in ["/admin/api-keys/new", &format!("/admin/api-keys/{id}/rotate"), &format!("/admin/api-keys/{id}/revoke")] {
        assert_eq!(bob.get(&portal, page).await.status, 403, "{page}");
    }
    for act in ["rotate", "revoke"] {
        let at = format!("/admin/api-keys/{id}/{act}");
        let fields = |csrf| [("csrf", csrf), ("overlap", "0"), ("once", "0123456789abcdef"), ("newest", "1")];
        assert_eq!(bob.post(&portal, &at, &fields(&csrf)).await.status, 403, "{act}");
        assert_eq!(carol.post(&portal, &at, &fields(&foreign)).await.status, 404, "{act}");
        assert_eq!(carol.get(&portal, &at).await.status, 404, "{act}");
        assert_eq!(alice.post(&portal, &at, &fields("forged")).await.status, 403, "{act}");
    }
    assert_eq!(create(&portal, &mut alice, "forged", &[]).await.status, 403);
    assert!(!carol.get(&portal, "/admin/keys").await.body.contains("acme-only"));
    assert!(bench.services.api_keys.verify(&acme(), &text, address(HERE)).await.is_ok(), "nobody changed it");
}

#[actix_web::test]
async fn a_key_is_shown_once_and_does_what_it_was_created_for() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    alice.get(&portal, "/admin/api-keys/new").await.is_clean();
    let label = "<script>alert(1)</script>\u{202e}";
    let once = "a-form-of-this-test";
    let fields = [("label", label), ("group", "share"), ("group", "read"), ("operation", "createTask"), ("once", once)];
    let made = create(&portal, &mut alice, &csrf, &fields).await;
    made.is_clean();
    let text = shown(&made);
    assert!(
        made.body.contains("Read, Share, createTask") && made.body.contains("https://acme.example/scanner/api/"),
        "{}",
        made.body
    );
    assert!(ApiKeys::looks_like_one(text.expose()));

    let again = create(&portal, &mut alice, &csrf, &fields).await;
    again.is_clean();
    assert!(again.body.contains("already shown") && !again.body.contains(text.expose()));
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert_eq!(list.body.matches("/rotate\"").count(), 1, "the form made one key");
    assert!(list.body.contains(&text.expose()[..16]) && !list.body.contains(&text.expose()[17..]), "{}", list.body);
    assert!(list.body.contains("Not used yet"));

    let key = bench.services.api_keys.verify(&acme(), &text, address(HERE)).await.unwrap();
    let may = |name: &str| key.may(named(name).unwrap());
    assert!(may("getTask") && may("createShare") && may("createTask") && may("getSharedContent"));
    assert!(!may("uploadFile") && !may("deleteTasks") && !may("terminateTasks"));
    let list = alice.get(&portal, "/admin/keys").await;
    assert!(list.body.contains("1 call in 30 days"), "{}", list.body);
    until("the audit trail", async || bench.written("api_key").await == [format!("created {}", key.id)]).await;
}

#[actix_web::test]
async fn a_form_that_cannot_be_a_key_comes_back_as_it_was_filled() {
    let bench = Bench::with(|settings| {
        (settings.vault.api_key_days, settings.vault.api_key_networks, settings.vault.api_keys) = (90, 2, 1);
    });
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let long = "x".repeat(61);
    let wrong = [
        ("label", ""),
        ("label", long.as_str()),
        ("group", "everything"),
        ("days", "0"),
        ("days", "91"),
        ("days", "soon"),
        ("networks", "10.0.0.0/8 nowhere\"><script>alert(1)</script>"),
        ("networks", "10.0.0.1 10.0.0.2 10.0.0.3"),
    ];
    for (name, value) in wrong {
        let refused = create(&portal, &mut alice, &csrf, &[("operation", "unknown"), (name, value)]).await;
        assert_eq!(refused.status, 422, "{name}={value}: {}", refused.body);
        refused.is_clean();
        assert!(refused.body.contains("No key was created yet"));
    }
    let once = alice.get(&portal, "/admin/api-keys/new").await.field("once");
    let kept = create(&portal, &mut alice, &csrf, &[("once", &once), ("label", "kept"), ("networks", "nowhere")]).await;
    assert!(kept.body.contains("value=\"kept\"") && kept.body.contains(">nowhere</textarea>"), "{}", kept.body);
    shown(&create(&portal, &mut alice, &csrf, &[("once", &once), ("networks", "192.0.2.0/24\r\n2001:db8::/32")]).await);
    let full = create(&portal, &mut alice, &csrf, &[]).await;
    assert!(full.status == 422 && full.body.contains("at most 1 API keys"), "{}", full.body);
    assert_eq!(create(&portal, &mut alice, &csrf, &[("once", "short")]).await.status, 422);
}

#[actix_web::test]
async fn a_rotated_key_shows_its_new_text_once_and_the_old_one_ends_with_the_overlap() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let first = shown(&create(&portal, &mut alice, &csrf, &[]).await);
    let id = id(&mut alice, &portal).await;
    let at = format!("/admin/api-keys/{id}/rotate");
    let asks = alice.get(&portal, &at).await;
    asks.is_clean();
    let (once, newest) = (asks.field("once"), asks.field("newest"));
    assert_eq!(
        alice.post(&portal, &at, &[("csrf", &csrf), ("overlap", "forever"), ("once", &once), ("newest", &newest)]).await.status,
        400
    );
    let rotated = alice.post(&portal, &at, &[("csrf", &csrf), ("overlap", "1h"), ("once", &once), ("newest", &newest)]).await;
    rotated.is_clean();
    let second = shown(&rotated);
    assert!(rotated.body.contains("The text before it"), "{}", rotated.body);
    let again = alice.post(&portal, &at, &[("csrf", &csrf), ("overlap", "0"), ("once", &once), ("newest", &newest)]).await;
    assert!(again.body.contains("already shown") && !again.body.contains(second.expose()));

    let verify = async |text: &Secret| bench.services.api_keys.verify(&acme(), text, address(HERE)).await.err();
    assert_eq!((verify(&first).await, verify(&second).await), (None, None));
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.body.contains("The text before it works until"), "{}", list.body);
    bench.clock.advance(Duration::from_hours(1));
    let (mut alice, csrf) = super::bench::alice(&portal).await;
    assert_eq!((verify(&first).await, verify(&second).await), (Some(KeyRefusal::Expired), None));
    assert!(!alice.get(&portal, "/admin/keys").await.body.contains("The text before it"));

    let asks = alice.get(&portal, &at).await;
    let (once, newest) = (asks.field("once"), asks.field("newest"));
    let third = alice.post(&portal, &at, &[("csrf", &csrf), ("overlap", "0"), ("once", &once), ("newest", &newest)]).await;
    assert!(third.body.contains("has stopped to work"), "{}", third.body);
    assert_eq!((verify(&second).await, verify(&shown(&third)).await), (Some(KeyRefusal::Unknown), None));
    let wanted =
        [format!("created {id}"), format!("rotated_1h {id}"), format!("refused_expired {id}"), format!("rotated_at_once {id}")];
    until("the audit trail", async || bench.written("api_key").await == wanted).await;
}

#[actix_web::test]
async fn a_revoked_key_leaves_the_list_and_opens_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let text = shown(&create(&portal, &mut alice, &csrf, &[]).await);
    let id = id(&mut alice, &portal).await;
    let at = format!("/admin/api-keys/{id}/revoke");
    alice.get(&portal, &at).await.is_clean();
    let revoked = alice.post(&portal, &at, &[("csrf", &csrf)]).await;
    assert_eq!((revoked.status.as_u16(), revoked.header("location").as_str()), (303, "/admin/keys"));
    let list = alice.get(&portal, "/admin/keys").await;
    assert!(list.body.contains("The API key was revoked.") && list.body.contains("No API key yet"), "{}", list.body);
    assert_eq!(bench.services.api_keys.verify(&acme(), &text, address(HERE)).await.err(), Some(KeyRefusal::Unknown));
    assert_eq!(alice.post(&portal, &at, &[("csrf", &csrf)]).await.status, 404);
    let wanted = [format!("created {id}"), format!("revoked {id}")];
    until("the audit trail", async || bench.written("api_key").await == wanted).await;
}

#[actix_web::test]
async fn right_keys_that_are_refused_are_written_down_so_often_and_wrong_ones_never() {
    let bench = Bench::with(|settings| settings.vault.refusals_per_minute = NonZeroU32::new(2).unwrap());
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let text = shown(&create(&portal, &mut alice, &csrf, &[("networks", "192.0.2.0/24"), ("days", "1")]).await);
    let id = id(&mut alice, &portal).await;
    let verify = async |text: &Secret, from: &str| bench.services.api_keys.verify(&acme(), text, address(from)).await.err();
    assert_eq!(verify(&Secret::new("cdk_wrong"), HERE).await, Some(KeyRefusal::Unknown));
    for _ in 0..10 {
        assert_eq!(verify(&text, "203.0.113.9").await, Some(KeyRefusal::Network));
    }
    assert_eq!(verify(&text, HERE).await, None);
    let wanted = [format!("created {id}"), format!("refused_network {id}"), format!("refused_network {id}")];
    until("the audit trail", async || bench.written("api_key").await == wanted).await;
    let events = bench.events("api_key").await;
    assert_eq!(events.last().unwrap().network.as_deref(), Some("203.0.113.0/24"));
    bench.clock.advance(Duration::from_hours(24));
    assert_eq!(verify(&text, HERE).await, Some(KeyRefusal::Expired));
    let (mut alice, _) = super::bench::alice(&portal).await;
    let list = alice.get(&portal, "/admin/keys").await;
    assert!(list.body.contains("Expired") && list.body.contains("<code>192.0.2.0/24</code>"), "{}", list.body);
}

#[actix_web::test]
async fn the_page_of_a_key_tells_who_uses_it_and_what_was_done_to_it() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let label = "<script>alert(1)</script>\u{202e}";
    let text = shown(&create(&portal, &mut alice, &csrf, &[("label", label), ("days", "20")]).await);
    let id = id(&mut alice, &portal).await;
    let quiet = alice.get(&portal, &format!("/admin/api-keys/{id}/revoke")).await;
    assert!(
        quiet.body.contains("No call came with it in the last 7 days.") && !quiet.body.contains("It is in use"),
        "{}",
        quiet.body
    );
    let key = bench.services.api_keys.verify(&acme(), &text, address(HERE)).await.unwrap();
    for (operation, from, times) in [("getTask", HERE, 3), ("createTask", "2001:db8:1::5", 1)] {
        for _ in 0..times {
            bench.services.api_keys.note_origin(&acme(), &key, (operation, address(from)));
        }
    }
    bench.clock.advance(Duration::from_mins(3));
    let page = alice.get(&portal, &format!("/admin/api-keys/{id}")).await;
    page.is_clean();
    let end = &text.expose()[62..];
    for words in [
        &format!("cdk_{id}_…{end}"),
        "Ends soon",
        "for 19 days more",
        "about 3 minutes ago",
        "About 4 calls of 2 operations from 2 networks",
        "<code>getTask</code>",
        "<code>192.0.2.0/24</code>",
        "<code>2001:db8:1::/48</code>",
        "1 call in 30 days, on 1 day.",
        "Created",
    ] {
        assert!(page.body.contains(words), "{words} in {}", page.body);
    }
    assert!(!page.body.contains(&text.expose()[17..]));
    let asks = alice.get(&portal, &format!("/admin/api-keys/{id}/revoke")).await;
    asks.is_clean();
    assert!(asks.body.contains("It is in use.") && asks.body.contains("<code>createTask</code>"), "{}", asks.body);
    let list = alice.get(&portal, "/admin/keys").await;
    list.is_clean();
    assert!(list.body.contains("1 API key ends within 30 days.") && list.body.contains("about 3 minutes ago"), "{}", list.body);
    bench.clock.advance(Duration::from_hours(24 * 7));
    let (mut alice, _) = super::bench::alice(&portal).await;
    let later = alice.get(&portal, &format!("/admin/api-keys/{id}")).await;
    assert!(later.body.contains("No call came with it in the last 7 days."), "{}", later.body);
    let (mut carol, _) = signed_in(&portal, "globex.example", "carol", "admin").await;
    assert_eq!(carol.get(&portal, &format!("/admin/api-keys/{id}")).await.status, 404);
}
