//! The owner's side.

use std::time::Duration;

use super::bench::{Answer, Bench, Browser, Site, XSS, signed_in};
use crate::gateway::domain::share_entry::{Entry, Mark, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::{Try, View};

fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

fn mark(id: &str) -> Mark {
    Mark::of(&acme(), &id.parse().unwrap())
}

/// What the ledger has of a share of acme.
async fn entry(bench: &Bench, id: &str) -> Entry {
    bench.services.shares.ledger().entry(&acme(), &mark(id)).await.unwrap().unwrap()
}

/// The deeds of the audit trail, once there are so many: it is written behind.
async fn deeds(bench: &Bench, count: usize) -> Vec<String> {
    for _ in 0..1000 {
        if bench.written("share").await.len() >= count {
            break;
        }
        actix_web::rt::time::sleep(Duration::from_millis(5)).await;
    }
    bench.written("share").await
}

/// A filled form of a new share; further fields come last and count.
async fn form(portal: &Site, browser: &mut Browser, query: &str, more: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let new = browser.get(portal, &format!("/shares/new?task=t1{query}")).await;
    assert_eq!(new.status, 200, "{}", new.body);
    new.is_clean();
    let mut form = vec![("csrf", new.field("csrf")), ("once", new.field("once")), ("task", "t1".to_owned())];
    let what = if query.is_empty() { "report" } else { "findings" };
    if !query.is_empty() {
        form.push(("vul", "v1".to_owned()));
    }
    for (name, value) in
        [("what", what), ("code", "made"), ("own_code", ""), ("last_day", "2026-12-01"), ("views", ""), ("note", "")]
    {
        let given = more.iter().find(|(given, _)| *given == name).map_or(value, |(_, given)| *given);
        form.push((name, given.to_owned()));
    }
    let known = ["what", "code", "own_code", "last_day", "views", "note"];
    form.extend(more.iter().filter(|(name, _)| !known.contains(name)).map(|(name, value)| (*name, (*value).to_owned())));
    form
}

async fn post(portal: &Site, browser: &mut Browser, path: &str, form: &[(&'static str, String)]) -> Answer {
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post(portal, path, &form).await
}

/// Makes a share of all of `t1`, as `made-share-{number}`.
async fn share(portal: &Site, browser: &mut Browser, more: &[(&'static str, &str)]) -> Answer {
    let form = form(portal, browser, "", more).await;
    let made = post(portal, browser, "/shares", &form).await;
    assert_eq!(made.status, 200, "{}", made.body);
    made
}

#[actix_web::test]
async fn a_share_is_made_once_and_shows_its_link_and_code_once() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    assert!(alice.get(&portal, "/shares").await.header("location").starts_with("/auth/login"));
    alice.get(&portal, "/test/sign-in/alice/member").await;

    let new = alice.get(&portal, "/shares/new?task=t1&vul=v1").await;
    assert!(new.body.contains("value=\"2026-12-05\"") && new.body.contains("max=\"2027-02-26\""));
    assert!(new.body.contains("no active server key"));
    let note = format!("For you {XSS}");
    let form = form(&portal, &mut alice, "&vul=v1", &[("views", "3"), ("hide", "1"), ("note", &note), ("language", "zh")]).await;
    let created = post(&portal, &mut alice, "/shares", &form).await;
    created.is_clean();
    assert_eq!(created.status, 200, "{}", created.body);
    let kept = bench.fake.lock().unwrap().shares["made-share-1"].clone();
    let code = kept.code.clone().unwrap();
    let grouped = format!("{}-{}", &code[..4], &code[4..]);
    assert_eq!(kept.body["vulIds"], serde_json::json!(["v1"]));
    assert_eq!(kept.body["expiredAt"], "2026-12-01T23:59:59Z");
    // The link stands alone on its line, without a dot behind it; the code comes in a message of its own.
    assert!(created.body.contains("\n\nhttps://acme.example/s/made-share-1\n\n"), "{}", created.body);
    assert!(created.body.contains(&format!("https://acme.example/s/made-share-1\nCode: {grouped}\n")));
    let mail = created.body.split("href=\"mailto:").nth(1).unwrap().split('"').next().unwrap();
    assert!(mail.contains("made%2Dshare%2D1") && !mail.contains(&code[..4]) && !mail.contains('+'), "{mail}");
    assert!(created.body.contains("aria-label=\"QR code of the link\"") && created.body.contains("It opens 3 times"));

    let entry = entry(&bench, "made-share-1").await;
    assert_eq!((entry.most_views, entry.hides_evidence, entry.language.as_str(), entry.kept_days), (Some(3), true, "zh", 180));
    assert_eq!((entry.note.raw(), entry.project.raw(), entry.maker.name.raw()), (note.as_str(), XSS, "alice"));

    let again = post(&portal, &mut alice, "/shares", &form).await;
    again.is_clean();
    assert!(again.body.contains("already created") && !again.body.contains(&code[..4]));
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 1);
    for page in ["/shares".to_owned(), format!("/shares/{}", mark("made-share-1").as_str())] {
        let page = alice.get(&portal, &page).await;
        page.is_clean();
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(!page.body.contains("made-share-1") && !page.body.contains(&code[..4]), "{}", page.body);
    }
    assert_eq!(deeds(&bench, 1).await, [format!("made {}", mark("made-share-1").short())]);
}

#[actix_web::test]
async fn a_form_of_a_session_that_ran_out_is_a_page_with_a_way_back_and_shares_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/member").await;
    let form = form(&portal, &mut alice, "", &[("code", "none")]).await;
    bench.clock.advance(Duration::from_mins(31));
    let told = post(&portal, &mut alice, "/shares", &form).await;
    told.is_clean();
    assert_eq!((told.status.as_u16(), told.header("location").as_str()), (401, ""), "{}", told.body);
    assert!(told.body.contains("Nothing was changed") && told.body.contains("acme &#38; Sons"), "{}", told.body);
    // Nobody said which page the form was on; the list of shares is the nearest.
    assert!(told.body.contains("href=\"/auth/login?return_to=%2Fshares\""), "{}", told.body);
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert_eq!(alice.get(&portal, "/shares").await.status, 303, "a page is still redirected");
}

#[actix_web::test]
async fn a_form_that_cannot_be_used_comes_back_with_words_and_what_was_typed_and_makes_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/member").await;
    let long = "x".repeat(501);
    let refused: [&[(&'static str, &str)]; 9] = [
        &[("code", "own"), ("own_code", "short")],
        &[("code", "own"), ("own_code", "aaaaaaaaa")],
        &[("last_day", "2026-11-27")],
        &[("last_day", "2030-01-01")],
        &[("views", "0")],
        &[("views", "1001")],
        &[("views", "some")],
        &[("views", "1"), ("code", "none")],
        &[("note", &long)],
    ];
    for more in refused {
        let form = form(&portal, &mut alice, "", more).await;
        let answer = post(&portal, &mut alice, "/shares", &form).await;
        answer.is_clean();
        assert_eq!(answer.status, 422, "{more:?}");
        assert!(answer.body.contains("Nothing was shared yet") && !answer.body.contains("aaaaaaaaa"), "{}", answer.body);
        let typed = |name| form.iter().find(|(field, _)| *field == name).unwrap().1.clone();
        assert!(answer.body.contains(&format!("name=\"views\" value=\"{}\"", typed("views"))), "{}", answer.body);
    }
    // Everything at once, each linked to its field and marked there; a code is not put back, and that is said.
    let several = [("code", "own"), ("own_code", "short"), ("views", "0"), ("last_day", "2026-11-27"), ("note", &long)];
    let form_of_several = form(&portal, &mut alice, "", &several).await;
    let told = post(&portal, &mut alice, "/shares", &form_of_several).await;
    for link in ["#own", "#views", "#last-day", "#note"] {
        assert_eq!(told.body.matches(&format!("<a href=\"{link}\">")).count(), 1, "{link} in {}", told.body);
    }
    assert_eq!(told.body.matches("aria-invalid=\"true\"").count(), 4, "{}", told.body);
    assert!(told.body.contains("never put back into a page") && told.body.contains(&long), "{}", told.body);
    let fine = form(&portal, &mut alice, "", &[("code", "own"), ("own_code", "green-whale 8"), ("views", "0")]).await;
    let told = post(&portal, &mut alice, "/shares", &fine).await;
    assert!(told.body.contains("<a href=\"#own\">") && !told.body.contains("green-whale"), "{}", told.body);
    let mut form = form(&portal, &mut alice, "", &[("code", "own"), ("own_code", "blue-whale 7")]).await;
    bench.fake.lock().unwrap().broken = Some(500);
    assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status, 502);
    bench.fake.lock().unwrap().broken = None;
    let made = post(&portal, &mut alice, "/shares", &form).await;
    assert_eq!(made.status, 200);
    // Its owner knows it again; in the message it is one word, so that all of it can be pasted.
    assert!(made.body.contains(">blue-whale 7<") && made.body.contains("Code: blue-whale-7"), "{}", made.body);
    assert_eq!(bench.fake.lock().unwrap().shares["made-share-1"].code.as_deref(), Some("BLUEWHALE7"));
    form[0].1 = "forged".to_owned();
    assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status, 403);
}

#[actix_web::test]
async fn a_company_that_wants_codes_and_few_views_gets_no_other_shares() {
    let bench = Bench::with(|settings| {
        settings.shares.without_code = false;
        settings.shares.most_views = 2;
        settings.shares.most_days = 3;
        settings.shares.evidence = false;
    });
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    let page = alice.get(&portal, "/shares/new?task=t1").await;
    assert!(!page.body.contains("value=\"none\"") && page.body.contains("allows no shares without a code"), "{}", page.body);
    assert!(
        page.body.contains("value=\"2026-12-01\"") && page.body.contains("hides evidence"),
        "the usual end is within the bound"
    );
    for more in [[("code", "none")], [("views", "3")], [("last_day", "2026-12-02")], [("last_day", "+2026-12-01")]] {
        let form = form(&portal, &mut alice, "", &more).await;
        assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status, 422, "{more:?}");
    }
    share(&portal, &mut alice, &[]).await;
    let entry = entry(&bench, "made-share-1").await;
    assert_eq!((entry.most_views, entry.hides_evidence), (Some(2), true));
}

