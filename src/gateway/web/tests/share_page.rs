//! The recipient's side.

use std::time::Duration;

use actix_web::body::MessageBody as _;
use serde_json::json;

use super::administration::save;
use super::bench::{Answer, Bench, Browser, GOOD_KEY, Site, XSS, alice};
use crate::config::gateway::PublicAuth;
use crate::gateway::domain::share_entry::{Entry, Mark, Outcome, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::Ledger;
use crate::gateway::store::tests::bench::until;
use crate::platform::secret::Secret;

/// What a person sends who has ticked the box.
const OPEN: &[(&str, &str)] = &[("wanted", "yes")];

#[actix_web::test]
async fn the_door_is_the_same_for_every_id_and_asks_nobody() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    let real = browser.get(&portal, "/s/real").await;
    real.is_clean();
    assert_eq!(real.status, 200);
    let open = browser.get(&portal, "/o/real").await;
    open.is_clean();
    for other in ["made-up", "x", "%3Cscript%3E", "%E2%80%AE", &"y".repeat(128)] {
        let answer = browser.get(&portal, &format!("/s/{other}")).await;
        assert_eq!((answer.status, &answer.body), (real.status, &real.body), "{other}");
        let answer = browser.get(&portal, &format!("/o/{other}")).await;
        assert_eq!((answer.status, &answer.body), (open.status, &open.body), "{other}");
    }
    assert!(bench.fake.lock().unwrap().asked.is_empty());
    assert_eq!(real.header("referrer-policy"), "no-referrer");
    assert!(real.header("x-robots-tag").contains("noindex"));
    assert_eq!(real.header("cache-control"), "no-store");
    for neutral in ["og:title", "og:description", "name=\"robots\" content=\"noindex, nofollow, noarchive\""] {
        assert!(real.body.contains(neutral) && open.body.contains(neutral), "{neutral}");
    }
    let robots = browser.get(&portal, "/robots.txt").await;
    assert_eq!(robots.body, "User-agent: *\nAllow: /s/\nAllow: /o/\nDisallow: /\n");
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
    assert_eq!(wrong.status, 403);
    assert_eq!((unknown.status, &unknown.body), (wrong.status, &wrong.body));
    wrong.is_clean();
    let coded = browser.post(&portal, "/o/real", OPEN).await;
    let nothing = browser.post(&portal, "/o/made-up", OPEN).await;
    coded.is_clean();
    assert_eq!((coded.status, &coded.body, coded.status.as_u16()), (nothing.status, &nothing.body, 403));
    assert!(browser.cookies.is_empty());
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
    assert!(view.body.contains("29 Nov 2026") && view.body.contains("/s/real/view/findings/v1"));
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
    assert_eq!(browser.get(&portal, "/o/whole/view/report?type=pdf").await.header("location"), "/o/whole?again");
    assert_eq!(browser.post(&portal, "/o/whole", OPEN).await.status, 303);
    assert_eq!(browser.post(&portal, "/o/single", OPEN).await.status, 303);
    let without = browser.get(&portal, "/o/whole/view/report?type=html").await;
    without.is_clean();
    assert_eq!(without.status, 503);

    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let report = browser.get(&portal, "/o/whole/view/report?type=html").await;
    assert_eq!(report.status, 200, "{}", report.body);
    assert!(report.body.starts_with("report with type=html"));
    let short = Mark::of(&acme, &"whole".parse().unwrap()).short().to_owned();
    assert!(
        report.body.contains(&format!("through share {short}, downloaded 2026-11-28T01:10:30Z. Confidential")),
        "{}",
        report.body
    );
    assert!(report.header("content-disposition").contains(&format!("_share-{short}.html")));
    assert_eq!(report.header("content-security-policy"), "sandbox");
    assert!(report.header("content-disposition").starts_with("attachment; filename=\"report_"));
    let key = bench.vault.list(&acme).await.unwrap()[0].id.clone();
    assert_eq!(bench.vault.uses(&acme).await.unwrap()[&key].total(), 1);
    assert_eq!(browser.get(&portal, "/o/whole/view/report?type=exe").await.status, 400);
    assert_eq!(browser.get(&portal, "/o/single/view/report?type=pdf").await.status, 404);
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
    assert_eq!(other.get(&portal, "/s/two/view").await.header("location"), "/s/two?again");
    let mut foreign = Browser { cookies: vec![copied], ..Browser::new("globex.example") };
    assert_eq!(foreign.get(&portal, "/s/one/view").await.header("location"), "/s/one?again");

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

/// Does `work` while the service is about to answer what `sent` asks there, from what it knew before.
async fn meanwhile(
    bench: &Bench,
    asks: &'static str,
    sent: impl Future<Output = Answer>,
    work: impl Future<Output = ()>,
) -> Answer {
    let before = bench.asked(asks);
    bench.fake.lock().unwrap().slow = Some(asks);
    let work = async {
        until("the service to be asked", async || bench.asked(asks) > before).await;
        work.await;
        bench.fake.lock().unwrap().slow = None;
    };
    futures_util::future::join(sent, work).await.0
}

#[actix_web::test]
async fn what_the_service_took_its_time_for_is_not_shown_when_the_share_was_ended_meanwhile() {
    let pages = [
        ("/s/real/view", "/public/real"),
        ("/s/real/view/findings/v1", "/public/real"),
        ("/s/real/view/chains/c1", "/public/real"),
        ("/s/real/view/report?type=html", "/t1/report"),
    ];
    for (path, asks) in pages {
        let bench = Bench::new();
        let acme = TenantId::parse("acme").unwrap();
        bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
        bench.share("real", "REPORT", Some("ABCDEFGH")).await;
        let portal = bench.portal().await;
        let mut browser = Browser::new("acme.example");
        browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
        assert_eq!(browser.get(&portal, path).await.status, 200, "{path}");
        let end = bench.change("real", |entry| {
            entry.end(entry.made, &"alice".into());
        });
        let over = meanwhile(&bench, asks, browser.get(&portal, path), end).await;
        assert_eq!(over.status, 404, "{path}");
        assert!(over.body.contains("has ended"), "{}", over.body);
    }
}

#[actix_web::test]
async fn a_code_that_is_replaced_while_the_service_looks_at_it_opens_nothing_and_takes_no_view() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let renew = || bench.change("real", |entry| entry.renew_code(Ledger::check_of(&Secret::new("NEWNEWNEW")).unwrap()));
    let mut browser = Browser::new("acme.example");
    let sent = browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]);
    let refused = meanwhile(&bench, "/public/real", sent, renew()).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let entry = bench.entry("real").await;
    assert_eq!((entry.views, entry.codes), (0, 1));
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
    bench.clock.advance(Duration::from_secs(901));
    assert_eq!(browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 303);
}

