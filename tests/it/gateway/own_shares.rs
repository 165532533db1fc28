//! Shares of their owners before the real scanning service: on two replicas, on the embedded store, and as programs make them.

use std::collections::BTreeSet;
use std::time::Duration;

use cardea::platform::clock::{Clock, Timestamp};
use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::client::{Answer, Browser, http};
use crate::support::eventually;
use crate::support::front::Front;
use crate::support::provider::{Provider, person};
use crate::support::replicas::{Replicas, Setup};
use crate::support::scanner::{ACME, TestScanner, spawn_scanner_with};
use crate::support::shop;

/// Gateways in front of a service that has scanned something for acme.
struct Office {
    replicas: Replicas,
    scanner: TestScanner,
    task: String,
}

impl Office {
    async fn new(on_redis: bool) -> Self {
        let provider = Provider::start().await;
        provider.state().person.insert("organization".to_owned(), "acme".into());
        let userinfo = format!("{}/oauth/userinfo", provider.issuer);
        let scanner = spawn_scanner_with(|settings| settings.userinfo_url = userinfo).await;
        let task = scanner.scanned(ACME, "shop.war", shop::shop()).await;
        // All of a test comes from one network, and wrong codes are part of it.
        let extra = "[gateway.shares]\nwrong_by_network = 100\nwrong_anywhere = 100\n".to_owned();
        let setup = Setup { extra, provider: Some(provider), base: Some(scanner.base.clone()), ..Setup::default() };
        let replicas = if on_redis { Replicas::on_redis_with(2, setup).await } else { Replicas::embedded_with(setup).await };
        Self { replicas, scanner, task }
    }

    fn here(&self) -> String {
        self.replicas.all[0].url.clone()
    }

    fn there(&self) -> String {
        self.replicas.all.last().unwrap().url.clone()
    }

    fn new_share(&self) -> String {
        format!("{}/shares/new?task={}", self.here(), self.task)
    }

    /// How many shares the service has.
    async fn known(&self) -> usize {
        let (status, found) = self.scanner.post(ACME, "/api/v1/shares/search", json!({})).await;
        assert_eq!(status, StatusCode::OK);
        found["data"].as_array().unwrap().len()
    }
}

/// The same link at another replica.
fn at(link: &str, portal: &str) -> String {
    format!("{portal}{}", url::Url::parse(link).unwrap().path())
}

async fn opens(link: &str, code: &str) -> bool {
    Browser::new().post(link, &[("code", code)]).await.status == StatusCode::SEE_OTHER
}

/// As East Asian keyboards give it.
fn widened(c: char) -> char {
    char::from_u32(u32::from(c) + 0xfee0).unwrap()
}

/// The page of the newest share of the list.
async fn newest(browser: &mut Browser, portal: &str) -> Answer {
    let list = browser.get(&format!("{portal}/shares")).await;
    let page = list.links("href", "/shares/").into_iter().find(|href| href.rsplit('/').next().unwrap().len() == 64);
    browser.get(&page.unwrap()).await
}