#[actix_web::test]
async fn what_the_service_may_or_may_not_have_made_opens_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    bench.fake.lock().unwrap().broken_at = Some(("POST", "/v1/shares", 503));
    let form = form(&portal, &mut alice, "", &[]).await;
    assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status, 502);
    assert_eq!(entry(&bench, "made-share-1").await.state(bench.clock.now()), State::Ended, "nobody knows its code");
    bench.fake.lock().unwrap().broken_at = Some(("POST", "/v1/shares", 400));
    assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status.as_u16() / 100, 4);
    let forgotten = bench.services.shares.ledger().entry(&acme(), &mark("made-share-2")).await.unwrap();
    assert!(forgotten.is_none(), "there is no such share");
    bench.fake.lock().unwrap().broken_at = None;
    assert_eq!(post(&portal, &mut alice, "/shares", &form).await.status, 200, "the form can be sent again");
}

#[actix_web::test]
async fn shares_of_colleagues_are_short_ids_and_administrators_end_them_but_cannot_open_them_anew() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let (mark, page) = (mark("made-share-1"), format!("/shares/{}", mark("made-share-1").as_str()));

    let (mut bob, csrf) = signed_in(&portal, "acme.example", "bob", "member").await;
    let list = bob.get(&portal, "/shares").await;
    list.is_clean();
    assert!(list.body.contains(mark.short()) && list.body.contains("by alice"), "{}", list.body);
    assert!(!list.body.contains(mark.as_str()) && !list.body.contains("made-share-1") && !list.body.contains("/end\""));
    assert_eq!(bob.get(&portal, &page).await.status, 404);
    for (below, more) in [("/end", ("a", "")), ("/extend", ("last_day", "2026-12-02")), ("/code", ("code", "made"))] {
        let form = [("csrf", csrf.as_str()), more, ("once", "0123456789abcdef")];
        assert_eq!(bob.post(&portal, &format!("{page}{below}"), &form).await.status, 404, "{below}");
    }
    assert!(bob.get(&portal, "/shares?own=1").await.body.contains("No share is like that"));

    let (mut carol, csrf) = signed_in(&portal, "globex.example", "alice", "admin").await;
    assert!(carol.get(&portal, "/shares").await.body.contains("Nothing is shared"), "another company sees nothing");
    assert_eq!(carol.post(&portal, &format!("{page}/end"), &[("csrf", &csrf)]).await.status, 404);

    let (mut dora, csrf) = signed_in(&portal, "acme.example", "dora", "admin").await;
    let shown = dora.get(&portal, &page).await;
    shown.is_clean();
    assert!(shown.status == 200 && !shown.body.contains("/extend\"") && !shown.body.contains("made-share-1"), "{}", shown.body);
    let tried =
        dora.post(&portal, &format!("{page}/code"), &[("csrf", &csrf), ("code", "made"), ("once", "0123456789abcdef")]).await;
    assert_eq!(tried.status, 409, "{}", tried.body);
    assert_eq!(dora.post(&portal, &format!("{page}/end"), &[("csrf", "")]).await.status, 403);
    let ended = dora.post(&portal, &format!("{page}/end"), &[("csrf", &csrf)]).await;
    assert_eq!((ended.status.as_u16(), ended.header("location").as_str()), (303, "/shares"));
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert!(dora.get(&portal, "/shares").await.body.contains("The share has ended"));
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.ended.unwrap().1.raw(), kept.version), ("dora", 2));
    assert!(dora.get(&portal, &page).await.body.contains("Ended by hand"), "what stays tells who ended it");
}