#[actix_web::test]
async fn another_site_cannot_send_the_form_and_a_broken_service_is_told_as_such() {
    let bench = Bench::with(|settings| settings.shares.turn_ms = 0);
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
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
    // A right code whose turn does not come is told that, and nothing of wrong codes.
    bench.fake.lock().unwrap().broken = Some(429);
    let slowed = browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    slowed.is_clean();
    // Only a right code gets as far as the service, so this tells nothing to others.
    assert_eq!(slowed.status, 429);
    assert!(slowed.body.contains("not looked at yet") && !slowed.body.contains("wrong codes"), "{}", slowed.body);
    let wrong = browser.post(&portal, "/s/real", &[("code", "WRONGWRONG")]).await;
    assert_eq!(wrong.status, 403);
}

#[actix_web::test]
async fn a_right_code_waits_its_turn_while_the_service_looks_at_none() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    bench.fake.lock().unwrap().broken = Some(429);
    let mut browser = Browser::new("acme.example");
    let mended = async {
        until("the door has asked", async || bench.asked("/public/real") > 0).await;
        bench.fake.lock().unwrap().broken = None;
    };
    let form = [("code", "ABCDEFGH")];
    let (opened, ()) = futures_util::future::join(browser.post(&portal, "/s/real", &form), mended).await;
    assert_eq!(opened.status, 303, "{}", opened.body);
}

