//! Identity providers: the embedded one over its sockets, and a programmable one for everything it never does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use url::Url;

use super::super::Transport;
use super::super::identity::{Hint, IdentityError, IdentityProvider, SignIn, Tokens};
use super::{Fake, Reply, Seen, head_and, limits, nowhere};
use crate::config::gateway::{Claims, ClientAuth, Identity as Settings, IdentityLimits, Profile};
use crate::config::idp::{Client, Idp as IdpSettings, User};
use crate::idp::Idp;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::sha256;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

const CALLBACK: &str = "http://localhost:8080/auth/callback";
const VERIFIER: &str = "a-verifier-of-43-characters-or-more-0123456789";

pub(super) fn settings(profile: Profile, auth_url: &str) -> Settings {
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    Settings {
        profile,
        auth_url: auth_url.to_owned(),
        browser_auth_url: String::new(),
        client_id: "acme".to_owned(),
        client_auth: ClientAuth::Auto,
        client_secret: Secret::new("acme secret+%"),
        client_key: None,
        client_key_id: String::new(),
        client_assertion_audience: String::new(),
        scopes: paths(&["openid", "profile", "email"]),
        revocation_url: String::new(),
        end_session_url: String::new(),
        sign_out_at_provider: true,
        claims: Claims {
            subject: paths(&["sub", "user_id", "id"]),
            name: paths(&["name", "preferred_username"]),
            email: paths(&["email"]),
            role: paths(&["https://claims.example/roles", "realm.roles", "roles"]),
        },
        administrator_values: paths(&["administrator"]),
        member_values: Vec::new(),
        limits: IdentityLimits {
            clock_leeway_seconds: 60,
            metadata_minutes: 60,
            key_fetch_seconds: 60,
            logout_token_seconds: 120,
            revocation_tries: 3,
            sign_out_wait_ms: 2000,
        },
    }
}

pub(super) fn provider(settings: Settings, clock: &Clock) -> IdentityProvider {
    IdentityProvider::new(settings, clock.clone(), Transport::new(&limits()).unwrap()).unwrap()
}

pub(super) fn clock() -> Clock {
    Clock::manual(Timestamp(1_790_000_000_000))
}

async fn embedded(clock: &Clock, shutdown: &Shutdown) -> String {
    let client = Client {
        secret: Secret::new("acme secret+%"),
        redirect_uris: vec![CALLBACK.to_owned()],
        organization: "acme".to_owned(),
        name: "Acme".to_owned(),
    };
    let user = User {
        password: Secret::new("alice"),
        organization: "acme".to_owned(),
        display_name: "Alice".to_owned(),
        email: "alice@acme.example".to_owned(),
        roles: vec!["administrator".to_owned()],
    };
    let settings = IdpSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        issuer: "http://127.0.0.1:0".to_owned(),
        state_file: None,
        access_token_seconds: 300,
        refresh_token_days: 1,
        rotation_grace_seconds: 0,
        clients: BTreeMap::from([("acme".to_owned(), client)]),
        users: BTreeMap::from([("alice".to_owned(), user)]),
    };
    Idp::start(settings, clock.clone(), shutdown).await.unwrap().issuer().to_owned()
}

/// Fills the login form behind `url` and gives the query of the callback.
async fn log_in(url: &str) -> BTreeMap<String, String> {
    let http = Transport::new(&limits()).unwrap();
    let url = Url::parse(url).unwrap();
    let page = http.request(reqwest::Method::GET, url.clone()).send().await.unwrap();
    let cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let html = page.text().await.unwrap();
    let token = html.split_once("name=\"token\" value=\"").unwrap().1.split_once('"').unwrap().0;
    let form = [("token", token), ("username", "alice"), ("password", "alice")];
    let answer = http.request(reqwest::Method::POST, url).header("cookie", cookie).form(&form).send().await.unwrap();
    let back = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    back.query_pairs().into_owned().collect()
}

fn ask<'s>(challenge: &'s str, nonce: &'s str) -> SignIn<'s> {
    SignIn { state: "s t/a&te", challenge, nonce, redirect_uri: CALLBACK, again: false, max_age: Duration::from_mins(15) }
}