#[actix_web::test]
async fn another_last_day_changes_nothing_else_and_nothing_lives_past_it() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let page = format!("/shares/{}", mark("made-share-1").as_str());
    let extend = format!("{page}/extend");
    let later = alice.post(&portal, &extend, &[("csrf", &csrf), ("last_day", "2026-12-20")]).await;
    assert_eq!((later.status.as_u16(), later.header("location")), (303, page.clone()));
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.ends.unwrap().rfc3339().as_str(), kept.version), ("2026-12-20T23:59:59Z", 1));
    assert_eq!(bench.fake.lock().unwrap().shares["made-share-1"].body["expiredAt"], "2026-12-20T23:59:59Z");
    for day in ["2026-11-01", "2027-03-30", "soon"] {
        let refused = alice.post(&portal, &extend, &[("csrf", &csrf), ("last_day", day)]).await;
        refused.is_clean();
        assert!(refused.status == 422 && refused.body.contains("Nothing was changed"), "{}", refused.body);
    }
    bench.fake.lock().unwrap().broken_at = Some(("PATCH", "made-share-1", 503));
    assert_eq!(alice.post(&portal, &extend, &[("csrf", &csrf), ("last_day", "2026-12-24")]).await.status, 502);
    assert_eq!(entry(&bench, "made-share-1").await.ends, kept.ends, "what the service did not take is not said");
    bench.fake.lock().unwrap().broken_at = None;
    alice.post(&portal, &extend, &[("csrf", &csrf), ("last_day", "2026-11-30")]).await;
    assert_eq!(entry(&bench, "made-share-1").await.version, 1);
    bench.clock.advance(Duration::from_hours(72));
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    let over = alice.post(&portal, &extend, &[("csrf", &csrf), ("last_day", "2026-12-24")]).await;
    assert!(over.status == 409 && over.body.contains("This share is over"), "{}", over.body);
}