#[actix_web::test]
async fn a_browser_that_names_no_origin_opens_a_door_and_sends_nothing_else() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    bench.share("free", "VUL", None).await;
    let portal = bench.portal().await;
    let send = async |path: &str, origin: &str, site: Option<&str>, form: &[(&str, &str)]| {
        let mut request = actix_web::test::TestRequest::post()
            .uri(path)
            .peer_addr("192.0.2.7:4000".parse().unwrap())
            .insert_header(("host", "acme.example"))
            .insert_header(("origin", origin))
            .set_form(form);
        if let Some(site) = site {
            request = request.insert_header(("sec-fetch-site", site));
        }
        (portal.0)(request).await.status().as_u16()
    };
    let code = [("code", "ABCDEFGH")];
    assert_eq!(send("/s/real", "null", None, &code).await, 303);
    assert_eq!(send("/o/free", "null", None, OPEN).await, 303);
    assert_eq!(send("/s/real/close", "null", None, &[]).await, 200);
    for (path, origin, site) in [
        ("/s/real", "null", Some("cross-site")),
        ("/s/real", "null", Some("same-site")),
        ("/s/real", "https://evil.example", None),
        ("/shares", "null", None),
        ("/shares/end", "null", None),
        ("/session", "null", None),
        ("/s", "null", None),
    ] {
        assert_eq!(send(path, origin, site, &code).await, 403, "{path} from {origin} {site:?}");
    }
}

#[actix_web::test]
async fn a_grant_that_is_void_stays_so_when_what_voided_it_is_taken_back() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    assert_eq!(browser.get(&portal, "/s/real/view").await.status, 200);
    bench.change("real", |entry| entry.version += 1).await;
    assert_eq!(browser.get(&portal, "/s/real/view").await.status, 303);
    bench.change("real", |entry| entry.version -= 1).await;
    assert_eq!(browser.get(&portal, "/s/real/view").await.status, 303);
}

/// Begins a report as a recipient; why it is cut after `end`, and nothing where it looks whole.
async fn cut_after(end: impl AsyncFnOnce(&Site, &mut Browser)) -> String {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    bench.fake.lock().unwrap().report_stays = true;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let mut request =
        actix_web::test::TestRequest::with_uri("/s/real/view/report?type=html").insert_header(("host", "acme.example"));
    for cookie in &browser.cookies {
        request = request.cookie(cookie.clone());
    }
    let answer = (portal.0)(request).await;
    assert_eq!(answer.status(), 200);
    let mut body = std::pin::pin!(answer.into_body());
    let begun = std::future::poll_fn(|context| body.as_mut().poll_next(context)).await;
    assert!(begun.unwrap().is_ok());
    end(&portal, &mut browser).await;
    let rest = async {
        while let Some(piece) = std::future::poll_fn(|context| body.as_mut().poll_next(context)).await {
            if let Err(error) = piece {
                return error.to_string();
            }
        }
        String::new()
    };
    tokio::time::timeout(Duration::from_secs(20), rest).await.expect("the report is not cut")
}

#[actix_web::test]
async fn who_is_done_gets_no_more_of_a_report_that_is_on_its_way() {
    let done = async |portal: &Site, browser: &mut Browser| {
        assert_eq!(browser.post(portal, "/s/real/close", &[]).await.status, 200);
    };
    assert_eq!(cut_after(done).await, "the share ended");
}

#[actix_web::test]
async fn a_policy_that_a_share_does_not_fit_any_more_cuts_a_report_that_is_on_its_way() {
    let forbidden = async |portal: &Site, _: &mut Browser| {
        let (mut alice, _) = alice(portal).await;
        let page = alice.get(portal, "/admin/policy").await;
        assert_eq!(save(&mut alice, portal, &page, &[("evidence", None)]).await.status, 303);
    };
    assert_eq!(cut_after(forbidden).await, "the share ended");
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
    assert_eq!(browser.post(&portal, "/o/open", OPEN).await.status, 403);
    let mut own = Browser::new("acme.example");
    assert_eq!(own.post(&portal, "/o/open", OPEN).await.status, 303);
    assert_eq!(own.post(&portal, "/s/coded", &[("code", "ABCD-EFGH")]).await.status, 303);
}

