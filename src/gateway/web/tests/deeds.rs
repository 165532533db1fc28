//! What administrators do while things go wrong: a store that goes away in the middle, two at once, forms that are sent twice. What
//! was done is written down whole, and nobody is told otherwise.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::administration::{entered, save};
use super::api_keys::{create, id, shown};
use super::bench::{Bench, Browser, XSS, alice, signed_in};
use crate::config::gateway::Backend;
use crate::gateway::domain::audit_filter::AuditFilter;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::Actor;
use crate::gateway::services::audit::Form;
use crate::gateway::services::error::Error;
use crate::gateway::store::tests::bench::{RedisServer, until};
use crate::gateway::store::tests::cut::{Last, Way};

/// A portal on a Redis to which the way can be cut.
async fn cuttable(server: &RedisServer) -> (Bench, Way) {
    let way = Way::to(server).await;
    let url = way.url();
    let bench = Bench::with(|settings| {
        settings.store.backend = Backend::Redis;
        settings.store.redis_url = Some(url);
    });
    (bench, way)
}

async fn policy_with_days(bench: &Bench, way: &Way, last: Last) -> (u16, Vec<String>) {
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    let page = alice.get(&portal, "/admin/policy").await;
    assert_eq!(save(&mut alice, &portal, &page, &[("most_days", Some("80"))]).await.status, 303);
    let page = alice.get(&portal, "/admin/policy").await;
    way.cut_at(&["EVALSHA", "{acme:current}:policy"], last);
    let answer = save(&mut alice, &portal, &page, &[("most_days", Some("70"))]).await;
    assert!(way.was_cut(), "{}", answer.body);
    way.mend();
    until("the store again", async || alice.get(&portal, "/admin/policy").await.body.contains("Version 2, saved by alice")).await;
    until("both lines", async || bench.written("policy_changed").await.len() == 2).await;
    (answer.status.as_u16(), bench.written("policy_changed").await)
}

#[actix_web::test]
async fn a_policy_that_is_in_force_is_said_to_be_and_written_down_whatever_the_store_does_then() {
    let folder = tempfile::tempdir().unwrap();
    let server = RedisServer::start(folder.path()).await;
    let (bench, way) = cuttable(&server).await;
    let (status, lines) = policy_with_days(&bench, &way, Last::Answer).await;
    assert_eq!((status, lines[1].as_str()), (303, "version 2: most_days 80 -> 70"));
}

#[actix_web::test]
async fn a_policy_whose_saving_was_not_answered_is_written_down_once_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let server = RedisServer::start(folder.path()).await;
    let (bench, way) = cuttable(&server).await;
    let (status, lines) = policy_with_days(&bench, &way, Last::Command).await;
    assert_eq!((status, lines[1].as_str()), (503, "version 2: most_days 80 -> 70"));
}

#[actix_web::test]
async fn somebody_who_is_disabled_while_the_store_goes_away_is_out_as_soon_as_it_is_back() {
    for last in [Last::Answer, Last::Command] {
        let folder = tempfile::tempdir().unwrap();
        let server = RedisServer::start(folder.path()).await;
        let (bench, way) = cuttable(&server).await;
        let portal = bench.portal().await;
        let (mut alice, csrf) = alice(&portal).await;
        let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
        let user = entered(&bench, "acme", "bob", Role::Member).await;
        way.cut_at(&["EVALSHA", &format!("{{acme:{user}}}:person")], last);
        let form = format!("/admin/users/{user}/disable");
        let answer = alice.post(&portal, &form, &[("csrf", &csrf), ("reason", "left")]).await;
        assert!(way.was_cut());
        assert_eq!(answer.status.as_u16(), if last == Last::Answer { 303 } else { 503 }, "{}", answer.body);
        way.mend();
        // Nobody repeats it.
        until("the end of what there was", async || bob.get(&portal, "/shares").await.status == 401).await;
        let wanted = [format!("disabled {user}")];
        until("one line", async || bench.written("user_access").await == wanted).await;
        assert_eq!(alice.post(&portal, &format!("/admin/users/{user}/enable"), &[("csrf", &csrf)]).await.status, 303);
        let page = alice.get(&portal, &format!("/admin/users/{user}")).await;
        assert!(page.body.contains("Was disabled by alice") && page.body.contains("Why it was: left"), "{}", page.body);
    }
}

#[actix_web::test]
async fn of_two_administrators_who_disable_each_other_at_once_one_stays() {
    let bench = Bench::new();
    let users = bench.services.administration.users.clone();
    let (dora, erin) = (Bench::actor("dora"), Bench::actor("erin"));
    for who in [&dora, &erin] {
        assert!(users.enter(&who.principal).await.unwrap());
    }
    for round in 0..20 {
        let (one, other) = (dora.principal.key(), erin.principal.key());
        let both = futures_util::future::join(users.disable(&dora, &other, "x"), users.disable(&erin, &one, "x")).await;
        let (stays, out) = match both {
            (Ok(_), Err(Error::Conflict(_))) => (&dora, &erin),
            (Err(Error::Conflict(_)), Ok(_)) => (&erin, &dora),
            both => panic!("round {round}: {both:?}"),
        };
        let is_out = async |who: &Actor| users.one(stays, &who.principal.key()).await.unwrap().person.disabled.is_some();
        assert!(is_out(out).await && !is_out(stays).await, "round {round}");
        users.enable(stays, &out.principal.key()).await.unwrap();
    }
}