#[actix_web::test]
async fn another_last_day_keeps_wrong_codes_counted_and_recipients_in_and_a_new_code_does_neither() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let page = format!("/shares/{}", mark("made-share-1").as_str());
    let code = bench.fake.lock().unwrap().shares["made-share-1"].code.clone().unwrap();
    let (mut inside, mut guessing) = (Browser::new("acme.example"), Browser::new("acme.example"));
    assert_eq!(inside.post(&portal, "/s/made-share-1", &[("code", &code)]).await.status, 303);
    for _ in 0..3 {
        assert_eq!(guessing.post(&portal, "/s/made-share-1", &[("code", "WRONGWRONG")]).await.status, 403);
    }
    let wrong = async |bench: &Bench| {
        let codes = entry(bench, "made-share-1").await.codes;
        bench.services.shares.ledger().guard().locks(&acme(), &mark("made-share-1"), codes).await.unwrap().wrong
    };
    for day in ["2026-12-20", "2026-12-02"] {
        let done = alice.post(&portal, &format!("{page}/extend"), &[("csrf", &csrf), ("last_day", day)]).await;
        assert_eq!(done.status, 303, "{}", done.body);
        assert_eq!(inside.get(&portal, "/s/made-share-1/view").await.status, 200, "{day}");
        assert_eq!(wrong(&bench).await, 3, "{day}");
    }
    // Nor does a policy that concerns it, although that sends people out.
    bench.change("made-share-1", |entry| entry.version += 1).await;
    assert_eq!(wrong(&bench).await, 3);
    let once = alice.get(&portal, &page).await.field("once");
    let form = [("csrf", csrf.as_str()), ("code", "made"), ("once", once.as_str())];
    assert_eq!(alice.post(&portal, &format!("{page}/code"), &form).await.status, 200);
    assert_eq!(wrong(&bench).await, 0);
    assert_ne!(inside.get(&portal, "/s/made-share-1/view").await.status, 200);
}

#[actix_web::test]
async fn a_new_code_is_shown_once_and_while_it_is_uncertain_nothing_opens() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let page = format!("/shares/{}", mark("made-share-1").as_str());
    let renew = format!("{page}/code");
    let code = |bench: &Bench| bench.fake.lock().unwrap().shares["made-share-1"].code.clone().unwrap();
    let first = code(&bench);

    let once = alice.get(&portal, &page).await.field("once");
    let form = [("csrf", csrf.as_str()), ("code", "made"), ("once", once.as_str())];
    // The service says no: the code before is what it was.
    bench.fake.lock().unwrap().broken_at = Some(("PATCH", "made-share-1", 400));
    assert_eq!(alice.post(&portal, &renew, &form).await.status.as_u16() / 100, 4);
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.state(bench.clock.now()), kept.version), (State::Open, 1));
    // It says nothing: either of the two may open there, so neither does here.
    let mut inside = Browser::new("acme.example");
    assert_eq!(inside.post(&portal, "/s/made-share-1", &[("code", &first)]).await.status, 303);
    assert_eq!(inside.get(&portal, "/s/made-share-1/view").await.status, 200);
    bench.fake.lock().unwrap().broken_at = Some(("PATCH", "made-share-1", 503));
    assert_eq!(alice.post(&portal, &renew, &form).await.status, 502);
    assert_eq!(entry(&bench, "made-share-1").await.state(bench.clock.now()), State::CodeDead);
    assert_eq!(inside.get(&portal, "/s/made-share-1/view").await.status, 303, "nor does what the code before opened");
    let told = alice.get(&portal, &page).await;
    told.is_clean();
    assert!(told.body.contains("changing it was cut off") && told.body.contains("Set a new code below"), "{}", told.body);

    bench.fake.lock().unwrap().broken_at = None;
    let made = alice.post(&portal, &renew, &form).await;
    made.is_clean();
    let second = code(&bench);
    assert!(made.status == 200 && second != first, "{}", made.body);
    assert!(made.body.contains(&format!("{}-{}", &second[..4], &second[4..])) && made.body.contains("/s/made-share-1"));
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.state(bench.clock.now()), kept.codes), (State::Open, 1));
    let again = alice.post(&portal, &renew, &form).await;
    again.is_clean();
    assert!(again.body.contains("already set") && code(&bench) == second && !again.body.contains(&second[..4]), "{}", again.body);

    let own = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", "short"), ("once", "0123456789abcdef")];
    assert_eq!(alice.post(&portal, &renew, &own).await.status, 422);
    let own = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", "blue-whale 7"), ("once", "0123456789abcdef")];
    assert_eq!(alice.post(&portal, &renew, &own).await.status, 200);
    assert_eq!(code(&bench), "BLUEWHALE7");
    let short = mark("made-share-1").short().to_owned();
    assert_eq!(deeds(&bench, 3).await, ["made", "new_code", "new_code"].map(|what| format!("{what} {short}")));
}