#[actix_web::test]
async fn a_door_keeps_its_headers_however_its_address_is_spelled() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    for path in ["/s/some", "/%73/some", "/o/some", "/%6f/some", "/o/some/view"] {
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
    browser.post(&portal, "/o/whole", OPEN).await;
    let report = browser.get(&portal, "/o/whole/view/report?type=pdf").await;
    report.is_clean();
    assert_eq!(report.status, 503);
    assert!(report.body.contains("/o/whole/view"));
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
    browser.post(&portal, "/o/whole", OPEN).await;
    let report = browser.get(&portal, "/o/whole/view/report?type=html").await;
    assert_eq!(report.status, 200, "{}", report.body);
    assert_eq!(bench.asked("/v2/tasks/t1/report"), 2);
    let uses = bench.vault.uses(&acme).await.unwrap();
    assert_eq!((uses[&good.id].total(), uses[&new.id].total()), (1, 1), "each call is counted with its own key");
}

#[actix_web::test]
async fn doors_use_the_other_active_key_when_the_first_is_refused_and_a_refused_key_is_no_wrong_code() {
    let bench = Bench::with(|settings| {
        settings.tenants.get_mut("acme").unwrap().service.public_auth = PublicAuth::Sk;
    });
    let by_number = json!({"success": false, "message": "no", "data": {"errCode": 4010, "errDetail": "no"}});
    bench.fake.lock().unwrap().public_wants_key = Some(by_number);
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let acme = TenantId::parse("acme").unwrap();
    let new = Secret::new("sk-not-known-there-yet");
    let good = bench.vault.add_active(&acme, "old".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let new = bench.vault.add_active(&acme, "new".into(), new, "alice".into()).await.unwrap();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 303);
    for page in ["/s/real/view", "/s/real/view/findings/v1", "/s/real/view/chains/c1"] {
        let shown = browser.get(&portal, page).await;
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
    }
    let uses = bench.vault.uses(&acme).await.unwrap();
    assert_eq!(uses[&good.id].total(), uses[&new.id].total(), "each call was made once with either");
    assert!(uses[&good.id].total() >= 4);

    // Without a key that is believed nobody gets in, and that is nobody's wrong code.
    bench.vault.remove(&acme, &good.id).await.unwrap();
    let mut other = Browser::new("acme.example");
    for _ in 0..7 {
        let told = other.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
        told.is_clean();
        assert_eq!(told.status, 502, "{}", told.body);
    }
    bench.noted("real", &[Outcome::Opened]).await;
    // A service that gives its refusals no numbers may as well mean the code.
    bench.fake.lock().unwrap().public_wants_key = Some(json!("no"));
    assert_eq!(other.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 403);
    bench.noted("real", &[Outcome::WrongCode, Outcome::Opened]).await;
}

#[actix_web::test]
async fn chains_of_a_share_are_open_to_whoever_holds_its_grant_and_lead_only_to_what_was_shared() {
    let bench = Bench::new();
    bench.share("real", "VUL", Some("ABCDEFGH")).await;
    bench.share("codeless", "REPORT", None).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.get(&portal, "/s/real/view/chains/c1").await.header("location"), "/s/real?again");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let view = browser.get(&portal, "/s/real/view").await;
    view.is_clean();
    assert!(view.body.contains("href=\"/s/real/view/chains/c1\""), "{}", view.body);
    // The numbers are those of the findings that are shown, and what was not found is not listed.
    assert!(
        view.body.contains("1 finding: <span class=\"sev critical\">1 Critical</span>") && !view.body.contains(">0 "),
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

    browser.post(&portal, "/o/codeless", OPEN).await;
    assert_eq!(browser.get(&portal, "/o/codeless/view/chains/c1").await.status, 200);
    // An inventory of everything inside is more than what was shared.
    for form in ["cyclonedx", "spdx"] {
        assert_eq!(browser.get(&portal, &format!("/o/codeless/view/report?type={form}")).await.status, 404);
    }
    bench.fake.lock().unwrap().shares.clear();
    assert_eq!(browser.get(&portal, "/s/real/view/chains/c1").await.status, 404);
    assert!(bench.fake.lock().unwrap().asked.iter().all(|(_, _, bearer, _)| bearer.is_empty()));
}

