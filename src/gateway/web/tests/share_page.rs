//! The recipient's side.

use super::bench::{Bench, Browser, GOOD_KEY};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::secret::Secret;

#[actix_web::test]
async fn the_door_is_the_same_for_every_id_and_asks_nobody() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    let real = browser.get(&portal, "/s/real").await;
    real.is_clean();
    assert_eq!(real.status, 200);
    for other in ["/s/made-up", "/s/x", "/s/%3Cscript%3E", "/s/%E2%80%AE", &format!("/s/{}", "y".repeat(128))] {
        let answer = browser.get(&portal, other).await;
        assert_eq!((answer.status, &answer.body), (real.status, &real.body), "{other}");
    }
    assert!(bench.fake.lock().unwrap().asked.is_empty());
    assert_eq!(real.header("referrer-policy"), "no-referrer");
    assert!(real.header("x-robots-tag").contains("noindex"));
    assert!(real.body.contains("autocomplete=\"one-time-code\"") && !real.body.contains("maxlength"));
    assert!(real.body.contains("acme &#38; Sons"), "{}", real.body);
}

#[actix_web::test]
async fn wrong_unknown_and_codeless_answers_look_the_same() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    let wrong = browser.post(&portal, "/s/real", &[("code", "WRONGWRONG")]).await;
    let unknown = browser.post(&portal, "/s/made-up", &[("code", "WRONGWRONG")]).await;
    let codeless = browser.post(&portal, "/s/real", &[]).await;
    let nothing = browser.post(&portal, "/s/made-up", &[]).await;
    assert_eq!(wrong.status, 403);
    for other in [unknown, codeless, nothing] {
        assert_eq!((other.status, &other.body), (wrong.status, &wrong.body));
    }
    wrong.is_clean();
    assert!(browser.cookies.is_empty());
    let empty = browser.post(&portal, "/s/real", &[("code", "  ")]).await;
    assert_eq!(empty.status, 422);
}

#[actix_web::test]
async fn a_right_code_opens_everything_that_was_shared_and_nothing_runs() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    let entered = browser.post(&portal, "/s/real", &[("code", " abcd-efgh ")]).await;
    assert_eq!((entered.status.as_u16(), entered.header("location").as_str()), (303, "/s/real/view"));
    let cookie = entered.header("set-cookie");
    for part in ["__Secure-cardea-share-", "HttpOnly", "SameSite=Lax", "Secure", "Path=/s/real", "Max-Age=1800"] {
        assert!(cookie.contains(part), "{part} in {cookie}");
    }
    let view = browser.get(&portal, "/s/real/view").await;
    view.is_clean();
    assert_eq!(view.status, 200);
    assert!(view.body.contains("5 Dec 2026, 23:59 UTC") && view.body.contains("/s/real/view/findings/v1"));
    assert!(!view.body.contains("ABCDEFGH"));
    let finding = browser.get(&portal, "/s/real/view/findings/v1").await;
    finding.is_clean();
    assert_eq!(finding.status, 200);
    assert!(finding.body.contains("[left out]") && finding.body.contains("[U+202E]"));
    assert_eq!(browser.get(&portal, "/s/real/view/findings/other").await.status, 404);
    assert!(bench.fake.lock().unwrap().asked.iter().all(|(_, _, bearer, _)| bearer.is_empty()));
}

#[actix_web::test]
async fn a_report_comes_with_the_key_of_the_company_and_only_for_report_shares() {
    let bench = Bench::new();
    bench.share("whole", "REPORT", None).await;
    bench.share("single", "VUL", None).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.get(&portal, "/s/whole/view/report?type=pdf").await.header("location"), "/s/whole");
    assert_eq!(browser.post(&portal, "/s/whole", &[]).await.status, 303);
    assert_eq!(browser.post(&portal, "/s/single", &[]).await.status, 303);
    let without = browser.get(&portal, "/s/whole/view/report?type=html").await;
    without.is_clean();
    assert_eq!(without.status, 503);

    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let report = browser.get(&portal, "/s/whole/view/report?type=html").await;
    assert_eq!(report.status, 200, "{}", report.body);
    assert!(report.body.starts_with("report with type=html"));
    assert_eq!(report.header("content-security-policy"), "sandbox");
    assert!(report.header("content-disposition").starts_with("attachment; filename=\"report_"));
    let key = bench.vault.list(&acme).await.unwrap()[0].id.clone();
    assert_eq!(bench.vault.uses(&acme).await.unwrap()[&key].total(), 1);
    assert_eq!(browser.get(&portal, "/s/whole/view/report?type=exe").await.status, 400);
    assert_eq!(browser.get(&portal, "/s/single/view/report?type=pdf").await.status, 404);
    assert_eq!(bench.asked("/v2/tasks/t1/report"), 1);
}