#[actix_web::test]
async fn every_deed_of_an_administrator_tells_from_where() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let (mut alice, csrf) = alice(&portal).await;
    shown(&create(&portal, &mut alice, &csrf, &[]).await);
    let key = id(&mut alice, &portal).await;
    alice.post(&portal, "/admin/keys", &[("csrf", &csrf), ("label", "one"), ("key", super::bench::GOOD_KEY)]).await;
    let server_key = bench.vault.list(&TenantId::parse("acme").unwrap()).await.unwrap().remove(0).id;
    assert_eq!(alice.post(&portal, &format!("/admin/keys/{server_key}/test"), &[("csrf", &csrf)]).await.status, 303);
    alice.post(&portal, &format!("/admin/api-keys/{key}/revoke"), &[("csrf", &csrf)]).await;
    alice.post(&portal, "/admin/shares/end", &[("csrf", &csrf), ("maker", "maker")]).await;
    alice.post(&portal, "/tasks/t1/delete", &[("csrf", &csrf), ("confirm", "yes")]).await;
    until("the last line", async || !bench.events("task").await.is_empty()).await;
    let wanted = [
        ("api_key", vec![format!("created {key}"), format!("revoked {key}")]),
        (
            "server_key",
            vec![format!("added {server_key}"), format!("activated {server_key}"), format!("tested_accepted {server_key}")],
        ),
        ("shares_ended", vec!["ended_1 maker".to_owned()]),
        ("task", vec!["deleted t1".to_owned()]),
    ];
    for (deed, details) in wanted {
        let events = bench.events(deed).await;
        assert_eq!(events.iter().map(|event| event.detail.clone()).collect::<Vec<_>>(), details, "{deed}");
        assert!(events.iter().all(|event| event.network.is_some() && event.object().is_some()), "{deed}: {events:?}");
    }
    assert!(bench.events("share").await.iter().all(|event| event.network.is_some()));
}

#[actix_web::test]
async fn an_ended_session_tells_whose_it_was_and_is_ended_on_its_own_persons_page_only() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
    let (bobs, erins) = (entered(&bench, "acme", "bob", Role::Member).await, entered(&bench, "acme", "erin", Role::Member).await);
    let acme = TenantId::parse("acme").unwrap();
    let session = bench.sessions.list(&acme, &bobs).await.unwrap().remove(0).id;
    let end = |user: &str| format!("/admin/users/{user}/sessions/{session}/end");
    assert_eq!(alice.post(&portal, &end(&erins), &[("csrf", &csrf)]).await.status, 404);
    assert_eq!(bob.get(&portal, "/shares").await.status, 200);
    assert_eq!(alice.post(&portal, &end(&bobs), &[("csrf", &csrf)]).await.status, 303);
    assert_eq!(bob.get(&portal, "/shares").await.status, 401);
    let wanted = [format!("administrator {bobs}")];
    until("the line", async || bench.written("session_ended").await == wanted).await;
    for object in [&bobs, &session] {
        let found = alice.get(&portal, &format!("/admin/audit?act=session_ended&object={object}")).await;
        assert!(found.body.contains("Session ended: administrator"), "{object}: {}", found.body);
    }
    // Somebody who is in the list of people alone has nothing to end, and is no stranger.
    assert_eq!(alice.post(&portal, &format!("/admin/users/{erins}/sessions/end"), &[("csrf", &csrf)]).await.status, 303);
}

#[actix_web::test]
async fn a_policy_ends_only_the_visits_that_it_concerns() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let (mut alice, _) = alice(&portal).await;
    let mut visitor = Browser::new("acme.example");
    assert_eq!(visitor.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await.status, 303);
    let before = bench.entry("coded").await.version;
    for change in [("most_days", Some("89")), ("without_code", None), ("grant_minutes", Some("20"))] {
        let page = alice.get(&portal, "/admin/policy").await;
        assert_eq!(save(&mut alice, &portal, &page, &[change]).await.status, 303);
        assert_eq!(visitor.get(&portal, "/s/coded/view").await.status, 200, "{change:?} does not concern it");
    }
    assert_eq!(bench.entry("coded").await.version, before);
    // Longer than a visit may be now, and shorter than it might have been.
    bench.clock.advance(Duration::from_mins(21));
    assert_ne!(visitor.get(&portal, "/s/coded/view").await.status, 200);
    assert_eq!(visitor.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await.status, 303);
    assert_eq!(visitor.get(&portal, "/s/coded/view").await.status, 200);
    let page = alice.get(&portal, "/admin/policy").await;
    save(&mut alice, &portal, &page, &[("evidence", None)]).await;
    assert_ne!(visitor.get(&portal, "/s/coded/view").await.status, 200, "it shows evidence");
}