#[actix_web::test]
async fn whatever_only_looks_at_a_door_or_sends_its_form_by_itself_costs_nothing() {
    let bench = Bench::new();
    bench.share_with("coded", "REPORT", Some("ABCDEFGH"), |entry| entry.most_views = Some(1)).await;
    bench.share("open", "REPORT", None).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    for door in ["/s/coded", "/o/open", "/s/open", "/o/coded", "/s/made-up", "/o/made-up"] {
        for _ in 0..100 {
            for (method, accept) in [("GET", "text/html"), ("HEAD", "*/*"), ("GET", "application/json"), ("OPTIONS", "*/*")] {
                let request = actix_web::test::TestRequest::with_uri(door)
                    .method(method.parse().unwrap())
                    .insert_header(("host", "acme.example"))
                    .insert_header(("user-agent", "Slackbot-LinkExpanding 1.0"))
                    .insert_header(("accept", accept));
                assert!((portal.0)(request).await.status().is_success(), "{method} {door}");
            }
            let sent: &[(&str, &str)] = if door.starts_with("/s") { &[("code", "")] } else { &[] };
            assert_eq!(browser.post(&portal, door, sent).await.status, 422, "{door}");
        }
    }
    for id in ["coded", "open"] {
        let entry = bench.entry(id).await;
        assert_eq!((entry.views, entry.last_opened), (0, None), "{id}");
        assert!(bench.accesses(id).await.is_empty());
    }
    assert!(bench.fake.lock().unwrap().asked.is_empty());
    assert_eq!(browser.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await.status, 303, "nobody is locked out");
    assert_eq!(browser.post(&portal, "/o/open", OPEN).await.status, 303);
}

#[actix_web::test]
async fn of_fifty_who_send_the_right_code_at_once_one_gets_the_last_view_and_reads_on_for_free() {
    let bench = Bench::with(|settings| settings.shares.wrong_by_network = 100);
    bench.share_with("once", "REPORT", Some("ABCDEFGH"), |entry| entry.most_views = Some(1)).await;
    let portal = bench.portal().await;
    let tries = (0..50).map(|_| async {
        let mut browser = Browser::new("acme.example");
        let answer = browser.post(&portal, "/s/once", &[("code", "ABCDEFGH")]).await;
        (answer, browser)
    });
    let mut outcomes = futures_util::future::join_all(tries).await;
    outcomes.sort_by_key(|(answer, _)| answer.status);
    let statuses: Vec<u16> = outcomes.iter().map(|(answer, _)| answer.status.as_u16()).collect();
    assert_eq!((statuses[0], statuses[1..].iter().all(|status| *status == 403)), (303, true), "{statuses:?}");
    let (late, _) = &outcomes[7];
    late.is_clean();
    assert!(late.body.contains("as often as it may be"), "{}", late.body);
    let winner = &mut outcomes[0].1;
    for path in ["/s/once/view", "/s/once/view/findings/v1", "/s/once/view/chains/c1"].repeat(4) {
        let page = winner.get(&portal, path).await;
        assert_eq!(page.status, 200, "{path}");
    }
    let view = winner.get(&portal, "/s/once/view").await;
    assert!(view.body.contains("None after this one"), "{}", view.body);
    let entry = bench.entry("once").await;
    assert_eq!((entry.views, entry.state(bench.clock.now())), (1, State::UsedUp));
    bench.clock.advance(Duration::from_mins(31));
    assert_eq!(winner.get(&portal, "/s/once/view").await.header("location"), "/s/once?again");
}

#[actix_web::test]
async fn only_a_right_code_is_told_why_a_share_does_not_open() {
    let bench = Bench::new();
    bench.share_with("used", "REPORT", Some("ABCDEFGH"), |entry| (entry.most_views, entry.views) = (Some(2), 2)).await;
    bench.share_with("ended", "REPORT", Some("ABCDEFGH"), |entry| entry.ended = Some((entry.made, "alice".into()))).await;
    bench.share_with("expired", "REPORT", Some("ABCDEFGH"), |entry| entry.ends = Some(entry.made)).await;
    bench.share("gone", "REPORT", Some("ABCDEFGH")).await;
    bench.fake.lock().unwrap().shares.remove("gone");
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    let unknown = browser.post(&portal, "/s/made-up", &[("code", "WRONGWRONG")]).await;
    for (id, words) in
        [("used", "as often as it may be"), ("ended", "was ended"), ("expired", "come to its end"), ("gone", "was ended")]
    {
        let wrong = browser.post(&portal, &format!("/s/{id}"), &[("code", "WRONGWRONG")]).await;
        assert_eq!((wrong.status, &wrong.body), (unknown.status, &unknown.body), "{id}");
        let right = browser.post(&portal, &format!("/s/{id}"), &[("code", "abcd efgh")]).await;
        right.is_clean();
        assert_eq!(right.status, 403, "{id}");
        assert!(right.body.contains(words), "{id}: {}", right.body);
        bench.noted(id, &[Outcome::TooLate, Outcome::WrongCode]).await;
    }
    // What is over here is over, whatever the service thinks.
    assert_eq!(bench.asked("/public/used") + bench.asked("/public/ended") + bench.asked("/public/expired"), 0);
}

