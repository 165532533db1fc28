//! What administrators keep in their hands, over sockets: keys that are shown once, a recent sign-in for whoever changes them, and
//! the audit log. On two replicas and on one with its file.

use std::collections::BTreeSet;
use std::fs;

use reqwest::Method;
use serde_json::Value;

use crate::support::client::{Answer, Browser, Manners, http};
use crate::support::eventually;
use crate::support::replicas::{Replicas, Setup};

const SK: &str = "server-key-under-control-0123456789";
const NEVER_KEPT: &str = "/scanner/api/v1/domain-ownership/random-content";

/// Everything an answer says.
fn holds(answer: &Answer, secret: &str) -> bool {
    answer.text().contains(secret) || format!("{:?}", answer.headers).contains(secret)
}

async fn status(portal: &str, key: &str) -> (u16, Value) {
    let asked = http().get(format!("{portal}{NEVER_KEPT}")).bearer_auth(key).send().await.unwrap();
    let status = asked.status().as_u16();
    let mut told: Value = asked.json().await.unwrap();
    told.as_object_mut().unwrap().remove("request_id");
    (status, told)
}

/// Acts of the log that are about one object, oldest first.
async fn acts(browser: &mut Browser, portal: &str, object: &str) -> Vec<String> {
    let log = browser.get(&format!("{portal}/admin/audit.json?object={object}")).await;
    assert_eq!(log.status, 200, "{}", log.text());
    let log: Value = serde_json::from_slice(&log.bytes).unwrap();
    let events = log["events"].as_array().unwrap().iter().rev();
    events.map(|event| format!("{} {}", event["act"].as_str().unwrap(), event["detail"].as_str().unwrap())).collect()
}

/// An API key on its way through its life, and what was seen of it.
struct Life<'r> {
    here: &'r str,
    there: &'r str,
    dora: Browser,
    rotate: String,
    revoke: String,
    id: String,
    /// Its texts, oldest first.
    keys: Vec<String>,
    /// Every page on the way, to be looked through.
    pages: Vec<Answer>,
}

/// A server key and an API key from their beginning to their end.
async fn keys_are_shown_once(replicas: &Replicas) -> (Vec<String>, Vec<Answer>) {
    replicas.service.desk().keys = vec![SK.to_owned()];
    let (here, there) = (&replicas.all[0].url, &replicas.all.last().unwrap().url);
    let mut dora = replicas.signed_in().await;
    let pages = vec![dora.add_server_key(here, "main", SK).await];
    assert!(pages[0].text().contains("…6789"), "the end of it is shown");
    let mut life = is_made_once(here, there, dora, pages).await;
    is_rotated_with_an_overlap(&mut life).await;
    is_rotated_at_once(&mut life).await;
    is_revoked(&mut life).await;
    life.keys.push(SK.to_owned());
    (life.keys, life.pages)
}

/// Made with a form that is sent three times.
async fn is_made_once<'r>(here: &'r str, there: &'r str, mut dora: Browser, mut pages: Vec<Answer>) -> Life<'r> {
    // The key is in the answer to the form, which nobody may keep, and in no other.
    let form = dora.get(&format!("{here}/admin/api-keys/new")).await;
    let (csrf, once) = (form.hidden("csrf"), form.hidden("once"));
    let fields = [
        ("csrf", &*csrf),
        ("once", &once),
        ("label", "build"),
        ("group", "read"),
        ("group", "scan"),
        ("days", "20"),
        ("networks", ""),
    ];
    let made = dora.post(&format!("{here}/admin/api-keys"), &fields).await;
    assert_eq!((made.status.as_u16(), made.header("cache-control")), (200, "no-store"));
    let first = made.by_id("api-key");
    // A reload sends the form again, here by chance to the other replica: nothing is made, nothing is shown.
    for portal in [here, there] {
        let again = dora.post(&format!("{portal}/admin/api-keys"), &fields).await;
        assert!(again.status == 200 && again.text().contains("already shown"), "{}", again.text());
        pages.push(again);
    }
    let list = dora.get(&format!("{there}/admin/keys")).await;
    assert_eq!(list.links("href", "/rotate").len(), 1, "one key was made");
    let last_four = &first[first.len() - 4..];
    assert!(list.text().contains(&format!("{}…{last_four}", &first[..17])), "{}", list.text());
    assert!(list.text().contains("1 API key ends within 30 days."), "{}", list.text());
    let (rotate, revoke) = (list.link("href", "/rotate"), list.link("href", "/revoke"));
    let id = first.split('_').nth(1).unwrap().to_owned();
    pages.push(list);

    assert_eq!(status(there, &first).await.0, 200);
    let shown = dora.get(&format!("{there}/admin/api-keys/{id}")).await;
    assert_eq!(shown.status, 200, "{}", shown.text());
    pages.push(shown);
    Life { here, there, dora, rotate, revoke, id, keys: vec![first], pages }
}