#[actix_web::test]
async fn a_share_that_is_ended_while_the_service_is_away_is_closed_at_once_and_told_later() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[("note", "read this")]).await;
    let page = format!("/shares/{}", mark("made-share-1").as_str());
    bench.fake.lock().unwrap().broken = Some(503);
    let ended = alice.post(&portal, &format!("{page}/end"), &[("csrf", &csrf)]).await;
    assert_eq!((ended.status.as_u16(), ended.header("location")), (303, page.clone()));
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.state(bench.clock.now()), kept.version, kept.note.raw()), (State::Ended, 2, ""));
    let shown = alice.get(&portal, &page).await;
    assert!(shown.status == 200 && shown.body.contains("could not be told"), "the page needs no service: {}", shown.body);
    assert!(alice.get(&portal, "/shares").await.body.contains("Ended"), "nor does the list");

    bench.fake.lock().unwrap().broken = None;
    let shown = alice.get(&portal, &page).await;
    assert!(shown.body.contains("Tell it again") && !shown.body.contains("read this"), "{}", shown.body);
    let told = alice.post(&portal, &format!("{page}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(told.header("location"), "/shares");
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert!(!alice.get(&portal, &page).await.body.contains("Tell it again"));
}

#[actix_web::test]
async fn several_are_ended_at_once_and_each_is_told_of() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
    share(&portal, &mut bob, &[]).await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    for _ in 0..3 {
        share(&portal, &mut alice, &[]).await;
    }
    let [bobs, one, two, over] = [1, 2, 3, 4].map(|number| mark(&format!("made-share-{number}")));
    alice.post(&portal, &format!("/shares/{}/end", over.as_str()), &[("csrf", &csrf)]).await;
    let all = [&bobs, &one, &two, &two, &over];
    let query: Vec<String> = all.iter().map(|mark| format!("share={}", mark.as_str())).collect();
    let asked = alice.get(&portal, &format!("/shares/end?{}", query.join("&"))).await;
    asked.is_clean();
    assert!(asked.body.contains("End 2 shares") && !asked.body.contains(bobs.as_str()), "{}", asked.body);
    let mut form = vec![("csrf", csrf.as_str())];
    form.extend(all.iter().map(|mark| ("share", mark.as_str())));
    let sheet = alice.post(&portal, "/shares/end", &form).await;
    sheet.is_clean();
    assert!(sheet.status == 200 && sheet.body.contains("2 shares ended; 2 not."), "{}", sheet.body);
    assert!(sheet.body.contains("It had been ended before") && sheet.body.contains("somebody else"), "{}", sheet.body);
    assert_eq!(entry(&bench, "made-share-1").await.state(bench.clock.now()), State::Open);
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 1);
    let again = alice.post(&portal, "/shares/end", &form).await;
    assert!(again.body.contains("0 shares ended; 4 not."), "{}", again.body);
    assert_eq!(alice.get(&portal, "/shares/end?share=x").await.status, 404);
}

#[actix_web::test]
async fn an_end_is_written_down_once_however_often_it_is_asked_for() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let end = format!("/shares/{}/end", mark("made-share-1").as_str());
    for _ in 0..3 {
        assert_eq!(alice.post(&portal, &end, &[("csrf", &csrf)]).await.status, 303);
    }
    share(&portal, &mut alice, &[]).await;
    let [one, two] = ["made-share-1", "made-share-2"].map(|id| mark(id).short().to_owned());
    assert_eq!(deeds(&bench, 3).await, [format!("made {one}"), format!("ended {one}"), format!("made {two}")]);
}

#[actix_web::test]
async fn a_deleted_task_takes_its_shares_with_it() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    assert_eq!(alice.post(&portal, "/tasks/t1/delete", &[("csrf", &csrf)]).await.status, 303);
    let kept = entry(&bench, "made-share-1").await;
    assert_eq!((kept.state(bench.clock.now()), kept.project.raw()), (State::Ended, ""));
    let short = mark("made-share-1").short().to_owned();
    assert_eq!(deeds(&bench, 2).await.last(), Some(&format!("ended {short}")));
}

#[actix_web::test]
async fn shares_that_only_the_service_knows_stand_apart_and_are_ended_by_administrators() {
    let bench = Bench::new();
    let made = super::bench::FakeShare { kind: "REPORT", code: None, body: serde_json::Value::Null };
    bench.fake.lock().unwrap().shares.insert("a-secret-share-id".to_owned(), made);
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let mark = mark("a-secret-share-id");
    let end = format!("/shares/{}/end", mark.as_str());
    assert!(!alice.get(&portal, "/shares").await.body.contains(mark.short()));
    let list = alice.get(&portal, "/shares?state=elsewhere").await;
    list.is_clean();
    assert!(
        list.body.contains(mark.short()) && !list.body.contains("secret-share") && !list.body.contains(&end),
        "{}",
        list.body
    );
    assert!(list.body.contains("1 share,"), "{}", list.body);
    assert_eq!(alice.post(&portal, &end, &[("csrf", &csrf)]).await.status, 404);
    let (mut dora, csrf) = signed_in(&portal, "acme.example", "dora", "admin").await;
    assert!(dora.get(&portal, "/shares?state=elsewhere").await.body.contains(&end));
    assert_eq!(dora.post(&portal, &end, &[("csrf", &csrf)]).await.status, 303);
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 1);
    assert!(dora.get(&portal, "/shares?state=elsewhere").await.body.contains("was made here"));
}