#[actix_web::test]
async fn everything_that_changes_a_share_ends_what_was_granted_before_at_once() {
    let changes: [fn(&mut Entry); 3] = [
        |entry| {
            entry.ended = Some((entry.made, "alice".into()));
            entry.version += 1;
        },
        |entry| entry.renew_code(Ledger::check_of(&Secret::new("NEWNEWNEW")).unwrap()),
        |entry| entry.ends = Some(entry.made),
    ];
    for change in changes {
        let bench = Bench::new();
        bench.share("real", "REPORT", Some("ABCDEFGH")).await;
        let portal = bench.portal().await;
        let mut browser = Browser::new("acme.example");
        browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
        assert_eq!(browser.get(&portal, "/s/real/view").await.status, 200);
        bench.change("real", change).await;
        for path in ["/s/real/view", "/s/real/view/findings/v1", "/s/real/view/chains/c1", "/s/real/view/report"] {
            let sent_out = browser.get(&portal, path).await;
            assert_eq!((sent_out.status.as_u16(), sent_out.header("location").as_str()), (303, "/s/real?again"), "{path}");
        }
    }
}

#[actix_web::test]
async fn wrong_codes_of_many_networks_kill_a_code_in_the_end_and_its_owner_sees_it_while_others_get_in_until_then() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let addresses: Vec<&'static str> =
        (0..200).map(|at| &*Box::leak(format!("198.{}.{}.9:1", at / 100, at % 100).into_boxed_str())).collect();
    let wrong = async |at: usize, id: &str| {
        let mut guesser = Browser { address: addresses[at], ..Browser::new("acme.example") };
        guesser.post(&portal, &format!("/s/{id}"), &[("code", "WRONGWRONG")]).await.status.as_u16()
    };
    let mut statuses = Vec::new();
    for at in 0..100 {
        let (real, made_up) = (wrong(at, "real").await, wrong(at, "made-up").await);
        assert_eq!(real, made_up, "try {at} tells which exists");
        statuses.push(real);
        if at == 60 {
            let mut fresh = Browser { address: "203.0.113.9:1", ..Browser::new("acme.example") };
            assert_eq!(fresh.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 303, "while everybody waits");
        }
    }
    assert_eq!((&statuses[..20], &statuses[20..]), (&[403; 20][..], &[429; 80][..]));
    assert!(bench.entry("real").await.code_dead);
    assert_eq!(bench.asked("/public/real"), 1, "guesses cost the service nothing");
    let short = Mark::of(&TenantId::parse("acme").unwrap(), &"real".parse().unwrap()).short().to_owned();
    assert_eq!(bench.written("share_guarded").await, [format!("locked {short}"), format!("code_dead {short}")]);
    let mut late = Browser { address: "203.0.113.77:1", ..Browser::new("acme.example") };
    bench.clock.advance(Duration::from_mins(31));
    assert_eq!(late.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 403, "the code is dead");
    bench.change("real", |entry| entry.renew_code(Ledger::check_of(&Secret::new("NEWNEWNEW")).unwrap())).await;
    bench.fake.lock().unwrap().shares.get_mut("real").unwrap().code = Some("NEWNEWNEW".to_owned());
    assert_eq!(late.post(&portal, "/s/real", &[("code", "newn-ewne-w")]).await.status, 303);
}

