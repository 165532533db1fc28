//! What lies in Redis, in the embedded file and in the logs after a whole journey: no token, secret, code, cookie, or address
//! of a person. All of it is looked for as it is written, byte by byte.

use std::fs;

use crate::support::client::Browser;
use crate::support::demo::{Demo, data_folder};
use crate::support::eventually;
use crate::support::jar::vulnerable_war;
use crate::support::redis::RedisServer;
use crate::support::replicas::{CLIENT_SECRET, Replicas};

/// The part of a session cookie that is the handle, and the whole.
fn of_cookie(browser: &Browser, host: &str) -> Vec<String> {
    let value = browser.cookie(host, "cardea").unwrap();
    let handle: String = value.chars().rev().take(43).collect::<Vec<_>>().into_iter().rev().collect();
    vec![value, handle]
}

fn holds_none(place: &str, bytes: &[u8], secrets: &[String]) {
    for secret in secrets {
        assert!(secret.len() >= 9, "long enough to be told from chance: {secret}");
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{place} holds {secret}");
    }
}

/// Signs in and out, refreshes, and leaves a sign-in half-way; everything that must not be found after.
async fn journey(replicas: &Replicas) -> Vec<String> {
    let url = &replicas.all[0].url;
    replicas.provider.state().lifetime = Some(1);
    let mut stays = replicas.signed_in().await;
    let mut leaves = replicas.signed_in().await;
    let mut secrets = of_cookie(&leaves, "localhost");
    eventually("a refresh of both", async || {
        for browser in [&mut stays, &mut leaves] {
            assert_eq!(browser.get(&format!("{url}/tasks")).await.status, 200);
        }
        (replicas.provider.seen().refreshes > 1).then_some(())
    })
    .await;
    let page = leaves.get(&format!("{url}/tasks")).await;
    let out = leaves.post(&format!("{url}/auth/logout"), &[("csrf", &page.hidden("csrf"))]).await;
    assert!(out.status.is_redirection() || out.status == 200, "{}: {}", out.status, out.text());
    let mut half = Browser::new();
    let away = half.get(&format!("{url}/auth/login")).await.location().unwrap();
    secrets
        .extend(away.query_pairs().filter(|(name, _)| name == "state" || name == "nonce").map(|(_, value)| value.into_owned()));
    secrets.extend(of_cookie(&stays, "localhost"));
    secrets.extend(replicas.provider.all_tokens());
    secrets.extend(replicas.service.desk().calls.iter().map(|call| call.bearer.clone()));
    for form in replicas.provider.seen().forms {
        let names = ["code", "code_verifier", "refresh_token", "client_secret"];
        secrets.extend(names.iter().filter_map(|name| form.get(*name).cloned()));
    }
    secrets.push(CLIENT_SECRET.to_owned());
    secrets.push("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned());
    secrets.push("dora@acme.example".to_owned());
    assert!(replicas.provider.seen().refreshes > 0, "tokens were refreshed on the way");
    secrets
}

#[tokio::test]
async fn two_gateways_leave_no_secret_in_redis_and_in_their_logs() {
    let replicas = Replicas::on_redis().await;
    let secrets = journey(&replicas).await;
    let dump = replicas.redis.as_ref().unwrap().dump().await;
    assert!(dump.windows(10).any(|window| window == b"cardea:{ac"), "the dump is looked through");
    holds_none("Redis", &dump, &secrets);
    holds_none("the log", replicas.logs().as_bytes(), &secrets);
}

#[tokio::test]
async fn a_gateway_leaves_no_secret_in_its_file_and_in_its_log() {
    let mut replicas = Replicas::embedded().await;
    let secrets = journey(&replicas).await;
    replicas.all[0].finish().await;
    let file = fs::read(replicas.all[0].folder().join("gateway.redb")).unwrap();
    assert!(file.windows(5).any(|window| window == b"acme/"), "the file is looked through");
    holds_none("the file", &file, &secrets);
    holds_none("the log", replicas.logs().as_bytes(), &secrets);
}

#[tokio::test]
async fn the_main_job_on_redis_leaves_no_key_code_and_cookie_there() {
    let redis = RedisServer::start().await;
    let environment = [
        ("CARDEA__GATEWAY__STORE__BACKEND", "redis"),
        ("CARDEA__GATEWAY__STORE__REDIS_URL", &redis.url()),
        ("CARDEA__TELEMETRY__FILTER", "debug"),
    ];
    let demo = Demo::start_in(data_folder(), 0, &environment);
    let (mut alice, mut visitor) = (Browser::new(), Browser::new());
    alice.sign_in(&demo.portal, "alice").await;
    let task = alice.scan(&demo.portal, "shop", "shop.war", vulnerable_war()).await;
    let (link, code) = alice.share(&task.link("href", "/shares/new")).await;
    visitor.post(&link, &[("code", "AAAA-BBBB")]).await;
    let inside = visitor.post(&link, &[("code", &code)]).await;
    assert_eq!(visitor.follow(inside).await.status, 200);
    let page = alice.get(&format!("{}/admin/keys", demo.portal)).await;
    let second = "sk-of-the-test-0123456789-abcdefghij";
    let fields = [("csrf", &*page.hidden("csrf")), ("label", "second"), ("key", second)];
    let added = alice.post(&format!("{}/admin/keys", demo.portal), &fields).await;
    assert!(added.status.is_redirection() || added.status == 200, "{}: {}", added.status, added.text());
    let form = alice.get(&format!("{}/admin/api-keys/new", demo.portal)).await;
    let once = form.hidden("once");
    let fields = [("csrf", &*form.hidden("csrf")), ("once", &once), ("label", "build"), ("group", "read"), ("days", "9")];
    let issued = alice.post(&format!("{}/admin/api-keys", demo.portal), &fields).await.text();
    let issued = issued.split("id=\"api-key\">").nth(1).expect("a new key").split('<').next().expect("its end").to_owned();
    let sheet = demo.sheet();
    let mut secrets = vec![issued[17..].to_owned(), issued];
    secrets.extend([second.to_owned(), code.clone(), "alice@acme.example".to_owned(), visitor.share_cookie("localhost").1]);
    for tenant in ["acme", "globex"] {
        secrets.extend(["client_secret", "sk"].map(|name| sheet["tenants"][tenant][name].as_str().unwrap().to_owned()));
    }
    secrets.extend(of_cookie(&alice, "localhost"));
    let dump = eventually("the vault", async || {
        let dump = redis.dump().await;
        let holds = |kind: &[u8]| dump.windows(kind.len()).any(|window| window == kind);
        (holds(b"server-keys") && holds(b"api-keys")).then_some(dump)
    })
    .await;
    holds_none("Redis", &dump, &secrets);
    holds_none("the log", demo.log().as_bytes(), &secrets);
}