#[actix_web::test]
async fn the_list_tells_the_state_of_each_share_and_finds_it_by_that() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    for views in ["", "1", "", "", ""] {
        share(&portal, &mut alice, &[("views", views)]).await;
    }
    share(&portal, &mut alice, &[("last_day", "2026-11-28")]).await;
    let (acme, ledger) = (acme(), bench.services.shares.ledger().clone());
    let id = |number: u32| mark(&format!("made-share-{number}"));
    assert!(matches!(ledger.take_view(&acme, &id(2), 0).await.unwrap(), View::Taken(_)));
    let policy = bench.services.shares.policies.of(&acme).await.unwrap();
    for _ in 0..20 {
        let attempt = Try { tenant: &acme, mark: &id(3), codes: 0, network: "192.0.2.0/24" };
        ledger.guard().wrong(attempt, true, &policy).await.unwrap();
    }
    let dead = |entry: &mut Entry| -> Result<(), crate::gateway::ledger::LedgerError> {
        entry.code_dead = true;
        Ok(())
    };
    ledger.change(&acme, &id(4), dead).await.unwrap();
    alice.post(&portal, &format!("/shares/{}/end", id(5).as_str()), &[("csrf", &csrf)]).await;
    let list = alice.get(&portal, "/shares").await;
    assert!(list.body.contains("6 shares") && list.body.contains("Locked for 30 minutes") && list.body.contains("1 of 1"));
    let page = alice.get(&portal, &format!("/shares/{}", id(3).as_str())).await;
    assert!(page.body.contains("A new code unlocks it at once") && page.body.contains("20 wrong codes"), "{}", page.body);
    for (state, numbers) in
        [("open", vec![1, 3, 6]), ("used-up", vec![2]), ("locked", vec![3]), ("code-dead", vec![4]), ("ended", vec![5])]
    {
        let list = alice.get(&portal, &format!("/shares?state={state}")).await;
        let found: Vec<u32> = (1..=6).filter(|number| list.body.contains(id(*number).short())).collect();
        assert_eq!(found, numbers, "{state}");
    }
    let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
    for (browser, told) in [(&mut alice, vec![3, 4]), (&mut bob, vec![])] {
        let home = browser.get(&portal, "/").await;
        home.is_clean();
        assert_eq!(home.status, 200);
        let found: Vec<u32> = (1..=6).filter(|number| home.body.contains(id(*number).short())).collect();
        assert_eq!(found, told, "the owner is told of what wrong codes closed, and nobody else");
    }
    assert_eq!(alice.get(&portal, "/shares?state=gone").await.status, 400);
    assert_eq!(alice.get(&portal, "/shares?page=7").await.header("location"), "/shares");
    bench.clock.advance(Duration::from_hours(24));
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    let list = alice.get(&portal, "/shares?state=expired").await;
    assert!(list.body.contains(id(6).short()) && list.body.contains("1 share,"), "{}", list.body);
}

#[actix_web::test]
async fn a_preview_shows_what_recipients_will_see_and_shares_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    let form = form(&portal, &mut alice, "&vul=v1", &[("note", "read this"), ("hide", "1"), ("own_code", "my-own-code")]).await;
    let preview = post(&portal, &mut alice, "/shares/preview", &form).await;
    preview.is_clean();
    assert_eq!(preview.status, 200, "{}", preview.body);
    let finding = "/shares/preview/findings/v1?task=t1&#38;vul=v1&#38;hide=1";
    assert!(preview.body.contains("Chosen findings") && preview.body.contains(finding), "{}", preview.body);
    // As for recipients: no navigation, nobody's sign-out, no way to what is not shared.
    assert!(!preview.body.contains("Sign out") && !preview.body.contains("/chains/c2") && !preview.body.contains("/close"));
    assert!(!preview.body.contains("my-own-code") && !preview.body.contains("my_own_code"));

    let shown = alice.get(&portal, "/shares/preview/findings/v1?task=t1&vul=v1").await;
    shown.is_clean();
    assert!(shown.status == 200 && shown.body.contains("line one"), "{}", shown.body);
    let proofs = |answer: &Answer| answer.body.matches("curl").count();
    assert!(proofs(&shown) > 0 && shown.body.contains("/shares/preview/chains/c1?task=t1&#38;vul=v1"));
    let hidden = alice.get(&portal, "/shares/preview/findings/v1?task=t1&vul=v1&hide=1").await;
    assert!(hidden.status == 200 && proofs(&hidden) == 0, "{}", hidden.body);
    let chain = alice.get(&portal, "/shares/preview/chains/c1?task=t1&vul=v1").await;
    chain.is_clean();
    assert_eq!(chain.status, 200, "{}", chain.body);
    assert_eq!(alice.get(&portal, "/shares/preview/chains/c2?task=t1&vul=v1").await.status, 404, "it leads to nothing shared");
    assert_eq!(alice.get(&portal, "/shares/preview/findings/v1?task=t1&vul=v2").await.status, 404);

    let all = alice.get(&portal, "/shares/preview?task=t1&what=report").await;
    assert!(all.body.contains("All findings and the report") && all.body.contains("/tasks/t1/report?type=pdf"), "{}", all.body);
    assert_eq!(alice.get(&portal, "/shares/preview").await.status, 404);
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert_eq!(bench.written("share").await, Vec::<String>::new());
    let mut stranger = Browser::new("acme.example");
    assert!(stranger.get(&portal, "/shares/preview?task=t1").await.header("location").starts_with("/auth/login"));
}