#[actix_web::test]
async fn what_its_owner_hides_is_nowhere_and_the_page_says_who_shared_it_and_for_how_long() {
    let bench = Bench::new();
    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let adjust = |entry: &mut Entry| {
        entry.hides_evidence = true;
        entry.most_views = Some(3);
        entry.note = format!("Please look at this first. {XSS}").as_str().into();
        entry.maker.name = "Alice Example".into();
    };
    bench.share_with("real", "REPORT", Some("ABCDEFGH"), adjust).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let view = browser.get(&portal, "/s/real/view").await;
    view.is_clean();
    for words in [
        "Alice Example at acme",
        "Please look at this first",
        "2 views after this one",
        "29 Nov 2026",
        "left proofs and code out",
    ] {
        assert!(view.body.contains(words), "{words} in {}", view.body);
    }
    assert!(!view.body.contains("/view/report"), "{}", view.body);
    assert_eq!(browser.get(&portal, "/s/real/view/report?type=html").await.status, 404);
    let of_a_finding = ["curl -H", "Code 1", "SOURCE-OF-IT", "Source: where", "Way of the data"];
    let of_a_chain = ["Cookie", "Shown.java", "com.example.Shown", ":7", "What the proof"];
    for (path, hidden) in [("findings/v1", of_a_finding), ("chains/c1", of_a_chain)] {
        let page = browser.get(&portal, &format!("/s/real/view/{path}")).await;
        page.is_clean();
        assert_eq!(page.status, 200);
        for hidden in hidden.into_iter().chain(["Proof of concept", "BEFORE-OF-IT", "AFTER-OF-IT"]) {
            assert!(!page.body.contains(hidden), "{hidden} on {path}: {}", page.body);
        }
        assert!(page.body.contains("Principle"), "the fix in words stays: {}", page.body);
    }
    assert_eq!(bench.asked("/v2/tasks/t1/report"), 0);
}

#[actix_web::test]
async fn titles_and_places_hold_no_credentials_for_recipients_nor_in_the_preview() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    bench.fake.lock().unwrap().careless = true;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    browser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let (mut alice, _) = alice(&portal).await;
    for path in ["", "/findings/v1", "/chains/c1"] {
        let shown = browser.get(&portal, &format!("/s/real/view{path}")).await;
        let preview = alice.get(&portal, &format!("/shares/preview{path}?task=t1")).await;
        for page in [shown, preview] {
            // No credential is on a clean page.
            page.is_clean();
            assert_eq!(page.status, 200, "{path}");
            assert!(page.body.contains("Cookie: [left out]"), "{path}: {}", page.body);
        }
    }
    let shown = browser.get(&portal, "/s/real/view/findings/v1").await;
    assert!(shown.body.contains("<title>Cookie: [left out]") && shown.body.contains("<h1>Cookie: [left out]"), "{}", shown.body);
    assert!(shown.body.contains("BEFORE-OF-IT"), "nothing is hidden here: {}", shown.body);
}

#[actix_web::test]
async fn a_code_set_past_this_portal_is_learned_and_a_share_with_limited_views_never_opens_without_one() {
    let bench = Bench::new();
    bench.share_with("elsewhere", "REPORT", Some("ABCDEFGH"), |entry| entry.check = None).await;
    bench.share_with("limited", "REPORT", None, |entry| entry.most_views = Some(5)).await;
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.post(&portal, "/s/elsewhere", &[("code", "WRONGWRONG")]).await.status, 403);
    assert_eq!(browser.post(&portal, "/s/elsewhere", &[("code", "ABCDEFGH")]).await.status, 303);
    let asked = bench.asked("/public/elsewhere");
    assert_eq!(browser.post(&portal, "/s/elsewhere", &[("code", "WRONGWRONG")]).await.status, 403);
    assert_eq!(bench.asked("/public/elsewhere"), asked, "it is known by now");
    assert_eq!(browser.post(&portal, "/o/limited", OPEN).await.status, 403);
    assert_eq!(bench.entry("limited").await.views, 0);
}

#[actix_web::test]
async fn who_is_done_takes_nothing_along_and_stays_signed_in_where_they_are() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    alice.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await;
    let done = alice.post(&portal, "/s/real/close", &[]).await;
    assert_eq!(done.header("clear-site-data"), "\"cache\", \"storage\"");
    assert_eq!(alice.get(&portal, "/s/real/view").await.status, 303);
    assert_eq!(alice.get(&portal, "/shares").await.status, 200);
    bench.noted("real", &[Outcome::Left, Outcome::Opened]).await;
}