async fn is_rotated_with_an_overlap(life: &mut Life<'_>) {
    let Life { here, there, dora, rotate, id, keys, pages, .. } = life;
    // With an overlap both are good, and the page counts down.
    let form = dora.get(rotate).await;
    let (csrf, once, newest) = (form.hidden("csrf"), form.hidden("once"), form.hidden("newest"));
    let send = [("csrf", &*csrf), ("once", &*once), ("newest", &*newest), ("overlap", "24h")];
    let rotated = dora.post(rotate, &send).await;
    let second = rotated.by_id("api-key");
    let again = dora.post(rotate, &send).await;
    assert!(again.text().contains("already shown"), "{}", again.text());
    pages.push(again);
    for portal in [&**here, &**there] {
        for key in [&keys[0], &second] {
            assert_eq!(status(portal, key).await.0, 200);
        }
    }
    let shown = dora.get(&format!("{here}/admin/api-keys/{id}")).await;
    assert!(shown.text().contains("still works for <strong>"), "{}", shown.text());
    pages.push(shown);
    keys.push(second);
}

async fn is_rotated_at_once(life: &mut Life<'_>) {
    let Life { here, there, dora, rotate, keys, .. } = life;
    let form = dora.get(rotate).await;
    let (csrf, once, newest) = (form.hidden("csrf"), form.hidden("once"), form.hidden("newest"));
    let send = [("csrf", &*csrf), ("once", &*once), ("newest", &*newest), ("overlap", "0")];
    let third = dora.post(rotate, &send).await.by_id("api-key");
    let never = status(here, &format!("cdk_{}", "0".repeat(62))).await;
    for portal in [&**here, &**there] {
        for key in &*keys {
            let told = eventually("the end of the earlier text", async || {
                let told = status(portal, key).await;
                (told.0 == 401).then_some(told)
            });
            assert_eq!(told.await, never, "as one that never was");
        }
        assert_eq!(status(portal, &third).await.0, 200);
    }
    keys.push(third);
}

async fn is_revoked(life: &mut Life<'_>) {
    let Life { here, there, dora, revoke, id, keys, pages, .. } = life;
    let never = status(here, &format!("cdk_{}", "0".repeat(62))).await;
    // Before it is revoked, the page names who uses it.
    let ask = eventually("who used it", async || {
        let ask = dora.get(revoke).await;
        ask.text().contains("127.0.0.0/24").then_some(ask)
    })
    .await;
    let text = ask.text();
    assert!(text.contains("It is in use.") && text.contains("<code>getOwnershipContent</code>"), "{text}");
    let csrf = ask.hidden("csrf");
    pages.push(ask);
    assert_eq!(dora.post(revoke, &[("csrf", &csrf)]).await.status, 303);
    eventually("the end of the key", async || (status(there, &keys[2]).await == never).then_some(())).await;
    let wanted = ["created", "rotated_24h", "rotated_at_once", "revoked"].map(|what| format!("api_key {what}"));
    eventually("the log", async || (acts(dora, there, id).await == wanted).then_some(())).await;
    pages.push(dora.get(&format!("{here}/admin/audit?all=1")).await);
    pages.push(dora.get(&format!("{here}/admin/audit.csv")).await);
}

fn none_of(place: &str, bytes: &[u8], secrets: &[String]) {
    // The part before the second underscore is the public id.
    for secret in secrets.iter().map(|key| key.rsplit('_').next().unwrap()) {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{place} holds {secret}");
    }
}

fn pages_hold_none(pages: &[Answer], secrets: &[String]) {
    for page in pages {
        for secret in secrets.iter().map(|key| key.rsplit('_').next().unwrap()) {
            assert!(!holds(page, secret), "{} holds a key", page.url);
        }
    }
}

#[tokio::test]
async fn keys_are_shown_once_on_two_replicas_and_are_nowhere_else() {
    let replicas = Replicas::on_redis().await;
    let (secrets, pages) = keys_are_shown_once(&replicas).await;
    pages_hold_none(&pages, &secrets);
    none_of("Redis", &replicas.redis.as_ref().unwrap().dump().await, &secrets);
    none_of("the log", replicas.logs().as_bytes(), &secrets);
}

