//! Sessions as their users, administrators and scripts see them: two gateways on one Redis, or one on its own file.

use std::time::Instant;

use reqwest::Method;
use serde_json::Value;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::eventually;
use crate::support::provider::person;
use crate::support::replicas::{Replicas, Setup};

const FIREFOX: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0";
const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1";

impl Browser {
    /// What `GET /session` says, as a script of our pages asks.
    pub(super) async fn session(&mut self, portal: &str, query: &str) -> Answer {
        let url = format!("{portal}/session{query}");
        let manners = Manners { headers: vec![("sec-fetch-mode", "cors".to_owned())], ..Browser::own_manners(&url) };
        self.send(Method::GET, &url, &manners, |request| request).await
    }

    /// The token for forms.
    pub(super) async fn csrf(&mut self, portal: &str) -> String {
        self.told(portal).await["csrf"].as_str().unwrap().to_owned()
    }

    pub(super) async fn told(&mut self, portal: &str) -> Value {
        let answer = self.session(portal, "").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.bytes).unwrap()
    }
}

impl Replicas {
    /// A browser in which this person has signed in at a portal.
    pub(super) async fn signed_in_as(&self, portal: &str, subject: &str, name: &str, role: &str) -> Browser {
        self.provider.state().person = person(subject, name, role);
        let mut browser = Browser::new();
        let page = browser.sign_in_at(portal).await;
        assert_eq!(page.status, 200, "{}", page.text());
        browser
    }
}

