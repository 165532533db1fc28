//! Logout tokens of a provider, and the client's own key.

use std::collections::BTreeMap;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Value, json};

use super::super::Transport;
use super::super::identity::{Hint, IdentityError, IdentityProvider};
use super::identity::{Signing, clock, provider, settings};
use super::{Fake, Reply, limits};
use crate::config::gateway::{ClientAuth, Profile};
use crate::platform::secret::Secret;

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// What a token changes, its type, whether `oidc` takes it, whether `strict` does.
type Case = (Value, Option<&'static str>, bool, bool);

fn cases(issuer: &str, now: i64) -> Vec<Case> {
    vec![
        (json!({}), Some("logout+jwt"), true, true),
        (json!({}), Some("application/logout+JWT"), true, true),
        (json!({ "aud": ["other", "acme"] }), Some("logout+jwt"), true, true),
        (json!({ "sid": null }), Some("logout+jwt"), true, true),
        (json!({ "sub": null }), Some("logout+jwt"), true, true),
        (json!({ "iat": now - 180 }), Some("logout+jwt"), true, true),
        (json!({ "iat": now + 60 }), Some("logout+jwt"), true, true),
        (json!({ "exp": now - 59 }), Some("logout+jwt"), true, true),
        // From before the final specification.
        (json!({}), None, true, false),
        (json!({}), Some("JWT"), true, false),
        // Never.
        (json!({}), Some("at+jwt"), false, false),
        (json!({}), Some("logout"), false, false),
        (json!({ "iss": "https://evil.example" }), Some("logout+jwt"), false, false),
        (json!({ "iss": format!("{}/", issuer) }), Some("logout+jwt"), false, false),
        (json!({ "aud": "other" }), Some("logout+jwt"), false, false),
        (json!({ "aud": null }), Some("logout+jwt"), false, false),
        (json!({ "nonce": "n" }), Some("logout+jwt"), false, false),
        (json!({ "nonce": null }), Some("logout+jwt"), false, false),
        (json!({ "events": null }), Some("logout+jwt"), false, false),
        (json!({ "events": {} }), Some("logout+jwt"), false, false),
        (json!({ "events": { EVENT: true } }), Some("logout+jwt"), false, false),
        (json!({ "events": [EVENT] }), Some("logout+jwt"), false, false),
        (json!({ "iat": null }), Some("logout+jwt"), false, false),
        (json!({ "iat": now - 600 }), Some("logout+jwt"), false, false),
        (json!({ "iat": now - 181 }), Some("logout+jwt"), false, false),
        (json!({ "iat": now + 61 }), Some("logout+jwt"), false, false),
        (json!({ "iat": "now" }), Some("logout+jwt"), false, false),
        (json!({ "exp": now - 60 }), Some("logout+jwt"), false, false),
        (json!({ "exp": null }), Some("logout+jwt"), false, false),
        (json!({ "jti": null }), Some("logout+jwt"), false, false),
        (json!({ "jti": "" }), Some("logout+jwt"), false, false),
        (json!({ "jti": "j".repeat(256) }), Some("logout+jwt"), false, false),
        (json!({ "sid": 7 }), Some("logout+jwt"), false, false),
        (json!({ "sub": null, "sid": null }), Some("logout+jwt"), false, false),
        (json!({ "sub": ["u"] }), Some("logout+jwt"), false, false),
    ]
}

#[tokio::test]
async fn a_logout_token_must_be_right_in_every_claim() {
    let (signing, clock) = (Signing::new().await, clock());
    let now = clock.now().seconds();
    let base = json!({
        "iss": signing.fake.base, "aud": "acme", "sub": "u", "sid": "s", "iat": now, "exp": now + 120, "jti": "j",
        "events": { EVENT: {} },
    });
    let (loose, strict) = (
        provider(settings(Profile::Oidc, &signing.fake.base), &clock),
        provider(settings(Profile::Strict, &signing.fake.base), &clock),
    );
    for (changes, kind, oidc, strictly) in cases(&signing.fake.base, now) {
        let token = signing.sign(kind, base.clone(), &changes);
        for (provider, good) in [(&loose, oidc), (&strict, strictly)] {
            let outcome = provider.verify_logout_token(&token).await;
            assert_eq!(outcome.is_ok(), good, "{changes} {kind:?}: {outcome:?}");
            assert!(outcome.is_ok() || matches!(outcome, Err(IdentityError::BadLogoutToken(_))), "{outcome:?}");
        }
    }
    let named = loose.verify_logout_token(&signing.sign(Some("logout+jwt"), base.clone(), &json!({}))).await.unwrap();
    assert_eq!((named.subject.as_deref(), named.session.as_deref(), named.id.as_str()), (Some("u"), Some("s"), "j"));
    let mut ancient = base.clone();
    ancient.as_object_mut().unwrap().remove("exp");
    let ancient = signing.sign(None, ancient, &json!({}));
    assert!(loose.verify_logout_token(&ancient).await.is_ok() && strict.verify_logout_token(&ancient).await.is_err());

    let stranger = Signing::new().await;
    let forged = stranger.sign(Some("logout+jwt"), base.clone(), &json!({}));
    let body = forged.expose().split('.').nth(1).unwrap().to_owned();
    let none = format!("{}.{body}.", URL_SAFE_NO_PAD.encode(br#"{"alg":"none","typ":"logout+jwt"}"#));
    for bad in [forged, Secret::new(none), Secret::new("x.y.z"), Secret::new("")] {
        assert!(matches!(loose.verify_logout_token(&bad).await, Err(IdentityError::BadLogoutToken(_))));
    }
    let seed = provider(settings(Profile::Seed, &signing.fake.base), &clock);
    let token = signing.sign(Some("logout+jwt"), base, &json!({}));
    assert!(matches!(seed.verify_logout_token(&token).await, Err(IdentityError::Misconfigured(_))));
}

fn pem(der: &[u8]) -> Secret {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    Secret::new(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")))
}

/// A key of each kind as the settings hold it, with its algorithm and what the provider would know of it.
fn keys() -> Vec<(Secret, Algorithm, Jwk)> {
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let jwk = |value: Value| serde_json::from_value::<Jwk>(value).unwrap();
    let mut all = Vec::new();
    for (curve, name, algorithm) in [
        (&ECDSA_P256_SHA256_FIXED_SIGNING, "P-256", Algorithm::ES256),
        (&ECDSA_P384_SHA384_FIXED_SIGNING, "P-384", Algorithm::ES384),
    ] {
        let pair = EcdsaKeyPair::generate(curve).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at((pair.public_key().as_ref().len() - 1) / 2);
        let public = jwk(json!({ "kty": "EC", "crv": name, "x": encoded(x), "y": encoded(y) }));
        all.push((pem(pair.to_pkcs8v1().unwrap().as_ref()), algorithm, public));
    }
    let pair = Ed25519KeyPair::generate().unwrap();
    let public = jwk(json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(pair.public_key().as_ref()) }));
    all.push((pem(pair.to_pkcs8v1().unwrap().as_ref()), Algorithm::EdDSA, public));
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let (n, e) = (pair.public_key().modulus(), pair.public_key().exponent());
    let public = jwk(json!({
        "kty": "RSA", "n": encoded(n.big_endian_without_leading_zero()), "e": encoded(e.big_endian_without_leading_zero()),
    }));
    all.push((pem(pair.as_der().unwrap().as_ref()), Algorithm::RS256, public));
    all
}

#[tokio::test]
async fn a_client_with_a_key_of_its_own_signs_each_request_anew() {
    let clock = clock();
    for (pem, algorithm, public) in keys() {
        let fake = Fake::new(|_, _| Reply::Json(200, json!({ "access_token": "a" }))).await;
        let mut settings = settings(Profile::Seed, &fake.base);
        settings.client_auth = ClientAuth::PrivateKey;
        settings.client_key = Some(pem);
        settings.client_key_id = "portal-1".to_owned();
        settings.client_secret = Secret::new("");
        settings.revocation_url = format!("{}/oauth/revoke", fake.base);
        let provider = provider(settings, &clock);
        provider.refresh(&Secret::new("r")).await.unwrap();
        provider.exchange(&Secret::new("c"), &Secret::new("v"), "http://localhost/auth/callback").await.unwrap();
        assert!(provider.revoke(&Secret::new("r"), Hint::Access).await.unwrap());
        let mut ids = Vec::new();
        for seen in fake.seen() {
            let form: BTreeMap<_, _> = url::form_urlencoded::parse(&seen.body).into_owned().collect();
            assert_eq!(form["client_id"], "acme");
            assert_eq!(form["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
            assert!(!form.contains_key("client_secret") && !seen.headers.contains_key("authorization"), "{form:?}");
            let assertion = form["client_assertion"].as_str();
            let head = decode_header(assertion).unwrap();
            assert_eq!((head.alg, head.kid.as_deref()), (algorithm, Some("portal-1")));
            let mut rules = Validation::new(algorithm);
            rules.validate_exp = false;
            rules.set_audience(&[format!("{}/oauth/token", fake.base)]);
            let claims = decode::<Value>(assertion, &DecodingKey::from_jwk(&public).unwrap(), &rules).unwrap().claims;
            let now = clock.now().seconds();
            assert_eq!((&claims["iss"], &claims["sub"]), (&json!("acme"), &json!("acme")));
            assert_eq!((&claims["iat"], &claims["exp"]), (&json!(now), &json!(now + 60)));
            ids.push(claims["jti"].as_str().unwrap().to_owned());
        }
        ids.dedup();
        assert_eq!(ids.len(), 3, "no assertion is sent twice");
    }
    let mut broken = settings(Profile::Seed, "http://127.0.0.1:9");
    broken.client_key = Some(pem(b"nothing"));
    let refused = IdentityProvider::new(broken, clock.clone(), Transport::new(&limits()).unwrap());
    assert!(matches!(refused.err(), Some(IdentityError::Misconfigured(_))));
}

#[tokio::test]
async fn what_the_provider_offers_decides_how_the_client_shows_itself_unless_the_settings_do() {
    let key = keys().remove(0).0;
    let cases: [(Value, ClientAuth, &str); 7] = [
        (Value::Null, ClientAuth::Auto, "basic"),
        (json!(["client_secret_basic", "client_secret_post"]), ClientAuth::Auto, "post"),
        (json!(["client_secret_basic"]), ClientAuth::Auto, "basic"),
        (json!(["private_key_jwt"]), ClientAuth::Auto, "assertion"),
        (json!(["client_secret_basic"]), ClientAuth::Post, "post"),
        (Value::Null, ClientAuth::Basic, "basic"),
        (json!(["client_secret_post"]), ClientAuth::PrivateKey, "assertion"),
    ];
    for (offered, said, expected) in cases {
        let methods = offered.clone();
        let fake = Fake::new(move |_, seen| {
            let base = format!("http://{}", seen.headers["host"]);
            if seen.line.starts_with("POST") {
                return Reply::Json(200, json!({ "access_token": "a" }));
            }
            Reply::Json(
                200,
                json!({ "issuer": base, "authorization_endpoint": format!("{base}/a"), "token_endpoint": format!("{base}/t"),
                "jwks_uri": format!("{base}/k"), "token_endpoint_auth_methods_supported": methods }),
            )
        })
        .await;
        let mut settings = settings(Profile::Oidc, &fake.base);
        settings.client_auth = said;
        settings.client_key = Some(key.clone());
        provider(settings, &clock()).refresh(&Secret::new("r")).await.unwrap();
        let seen = fake.seen().into_iter().find(|seen| seen.line.starts_with("POST")).unwrap();
        let form: BTreeMap<_, _> = url::form_urlencoded::parse(&seen.body).into_owned().collect();
        let how = if form.contains_key("client_assertion") {
            "assertion"
        } else if seen.headers.contains_key("authorization") {
            "basic"
        } else {
            "post"
        };
        assert_eq!(how, expected, "{offered} {said:?}");
        assert_eq!(form.contains_key("client_secret"), expected == "post");
    }
}