#[actix_web::test]
async fn a_form_for_a_key_that_was_broken_off_says_that_it_is_not_known_what_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = RedisServer::start(folder.path()).await;
    let (bench, way) = cuttable(&server).await;
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let once = alice.get(&portal, "/admin/api-keys/new").await.field("once");
    way.cut_at(&["api-key-form"], Last::Answer);
    assert_eq!(create(&portal, &mut alice, &csrf, &[("once", &once)]).await.status, 503);
    assert!(way.was_cut());
    way.mend();
    until("the store again", async || alice.get(&portal, "/admin/keys").await.status == 200).await;
    let again = create(&portal, &mut alice, &csrf, &[("once", &once)]).await;
    again.is_clean();
    assert!(again.status == 409 && again.body.contains("is not known here"), "{}", again.body);
    assert!(!again.body.contains("already shown"), "{}", again.body);
    assert!(alice.get(&portal, "/admin/keys").await.body.contains("No API key yet"));
    until("the line", async || bench.written("api_key").await == ["created_unsure"]).await;
    shown(&create(&portal, &mut alice, &csrf, &[]).await);
}

#[actix_web::test]
async fn a_key_is_rotated_from_the_text_that_its_page_showed_only() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    shown(&create(&portal, &mut alice, &csrf, &[]).await);
    let at = format!("/admin/api-keys/{}/rotate", id(&mut alice, &portal).await);
    let (first, second) = (alice.get(&portal, &at).await, alice.get(&portal, &at).await);
    let mut made = 0;
    for page in [&first, &second] {
        let fields =
            [("csrf", csrf.as_str()), ("overlap", "0"), ("once", &page.field("once")), ("newest", &page.field("newest"))];
        let answer = alice.post(&portal, &at, &fields).await;
        answer.is_clean();
        if made == 0 {
            shown(&answer);
            made += 1;
        } else {
            assert!(answer.status == 409 && answer.body.contains("was rotated after its page was opened"), "{}", answer.body);
        }
    }
    let of_key = alice.get(&portal, at.trim_end_matches("/rotate")).await;
    until("the line", async || bench.written("api_key").await.len() == 2).await;
    assert!(bench.written("api_key").await[1].starts_with("rotated_at_once "), "{}", of_key.body);
    let list = alice.get(&portal, "/admin/api-keys").await;
    assert_eq!((list.status.as_u16(), list.header("location")), (303, "/admin/keys".to_owned()));
}

#[actix_web::test]
async fn files_of_one_company_do_not_keep_another_waiting_and_tell_what_they_leave_out() {
    let bench = Bench::new();
    let log = &bench.services.audit_log;
    let mut carol = Bench::actor("carol");
    carol.principal.tenant = TenantId::parse("globex").unwrap();
    let file = |actor: &Actor| log.file(actor, (AuditFilter::default(), Form::Csv));
    let dora = Bench::actor("dora");
    let slow = [file(&dora).unwrap(), file(&dora).unwrap()];
    assert!(matches!(file(&dora).err(), Some(Error::Busy { .. })));
    let mut other = Box::pin(file(&carol).unwrap());
    while let Some(lines) = other.next().await {
        lines.unwrap();
    }
    drop(slow);
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let json: serde_json::Value = serde_json::from_str(&alice.get(&portal, "/admin/audit.json").await.body).unwrap();
    assert!(json["left_out"].as_array().unwrap().contains(&"sign_in_refused".into()), "{json}");
    for event in json["events"].as_array().unwrap() {
        assert_eq!(event["time"].as_str().unwrap().len(), "2026-11-28T01:10:30.250Z".len(), "{event}");
    }
    let all: serde_json::Value = serde_json::from_str(&alice.get(&portal, "/admin/audit.json?all=1").await.body).unwrap();
    assert_eq!(all["left_out"], serde_json::json!([]));

    assert_eq!(alice.post(&portal, "/admin/audit/check", &[("csrf", &csrf)]).await.status, 303);
    assert!(!alice.get(&portal, "/admin/audit").await.body.contains("Nothing was begun"));
    assert_eq!(alice.post(&portal, "/admin/audit/check", &[("csrf", &csrf)]).await.status, 303);
    assert!(alice.get(&portal, "/admin/audit").await.body.contains("Nothing was begun"));
}

#[actix_web::test]
async fn names_without_anything_to_see_are_no_names() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let page = alice.get(&portal, "/admin/policy").await;
    for blank in ["\u{3164}", "\u{115f} \u{2800}", XSS] {
        assert_eq!(save(&mut alice, &portal, &page, &[("name", Some(blank))]).await.status, 422, "{blank:?}");
    }
    assert_eq!(create(&portal, &mut alice, &csrf, &[("label", "\u{3164}")]).await.status, 422);
}