#[actix_web::test]
async fn a_grant_is_for_its_share_and_tenant_and_ends_when_asked() {
    let bench = Bench::new();
    bench.share("one", "VUL", Some("ABCDEFGH")).await;
    bench.share("two", "VUL", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/one", &[("code", "ABCDEFGH")]).await;
    let mut copied = browser.cookies[0].clone();
    copied.set_path("/");
    let mut other = Browser { cookies: vec![copied.clone()], ..Browser::new("acme.example") };
    assert_eq!(other.get(&portal, "/s/two/view").await.header("location"), "/s/two");
    let mut foreign = Browser { cookies: vec![copied], ..Browser::new("globex.example") };
    assert_eq!(foreign.get(&portal, "/s/one/view").await.header("location"), "/s/one");

    assert_eq!(browser.get(&portal, "/s/one/view").await.status, 200);
    let mut kept = Browser { cookies: browser.cookies.clone(), ..Browser::new("acme.example") };
    let done = browser.post(&portal, "/s/one/close", &[]).await;
    done.is_clean();
    assert!(browser.cookies.is_empty());
    assert_eq!(kept.get(&portal, "/s/one/view").await.status, 303);
}

#[actix_web::test]
async fn a_share_that_ends_meanwhile_gives_a_neutral_page() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    bench.fake.lock().unwrap().shares.clear();
    for path in ["/s/real/view", "/s/real/view/findings/v1", "/s/real/view/report"] {
        let over = browser.get(&portal, path).await;
        over.is_clean();
        assert_eq!(over.status, 404, "{path}");
        assert!(over.body.contains("has ended"));
    }
}

#[actix_web::test]
async fn five_wrong_codes_close_the_door_for_a_network_and_not_for_another() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    for _ in 0..5 {
        assert_eq!(browser.post(&portal, "/s/real", &[("code", "WRONGWRONG")]).await.status, 403);
    }
    let asked = bench.asked("/public/real");
    let locked = browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    assert_eq!((locked.status.as_u16(), locked.header("retry-after").as_str()), (429, "900"));
    assert!(locked.body.contains("15 minutes"), "{}", locked.body);
    assert_eq!(bench.asked("/public/real"), asked);
    let mut elsewhere = Browser { address: "198.51.100.9:4000", ..Browser::new("acme.example") };
    assert_eq!(elsewhere.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 303);
    bench.clock.advance(std::time::Duration::from_secs(901));
    assert_eq!(browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 303);
}

#[actix_web::test]
async fn another_site_cannot_send_the_form_and_a_broken_service_is_told_as_such() {
    let bench = Bench::new();
    bench.share("real", "VUL", None).await;
    let portal = bench.portal().await;
    let request = actix_web::test::TestRequest::post()
        .uri("/s/real")
        .insert_header(("host", "acme.example"))
        .insert_header(("sec-fetch-site", "cross-site"));
    assert_eq!((portal.0)(request).await.status(), 403);
    bench.fake.lock().unwrap().broken = Some(500);
    let mut browser = Browser::new("acme.example");
    let down = browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    down.is_clean();
    assert_eq!(down.status, 502);
    bench.fake.lock().unwrap().broken = Some(429);
    let slowed = browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    slowed.is_clean();
    // The service slows down for shares that exist only: told on, it would tell which do.
    assert_eq!(slowed.status, 403);
}

#[actix_web::test]
async fn a_share_of_one_company_does_not_open_at_the_door_of_another() {
    let bench = Bench::new();
    bench.share("coded", "VUL", Some("ABCDEFGH")).await;
    bench.share("open", "VUL", None).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("globex.example");
    let coded = browser.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await;
    let made_up = browser.post(&portal, "/s/made-up", &[("code", "ABCDEFGH")]).await;
    assert_eq!((coded.status, coded.body), (made_up.status, made_up.body.replace("made-up", "coded")));
    assert!(browser.cookies.is_empty());
    let mut own = Browser::new("acme.example");
    assert_eq!(own.post(&portal, "/s/coded", &[("code", "ABCD-EFGH")]).await.status, 303);
}