#[tokio::test]
async fn all_profiles_sign_in_refresh_and_revoke_at_the_embedded_provider() {
    let (clock, shutdown) = (clock(), Shutdown::default());
    let issuer = embedded(&clock, &shutdown).await;
    let challenge = URL_SAFE_NO_PAD.encode(sha256(VERIFIER.as_bytes()));
    for profile in [Profile::Seed, Profile::Oidc, Profile::Strict] {
        let mut settings = settings(profile, &issuer);
        settings.revocation_url = format!("{issuer}/oauth/revoke");
        let provider = provider(settings, &clock);
        let back = log_in(&provider.authorize_url(ask(&challenge, "n")).await.unwrap()).await;
        assert_eq!(back["state"], "s t/a&te");
        provider.check_callback(back.get("iss").map(String::as_str)).await.unwrap();
        let code = Secret::new(back["code"].clone());
        let tokens = provider.exchange(&code, &Secret::new(VERIFIER), CALLBACK).await.unwrap();
        assert_eq!(tokens.expires_in, Some(Duration::from_mins(5)));
        let who = provider.identify(&tokens, Some("n")).await.unwrap();
        assert_eq!((who.issuer.as_str(), who.subject.as_str(), who.name.raw()), (issuer.as_str(), "alice", "Alice"));
        assert!(who.is_administrator && who.roles == ["administrator"]);
        let fresh = provider.refresh(tokens.refresh.as_ref().unwrap()).await.unwrap();
        assert_eq!(provider.identify(&fresh, None).await.unwrap().subject, "alice");
        let end = provider.end_session_url(fresh.id_token.as_ref(), CALLBACK, "back").await;
        assert_eq!(end.is_some_and(|url| url.starts_with(&format!("{issuer}/oauth/end_session?"))), profile != Profile::Seed);
        assert!(provider.revoke(fresh.refresh.as_ref().unwrap(), Hint::Refresh).await.unwrap());
        assert_eq!(provider.refresh(fresh.refresh.as_ref().unwrap()).await.unwrap_err(), IdentityError::InvalidGrant);
        assert_eq!(provider.userinfo(&fresh.access).await.unwrap_err(), IdentityError::Unauthorized);
        let replayed = provider.exchange(&code, &Secret::new(VERIFIER), CALLBACK).await.unwrap_err();
        assert_eq!(replayed, IdentityError::InvalidGrant);
    }
    shutdown.begin();
}

