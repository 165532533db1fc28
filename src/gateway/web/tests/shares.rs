//! The owner's side.

use std::time::Duration;

use super::bench::{Bench, Browser};

#[actix_web::test]
async fn a_share_is_made_once_and_shows_its_link_and_code_once() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    assert!(alice.get(&portal, "/shares").await.header("location").starts_with("/auth/login"));
    alice.get(&portal, "/test/sign-in/alice/member").await;

    let new = alice.get(&portal, "/shares/new?task=t1&vul=v1").await;
    new.is_clean();
    assert_eq!(new.status, 200, "{}", new.body);
    assert!(new.body.contains("value=\"2026-12-05\"") && new.body.contains("max=\"2027-02-26\""));
    assert!(new.body.contains("no active server key"));
    let (csrf, once) = (new.field("csrf"), new.field("once"));
    let form = [
        ("csrf", csrf.as_str()),
        ("once", once.as_str()),
        ("task", "t1"),
        ("vul", "v1"),
        ("what", "finding"),
        ("code", "made"),
        ("own_code", ""),
        ("last_day", "2026-12-01"),
    ];
    let created = alice.post(&portal, "/shares", &form).await;
    created.is_clean();
    assert_eq!(created.status, 200, "{}", created.body);
    let share = bench.fake.lock().unwrap().shares["made-share-1"].clone();
    let code = share.code.clone().unwrap();
    assert!(created.body.contains("https://acme.example/s/made-share-1"));
    assert!(created.body.contains(&format!("{}-{}", &code[..4], &code[4..])));
    assert_eq!(share.body["vulIds"], serde_json::json!(["v1"]));
    assert_eq!(share.body["expiredAt"], "2026-12-01T23:59:59Z");

    let again = alice.post(&portal, "/shares", &form).await;
    again.is_clean();
    assert!(again.body.contains("already created") && !again.body.contains(&code[..4]));
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 1);
}

#[actix_web::test]
async fn a_form_of_a_session_that_ran_out_is_a_page_with_a_way_back_and_shares_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/member").await;
    let new = alice.get(&portal, "/shares/new?task=t1").await;
    let (csrf, once) = (new.field("csrf"), new.field("once"));
    bench.clock.advance(Duration::from_mins(31));
    let form = [("csrf", csrf.as_str()), ("once", once.as_str()), ("task", "t1"), ("what", "report"), ("code", "none")];
    let told = alice.post(&portal, "/shares", &form).await;
    told.is_clean();
    assert_eq!((told.status.as_u16(), told.header("location").as_str()), (401, ""), "{}", told.body);
    assert!(told.body.contains("Nothing was changed") && told.body.contains("acme &#38; Sons"), "{}", told.body);
    // Nobody said which page the form was on; the list of shares is the nearest.
    assert!(told.body.contains("href=\"/auth/login?return_to=%2Fshares\""), "{}", told.body);
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert_eq!(alice.get(&portal, "/shares").await.status, 303, "a page is still redirected");
}

#[actix_web::test]
async fn a_form_that_cannot_be_used_comes_back_with_words_and_makes_nothing() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/member").await;
    let new = alice.get(&portal, "/shares/new?task=t1").await;
    let (csrf, once) = (new.field("csrf"), new.field("once"));
    let fill = |code: &'static str, own: &'static str, day: &'static str| {
        [
            ("csrf", csrf.clone()),
            ("once", once.clone()),
            ("task", "t1".to_owned()),
            ("what", "report".to_owned()),
            ("code", code.to_owned()),
            ("own_code", own.to_owned()),
            ("last_day", day.to_owned()),
        ]
    };
    for (code, own, day) in [
        ("own", "short", "2026-12-01"),
        ("own", "aaaaaaaaa", "2026-12-01"),
        ("made", "", "2026-11-27"),
        ("made", "", "2030-01-01"),
    ] {
        let form = fill(code, own, day);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = alice.post(&portal, "/shares", &form).await;
        answer.is_clean();
        assert_eq!(answer.status, 422, "{own} {day}");
        assert!(answer.body.contains("Nothing was shared yet") && !answer.body.contains("aaaaaaaaa"));
    }
    let form = fill("own", "blue-whale 7", "2026-12-01");
    let mut form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    bench.fake.lock().unwrap().broken = Some(500);
    assert_eq!(alice.post(&portal, "/shares", &form).await.status, 502);
    bench.fake.lock().unwrap().broken = None;
    assert_eq!(alice.post(&portal, "/shares", &form).await.status, 200);
    assert_eq!(bench.fake.lock().unwrap().shares["made-share-1"].code.as_deref(), Some("BLUEWHALE7"));
    form[0].1 = "forged";
    assert_eq!(alice.post(&portal, "/shares", &form).await.status, 403);
}

#[actix_web::test]
async fn the_list_holds_no_working_link_and_its_forms_work_for_their_reader_only() {
    let bench = Bench::new();
    bench.share("a-secret-share-id", "REPORT", None).await;
    let portal = bench.portal().await;
    let mut alice = Browser::new("acme.example");
    alice.get(&portal, "/test/sign-in/alice/member").await;
    let list = alice.get(&portal, "/shares").await;
    list.is_clean();
    assert!(list.body.contains("a-se…") && !list.body.contains("a-secret-share-id"));
    let action = list.body.split("action=\"").find(|part| part.starts_with("/shares/")).unwrap().split('"').next().unwrap();
    let csrf = list.field("csrf");

    let mut bob = Browser::new("acme.example");
    bob.get(&portal, "/test/sign-in/bob/member").await;
    let bobs = bob.get(&portal, "/shares").await.field("csrf");
    assert_eq!(bob.post(&portal, action, &[("csrf", &bobs)]).await.status, 404);
    assert_eq!(alice.post(&portal, action, &[("csrf", "")]).await.status, 403);
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 1);
    let ended = alice.post(&portal, action, &[("csrf", &csrf)]).await;
    assert_eq!((ended.status.as_u16(), ended.header("location").as_str()), (303, "/shares"));
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    assert!(alice.get(&portal, "/shares").await.body.contains("The share has ended"));
}
