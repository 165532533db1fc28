//! What the provider's token endpoint, id tokens and claims may be, and what comes of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::signin::{OIDC, callback, identity, is_signed_in, refused};
use crate::support::client::Browser;
use crate::support::openid::now;
use crate::support::provider::{Grant, person};
use crate::support::replicas::Replicas;

#[tokio::test]
async fn token_answers_may_be_odd_and_still_sign_in() {
    let replicas = Replicas::embedded().await;
    let edits: [fn(&mut Map<String, Value>); 8] = [
        |answer| _ = answer.remove("refresh_token"),
        |answer| _ = answer.remove("expires_in"),
        |answer| _ = answer.insert("expires_in".to_owned(), json!("3600")),
        |answer| _ = answer.insert("expires_in".to_owned(), json!(1e300)),
        |answer| _ = answer.insert("expires_in".to_owned(), json!(null)),
        |answer| _ = answer.insert("token_type".to_owned(), json!("bearer")),
        |answer| _ = answer.remove("token_type"),
        |answer| _ = answer.insert("more".to_owned(), json!({ "of": ["this"] })),
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        replicas.provider.state().edit = edit;
        let mut browser = Browser::new();
        let page = browser.sign_in_at(&replicas.all[0].url).await;
        assert_eq!((page.status.as_u16(), page.url.path()), (200, "/tasks"), "{index}: {}", page.text());
    }
}

#[tokio::test]
async fn what_is_no_token_answer_is_a_page_and_no_session() {
    let replicas = Replicas::embedded().await;
    let huge = format!("{{\"access_token\":\"a\",\"more\":\"{}\"}}", "x".repeat(1_000_000));
    let cases = [
        (200, "text/html", "<html>Please log in</html>".to_owned(), 502, "could not be checked"),
        (200, "application/json", huge, 502, "could not be checked"),
        (200, "application/json", "{\"access_token\":\"\"}".to_owned(), 502, "could not be checked"),
        (200, "application/json", "{\"token_type\":\"Bearer\"}".to_owned(), 502, "could not be checked"),
        (200, "application/json", "{\"access_token\":\"a\",\"token_type\":\"mac\"}".to_owned(), 502, "could not be checked"),
        (302, "text/html", String::new(), 502, "could not be checked"),
        (400, "application/json", "{\"error\":\"invalid_grant\"}".to_owned(), 400, "not known here any more"),
        (401, "application/json", "{\"error\":\"invalid_client\"}".to_owned(), 502, "not set up for each other"),
        (400, "application/json", "{\"error\":\"invalid_scope\"}".to_owned(), 502, "not set up for each other"),
        (503, "text/html", "down".to_owned(), 503, "cannot be reached right now"),
        (429, "text/html", String::new(), 503, "cannot be reached right now"),
    ];
    for (status, kind, body, expected, words) in cases {
        let head = body.chars().take(60).collect::<String>();
        replicas.provider.state().on_code = Grant::Say(status, kind, body);
        let mut browser = Browser::new();
        let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
        let answer = browser.get(back.as_str()).await;
        assert_eq!(answer.status, expected, "{status} {head}: {}", answer.text());
        refused(&answer, expected, words);
        assert!(!answer.text().contains("Please log in"));
        assert!(!is_signed_in(&replicas, &browser).await, "{status} {head}");
    }
    replicas.provider.state().on_code = Grant::Good;
    assert_eq!(Browser::new().sign_in_at(&replicas.all[0].url).await.status, 200);
}

/// Changes head and claims of an id token.
type Edit = fn(&mut Value, &mut Value);

#[tokio::test]
async fn an_id_token_that_is_not_right_signs_nobody_in_and_asks_for_keys_once() {
    let replicas = Replicas::embedded_with(identity(OIDC)).await;
    replicas.provider.speak_openid();
    let cases: [(&str, Edit, bool); 14] = [
        ("as it should be", |_, _| {}, true),
        ("30 seconds in the future", |_, claims| claims["iat"] = json!(now() + 30), true),
        ("without a type", |head, _| _ = head.as_object_mut().unwrap().remove("typ"), true),
        ("600 seconds in the future", |_, claims| claims["iat"] = json!(now() + 600), false),
        ("for another client", |_, claims| claims["aud"] = json!("another"), false),
        ("of another issuer", |_, claims| claims["iss"] = json!("https://evil.example"), false),
        ("with another nonce", |_, claims| claims["nonce"] = json!("another"), false),
        ("without a nonce", |_, claims| _ = claims.as_object_mut().unwrap().remove("nonce"), false),
        ("over", |_, claims| claims["exp"] = json!(now() - 600), false),
        ("of somebody else than userinfo", |_, claims| claims["sub"] = json!("somebody"), false),
        ("not signed", |head, _| head["alg"] = json!("none"), false),
        ("signed as if by a secret", |head, _| head["alg"] = json!("HS256"), false),
        ("with an unknown key", |head, _| head["kid"] = json!("k2"), false),
        ("with another unknown key", |head, _| head["kid"] = json!("k3"), false),
    ];
    for (words, edit, good) in cases {
        replicas.provider.state().openid.as_mut().unwrap().edit = edit;
        let mut browser = Browser::new();
        let back = callback(&replicas.all[0].url, &mut browser, "/tasks").await;
        let answer = browser.get(back.as_str()).await;
        assert_eq!(answer.status, if good { 303 } else { 502 }, "{words}: {}", answer.text());
        assert_eq!(is_signed_in(&replicas, &browser).await, good, "{words}");
        if !good {
            refused(&answer, 502, "could not be checked");
        }
    }
    let fetches = replicas.provider.state().openid.as_ref().unwrap().key_fetches;
    assert_eq!(fetches, 1, "within a minute");
    assert!(replicas.logs().contains("bad_id_token"));
}

#[tokio::test]
async fn who_has_no_role_here_is_told_so_and_can_come_as_somebody_else() {
    let lines = "scopes = [\"profile\"]\nmember_values = [\"member\", \"auditor\"]\nadministrator_values = [\"boss\"]\n";
    let replicas = Replicas::embedded_with(identity(lines)).await;
    let portal = &replicas.all[0].url;
    for (role, admitted, administrator) in [
        ("member", true, false),
        ("auditor", true, false),
        ("boss", true, true),
        ("guest", false, false),
        ("Member", false, false),
    ] {
        replicas.provider.state().person = person("7", "Dora", role);
        let before = replicas.provider.seen().revoked.len();
        let mut browser = Browser::new();
        let page = browser.sign_in_at(portal).await;
        assert_eq!(page.status, if admitted { 200 } else { 403 }, "{role}: {}", page.text());
        if admitted {
            assert_eq!(!page.links("href", "/admin/keys").is_empty(), administrator, "{role}");
            continue;
        }
        refused(&page, 403, "your account has no role that may use this portal");
        assert!(!is_signed_in(&replicas, &browser).await);
        let asked = browser.get(&page.link("href", "other=1")).await.location().unwrap();
        let query: BTreeMap<String, String> = asked.query_pairs().into_owned().collect();
        assert_eq!(query["prompt"], "login", "the provider asks who it is");
        let revoked = async || replicas.provider.seen().revoked.get(before).cloned();
        let token = crate::support::eventually("the grant is given back", revoked).await;
        assert!(token.starts_with("refresh-"), "{token}");
    }
    assert!(replicas.logs().contains("no_fitting_role"));
}
