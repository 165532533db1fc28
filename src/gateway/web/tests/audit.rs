//! The audit log as administrators read it.

use std::time::Duration;

use super::bench::{Bench, alice, signed_in};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::until;

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

/// Events by a person nobody knows, the last of them of this detail.
async fn events(bench: &Bench, deed: Deed, details: &[&str]) {
    for detail in details {
        let event = Event::new(deed, detail).by(&"ab".repeat(32), "5e55").from("192.0.2.0/24", "0123456789abcdef");
        bench.services.signin.audit.record(&acme(), event);
    }
    let audit = &bench.services.signin.audit;
    let last = details.last().copied().unwrap_or_default();
    until("the events", async || {
        audit.waiting() == 0 && audit.newest(&acme(), 1).await.first().is_some_and(|written| written.event.detail == last)
    })
    .await;
}

#[actix_web::test]
async fn the_first_page_is_of_a_month_and_leaves_out_what_anybody_can_cause() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    events(&bench, Deed::RoleChanged, &["member"]).await;
    bench.clock.advance(Duration::from_hours(24 * 33));
    events(&bench, Deed::ApiKey, &["created k1", "refused_expired k1"]).await;
    events(&bench, Deed::SignInRefused, &["wrong_nonce", "wrong_nonce"]).await;
    let (mut browser, _) = alice(&portal).await;
    let page = browser.get(&portal, "/admin/audit").await;
    page.is_clean();
    assert_eq!(page.status, 200);
    assert!(page.body.contains("API key: created") && page.body.contains("API key: refused expired"), "{}", page.body);
    assert!(!page.body.contains("Role changed: member"), "it is older than a month: {}", page.body);
    assert!(
        page.body.contains("2 events that anybody can cause without an account are left out: Sign in refused 2."),
        "{}",
        page.body
    );
    let all = browser.get(&portal, "/admin/audit?all=1&from=2026-11-01").await;
    assert!(all.body.contains("Sign in refused: wrong nonce") && all.body.contains("Role changed: member"), "{}", all.body);
    for (query, yes, no) in [
        ("act=api_key&result=refused", "API key: refused expired", "API key: created"),
        ("object=k1", "API key: created", "Sign in"),
        ("network=198.51.100.0%2F24", "No event fits this filter", "API key: created"),
        ("actor=abab", "API key: created", "No event fits"),
    ] {
        let page = browser.get(&portal, &format!("/admin/audit?{query}")).await;
        page.is_clean();
        let table = page.body.split("<table>").nth(1).unwrap_or(&page.body);
        assert!(table.contains(yes) && !table.contains(no), "{query}: {}", page.body);
    }
    for odd in ["act=nothing", "from=x", "before=x"] {
        assert_eq!(browser.get(&portal, &format!("/admin/audit?{odd}")).await.status, 400, "{odd}");
    }
    let evil = browser.get(&portal, "/admin/audit?actor=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E").await;
    evil.is_clean();
    let (mut carol, _) = signed_in(&portal, "globex.example", "carol", "admin").await;
    assert!(!carol.get(&portal, "/admin/audit?all=1&from=2026-11-01").await.body.contains("API key: created"));
}

#[actix_web::test]
async fn a_page_looks_through_so_many_records_and_says_how_far_it_came() {
    let bench = Bench::with(|settings| settings.audit.looked_through = 100);
    let portal = bench.portal().await;
    events(&bench, Deed::ApiKey, &["created needle"]).await;
    for _ in 0..3 {
        events(&bench, Deed::RoleChanged, &["member"; 100]).await;
    }
    let (mut browser, _) = alice(&portal).await;
    let (mut at, mut pages) = ("/admin/audit?object=needle".to_owned(), 0);
    let last = loop {
        let page = browser.get(&portal, &at).await;
        pages += 1;
        if page.body.contains("API key: created") {
            break page;
        }
        page.is_clean();
        assert!(page.body.contains("Looked through 100 events") && page.body.contains("Look further"), "{}", page.body);
        let next = page.body.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&");
        at = next;
        assert!(pages < 10, "{at}");
    };
    assert_eq!(pages, 4, "{}", last.body);
}

#[actix_web::test]
async fn every_event_is_on_exactly_one_page() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let details: Vec<String> = (0..120).map(|number| format!("created n{number}")).collect();
    events(&bench, Deed::ApiKey, &details.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let (mut browser, _) = alice(&portal).await;
    let (mut at, mut found) = ("/admin/audit?act=api_key".to_owned(), Vec::new());
    loop {
        let page = browser.get(&portal, &at).await;
        let rows = page.body.split("object=n").skip(1).map(|rest| rest.split(['&', '"']).next().unwrap().to_owned());
        found.extend(rows);
        // What is written meanwhile moves nothing.
        events(&bench, Deed::ApiKey, &["created later"]).await;
        let Some(next) = page.body.split("rel=\"next\" href=\"").nth(1) else { break };
        at = next.split('"').next().unwrap().replace("&#38;", "&");
    }
    assert_eq!(found, (0..120).rev().map(|number| number.to_string()).collect::<Vec<_>>());
}

#[actix_web::test]
async fn a_page_has_as_many_events_as_the_settings_say() {
    let bench = Bench::with(|settings| settings.audit.page_events = 3);
    let portal = bench.portal().await;
    events(&bench, Deed::ApiKey, &["created n1", "created n2", "created n3", "created n4"]).await;
    let (mut browser, _) = alice(&portal).await;
    let page = browser.get(&portal, "/admin/audit?act=api_key").await;
    assert_eq!(page.body.matches("API key: created").count(), 3, "{}", page.body);
    assert!(page.body.contains("rel=\"next\"") && page.body.contains("aria-current=\"page\">Audit log</a>"));
}

#[actix_web::test]
async fn only_two_files_are_made_at_once_and_a_check_is_not_begun_twice() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut browser, csrf) = alice(&portal).await;
    assert_eq!(browser.post(&portal, "/admin/audit/check", &[("csrf", "forged")]).await.status, 403);
    for _ in 0..3 {
        let begun = browser.post(&portal, "/admin/audit/check", &[("csrf", &csrf)]).await;
        assert_eq!((begun.status.as_u16(), begun.header("location").as_str()), (303, "/admin/audit"));
    }
    until("the check", async || bench.written("audit_trail").await.len() == 1).await;
    // The trail of this bench was not begun before its first session was, and a check says so.
    assert!(bench.written("audit_trail").await[0].starts_with("checked_"));
    until("its outcome", async || browser.get(&portal, "/admin/audit").await.body.contains("less than a minute ago): ")).await;
    bench.clock.advance(Duration::from_mins(1));
    browser.post(&portal, "/admin/audit/check", &[("csrf", &csrf)]).await;
    until("the second check", async || bench.written("audit_trail").await.len() == 2).await;

    let actor = Bench::actor("alice");
    let filter = crate::gateway::domain::audit_filter::AuditFilter::default();
    let form = crate::gateway::services::audit::Form::Csv;
    let file = || bench.services.audit_log.file(&actor, (filter.clone(), form));
    let (one, two) = (file().unwrap(), file().unwrap());
    assert!(file().is_err());
    assert_eq!(browser.get(&portal, "/admin/audit.csv").await.status, 429);
    drop((one, two));
    let csv = browser.get(&portal, "/admin/audit.csv").await;
    assert_eq!((csv.status.as_u16(), csv.header("content-security-policy").as_str()), (200, "sandbox"));
    assert!(csv.body.starts_with("\u{feff}number,time,actor,actor_name,session,act,detail,object,result,network,request_id\r\n"));
}