async fn on_both(test: impl AsyncFn(Office)) {
    test(Office::new(true).await).await;
    test(Office::new(false).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_replica_does_to_a_share_the_other_knows_at_once() {
    on_both(async |office| {
        let mut dora = office.replicas.signed_in().await;
        let (link, code) = dora.share(&office.new_share()).await;
        let there = office.there();
        assert!(opens(&at(&link, &there), &code).await);
        let page = newest(&mut dora, &there).await;
        assert!(page.text().contains("The scanning service has this share") && page.text().contains(">1<"), "{}", page.text());

        let (csrf, once) = (page.hidden("csrf"), page.hidden("once"));
        let renewed = dora.post(&page.link("action", "/code"), &[("csrf", &csrf), ("once", &once), ("code", "made")]).await;
        assert_eq!(renewed.status, 200, "{}", renewed.text());
        let second = renewed.by_id("share-code");
        assert_ne!(second, code);
        assert!(!opens(&link, &code).await && opens(&link, &second).await, "the code before opens nothing any more");

        let ended = dora.post(&page.link("action", "/end"), &[("csrf", &csrf)]).await;
        assert_eq!(ended.location().unwrap().path(), "/shares");
        assert!(!opens(&link, &second).await, "nor does the new one");
        let list = dora.get(&format!("{}/shares?state=ended", office.here())).await;
        assert!(list.text().contains("shop.war") || list.text().contains("Ended"), "{}", list.text());
        assert_eq!(office.known().await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_form_sent_twenty_times_makes_one_share() {
    on_both(async |office| {
        let mut dora = office.replicas.signed_in().await;
        let form = dora.get(&office.new_share()).await;
        let (csrf, once) = (form.hidden("csrf"), form.hidden("once"));
        let last_day = form.text().split("name=\"last_day\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let fields = [
            ("csrf", &*csrf),
            ("once", &once),
            ("task", &office.task),
            ("what", "report"),
            ("code", "made"),
            ("last_day", &last_day),
        ];
        let sent = (0..20).map(|number| {
            let portal = if number % 2 == 0 { office.here() } else { office.there() };
            let (mut tab, fields) = (dora.clone(), &fields);
            async move { tab.post(&format!("{portal}/shares"), fields).await }
        });
        let answers = join_all(sent).await;
        let made = answers.iter().filter(|answer| answer.text().contains("id=\"share-code\"")).count();
        // Some come while nobody knows yet what becomes of the first.
        let words = ["already created", "This form was sent before"];
        let told = answers.iter().filter(|answer| words.iter().any(|word| answer.text().contains(word))).count();
        assert_eq!((made, told, office.known().await), (1, 19, 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_new_codes_that_are_set_at_the_same_time_one_opens_and_it_was_shown() {
    on_both(async |office| {
        let mut dora = office.replicas.signed_in().await;
        let (link, first) = dora.share(&office.new_share()).await;
        let page = newest(&mut dora, &office.here()).await;
        let (csrf, action) = (page.hidden("csrf"), page.link("action", "/code"));
        let sent = (0..8).map(|number| {
            let portal = if number % 2 == 0 { office.here() } else { office.there() };
            let (mut tab, csrf, action) = (dora.clone(), csrf.clone(), at(&action, &portal));
            let once = format!("form-of-this-test-{number}");
            async move { tab.post(&action, &[("csrf", &csrf), ("once", &once), ("code", "made")]).await }
        });
        let answers = join_all(sent).await;
        let shown: BTreeSet<String> =
            answers.iter().filter(|answer| answer.status == 200).map(|answer| answer.by_id("share-code")).collect();
        let busy = answers.iter().filter(|answer| answer.status == StatusCode::CONFLICT).count();
        assert!(!shown.is_empty() && shown.len() + busy == 8, "{shown:?} {busy}");
        let mut opening = 0;
        for code in &shown {
            opening += usize::from(opens(&link, code).await);
        }
        assert_eq!(opening, 1, "of {shown:?}");
        assert!(!opens(&link, &first).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_held_to_the_policy_and_what_they_make_is_known_at_the_door() {
    let scanner = spawn_scanner_with(|_| {}).await;
    let task = scanner.scanned(ACME, "shop.war", shop::shop()).await;
    let front =
        Front::with(&scanner.base, "[gateway.shares]\nwithout_code = false\nusual_days = 2\nmost_days = 3\nfindings = 2\n").await;
    let shares = format!("{}/scanner/api/v1/shares", front.base);
    let client = http();
    let send = async |method: Method, url: String, key: &str, body: Value| {
        let answer = client.request(method, url).bearer_auth(key).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let generated = send(Method::POST, format!("{shares}/generate-id"), ACME, json!({})).await.1;
    let id = serde_json::from_str::<Value>(&generated).unwrap()["shareId"].as_str().unwrap().to_owned();
    let wanted = |more: Value| {
        let mut body = json!({"shareId": id, "taskId": task, "shareType": "REPORT"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (more, words) in [
        (json!({}), "no shares without an extractionCode"),
        (json!({"extractionCode": "open-sesame", "expiredAt": "2099-01-01T00:00:00Z"}), "at most 3 days from now"),
        (json!({"extractionCode": "open-sesame", "expiredAt": "tomorrow"}), "expiredAt must be a time"),
        (json!({"extractionCode": "open-sesame", "maxViews": 1}), "maxViews"),
        (json!({"extractionCode": "open-sesame", "vulIds": ["v1", "v2", "v3"]}), "A share shows at most 2 chosen findings"),
    ] {
        let (status, told) = send(Method::POST, shares.clone(), ACME, wanted(more)).await;
        let problem: Value = serde_json::from_str(&told).unwrap();
        assert!(status == 400 && told.contains(words) && problem["data"]["errCode"] == 4000, "{status} {told}");
    }
    let (_, found) = scanner.post(ACME, "/api/v1/shares/search", json!({})).await;
    assert_eq!(found["total"], 0, "nothing of it reached the service");

    let good = wanted(json!({"extractionCode": "open-sesame"}));
    assert_eq!(send(Method::POST, shares.clone(), "nobody", good.clone()).await.0, 401);
    let link = format!("{}/s/{id}", front.base);
    assert!(!opens(&link, "open-sesame").await, "what the service did not take is not noted");
    for _ in 0..2 {
        assert_eq!(send(Method::POST, shares.clone(), ACME, good.clone()).await.0, 200, "the same again is the same");
    }
    assert!(opens(&link, "open-sesame").await);

    let one = format!("{shares}/{id}");
    for change in [json!({"extractionCode": null}), json!({"expiredAt": "2099-01-01T00:00:00Z"}), json!({"maxViews": 3})] {
        assert_eq!(send(Method::PATCH, one.clone(), ACME, change).await.0, 400);
    }
    assert_eq!(send(Method::PATCH, one.clone(), "nobody", json!({"extractionCode": "stolen-code"})).await.0, 401);
    assert!(opens(&link, "open-sesame").await, "nothing is changed on anybody's word");
    assert_eq!(send(Method::PATCH, one, ACME, json!({"extractionCode": "another-one"})).await.0, 200);
    assert!(!opens(&link, "open-sesame").await && opens(&link, "another-one").await);

    let delete = format!("{shares}/delete");
    assert_eq!(send(Method::POST, delete.clone(), "nobody", json!({"shareIds": [id]})).await.0, 401);
    assert!(opens(&link, "another-one").await);
    assert_eq!(send(Method::POST, delete, ACME, json!({"shareIds": [id]})).await.0, 200);
    assert!(!opens(&link, "another-one").await);
    let generated = send(Method::POST, format!("{shares}/generate-id"), ACME, json!({})).await.1;
    let another = serde_json::from_str::<Value>(&generated).unwrap()["shareId"].clone();
    let findings = scanner.findings(ACME, &task).await;
    let few: Vec<&Value> = findings.iter().take(2).map(|finding| &finding["vulId"]).collect();
    let few = json!({"shareId": another, "shareType": "VUL", "vulIds": few, "extractionCode": "open-sesame"});
    let (status, told) = send(Method::POST, shares.clone(), ACME, wanted(few)).await;
    assert_eq!(status, 200, "as many as may be: {told}");
    let (status, told) = send(Method::POST, shares, ACME, good).await;
    assert!(status == 400 && told.contains("was ended"), "an id that was ended is not used again: {told}");
}

/// How somebody shows who they are.
#[derive(Clone)]
enum Shown {
    Key(String),
    Session { cookies: String, csrf: String },
}

impl Office {
    /// Somebody who is signed in, as a script of the portal's own page.
    async fn session(&self, subject: &str, name: &str, role: &str) -> Shown {
        let mut person = person(subject, name, role);
        person.insert("organization".to_owned(), "acme".into());
        self.replicas.provider.state().person = person;
        let mut browser = Browser::new();
        let page = browser.sign_in_at(&self.here()).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let csrf = browser.csrf(&self.here()).await;
        Shown::Session { cookies: browser.cookies_for(&url::Url::parse(&self.here()).unwrap()), csrf }
    }

    /// A call of an operation on shares: its status and what it answers.
    async fn call(&self, who: &Shown, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.ask(who, method, &format!("/shares{path}"), body).await
    }

    /// A call of any operation.
    async fn ask(&self, who: &Shown, method: Method, path: &str, body: Value) -> (u16, Value) {
        let request = http().request(method, format!("{}/scanner/api/v1{path}", self.there())).json(&body);
        let request = match who {
            Shown::Key(key) => request.bearer_auth(key),
            Shown::Session { cookies, csrf } => {
                request.header("cookie", cookies).header("x-csrf-token", csrf).header("sec-fetch-site", "same-origin")
            }
        };
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }

    /// A page, or a file, as somebody who is signed in reads it.
    async fn page(&self, who: &Shown, path: &str) -> String {
        let Shown::Session { cookies, .. } = who else { panic!("keys see no pages") };
        let answer = http().get(format!("{}{path}", self.there())).header("cookie", cookies).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{text}");
        text
    }

    /// A share of the report; its id.
    async fn made_by(&self, who: &Shown, code: &str) -> String {
        let (status, told) = self.call(who, Method::POST, "/generate-id", json!({})).await;
        assert_eq!(status, 200, "{told}");
        let id = told["shareId"].as_str().unwrap().to_owned();
        let (status, told) = self.call(who, Method::POST, "", self.wanted(&id, &json!({"extractionCode": code}))).await;
        assert_eq!(status, 200, "{told}");
        id
    }

    fn wanted(&self, id: &str, more: &Value) -> Value {
        let mut body = json!({"shareId": id, "taskId": self.task, "shareType": "REPORT"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    }

    fn door(&self, id: &str) -> String {
        format!("{}/s/{id}", self.here())
    }

    /// The ids that a search tells.
    async fn listed(&self, who: &Shown) -> BTreeSet<String> {
        let (status, found) = self.call(who, Method::POST, "/search", json!({"size": 100})).await;
        assert_eq!(status, 200, "{found}");
        found["data"].as_array().unwrap().iter().map(|row| row["shareId"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn through_the_api_too_people_change_and_end_only_what_they_made_administrators_all_and_each_sees_ids_of_their_own() {
    on_both(async |office| {
        let dora = office.session("7", "Dora", "administrator").await;
        let (bob, eve) = (office.session("8", "Bob", "member").await, office.session("9", "Eve", "member").await);
        let (hers, his) = (office.made_by(&dora, "doras-code-1").await, office.made_by(&bob, "bobs-code-22").await);
        for (who, share, code) in [(&bob, &hers, "doras-code-1"), (&eve, &hers, "doras-code-1"), (&eve, &his, "bobs-code-22")] {
            let one = format!("/{share}");
            for change in [json!({"extractionCode": "taken-over-1"}), json!({"extractionCode": null}), json!({"expiredAt": null})]
            {
                assert_eq!(office.call(who, Method::PATCH, &one, change).await.0, 404);
            }
            for ids in [json!([share]), json!([his, hers])] {
                assert_eq!(office.call(who, Method::POST, "/delete", json!({"shareIds": ids})).await.0, 404);
            }
            for sly in [json!({"shareIds": [share], "ids": [share]}), json!({"share_ids": [share]})] {
                assert_eq!(office.call(who, Method::POST, "/delete", sly).await.0, 400);
            }
            assert!(opens(&office.door(share), code).await, "nothing came of it");
            assert!(!opens(&office.door(share), "taken-over-1").await);
        }
        let (of_dora, of_bob, of_eve) = (office.listed(&dora).await, office.listed(&bob).await, office.listed(&eve).await);
        let all = BTreeSet::from([hers.clone(), his.clone()]);
        for (seen, own) in [(&of_dora, Some(&hers)), (&of_bob, Some(&his)), (&of_eve, None)] {
            assert!(seen.len() == 2 && seen.intersection(&all).eq(own), "{seen:?}");
            assert!(of_eve.is_superset(&seen.difference(&all).cloned().collect()), "one short id for everybody");
        }
        for search in
            [json!({"filters": [{"field": "shareId", "operator": "LIKE", "value": &hers[..2]}]}), json!({"sorts": ["-shareId"]})]
        {
            for who in [&bob, &dora] {
                let (status, told) = office.call(who, Method::POST, "/search", search.clone()).await;
                assert!(status == 400 && told.to_string().contains("shareId"), "letter by letter: {status} {told}");
            }
        }
        assert_eq!(office.call(&bob, Method::PATCH, &format!("/{his}"), json!({"extractionCode": "bobs-code-23"})).await.0, 200);
        assert_eq!(office.call(&dora, Method::PATCH, &format!("/{his}"), json!({"extractionCode": "bobs-code-24"})).await.0, 200);
        assert!(opens(&office.door(&his), "bobs-code-24").await);
        assert_eq!(office.call(&bob, Method::POST, "/delete", json!({"shareIds": [his]})).await.0, 200);
        assert_eq!(office.call(&dora, Method::POST, "/delete", json!({"shareIds": [hers]})).await.0, 200);
        assert!(!opens(&office.door(&his), "bobs-code-24").await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn api_keys_change_and_end_what_api_keys_made_and_nothing_of_people() {
    on_both(async |office| {
        let mut browser = office.replicas.signed_in().await;
        browser.add_server_key(&office.here(), "acme", ACME).await;
        let first = Shown::Key(browser.issue_api_key(&office.here(), &[]).await);
        let second = Shown::Key(browser.issue_api_key(&office.here(), &[("label", "other")]).await);
        let bob = office.session("8", "Bob", "member").await;
        let (theirs, his) = (office.made_by(&first, "keys-code-11").await, office.made_by(&bob, "bobs-code-22").await);
        let listed = office.listed(&second).await;
        assert!(listed.len() == 2 && listed.contains(&theirs) && !listed.contains(&his), "{listed:?}");
        assert_eq!(
            office.call(&second, Method::PATCH, &format!("/{his}"), json!({"extractionCode": "taken-over-1"})).await.0,
            404
        );
        assert_eq!(office.call(&second, Method::POST, "/delete", json!({"shareIds": [his]})).await.0, 404);
        assert_eq!(office.call(&bob, Method::POST, "/delete", json!({"shareIds": [theirs]})).await.0, 404);
        assert!(opens(&office.door(&his), "bobs-code-22").await && opens(&office.door(&theirs), "keys-code-11").await);
        let changed = office.call(&second, Method::PATCH, &format!("/{theirs}"), json!({"extractionCode": "keys-code-12"})).await;
        assert_eq!(changed.0, 200, "{}", changed.1);
        assert!(opens(&office.door(&theirs), "keys-code-12").await);
        assert_eq!(office.call(&second, Method::POST, "/delete", json!({"shareIds": [theirs]})).await.0, 200);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_is_taken_through_the_api_is_no_weaker_than_one_of_the_page_and_opens_there() {
    on_both(async |office| {
        let dora = office.session("7", "Dora", "administrator").await;
        let first = office.made_by(&dora, "open-sesame").await;
        let mut taken = 0;
        for (code, is_weak) in [
            ("123456", true),
            ("aaaaaa", true),
            ("aaaaaaaaaaaa", true),
            ("short7!", true),
            ("abcdefgh", false),
            ("ABCD-EFGH", false),
            ("ABCDEFGH", false),
            ("3f9a02bc", false),
            ("two words 77", false),
            (" Padded-code-9", false),
            ("Quiet-River-42", false),
            ("code: abcdefgh", false),
            ("secret12.", false),
            ("hunter(22)", false),
            ("\u{fc}ber-secret-1", false),
        ] {
            let (status, told) = office.call(&dora, Method::POST, "/generate-id", json!({})).await;
            assert_eq!(status, 200, "{told}");
            let id = told["shareId"].as_str().unwrap();
            let wanted = office.wanted(id, &json!({ "extractionCode": code }));
            let made = office.call(&dora, Method::POST, "", wanted).await;
            let set = office.call(&dora, Method::PATCH, &format!("/{first}"), json!({ "extractionCode": code })).await;
            assert_eq!(made.0, set.0, "{code}: {} {}", made.1, set.1);
            assert!(!is_weak || made.0 == 400, "{code} is taken");
            if made.0 == 200 {
                taken += 1;
                let wide: String = code.chars().map(|c| if c.is_ascii_graphic() { widened(c) } else { c }).collect();
                for typed in [code, &code.to_uppercase(), &code.to_lowercase(), &code.replace([' ', '-'], ""), &wide] {
                    let both = [opens(&office.door(id), typed).await, opens(&office.door(&first), typed).await];
                    assert_eq!(both, [true, true], "{code} is not opened by {typed}");
                }
            } else {
                let words = made.1["detail"].as_str().unwrap();
                assert!(made.0 == 400 && words.contains("ode") && !words.contains(code), "{code}: {words}");
            }
        }
        assert!(taken >= 2, "some are good");
        let guessable = office.wanted(&"x".repeat(22), &json!({}));
        let (status, told) = office.call(&dora, Method::POST, "", guessable).await;
        assert!(status == 400 && told["detail"].as_str().unwrap().contains("generateShareId"), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_is_over_is_not_opened_again_through_the_api() {
    on_both(async |office| {
        let dora = office.session("7", "Dora", "administrator").await;
        let id = office.made_by(&dora, "open-sesame").await;
        let soon = Clock::system().now().after(Duration::from_secs(2)).rfc3339();
        assert_eq!(office.call(&dora, Method::PATCH, &format!("/{id}"), json!({ "expiredAt": soon })).await.0, 200);
        eventually("the end of the share", async || (!opens(&office.door(&id), "open-sesame").await).then_some(())).await;
        let later = Clock::system().now().after(Duration::from_hours(24)).rfc3339();
        for change in [json!({ "expiredAt": later }), json!({"expiredAt": null}), json!({"extractionCode": "another-one"})] {
            let (status, told) = office.call(&dora, Method::PATCH, &format!("/{id}"), change).await;
            assert!(status == 400 && told["detail"].as_str().unwrap().contains("over"), "{status} {told}");
        }
        for code in ["open-sesame", "another-one"] {
            assert!(!opens(&office.door(&id), code).await);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_only_list_shares_is_told_no_id_of_anybody_and_administrators_those_that_nobody_made_here() {
    on_both(async |office| {
        let mut browser = office.replicas.signed_in().await;
        browser.add_server_key(&office.here(), "acme", ACME).await;
        // No group: a single operation is all it may.
        let lists = [("group", "none"), ("operation", "searchShares"), ("label", "lists")];
        let lists = Shown::Key(browser.issue_api_key(&office.here(), &lists).await);
        let (dora, bob) = (office.session("7", "Dora", "administrator").await, office.session("8", "Bob", "member").await);
        let generated = office.call(&bob, Method::POST, "/generate-id", json!({})).await.1;
        let open = generated["shareId"].as_str().unwrap();
        assert_eq!(office.call(&bob, Method::POST, "", office.wanted(open, &json!({}))).await.0, 200);
        assert_eq!(Browser::new().get(&office.door(open)).await.status, 200, "the id alone opens it");
        let (_, generated) = office.scanner.post(ACME, "/api/v1/shares/generate-id", json!({})).await;
        let elsewhere = generated["shareId"].as_str().unwrap();
        let (status, told) = office.scanner.post(ACME, "/api/v1/shares", office.wanted(elsewhere, &json!({}))).await;
        assert_eq!(status, StatusCode::OK, "{told}");

        assert_eq!(office.call(&lists, Method::POST, "/generate-id", json!({})).await.0, 403);
        for (who, wanted) in [(&lists, vec![]), (&bob, vec![open]), (&dora, vec![elsewhere])] {
            let (status, found) = office.call(who, Method::POST, "/search", json!({})).await;
            let whole: Vec<&str> = [open, elsewhere].into_iter().filter(|id| found.to_string().contains(id)).collect();
            assert_eq!((status, found["total"].as_u64(), whole), (200, Some(2), wanted), "{found}");
        }
        for search in [r#"{"sorts": ["shareId"]}"#, r#"{"sorts": ["shareId"], "sorts": []}"#, r#"{"sorts": ["shareId"]} x"#] {
            let Shown::Key(key) = &lists else { panic!("a key lists") };
            let url = format!("{}/scanner/api/v1/shares/search", office.there());
            let sent = http().post(url).bearer_auth(key).header("content-type", "application/json").body(search).send().await;
            assert_eq!(sent.unwrap().status(), StatusCode::BAD_REQUEST, "{search}");
        }
        assert_eq!(office.call(&dora, Method::POST, "/delete", json!({"shareIds": [elsewhere]})).await.0, 200);
        assert_eq!(office.known().await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_or_extended_through_the_api_ends_by_the_rule_of_the_pages_and_is_no_breach_of_it() {
    on_both(async |office| {
        let dora = office.session("7", "Dora", "administrator").await;
        let id = office.made_by(&dora, "open-sesame").await;
        let breaching = async || {
            let page = office.page(&dora, "/admin/shares").await;
            assert!(page.contains("data-label=\"Policy\""), "{page}");
            page.contains("Does not fit")
        };
        assert!(!breaching().await, "without an end it has the latest");
        // Ninety days are usual: the ninetieth after today counts whole.
        let day = Duration::from_hours(24);
        let now = Clock::system().now();
        let midnight = Timestamp(now.0 - now.0.rem_euclid(day.as_millis().try_into().unwrap())).after(day * 91);
        let last = Timestamp(midnight.0 - 1000).rfc3339();
        let (one, late) = (format!("/{id}"), json!({ "expiredAt": midnight.rfc3339() }));
        let (status, told) = office.call(&dora, Method::PATCH, &one, late.clone()).await;
        assert!(status == 400 && told["detail"].as_str().unwrap().contains(&last), "{status} {told}");
        let generated = office.call(&dora, Method::POST, "/generate-id", json!({})).await.1;
        let another = generated["shareId"].as_str().unwrap();
        assert_eq!(office.call(&dora, Method::POST, "", office.wanted(another, &late)).await.0, 400);
        for ends in [json!(last), json!(null), json!(last)] {
            let (status, told) = office.call(&dora, Method::PATCH, &one, json!({ "expiredAt": ends })).await;
            assert_eq!(status, 200, "{told}");
            assert!(!breaching().await, "{ends}");
        }
        let last = office.wanted(another, &json!({"extractionCode": "open-sesame", "expiredAt": last}));
        assert_eq!(office.call(&dora, Method::POST, "", last).await.0, 200);
        assert!(!breaching().await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_shares_through_the_api_is_in_the_trail_with_network_and_of_people_with_their_session() {
    on_both(async |office| {
        let mut browser = office.replicas.signed_in().await;
        browser.add_server_key(&office.here(), "acme", ACME).await;
        let key = Shown::Key(browser.issue_api_key(&office.here(), &[]).await);
        let dora = office.session("7", "Dora", "administrator").await;
        for who in [&key, &dora] {
            let id = office.made_by(who, "open-sesame").await;
            let one = format!("/{id}");
            assert_eq!(office.call(who, Method::PATCH, &one, json!({"expiredAt": null})).await.0, 200);
            assert_eq!(office.call(who, Method::PATCH, &one, json!({"extractionCode": "another-one"})).await.0, 200);
            assert_eq!(office.call(who, Method::POST, "/delete", json!({"shareIds": [id]})).await.0, 200);
        }
        let lines = eventually("eight lines of the trail", async || {
            let trail = office.page(&dora, "/admin/audit.json?act=share").await;
            let trail: Value = serde_json::from_str(&trail).unwrap();
            trail["events"].as_array().filter(|lines| lines.len() == 8).cloned()
        })
        .await;
        for what in ["made", "extended", "new_code", "ended"] {
            let told = lines.iter().filter(|line| line["detail"] == what);
            let (of_people, of_keys): (Vec<_>, Vec<_>) = told.partition(|line| line["session"].is_string());
            assert_eq!((of_people.len(), of_keys.len()), (1, 1), "{what} in {lines:?}");
            for line in of_people.into_iter().chain(of_keys) {
                assert!(
                    line["network"] == "127.0.0.0/24" && line["actor"].is_string() && line["request_id"].is_string(),
                    "{line}"
                );
            }
        }
        // What the service does not read ends nothing here.
        let other = office.scanner.scanned(ACME, "other.war", shop::shop()).await;
        let kept = office.made_by(&key, "open-sesame").await;
        let sly = json!({"taskIds": [other], "taskId": office.task});
        assert_eq!(office.ask(&key, Method::POST, "/tasks/delete", sly).await.0, 200);
        assert!(opens(&office.door(&kept), "open-sesame").await);

        let doomed = json!({"taskIds": [office.task]});
        assert_eq!(office.ask(&key, Method::POST, "/tasks/delete", doomed).await.0, 200);
        let line = eventually("the line of the deleted task", async || {
            let trail: Value = serde_json::from_str(&office.page(&dora, "/admin/audit.json?act=task").await).unwrap();
            trail["events"][0].as_object().cloned()
        })
        .await;
        assert!(line["detail"] == "deleted" && line["network"] == "127.0.0.0/24" && line["actor"].is_string(), "{line:?}");
    })
    .await;
}