#[tokio::test]
async fn keys_are_shown_once_with_an_embedded_store_and_are_nowhere_else() {
    let mut replicas = Replicas::embedded().await;
    let (secrets, pages) = keys_are_shown_once(&replicas).await;
    pages_hold_none(&pages, &secrets);
    replicas.all[0].finish().await;
    none_of("the file", &fs::read(replicas.all[0].folder().join("gateway.redb")).unwrap(), &secrets);
    none_of("the log", replicas.logs().as_bytes(), &secrets);
}

/// Whoever the provider let in without asking looks at keys and changes none, until the provider has asked.
#[tokio::test]
async fn keys_are_changed_only_by_somebody_who_was_asked_lately() {
    let replicas = Replicas::on_redis().await;
    let (here, there) = (replicas.all[0].url.clone(), replicas.all[1].url.clone());
    replicas.provider.state().remembers = true;
    for tells_when in [true, false] {
        replicas.provider.state().tells_when = tells_when;
        replicas.provider.state().asked_at = 1000;
        let mut dora = replicas.signed_in().await;
        let list = dora.get(&format!("{here}/admin/keys")).await;
        assert!(list.status == 200 && !list.text().contains("name=\"key\""), "there is no field to fill in in vain");
        let csrf = list.hidden("csrf");
        let held = dora.post(&format!("{here}/admin/keys"), &[("csrf", &csrf), ("label", "x"), ("key", SK)]).await;
        assert_eq!(held.status, 401);
        assert!(held.text().contains("Nothing was changed") && !held.text().contains(SK), "{}", held.text());
        let form = dora.get(&format!("{there}/admin/api-keys/new")).await;
        assert_eq!(form.status, 401);
        // Going to the sign-in past the link helps nobody: the provider asks nobody then.
        dora.open(&format!("{here}/auth/login?again=1&return_to=%2Ftasks")).await;
        assert_eq!(dora.get(&format!("{there}/admin/api-keys/new")).await.status, 401);
        // The link does, and leads back.
        let form = dora.get(&format!("{here}/admin/api-keys/new")).await;
        let link = form.link("href", "again=1");
        assert!(link.contains("other=1"), "{link}");
        let back = dora.open(&link).await;
        assert_eq!((back.status.as_u16(), back.url.path()), (200, "/admin/api-keys/new"), "{}", back.text());
        assert_eq!(dora.get(&format!("{there}/admin/api-keys/new")).await.status, 200, "on the other replica too");
        // A program is told the same.
        let mut other = replicas.signed_in().await;
        replicas.provider.state().asked_at = 1000;
        other.open(&format!("{here}/auth/login?again=1&return_to=%2Ftasks")).await;
        let json = Manners { headers: vec![("accept", "application/json".to_owned())], ..Manners::default() };
        let told = other.send(Method::GET, &format!("{here}/admin/api-keys/new"), &json, |request| request).await;
        let told: Value = serde_json::from_slice(&told.bytes).unwrap();
        assert_eq!((&told["status"], told["login_url"].as_str().unwrap().contains("other=1")), (&401.into(), true), "{told}");
    }
    let mut dora = replicas.signed_in().await;
    let acts = eventually("the log", async || {
        let log = dora.get(&format!("{there}/admin/audit.json?act=step_up&result=refused")).await;
        let log: Value = serde_json::from_slice(&log.bytes).unwrap();
        (log["events"].as_array().unwrap().len() == 2).then_some(log)
    });
    assert_eq!(acts.await["events"][0]["detail"], "held_back");
}

/// Walks along "Older" from the newest page; gives what each row of the log says of its request.
async fn walk(browser: &mut Browser, first: &str) -> Vec<String> {
    let (mut at, mut found) = (first.to_owned(), Vec::new());
    loop {
        let page = browser.get(&at).await;
        assert_eq!(page.status, 200, "{}", page.text());
        found.extend(page.text().split("<code class=\"small\">").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()));
        let Some(next) = page.links("href", "before=").pop() else { return found };
        at = next;
    }
}