#[actix_web::test]
async fn the_bounds_of_shares_are_those_of_the_settings() {
    let bench = Bench::with(|settings| {
        let shares = &mut settings.shares;
        (shares.findings, shares.views, shares.note_characters, shares.ended_at_once) = (1, 3, 5, 1);
    });
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    let page = alice.get(&portal, "/shares/new?task=t1&vul=v1").await;
    assert!(page.body.contains("1 to 3.") && page.body.contains("At most 5 characters"), "{}", page.body);
    let many = alice.get(&portal, "/shares/new?task=t1&vul=v1&vul=v2").await;
    assert!(many.status == 400 && many.body.contains("at most 1 chosen findings"), "{} {}", many.status, many.body);
    for (more, words) in
        [([("views", "4"), ("note", "")], "1 to 3 times"), ([("views", ""), ("note", "123456")], "at most 5 characters")]
    {
        let form = form(&portal, &mut alice, "", &more).await;
        let told = post(&portal, &mut alice, "/shares", &form).await;
        assert!(told.status == 422 && told.body.contains(words), "{words} in {}", told.body);
    }
    for _ in 0..2 {
        share(&portal, &mut alice, &[("views", "3"), ("note", "12345")]).await;
    }
    let [one, two] = [1, 2].map(|number| mark(&format!("made-share-{number}")));
    let both = [("csrf", csrf.as_str()), ("share", one.as_str()), ("share", two.as_str())];
    let told = alice.post(&portal, "/shares/end", &both).await;
    assert!(told.status == 400 && told.body.contains("At most 1 shares"), "{} {}", told.status, told.body);
    assert_eq!(alice.post(&portal, "/shares/end", &both[..2]).await.status, 200);
}

#[actix_web::test]
async fn a_new_code_tells_the_views_that_are_left_and_shows_an_own_one_as_it_was_typed() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[("views", "3")]).await;
    bench.change("made-share-1", |entry| entry.views = 1).await;
    let renew = format!("/shares/{}/code", mark("made-share-1").as_str());
    let form = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", " Correct  horse"), ("once", "0123456789abcdef")];
    let told = alice.post(&portal, &renew, &form).await;
    told.is_clean();
    assert!(told.body.contains("It opens 2 times.") && !told.body.contains("3 times"), "{}", told.body);
    assert!(told.body.contains(">Correct horse<") && told.body.contains("Code: Correct-horse\n"), "{}", told.body);
    let pasted = [("code", "Link: https://acme.example/s/made-share-1 Code: Correct-horse")];
    assert_eq!(Browser::new("acme.example").post(&portal, "/s/made-share-1", &pasted).await.status, 303);
    // What does not look like what it is is shown as it counts.
    let form = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", "ｂｌｕｅ－ｗｈａｌｅ－７"), ("once", "fedcba9876543210")];
    assert!(alice.post(&portal, &renew, &form).await.body.contains(">BLUE-WHAL-E7<"));
}

/// The text of an element of the page by its id.
fn shown(answer: &Answer, id: &str) -> String {
    let from = answer.body.split(&format!("id=\"{id}\"")).nth(1).unwrap();
    from.split_once('>').unwrap().1.split("</").next().unwrap().to_owned()
}

/// The first address on the page that begins so.
fn href(answer: &Answer, begins: &str) -> String {
    let from = answer.body.split(&format!("href=\"{begins}")).nth(1).unwrap_or_else(|| panic!("{begins} in {}", answer.body));
    format!("{begins}{}", from.split('"').next().unwrap().replace("&#38;", "&"))
}

