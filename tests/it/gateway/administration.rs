//! What administrators decide holds on every replica within a second: the policy of their company, and who may come in. Two
//! gateways on one Redis, or one on its own file.

use crate::support::client::{Answer, Browser, http};
use crate::support::eventually;
use crate::support::provider::person;
use crate::support::replicas::{Replicas, Setup};

const SK: &str = "server-key-of-administration-0123456789";
const NEVER_KEPT: &str = "/scanner/api/v1/domain-ownership/random-content";

/// The policy form of a page with some fields changed.
fn filled(page: &Answer, changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let text = page.text();
    let form = text.split("action=\"/admin/policy\"").nth(1).unwrap().split("</form>").next().unwrap();
    let value =
        |tag: &str, name: &str| tag.split(&format!(" {name}=\"")).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    let mut fields = Vec::new();
    for tag in form.split("<input").skip(1).map(|tag| tag.split('>').next().unwrap()) {
        let name = value(tag, "name").unwrap();
        if !tag.contains("checkbox") || tag.contains(" checked") {
            let typed = changes.iter().find(|(field, _)| *field == name).map(|(_, value)| (*value).to_owned());
            fields.push((name, typed.or_else(|| value(tag, "value")).unwrap_or_else(|| "on".to_owned())));
        }
    }
    fields
}

async fn save(browser: &mut Browser, portal: &str, page: &Answer, changes: &[(&str, &str)]) -> Answer {
    let fields = filled(page, changes);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(&format!("{portal}/admin/policy"), &fields).await
}

/// The two addresses are two replicas, or twice the only one.
async fn a_policy_holds_on_every_replica(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let (first, second) = (dora.get(&format!("{here}/admin/policy")).await, dora.get(&format!("{there}/admin/policy")).await);
    assert_eq!(first.status, 200, "{}", first.text());
    let changes = [("name", "Acme West"), ("sessions_per_user", "2"), ("accent", "#c00000"), ("most_days", "30")];
    let answer = save(&mut dora, here, &first, &changes).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    eventually("the new looks", async || dora.get(&format!("{there}/s/any")).await.text().contains("Acme West").then_some(()))
        .await;
    eventually("the new limit", async || {
        dora.get(&format!("{there}/account/sessions")).await.text().contains("You can have 2 sessions at once").then_some(())
    })
    .await;
    let globex = replicas.all[0].globex.clone();
    assert!(dora.get(&format!("{globex}/s/any")).await.text().contains("globex security portal"));

    // Who saves a page of before is told, on whichever replica, and keeps what was typed.
    let late = save(&mut dora, there, &second, &[("kept_days", "10")]).await;
    assert_eq!(late.status, 409, "{}", late.text());
    assert!(late.text().contains("name=\"kept_days\" value=\"10\"") && late.text().contains("Version 1 is by Dora"));
    // The limit is obeyed there as well: with the third session the oldest ends.
    let mut bobs = Vec::new();
    for _ in 0..3 {
        bobs.push(replicas.signed_in_as(there, "8", "Bob", "member").await);
    }
    eventually("the end of the oldest", async || (bobs[0].session(here, "").await.status == 401).then_some(())).await;
    assert_eq!(bobs[2].session(here, "").await.status, 200);
    eventually("a line of the trail", async || {
        let logs = replicas.logs();
        let line = logs.lines().find(|line| line.contains("policy_changed"))?;
        assert!(line.contains("most_days 90 -> 30") && line.contains("name changed") && !line.contains("Acme West"), "{line}");
        Some(())
    })
    .await;
}