#[tokio::test]
async fn token_answers_are_read_tolerantly() {
    let cases: [(Value, Option<u64>, bool); 6] = [
        (json!({ "access_token": "a", "token_type": "BEARER", "expires_in": 60, "refresh_token": "r" }), Some(60), true),
        (json!({ "access_token": "a", "token_type": "bearer", "expires_in": "60" }), Some(60), false),
        (json!({ "access_token": "a" }), None, false),
        (json!({ "access_token": "a", "token_type": null, "expires_in": null, "refresh_token": null }), None, false),
        (json!({ "access_token": "a", "expires_in": -5, "refresh_token": "" }), None, false),
        (json!({ "access_token": "a", "expires_in": 60.5, "scope": 7, "new": {} }), Some(60), false),
    ];
    let bodies: Vec<Value> = cases.iter().map(|case| case.0.clone()).collect();
    let fake = Fake::new(move |number, _| Reply::Raw(head_and(200, "text/plain", bodies[number].to_string().as_bytes()))).await;
    let provider = provider(settings(Profile::Seed, &fake.base), &clock());
    for (body, expires, refresh) in cases {
        let tokens = provider.refresh(&Secret::new("old")).await.unwrap();
        assert_eq!((tokens.expires_in, tokens.refresh.is_some()), (expires.map(Duration::from_secs), refresh), "{body}");
    }
    let sent: BTreeMap<_, _> = url::form_urlencoded::parse(&fake.seen()[0].body).into_owned().collect();
    assert_eq!((sent["client_id"].as_str(), sent["client_secret"].as_str()), ("acme", "acme secret+%"));
    assert!(!fake.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn what_is_no_token_answer_never_ends_a_session_unless_it_says_so() {
    let cases: Vec<(u16, Vec<u8>, IdentityError)> = vec![
        (400, br#"{"error":"invalid_grant"}"#.to_vec(), IdentityError::InvalidGrant),
        (200, br#"{"error":"invalid_grant"}"#.to_vec(), IdentityError::InvalidGrant),
        (401, br#"{"error":"invalid_client"}"#.to_vec(), IdentityError::InvalidClient),
        (400, br#"{"error":"odd","error_description":"x"}"#.to_vec(), IdentityError::Refused("odd".into())),
        (200, b"<html>log in</html>".to_vec(), IdentityError::Garbage("the token answer")),
        (400, b"<html>".to_vec(), IdentityError::Garbage("the token answer")),
        (200, br#"{"access_token":""}"#.to_vec(), IdentityError::Garbage("the access token is empty")),
        (200, br#"{"access_token":"a","token_type":"mac"}"#.to_vec(), IdentityError::Garbage("the token is not a bearer token")),
        (503, br#"{"error":"invalid_grant"}"#.to_vec(), IdentityError::Unavailable),
        (429, Vec::new(), IdentityError::Unavailable),
    ];
    let answers = cases.clone();
    let fake = Fake::new(move |number, _| {
        let (status, body, _) = &answers[number];
        Reply::Raw(head_and(*status, "application/json", body))
    })
    .await;
    let provider = provider(settings(Profile::Seed, &fake.base), &clock());
    for (status, body, expected) in &cases {
        let error = provider.refresh(&Secret::new("old")).await.unwrap_err();
        assert_eq!(&error, expected, "{status} {}", String::from_utf8_lossy(body));
        assert_eq!(error.is_transient(), matches!(error, IdentityError::Garbage(_) | IdentityError::Unavailable));
    }
    assert_eq!(fake.seen().len(), cases.len(), "nothing is sent twice");
}

#[tokio::test]
async fn a_token_endpoint_that_is_huge_slow_cut_or_gone_is_transient() {
    let huge = format!("{{\"access_token\":\"a\",\"padding\":\"{}\"}}", "x".repeat(1_000_000));
    let huge = head_and(200, "application/json", huge.as_bytes());
    let replies = [Reply::Raw(huge.clone()), Reply::Stall(Vec::new()), Reply::Raw(huge[..500].to_vec())];
    let redirect = Reply::Raw(b"HTTP/1.1 302 X\r\nlocation: /x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec());
    for reply in replies.into_iter().chain([redirect]) {
        let fake = Fake::new(move |_, _| reply.clone()).await;
        let error = provider(settings(Profile::Seed, &fake.base), &clock()).refresh(&Secret::new("old")).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        assert_eq!(fake.seen().len(), 1);
    }
    let error = provider(settings(Profile::Seed, &nowhere().await), &clock()).refresh(&Secret::new("old")).await.unwrap_err();
    assert_eq!(error, IdentityError::Unavailable);
}

#[tokio::test]
async fn userinfo_is_asked_by_post_where_get_is_not_offered_and_claims_follow_their_paths() {
    let claims = json!({ "user_id": 42, "given_name": "Ada", "family_name": "L", "realm": { "roles": ["administrator", 5] } });
    let fake =
        Fake::new(
            move |_, seen| {
                if seen.line.starts_with("GET") { Reply::Json(405, json!({})) } else { Reply::Json(200, claims.clone()) }
            },
        )
        .await;
    let provider = provider(settings(Profile::Seed, &fake.base), &clock());
    let tokens = Tokens { access: Secret::new("at"), refresh: None, id_token: None, expires_in: None };
    let who = provider.identify(&tokens, Some("n")).await.unwrap();
    assert_eq!((who.subject.as_str(), who.name.raw(), who.email.is_empty()), ("42", "Ada L", true));
    assert!(who.is_administrator);
    let post = &fake.seen()[1];
    assert_eq!((&*post.line, &*post.headers["authorization"]), ("POST /oauth/userinfo", "Bearer at"));
    let nobody = Fake::new(|_, _| Reply::Json(200, json!({ "name": "no id" }))).await;
    let provider = self::provider(settings(Profile::Seed, &nobody.base), &clock());
    assert!(matches!(provider.identify(&tokens, None).await.unwrap_err(), IdentityError::Garbage(_)));
}

#[tokio::test]
async fn the_issuer_of_a_callback_must_be_right_and_for_strict_must_be_there() {
    let document = |fake_base: &str, issuer: &str| {
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{fake_base}/a"), "token_endpoint": format!("{fake_base}/t"),
            "jwks_uri": format!("{fake_base}/k"),
        })
    };
    let fake = Fake::new(move |_, seen| {
        let base = format!("http://{}", seen.headers["host"]);
        Reply::Json(200, document(&base, &base))
    })
    .await;
    for (profile, absent) in [(Profile::Seed, true), (Profile::Oidc, true), (Profile::Strict, false)] {
        let provider = provider(settings(profile, &fake.base), &clock());
        provider.check_callback(Some(&fake.base)).await.unwrap();
        for wrong in ["https://evil.example", &format!("{}/x", fake.base), ""] {
            assert_eq!(provider.check_callback(Some(wrong)).await.unwrap_err(), IdentityError::WrongIssuer);
        }
        assert_eq!(provider.check_callback(None).await.is_ok(), absent);
    }
    let evil = Fake::new(move |_, _| Reply::Json(200, document("https://x.example", "https://evil.example"))).await;
    let error = provider(settings(Profile::Oidc, &evil.base), &clock()).authorize_url(ask("c", "n")).await.unwrap_err();
    assert!(matches!(error, IdentityError::Misconfigured(_)), "{error:?}");
}

#[tokio::test]
async fn a_provider_may_be_down_at_first_and_later_for_a_while() {
    let up = Arc::new(Mutex::new(false));
    let switch = Arc::clone(&up);
    let fake = Fake::new(move |_, seen| {
        if !*switch.lock().unwrap() {
            return Reply::Json(500, json!({}));
        }
        let base = format!("http://{}", seen.headers["host"]);
        Reply::Json(
            200,
            json!({ "issuer": base, "authorization_endpoint": format!("{base}/a"),
            "token_endpoint": format!("{base}/t"), "jwks_uri": format!("{base}/k") }),
        )
    })
    .await;
    let clock = clock();
    let mut settings = settings(Profile::Oidc, &fake.base);
    settings.browser_auth_url = "https://login.example".to_owned();
    let provider = provider(settings, &clock);
    for _ in 0..5 {
        assert_eq!(provider.authorize_url(ask("c", "n")).await.unwrap_err(), IdentityError::Unavailable);
    }
    assert_eq!(fake.seen().len(), 1, "a provider that is down is not asked by everybody");
    *up.lock().unwrap() = true;
    clock.advance(Duration::from_secs(1));
    assert!(provider.authorize_url(ask("c", "n")).await.unwrap().starts_with("https://login.example/a?"));
    *up.lock().unwrap() = false;
    clock.advance(Duration::from_hours(2));
    assert!(provider.authorize_url(ask("c", "n")).await.is_ok(), "what was known stays in use");
}

#[tokio::test]
async fn nobody_waits_for_a_provider_that_is_slow_to_say_again_where_it_is() {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let fake = Fake::new(move |_, seen| {
        *count.lock().unwrap() += 1;
        if *count.lock().unwrap() > 1 {
            return Reply::Stall(Vec::new());
        }
        let base = format!("http://{}", seen.headers["host"]);
        Reply::Json(
            200,
            json!({ "issuer": base, "authorization_endpoint": format!("{base}/a"),
            "token_endpoint": format!("{base}/t"), "jwks_uri": format!("{base}/k") }),
        )
    })
    .await;
    let clock = clock();
    let provider = provider(settings(Profile::Oidc, &fake.base), &clock);
    provider.authorize_url(ask("c", "n")).await.unwrap();
    clock.advance(Duration::from_hours(2));
    let mut first = Box::pin(provider.authorize_url(ask("c", "n")));
    tokio::select! {
        biased;
        _ = &mut first => panic!("the one that asks waits for its answer"),
        others = async {
            while *asked.lock().unwrap() < 2 {
                tokio::task::yield_now().await;
            }
            provider.authorize_url(ask("c", "n")).await
        } => assert!(others.is_ok()),
    }
    assert!(first.await.is_ok(), "and goes on with what was known");
}

/// A provider that signs what a test wants.
pub(super) struct Signing {
    pub(super) fake: Fake,
    key: EncodingKey,
    published: Arc<Mutex<Value>>,
}

impl Signing {
    pub(super) async fn new() -> Self {
        let pair = aws_lc_rs::signature::EcdsaKeyPair::generate(&aws_lc_rs::signature::ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let key = EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref());
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
        jwk.common.key_id = Some("k1".to_owned());
        let published = Arc::new(Mutex::new(json!({ "keys": [{ "kty": "odd", "alg": "odd" }, jwk] })));
        let keys = Arc::clone(&published);
        let fake = Fake::new(move |_, seen: &Seen| {
            let base = format!("http://{}", seen.headers["host"]);
            if seen.line == "GET /k" {
                return Reply::Json(200, keys.lock().unwrap().clone());
            }
            if seen.line == "GET /u" {
                return Reply::Json(200, json!({ "sub": "somebody else" }));
            }
            Reply::Json(
                200,
                json!({ "issuer": base, "authorization_endpoint": format!("{base}/a"), "jwks_uri": format!("{base}/k"),
                "token_endpoint": format!("{base}/t"), "userinfo_endpoint": format!("{base}/u") }),
            )
        })
        .await;
        Self { fake, key, published }
    }

    fn token(&self, now: i64, changes: &Value) -> Secret {
        let claims = json!({ "iss": self.fake.base, "aud": "acme", "sub": "u", "iat": now, "exp": now + 300, "nonce": "n" });
        self.sign(Some("JWT"), claims, changes)
    }

    /// `claims` with `changes`, as a token of this kind.
    pub(super) fn sign(&self, kind: Option<&str>, mut claims: Value, changes: &Value) -> Secret {
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some("k1".to_owned());
        header.typ = kind.map(str::to_owned);
        Secret::new(encode(&header, &claims, &self.key).unwrap())
    }

    fn key_fetches(&self) -> usize {
        self.fake.seen().iter().filter(|seen| seen.line == "GET /k").count()
    }
}

#[tokio::test]
async fn an_id_token_must_be_right_in_every_claim() {
    let (signing, clock) = (Signing::new().await, clock());
    let provider = provider(settings(Profile::Oidc, &signing.fake.base), &clock);
    let now = clock.now().seconds();
    let verify = async |changes: Value| provider.verify_id_token(&signing.token(now, &changes), Some("n")).await;
    for good in [
        json!({}),
        json!({ "aud": ["acme"] }),
        json!({ "aud": ["acme", "other"], "azp": "acme" }),
        json!({ "exp": now - 59 }),
        json!({ "iat": now + 60 }),
        json!({ "exp": 1e300 }),
        json!({ "exp": i64::MAX }),
        json!({ "exp": u64::MAX }),
        json!({ "exp": 4_102_444_800.5 }),
    ] {
        assert_eq!(verify(good.clone()).await.unwrap()["sub"], "u", "{good}");
    }
    for bad in [
        json!({ "iss": "https://evil.example" }),
        json!({ "aud": "other" }),
        json!({ "aud": ["acme", "other"] }),
        json!({ "azp": "other" }),
        json!({ "exp": now - 60 }),
        json!({ "exp": null }),
        json!({ "exp": (now + 300).to_string() }),
        json!({ "exp": -1e300 }),
        json!({ "iat": 1e300 }),
        json!({ "sub": null }),
        json!({ "sub": 7 }),
        json!({ "sub": "" }),
        json!({ "iat": now + 61 }),
        json!({ "nbf": now + 61 }),
        json!({ "nonce": "other" }),
        json!({ "nonce": null }),
    ] {
        assert!(matches!(verify(bad.clone()).await, Err(IdentityError::BadIdToken(_))), "{bad}");
    }
    assert_eq!(signing.key_fetches(), 1);
    let claims = json!({ "iss": signing.fake.base, "aud": "acme", "sub": "u", "iat": now, "exp": now + 300, "nonce": "n" });
    for kind in ["logout+jwt", "at+JWT"] {
        let other = signing.sign(Some(kind), claims.clone(), &json!({}));
        assert!(provider.verify_id_token(&other, Some("n")).await.is_err(), "{kind} is no id token");
    }
}

#[tokio::test]
async fn clocks_may_differ_by_what_the_settings_say() {
    let (signing, clock) = (Signing::new().await, clock());
    let mut strict = settings(Profile::Oidc, &signing.fake.base);
    strict.limits.clock_leeway_seconds = 5;
    let provider = provider(strict, &clock);
    let now = clock.now().seconds();
    for (changes, good) in [
        (json!({ "iat": now + 5 }), true),
        (json!({ "iat": now + 6 }), false),
        (json!({ "exp": now - 4 }), true),
        (json!({ "exp": now - 5 }), false),
    ] {
        assert_eq!(provider.verify_id_token(&signing.token(now, &changes), Some("n")).await.is_ok(), good, "{changes}");
    }
}

#[tokio::test]
async fn an_id_token_must_be_signed_by_the_provider() {
    let (signing, stranger, clock) = (Signing::new().await, Signing::new().await, clock());
    let provider = provider(settings(Profile::Oidc, &signing.fake.base), &clock);
    let now = clock.now().seconds();
    let iss = json!({ "iss": signing.fake.base });
    let forged = stranger.token(now, &iss);
    let mut symmetric = Header::new(Algorithm::HS256);
    symmetric.kid = Some("k1".to_owned());
    let claims = json!({ "iss": signing.fake.base, "aud": "acme", "sub": "u", "exp": now + 300, "nonce": "n" });
    let symmetric = Secret::new(encode(&symmetric, &claims, &EncodingKey::from_secret(b"acme secret+%")).unwrap());
    let good = signing.token(now, &json!({}));
    let body = good.expose().rsplit_once('.').unwrap().0;
    let none = format!("{}.{}.", URL_SAFE_NO_PAD.encode(br#"{"alg":"none"}"#), body.split_once('.').unwrap().1);
    for bad in [forged, symmetric, Secret::new(none), Secret::new(format!("{body}.")), Secret::new("x"), Secret::new("")] {
        assert!(matches!(provider.verify_id_token(&bad, Some("n")).await, Err(IdentityError::BadIdToken(_))));
    }
    provider.verify_id_token(&good, Some("n")).await.unwrap();
    let tokens = Tokens { access: Secret::new("at"), refresh: None, id_token: Some(good), expires_in: None };
    let error = provider.identify(&tokens, Some("n")).await.unwrap_err();
    assert_eq!(error, IdentityError::OtherPerson);
    let without = Tokens { id_token: None, ..tokens };
    assert_eq!(provider.identify(&without, Some("n")).await.unwrap_err(), IdentityError::BadIdToken("there is none"));
}

#[tokio::test]
async fn an_unknown_key_asks_the_provider_at_most_once_a_minute() {
    let (signing, clock) = (Signing::new().await, clock());
    let provider = provider(settings(Profile::Oidc, &signing.fake.base), &clock);
    let right = signing.published.lock().unwrap().clone();
    *signing.published.lock().unwrap() = json!({ "keys": [] });
    let token = signing.token(clock.now().seconds(), &json!({}));
    for _ in 0..5 {
        provider.verify_id_token(&token, Some("n")).await.unwrap_err();
    }
    assert_eq!(signing.key_fetches(), 1);
    *signing.published.lock().unwrap() = right;
    clock.advance(Duration::from_mins(1));
    provider.verify_id_token(&token, Some("n")).await.unwrap();
    assert_eq!(signing.key_fetches(), 2);
}

#[tokio::test]
async fn a_key_the_provider_took_back_is_believed_no_longer_than_the_settings_say() {
    let (signing, clock) = (Signing::new().await, clock());
    let provider = provider(settings(Profile::Oidc, &signing.fake.base), &clock);
    let verify = async || {
        let token = signing.token(clock.now().seconds(), &json!({}));
        provider.verify_id_token(&token, Some("n")).await
    };
    verify().await.unwrap();
    *signing.published.lock().unwrap() = json!("no key set at all");
    clock.advance(Duration::from_hours(1));
    verify().await.unwrap();
    assert_eq!(signing.key_fetches(), 2, "what was known stays in use while the provider gives nothing better");
    *signing.published.lock().unwrap() = json!({ "keys": [] });
    clock.advance(Duration::from_secs(1));
    verify().await.unwrap_err();
    assert_eq!(signing.key_fetches(), 3);
}