#[actix_web::test]
async fn an_own_code_that_is_taken_opens_alone_and_in_every_message_of_the_page_and_others_say_what_to_leave_out() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    for (number, own) in (1..).zip(["key=4711abcd", "Pass:word:2024", "blue whale 7", "code: open sesame"]) {
        let made = share(&portal, &mut alice, &[("code", "own"), ("own_code", own)]).await;
        assert_eq!(shown(&made, "share-code"), own);
        for text in ["share-code", "code-message", "share-both"].map(|id| shown(&made, id)) {
            for text in [text.replace('\n', " "), text] {
                let mut guest = Browser::new("acme.example");
                let opened = guest.post(&portal, &format!("/s/made-share-{number}"), &[("code", &text)]).await;
                assert_eq!(opened.status, 303, "{text:?} of {own}");
            }
        }
    }
    let renew = format!("/shares/{}/code", mark("made-share-1").as_str());
    for own in ["http://secret99", "abc://defgh12", "AbCdEfG1 - https://x.y/z"] {
        let new = form(&portal, &mut alice, "", &[("code", "own"), ("own_code", own)]).await;
        let renewed = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", own), ("once", "0123456789abcdef")];
        for told in [post(&portal, &mut alice, "/shares", &new).await, alice.post(&portal, &renew, &renewed).await] {
            assert_eq!(told.status, 422, "{own}");
            assert!(told.body.contains("Leave out “://”") && !told.body.contains(own), "{}", told.body);
        }
    }
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 4);
}

#[actix_web::test]
async fn where_views_are_counted_the_form_says_that_this_is_why_a_code_is_needed() {
    let bench = Bench::with(|settings| settings.shares.most_views = 2);
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    let new = alice.get(&portal, "/shares/new?task=t1").await;
    let form = form(&portal, &mut alice, "", &[("code", "none")]).await;
    let told = post(&portal, &mut alice, "/shares", &form).await;
    assert_eq!(told.status, 422);
    for page in [new, told] {
        assert!(!page.body.contains("value=\"none\"") && !page.body.contains("allows no shares"), "{}", page.body);
        assert!(page.body.contains("Views are counted by their code") && !page.body.contains("href=\"#views\""), "{}", page.body);
    }
}

#[actix_web::test]
async fn every_page_of_a_preview_knows_what_was_typed_and_its_addresses_do_not() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    let typed = [("note", "Read this first"), ("views", "3"), ("last_day", "2026-12-02")];
    let form = form(&portal, &mut alice, "&vul=v1", &typed).await;
    let first = post(&portal, &mut alice, "/shares/preview", &form).await;
    let finding = alice.get(&portal, &href(&first, "/shares/preview/findings/v1")).await;
    let chain = alice.get(&portal, &href(&finding, "/shares/preview/chains/c1")).await;
    let back = href(&chain, "/shares/preview?");
    assert!(!back.contains("Read") && !back.contains("views") && !back.contains("2026-12"), "{back}");
    for page in [first, alice.get(&portal, &back).await] {
        page.is_clean();
        for words in ["Read this first", "2 views after this one", "2 Dec 2026", "Open for you"] {
            assert!(page.body.contains(words), "{words} in {}", page.body);
        }
    }
    let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
    let told = bob.get(&portal, &back).await;
    assert!(told.status == 400 && !told.body.contains("Read this first"), "what somebody typed is theirs: {}", told.body);
    bench.clock.advance(Duration::from_mins(20));
    assert_eq!(alice.get(&portal, &back).await.status, 200);
}

#[actix_web::test]
async fn a_preview_hides_what_the_policy_hides_whatever_its_address_says() {
    let bench = Bench::with(|settings| {
        settings.shares.evidence = false;
        settings.shares.most_views = 4;
    });
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "member").await;
    for path in ["/shares/preview/findings/v1?task=t1", "/shares/preview/chains/c1?task=t1"] {
        let page = alice.get(&portal, path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.body.contains("curl") && page.body.contains("left out by whoever shared this"), "{path}: {}", page.body);
    }
    let all = alice.get(&portal, "/shares/preview?task=t1").await;
    assert!(all.body.contains("left proofs and code out") && !all.body.contains("/tasks/t1/report"), "{}", all.body);
    assert!(all.body.contains("3 views after this one"), "{}", all.body);
}

#[actix_web::test]
async fn everything_that_is_wrong_with_the_form_of_a_new_code_is_told_at_once() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "member").await;
    share(&portal, &mut alice, &[]).await;
    let renew = format!("/shares/{}/code", mark("made-share-1").as_str());
    let form = [("csrf", csrf.as_str()), ("code", "own"), ("own_code", "zz://zz"), ("once", "short")];
    let told = alice.post(&portal, &renew, &form).await;
    told.is_clean();
    assert_eq!(told.status, 422);
    for words in
        ["at least 8 letters", "too easy to guess", "Leave out “://”", "Load its page again", "never put back into a page"]
    {
        assert!(told.body.contains(words), "{words} in {}", told.body);
    }
    assert_eq!(told.body.matches("<a href=\"#own\">").count(), 1, "{}", told.body);
    assert_eq!(told.body.matches("aria-invalid=\"true\"").count(), 1, "{}", told.body);
    assert!(told.body.contains("value=\"own\" checked") && !told.body.contains("zz://zz"), "{}", told.body);
    let neither = alice.post(&portal, &renew, &[("csrf", csrf.as_str()), ("once", "0123456789abcdef")]).await;
    assert!(neither.status == 422 && neither.body.contains("Let a code be made"), "{} {}", neither.status, neither.body);
    let (mut bob, csrf) = signed_in(&portal, "acme.example", "bob", "member").await;
    assert_eq!(bob.post(&portal, &renew, &[("csrf", csrf.as_str())]).await.status, 404, "it is not his");
}