#[tokio::test]
async fn a_policy_holds_on_every_replica_on_redis() {
    a_policy_holds_on_every_replica(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn a_policy_holds_on_the_embedded_store() {
    a_policy_holds_on_every_replica(&Replicas::embedded().await).await;
}

async fn who_is_disabled_is_out_everywhere(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut bob = replicas.signed_in_as(there, "8", "Bob", "member").await;
    let mut bob_too = replicas.signed_in_as(here, "8", "Bob", "member").await;
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let list = dora.get(&format!("{there}/admin/users?q=bob")).await;
    assert!(
        list.status == 200 && list.text().contains("bob@acme.example") && list.text().contains("1 person"),
        "{}",
        list.text()
    );
    let page = dora.get(&list.link("href", "/admin/users/")).await;
    assert!(page.text().contains("2 sessions now"), "{}", page.text());
    let csrf = page.hidden("csrf");
    let off = page.link("action", "/disable");
    let answer = dora.post(&off, &[("csrf", &csrf), ("reason", "left the company")]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    for (browser, portal) in [(&mut bob, there), (&mut bob_too, here)] {
        eventually("the end of a session", async || (browser.session(portal, "").await.status == 401).then_some(())).await;
    }
    let told = bob.get(&format!("{there}/tasks")).await;
    assert!(told.status == 401 && told.text().contains("has disabled your account in this portal"), "{}", told.text());
    assert!(!told.text().contains("left the company"), "why is for administrators");
    // The provider still lets him in, on every replica; this portal does not.
    replicas.provider.state().person = person("8", "Bob", "member");
    for portal in [here, there] {
        let refused = Browser::new().sign_in_at(portal).await;
        assert!(refused.status == 403 && refused.text().contains("has disabled your account"), "{}", refused.text());
    }
    // Nobody else is concerned: the same subject at another company is another person.
    let mut elsewhere = Browser::new();
    assert_eq!(elsewhere.sign_in_at(&replicas.all[0].globex).await.status, 200);

    let page = dora.get(&off.replace("/disable", "")).await;
    assert!(page.text().contains("left the company") && page.text().contains("by Dora"), "{}", page.text());
    let answer = dora.post(&page.link("action", "/enable"), &[("csrf", &csrf)]).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let mut back = Browser::new();
    assert_eq!(back.sign_in_at(there).await.status, 200);
    assert_eq!(back.session(here, "").await.status, 200);
    eventually("two lines of the trail", async || {
        let logs = replicas.logs();
        let lines: Vec<&str> = logs.lines().filter(|line| line.contains("user_access")).collect();
        assert!(!logs.contains("left the company") && !logs.contains("bob@acme.example"));
        (lines.len() == 2).then_some(())
    })
    .await;
    assert!(!replicas.provider.seen().revoked.is_empty(), "the grant of a refused sign-in goes back");
}

#[tokio::test]
async fn who_is_disabled_is_out_on_every_replica() {
    who_is_disabled_is_out_everywhere(&Replicas::on_redis().await).await;
}

#[tokio::test]
async fn who_is_disabled_is_out_on_the_embedded_store() {
    who_is_disabled_is_out_everywhere(&Replicas::embedded().await).await;
}

/// The access token that somebody's pages are asked for with.
async fn token_of(replicas: &Replicas, portal: &str, browser: &mut Browser) -> String {
    assert_eq!(browser.get(&format!("{portal}/tasks")).await.status, 200);
    replicas.service.desk().calls.last().unwrap().bearer.clone()
}

async fn called(portal: &str, bearer: &str) -> (u16, String) {
    let asked = http().get(format!("{portal}{NEVER_KEPT}")).bearer_auth(bearer).send().await.unwrap();
    (asked.status().as_u16(), asked.text().await.unwrap())
}

/// API keys are exchanged for one.
async fn with_server_key(replicas: &Replicas, portal: &str, browser: &mut Browser) {
    replicas.service.desk().keys = vec![SK.to_owned()];
    browser.add_server_key(portal, "main", SK).await;
}

/// A report that never ends, asked for with this token.
async fn report(portal: &str, bearer: &str) -> reqwest::Response {
    let report = http().get(format!("{portal}/scanner/api/v2/tasks/t1/report")).bearer_auth(bearer).send().await.unwrap();
    assert_eq!(report.status(), 200);
    report
}

async fn who_is_disabled_is_out_with_tokens_too(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut bob = replicas.signed_in_as(here, "8", "Bob", "administrator").await;
    with_server_key(replicas, here, &mut bob).await;
    let bobs = token_of(replicas, here, &mut bob).await;
    let key = bob.issue_api_key(here, &[("label", "nightly build")]).await;
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let doras = token_of(replicas, here, &mut dora).await;
    assert_ne!(bobs, doras);
    let asked = replicas.provider.seen().userinfo;
    for portal in [here, there] {
        assert_eq!((called(portal, &bobs).await.0, called(portal, &doras).await.0), (200, 200));
    }
    // Another tenant at the same service takes tokens as well.
    let neighbour = &replicas.all[0].globex;
    assert_eq!(called(neighbour, &bobs).await.0, 200);
    assert_eq!(replicas.provider.seen().userinfo, asked, "while nobody is disabled, nobody has to be told apart");
    let mut cut = report(there, &bobs).await;

    let list = dora.get(&format!("{there}/admin/users?q=bob")).await;
    let page = dora.get(&list.link("href", "/admin/users/")).await;
    assert!(page.text().contains("API keys belong to your company and work on"), "{}", page.text());
    assert!(page.text().contains(">nightly build</a>") && !page.text().contains(&key), "{}", page.text());
    let off = page.link("action", "/disable");
    // From now on userinfo speaks of whoever the test says: first of the one who goes.
    replicas.provider.state().person = person("8", "Bob", "administrator");
    let csrf = page.hidden("csrf");
    assert_eq!(dora.post(&off, &[("csrf", &csrf), ("reason", "left the company")]).await.status, 303);
    for portal in [here, there, neighbour] {
        let told = eventually("the end of a token", async || {
            let told = called(portal, &bobs).await;
            (told.0 == 401).then_some(told.1)
        });
        assert!(told.await.contains("has disabled the account"), "in words");
    }
    eventually("the end of a stream", async || cut.chunk().await.is_err().then_some(())).await;
    // Keys are the company's.
    for portal in [here, there] {
        assert_eq!(called(portal, &key).await.0, 200);
    }
    let page = dora.get(&off.replace("/disable", "")).await;
    assert!(page.text().contains("so they work although this person is disabled"), "{}", page.text());

    // Nobody else is concerned, once it is known who they are.
    replicas.provider.state().person = person("7", "Dora", "administrator");
    for portal in [here, there] {
        assert_eq!(called(portal, &doras).await.0, 200);
        assert_eq!(called(portal, "made-up").await.0, 401);
    }
    let asked = replicas.provider.seen().userinfo;
    for portal in [here, there] {
        assert_eq!((called(portal, &doras).await.0, called(portal, &bobs).await.0), (200, 401));
    }
    assert_eq!(replicas.provider.seen().userinfo, asked, "whose a token is stays known");

    assert_eq!(dora.post(&page.link("action", "/enable"), &[("csrf", &csrf)]).await.status, 303);
    for portal in [here, there] {
        eventually("the token again", async || (called(portal, &bobs).await.0 == 200).then_some(())).await;
    }
    assert!(!replicas.logs().contains(&bobs), "no token is in a log");
}

fn with_tokens() -> Setup {
    Setup {
        extra: ["acme", "globex"].map(|tenant| format!("[gateway.tenants.{tenant}.api]\naccess_tokens = true\n")).concat(),
        ..Setup::default()
    }
}

#[tokio::test]
async fn who_is_disabled_is_out_with_tokens_on_every_replica() {
    who_is_disabled_is_out_with_tokens_too(&Replicas::on_redis_with(2, with_tokens()).await).await;
}

#[tokio::test]
async fn who_is_disabled_is_out_with_tokens_on_the_embedded_store() {
    who_is_disabled_is_out_with_tokens_too(&Replicas::embedded_with(with_tokens()).await).await;
}

#[tokio::test]
async fn while_the_provider_is_away_no_token_passes_for_that_of_somebody_who_may() {
    let replicas = Replicas::embedded_with(with_tokens()).await;
    let portal = &replicas.all[0].url;
    drop(replicas.signed_in_as(portal, "8", "Bob", "member").await);
    let mut dora = replicas.signed_in_as(portal, "7", "Dora", "administrator").await;
    let doras = token_of(&replicas, portal, &mut dora).await;
    let list = dora.get(&format!("{portal}/admin/users?q=bob")).await;
    let page = dora.get(&list.link("href", "/admin/users/")).await;
    // Userinfo tells nothing that says who it is.
    replicas.provider.state().person.clear();
    assert_eq!(called(portal, &doras).await.0, 200);
    let sent = [("csrf", page.hidden("csrf")), ("reason", "left".to_owned())];
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(dora.post(&page.link("action", "/disable"), &sent).await.status, 303);
    eventually("the closed door", async || (called(portal, &doras).await.0 == 503).then_some(())).await;
    replicas.provider.state().person = person("7", "Dora", "administrator");
    assert_eq!(called(portal, &doras).await.0, 200);
}

async fn fewer_calls_are_taken_when_a_policy_says_so(replicas: &Replicas) {
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    with_server_key(replicas, here, &mut dora).await;
    let key = dora.issue_api_key(here, &[]).await;
    for portal in [here, there] {
        for _ in 0..10 {
            assert_eq!(called(portal, &key).await.0, 200);
        }
    }
    let page = dora.get(&format!("{here}/admin/policy")).await;
    let wide = save(&mut dora, here, &page, &[("calls_of_caller", "100000")]).await;
    assert_eq!(wide.status, 422, "a policy lowers what the settings allow: {}", wide.text());
    assert_eq!(save(&mut dora, here, &page, &[("calls_of_caller", "15")]).await.status, 303);
    // It has called twenty times in this window already, so it is out, and learns why, on both.
    for portal in [here, there] {
        eventually("the new limit", async || (called(portal, &key).await.0 == 429).then_some(())).await;
        let refused = http().get(format!("{portal}{NEVER_KEPT}")).bearer_auth(&key).send().await.unwrap();
        let told = refused.headers()["ratelimit-policy"].to_str().unwrap();
        assert!(told.contains("\"caller\";q=15;") && refused.headers().contains_key("retry-after"), "{told}");
    }
    // Another company's stays as it was, and so does another key.
    let other = dora.issue_api_key(there, &[("label", "other")]).await;
    for _ in 0..7 {
        assert_eq!((called(here, &other).await.0, called(there, &other).await.0), (200, 200));
    }
}

/// Windows of an hour, so that none ends while a test runs.
fn hourly() -> Setup {
    Setup { extra: "[gateway.api.rate]\nwindow_seconds = 3600\nper_caller = 500\nshare_ms = 50\n".to_owned(), ..Setup::default() }
}

#[tokio::test]
async fn fewer_calls_are_taken_on_two_replicas_when_a_policy_says_so() {
    fewer_calls_are_taken_when_a_policy_says_so(&Replicas::on_redis_with(2, hourly()).await).await;
}

#[tokio::test]
async fn fewer_calls_are_taken_on_the_embedded_store_when_a_policy_says_so() {
    fewer_calls_are_taken_when_a_policy_says_so(&Replicas::embedded_with(hourly()).await).await;
}

#[tokio::test]
async fn who_runs_the_platform_is_told_by_the_settings_alone() {
    let provider = crate::support::provider::Provider::start().await;
    let subjects =
        format!("[gateway.operator]\nsubjects = [{{ tenant = \"acme\", issuer = \"{}\", subject = \"6\" }}]\n", provider.issuer);
    let setup = Setup { extra: subjects, provider: Some(provider), ..Setup::default() };
    let replicas = Replicas::embedded_with(setup).await;
    let (acme, globex) = (&replicas.all[0].url, &replicas.all[0].globex);
    let mut dora = replicas.signed_in_as(acme, "7", "Dora", "administrator").await;
    assert_eq!(dora.get(&format!("{acme}/operator")).await.status, 404);
    // The same subject at the other company, whose provider has the same name here.
    let mut namesake = replicas.signed_in_as(globex, "6", "Olga", "administrator").await;
    assert_eq!(namesake.get(&format!("{globex}/operator")).await.status, 404);
    let mut olga = replicas.signed_in_as(acme, "6", "Olga", "member").await;
    // A member lands on the first page; the way is there, and on nobody else's.
    let landed = olga.open(&format!("{acme}/")).await;
    assert!(landed.status == 200 && landed.text().contains("href=\"/operator\""), "{}", landed.text());
    assert!(!dora.open(&format!("{acme}/")).await.text().contains("href=\"/operator\""));
    let list = olga.get(&format!("{acme}/operator")).await;
    assert!(list.status == 200 && list.text().contains(">globex<") && list.text().contains("Answers"), "{}", list.text());
    assert_eq!(olga.get(&format!("{acme}/operator/tenants/globex")).await.status, 200);
    assert_eq!(olga.get(&format!("{acme}/admin")).await.status, 403);
    eventually("a line of the trail", async || replicas.logs().contains("operator_looked").then_some(())).await;
    assert_eq!(Browser::new().get(&format!("{acme}/operator")).await.status, 303, "to the sign-in");
}