/// One and the same for both kinds of store; the two addresses are two replicas, or twice the only one.
async fn own_sessions_are_seen_and_ended(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let (mut desk, mut phone, mut third) = (Browser::new(), Browser::new(), Browser::new());
    (desk.agent, phone.agent) = (FIREFOX, PHONE);
    for browser in [&mut desk, &mut phone, &mut third] {
        assert_eq!(browser.sign_in_at(here).await.status, 200);
    }
    let bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    let page = desk.get(&format!("{there}/account/sessions")).await;
    let text = page.text();
    for words in ["Firefox on Windows", "Safari on iPhone", "An unknown device", "127.0.0.0/24", "This session", "30 minutes"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Bob"), "nobody sees another's sessions");
    assert_eq!(page.links("action", "/end").len(), 2 + 1, "one for each other session, and one for all: {text}");
    let as_data = desk.get(&format!("{there}/account/sessions.json")).await;
    let rows: Value = serde_json::from_slice(&as_data.bytes).unwrap();
    let rows = rows["sessions"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["this"], &rows[0]["device"]), (3, &Value::Bool(true), &"Firefox on Windows".into()));

    // One: the phone's.
    let id = phone.told(there).await["session"].as_str().unwrap().to_owned();
    let csrf = page.hidden("csrf");
    let end = page.link("action", &format!("/{id}/end"));
    let answer = desk.post(&end, &[("csrf", &csrf)]).await;
    let after = desk.follow(answer).await;
    assert!(after.text().contains("The session has ended") && !after.text().contains("Safari on iPhone"), "{}", after.text());
    for portal in [here, there] {
        eventually("the end of the session", async || (phone.session(portal, "").await.status == 401).then_some(())).await;
    }
    // Whoever sits there is told, and has to prove again who they are.
    let told = phone.get(&format!("{there}/tasks")).await;
    assert!(told.status == 401 && told.text().contains("You ended this session from another one."), "{}", told.text());
    let onward = phone.get(&told.link("href", "/auth/login")).await.location().unwrap();
    assert!(onward.query().unwrap().contains("prompt=login"), "{onward}");
    let again = desk.post(&end, &[("csrf", &csrf)]).await;
    let again = desk.follow(again).await;
    let neutral = "<div class=\"note\" role=\"status\"><p>There was nothing to end any more.</p>";
    assert!(again.status == 200 && again.text().contains(neutral), "no success is claimed: {}", again.text());
    let unknown = desk.post(&format!("{here}/account/sessions/{}/end", "0".repeat(32)), &[("csrf", &csrf)]).await;
    assert_eq!(unknown.status, 404, "there never was such a session");
    // Another's is not there either.
    let of_bob = bob.clone().told(here).await["session"].as_str().unwrap().to_owned();
    let answer = desk.post(&format!("{here}/account/sessions/{of_bob}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 404);
    // All others.
    let answer = desk.post(&format!("{here}/account/sessions/end-others"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    eventually("the end of the others", async || (third.session(there, "").await.status == 401).then_some(())).await;
    assert_eq!(desk.session(there, "").await.status, 200);
    assert_eq!(bob.clone().session(there, "").await.status, 200);
}

#[tokio::test]
async fn users_see_their_sessions_and_end_one_or_all_others_on_every_replica() {
    own_sessions_are_seen_and_ended(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn users_see_and_end_their_sessions_on_the_embedded_store() {
    own_sessions_are_seen_and_ended(&Replicas::embedded().await).await;
}

#[tokio::test]
async fn administrators_see_and_end_the_sessions_of_their_tenant_and_no_others() {
    let replicas = Replicas::on_redis().await;
    let (here, there, globex) = (&replicas.all[0].url, &replicas.all[1].url, &replicas.all[0].globex);
    let carol = replicas.signed_in_as(globex, "9", "Carol", "member").await;
    let bob = replicas.signed_in_as(here, "8", "Bob", "member").await;
    let bob_too = replicas.signed_in_as(there, "8", "Bob", "member").await;
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let page = dora.get(&format!("{there}/admin/sessions")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("Bob") && page.text().contains("bob@acme.example") && page.text().contains("2 sessions"));
    assert!(!page.text().contains("Carol"), "another tenant's people are not here");
    let found = dora.get(&format!("{there}/admin/sessions?q=BOB")).await.text();
    assert!(found.contains("Bob") && !found.contains("dora@"), "{found}");
    assert!(dora.get(&format!("{there}/admin/sessions?q=nobody")).await.text().contains("Nobody who is signed in fits"));
    // A member has no such page.
    assert_eq!(bob.clone().get(&format!("{here}/admin/sessions")).await.status, 403);

    let csrf = page.hidden("csrf");
    let of_carol = carol.clone().told(globex).await["session"].as_str().unwrap().to_owned();
    let foreign = dora.post(&format!("{here}/admin/sessions/{of_carol}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(foreign.status, 404, "{}", foreign.text());
    assert_eq!(carol.clone().session(globex, "").await.status, 200);
    let of_bob = bob.clone().told(here).await["session"].as_str().unwrap().to_owned();
    for manner in [Some("cross-site"), Some("same-site")] {
        let url = format!("{here}/admin/sessions/{of_bob}/end");
        let manners = Manners { fetch_site: manner, ..Browser::own_manners(&url) };
        assert_eq!(dora.post_as(&url, &[("csrf", &csrf)], &manners).await.status, 403);
        assert_eq!(dora.post(&url, &[("csrf", "x")]).await.status, 403);
    }
    let answer = dora.post(&format!("{here}/admin/sessions/{of_bob}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    eventually("the end of one", async || (bob.clone().session(there, "").await.status == 401).then_some(())).await;
    assert_eq!(bob_too.clone().session(here, "").await.status, 200);
    replicas.signed_in_as(here, "8", "Bob", "member").await;
    let page = dora.get(&format!("{here}/admin/sessions")).await;
    let all = page.link("action", "/admin/sessions/people/");
    assert_eq!(dora.post(&all, &[("csrf", &csrf)]).await.status, 303);
    eventually("the end of all", async || (bob_too.clone().session(there, "").await.status == 401).then_some(())).await;
    for end in [all, format!("{here}/admin/sessions/{of_bob}/end")] {
        let again = dora.post(&end, &[("csrf", &csrf)]).await;
        let again = dora.follow(again).await;
        assert!(again.status == 200 && again.text().contains("There was nothing to end any more."), "{}", again.text());
    }
    let nobody = dora.post(&format!("{here}/admin/sessions/people/{}/end", "0".repeat(64)), &[("csrf", &csrf)]).await;
    assert_eq!(nobody.status, 404, "there never was such a person");
    let log = async || replicas.logs().matches("session_ended").count();
    eventually("three lines of the trail", async || (log().await >= 3).then_some(())).await;
}

#[tokio::test]
async fn the_session_endpoint_tells_who_and_until_when_and_holds_no_token() {
    let setup = Setup { session: "extend_seconds = 0\n".to_owned(), ..Setup::default() };
    let replicas = Replicas::on_redis_with(2, setup).await;
    let here = &replicas.all[0].url;
    let mut dora = replicas.signed_in().await;
    let told = dora.told(here).await;
    assert_eq!((told["user"]["name"].as_str(), told["tenant"].as_str()), (Some("Dora"), Some("acme")), "{told}");
    assert_eq!(told["user"]["role"], "administrator");
    let text = told.to_string();
    for token in replicas.provider.all_tokens() {
        assert!(!text.contains(&token));
    }
    let time = |name: &str| told[name].as_str().unwrap().to_owned();
    assert!(time("started_at") < time("idle_ends_at") && time("idle_ends_at") < time("absolute_ends_at"), "{told}");
    let nobody = Browser::new().session(here, "").await;
    assert_eq!((nobody.status.as_u16(), nobody.header("content-type")), (401, "application/problem+json"));
    assert!(nobody.text().contains("login_url"));

    // What a page asks by itself gives no time; use does. Redis knows how long the record lives.
    let redis = replicas.redis.as_ref().unwrap();
    let key = redis.command(&["KEYS", "*:session:r"]).await;
    let key = key.lines().find(|line| line.contains(":session:")).unwrap().trim().to_owned();
    redis.command(&["PEXPIRE", &key, "600000"]).await;
    let left = async || redis.command(&["PTTL", &key]).await.trim().trim_start_matches(':').parse::<u64>().unwrap();
    for portal in [here, &replicas.all[1].url] {
        assert_eq!(dora.session(portal, "?touch=false").await.status, 200);
        assert!(left().await <= 600_000, "polling keeps nothing alive");
    }
    assert_eq!(dora.session(&replicas.all[1].url, "").await.status, 200);
    assert!(left().await > 600_000, "use does");
}

#[tokio::test]
async fn a_warm_session_is_looked_up_once_a_second_at_most() {
    let replicas = Replicas::on_redis_with(1, Setup::default()).await;
    let portal = &replicas.all[0].url;
    let mut dora = replicas.signed_in().await;
    let redis = replicas.redis.as_ref().unwrap();
    dora.session(portal, "?touch=false").await;
    redis.command(&["CONFIG", "RESETSTAT"]).await;
    let begun = Instant::now();
    for _ in 0..200 {
        assert_eq!(dora.session(portal, "?touch=false").await.status, 200);
    }
    let seconds = begun.elapsed().as_secs();
    let stats = redis.command(&["INFO", "commandstats"]).await;
    let calls = |name: &str| {
        let line = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
        line.and_then(|rest| rest.split(',').next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    println!("200 requests in {seconds} s asked Redis {} times", calls("get"));
    // So is the policy of the tenant, once for all its people.
    let (sessions, policies) = (seconds + 2, seconds + 1);
    assert!(calls("get") <= sessions + policies, "{stats}");
    assert_eq!(calls("set") + calls("pexpire") + calls("evalsha"), 0, "{stats}");
}

#[tokio::test]
async fn with_one_session_too_many_the_oldest_ends_on_every_replica() {
    let setup = Setup { extra: "[gateway.tenant]\nsessions_per_user = 2\n".to_owned(), ..Setup::default() };
    let replicas = Replicas::on_redis_with(2, setup).await;
    let mut first = replicas.signed_in().await;
    let mut second = replicas.signed_in().await;
    assert_eq!(first.session(&replicas.all[1].url, "").await.status, 200);
    let mut third = replicas.signed_in().await;
    for replica in &replicas.all {
        eventually("the end of the oldest", async || (first.session(&replica.url, "").await.status == 401).then_some(())).await;
        assert_eq!(second.session(&replica.url, "").await.status, 200);
        assert_eq!(third.session(&replica.url, "").await.status, 200);
    }
    assert!(second.get(&format!("{}/account/sessions", replicas.all[0].url)).await.text().contains("2 sessions at once"));
}

#[tokio::test]
async fn a_cookie_or_a_callback_of_one_tenant_is_nothing_at_another_and_is_written_down() {
    let replicas = Replicas::on_redis().await;
    let (acme, globex) = (&replicas.all[0].url, &replicas.all[1].globex);
    let mut dora = replicas.signed_in().await;
    let mut thief = Browser::new();
    thief.plant("globex.localhost", "cardea", &dora.cookie("localhost", "cardea").unwrap());
    assert_eq!(thief.session(globex, "").await.status, 401);
    assert_eq!(dora.session(acme, "").await.status, 200, "where it belongs it works");
    let lines = || replicas.logs().lines().filter(|line| line.contains("tenant_mismatch")).map(str::to_owned).collect::<Vec<_>>();
    let line = eventually("the line of the trail", async || lines().pop()).await;
    assert!(line.contains("globex") && line.contains("session_cookie"), "{line}");

    // A sign-in begun at acme, its callback brought to globex.
    let begun = dora.get(&format!("{acme}/auth/login?again=1")).await;
    let back = dora.get(begun.location().unwrap().as_str()).await.location().unwrap();
    let stolen = back.as_str().replacen(back.origin().ascii_serialization().as_str(), globex, 1);
    let refused = thief.get(&stolen).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(
        thief.cookie("globex.localhost", "cardea").is_some_and(|cookie| cookie == dora.cookie("localhost", "cardea").unwrap())
    );
    let line = eventually("its line", async || lines().into_iter().find(|line| line.contains("callback"))).await;
    assert!(line.contains("globex"), "{line}");
    assert_eq!(dora.get(back.as_str()).await.status, 303, "it is not used up");
}