#[actix_web::test]
async fn a_door_keeps_its_headers_however_its_address_is_spelled() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    for path in ["/s/some", "/%73/some"] {
        let door = browser.get(&portal, path).await;
        assert_eq!(
            (door.header("referrer-policy").as_str(), door.header("x-robots-tag").as_str()),
            ("no-referrer", "noindex, nofollow, noarchive"),
            "{path}"
        );
    }
}

#[actix_web::test]
async fn a_key_that_is_not_accepted_any_more_never_sends_a_recipient_to_sign_in() {
    let bench = Bench::new();
    bench.share("whole", "REPORT", None).await;
    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "old".into(), Secret::new("sk-revoked-at-the-service"), "alice".into()).await.unwrap();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/whole", &[]).await;
    let report = browser.get(&portal, "/s/whole/view/report?type=pdf").await;
    report.is_clean();
    assert_eq!(report.status, 503);
    assert!(report.body.contains("/s/whole/view"));
}

#[actix_web::test]
async fn while_a_key_is_replaced_the_other_active_one_serves_when_the_new_one_is_refused() {
    let bench = Bench::new();
    bench.share("whole", "REPORT", None).await;
    let acme = TenantId::parse("acme").unwrap();
    let good = bench.vault.add_active(&acme, "old".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let new = Secret::new("sk-not-known-there-yet");
    let new = bench.vault.add_active(&acme, "new".into(), new, "alice".into()).await.unwrap();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/whole", &[]).await;
    let report = browser.get(&portal, "/s/whole/view/report?type=html").await;
    assert_eq!(report.status, 200, "{}", report.body);
    assert_eq!(bench.asked("/v2/tasks/t1/report"), 2);
    let uses = bench.vault.uses(&acme).await.unwrap();
    assert_eq!((uses[&good.id].total(), uses[&new.id].total()), (1, 1), "each call is counted with its own key");
}

#[actix_web::test]
async fn chains_of_a_share_are_open_to_whoever_holds_its_grant_and_lead_only_to_what_was_shared() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    bench.share("codeless", "REPORT", None).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.get(&portal, "/s/real/view/chains/c1").await.header("location"), "/s/real");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let view = browser.get(&portal, "/s/real/view").await;
    view.is_clean();
    assert!(view.body.contains("href=\"/s/real/view/chains/c1\""), "{}", view.body);
    // The numbers are those of the findings that are shown, and what was not found is not listed.
    assert!(
        view.body.contains("1 finding: <span class=\"sev critical\">1 Critical</span>") && !view.body.contains("0 "),
        "{}",
        view.body
    );
    let chain = browser.get(&portal, "/s/real/view/chains/c1").await;
    chain.is_clean();
    assert_eq!(chain.status, 200);
    assert!(chain.body.contains("Derived from bytecode, not executed") && chain.body.contains("[left out]"), "{}", chain.body);
    assert!(chain.body.contains("/s/real/view/findings/v1") && !chain.body.contains("not-shared"), "{}", chain.body);
    assert!(!chain.body.contains("/tasks/"), "nothing leads to pages of people with an account");
    let finding = browser.get(&portal, "/s/real/view/findings/v1").await;
    finding.is_clean();
    assert!(finding.body.contains("href=\"/s/real/view/chains/c1\""), "{}", finding.body);
    // A service that tells of more than was shared is not believed.
    assert!(!view.body.contains("/view/chains/c2"), "{}", view.body);
    for other in ["c2", "other"] {
        assert_eq!(browser.get(&portal, &format!("/s/real/view/chains/{other}")).await.status, 404);
    }

    browser.post(&portal, "/s/codeless", &[]).await;
    assert_eq!(browser.get(&portal, "/s/codeless/view/chains/c1").await.status, 200);
    // An inventory of everything inside is more than what was shared.
    for form in ["cyclonedx", "spdx"] {
        assert_eq!(browser.get(&portal, &format!("/s/codeless/view/report?type={form}")).await.status, 404);
    }
    bench.fake.lock().unwrap().shares.clear();
    assert_eq!(browser.get(&portal, "/s/real/view/chains/c1").await.status, 404);
    assert!(bench.fake.lock().unwrap().asked.iter().all(|(_, _, bearer, _)| bearer.is_empty()));
}