async fn the_log_is_read_whole_by_pages_and_as_files(replicas: Replicas) {
    let (here, there) = (replicas.all[0].url.clone(), replicas.all.last().unwrap().url.clone());
    let mut dora = replicas.signed_in().await;
    for number in 0..60 {
        dora.issue_api_key(if number % 2 == 0 { &here } else { &there }, &[("label", &format!("key {number}"))]).await;
    }
    let log = async |browser: &mut Browser, query: &str| -> Value {
        let file = browser.get(&format!("{there}/admin/audit.json{query}")).await;
        let name = file.header("content-disposition").to_owned();
        assert!(
            name.starts_with("attachment; filename=\"audit-acme-20") && name.contains("filename*=UTF-8''audit-acme-20"),
            "{name}"
        );
        serde_json::from_slice(&file.bytes).unwrap()
    };
    let all = eventually("all events", async || {
        let all = log(&mut dora, "?act=api_key").await;
        (all["events"].as_array().unwrap().len() == 60).then_some(all)
    })
    .await;
    assert_eq!(all["tenant"], "acme");
    let requests: Vec<String> =
        all["events"].as_array().unwrap().iter().map(|event| event["request_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(requests.iter().collect::<BTreeSet<_>>().len(), 60);
    assert_eq!(walk(&mut dora, &format!("{here}/admin/audit?act=api_key")).await, requests, "pages show what the file holds");
    let name = all["events"][0]["actor_name"].as_str().unwrap();
    assert_eq!(name, "Dora");
    for (query, count) in [("?act=api_key&actor=dora", 60), ("?act=api_key&actor=nobody", 0), ("?act=api_key&to=2020-01-01", 0)] {
        assert_eq!(log(&mut dora, query).await["events"].as_array().unwrap().len(), count, "{query}");
    }
    let one = log(&mut dora, &format!("?request={}", requests[7])).await;
    assert_eq!(one["events"].as_array().unwrap().len(), 1);
    let csv = dora.get(&format!("{here}/admin/audit.csv?act=api_key")).await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8; header=present");
    let text = csv.text();
    let mut rows = text.trim_start_matches('\u{feff}').split("\r\n");
    assert!(text.starts_with('\u{feff}') && rows.next().unwrap().starts_with("number,time,actor,"), "{text}");
    assert_eq!(rows.filter(|row| !row.is_empty()).count(), 60);
    let files = eventually("what was exported", async || {
        let log = log(&mut dora, "?act=audit_trail").await;
        let events = log["events"].as_array().unwrap().clone();
        events.iter().any(|event| event["detail"] == "exported_csv").then_some(events)
    });
    assert!(files.await.iter().any(|event| event["detail"] == "exported_json"));

    // Whether it is whole, asked on one replica and told on the other.
    let page = dora.get(&format!("{here}/admin/audit")).await;
    assert!(page.text().contains("not checked from here yet"), "{}", page.text());
    let checked = dora.post(&format!("{here}/admin/audit/check"), &[("csrf", &page.hidden("csrf"))]).await;
    assert_eq!(checked.status, 303);
    eventually("the check", async || {
        dora.get(&format!("{there}/admin/audit")).await.text().contains("is as it was written").then_some(())
    })
    .await;
    let mut foreign = Browser::new();
    foreign.sign_in_at(&replicas.all[0].globex).await;
    let theirs = foreign.get(&format!("{}/admin/audit?all=1", replicas.all[0].globex)).await;
    assert!(theirs.status == 200 && !theirs.text().contains("API key: created"), "{}", theirs.text());
}

/// More than a page of the log has rows.
fn many_keys() -> Setup {
    Setup { extra: "[gateway.vault]\napi_keys = 100\n".to_owned(), ..Setup::default() }
}

#[tokio::test]
async fn the_log_is_read_by_pages_and_as_files_on_two_replicas() {
    the_log_is_read_whole_by_pages_and_as_files(Replicas::on_redis_with(2, many_keys()).await).await;
}

#[tokio::test]
async fn the_log_is_read_by_pages_and_as_files_with_an_embedded_store() {
    the_log_is_read_whole_by_pages_and_as_files(Replicas::embedded_with(many_keys()).await).await;
}

#[tokio::test]
async fn members_and_strangers_get_neither_pages_nor_files() {
    let replicas = Replicas::embedded().await;
    let portal = replicas.all[0].url.clone();
    replicas.provider.state().person = crate::support::provider::person("8", "Milo", "member");
    let mut milo = replicas.signed_in().await;
    let mut nobody = Browser::new();
    for path in ["/admin/audit", "/admin/audit.csv", "/admin/audit.json", "/admin/api-keys/x", "/admin/keys/x"] {
        assert_eq!(milo.get(&format!("{portal}{path}")).await.status, 403, "{path}");
        assert_eq!(nobody.get(&format!("{portal}{path}")).await.status, 303, "{path}");
    }
    let csrf = milo.get(&format!("{portal}/tasks/new")).await.hidden("csrf");
    assert_eq!(milo.post(&format!("{portal}/admin/audit/check"), &[("csrf", &csrf)]).await.status, 403);
}
