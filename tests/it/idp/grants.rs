//! Codes, tokens and grants: what they give, how often, and for how long.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use futures_util::future::join_all;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::Value;

use super::{CALLBACK, Provider, VERIFIER, query, settings, state_file, text};
use cardea::platform::clock::{Clock, Timestamp};

#[tokio::test]
async fn the_whole_flow_tells_who_signed_in() {
    let provider = Provider::start().await;
    let answer = provider.log_in(&Provider::authorize(&[]), "alice", "alice").await;
    let back = query(&answer);
    assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("the state", provider.issuer.as_str()));
    let (status, tokens) = provider.exchange(&back["code"]).await;
    assert_eq!(status, 200);
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&"Bearer".into(), &300.into()));
    assert_eq!(tokens["scope"], "openid profile email");
    for request in [provider.get("/oauth/userinfo"), provider.post("/oauth/userinfo").form(&[("scope", "profile")])] {
        let mut claims: Value = request.bearer_auth(text(&tokens, "access_token")).send().await.unwrap().json().await.unwrap();
        assert!(claims.as_object_mut().unwrap().remove("auth_time").unwrap().is_i64(), "when they signed in");
        assert_eq!(
            claims,
            serde_json::json!({
                "sub": "alice", "user_id": "alice", "email": "alice@acme.example", "email_verified": true,
                "name": "alice & <b>co</b>", "organization": "acme", "roles": ["administrator"],
            })
        );
    }
    provider.stop().await;
}

#[tokio::test]
async fn an_id_token_is_signed_with_the_published_key_and_says_who_when_and_for_whom() {
    let provider = Provider::start().await;
    let tokens = provider.tokens().await;
    let found: Value = provider.get("/.well-known/openid-configuration").send().await.unwrap().json().await.unwrap();
    assert_eq!(text(&found, "issuer"), provider.issuer);
    let keys = text(&found, "jwks_uri").strip_prefix(&provider.issuer).unwrap().to_owned();
    let keys: JwkSet = provider.get(&keys).send().await.unwrap().json().await.unwrap();
    let token = text(&tokens, "id_token");
    let key = keys.find(&decode_header(token).unwrap().kid.unwrap()).unwrap().clone();
    let mut rules = Validation::new(Algorithm::ES256);
    rules.validate_exp = false;
    rules.set_audience(&["acme"]);
    rules.set_issuer(&[&provider.issuer]);
    let claims = decode::<Value>(token, &DecodingKey::from_jwk(&key).unwrap(), &rules).unwrap().claims;
    let now = provider.clock.now().seconds();
    assert_eq!((&claims["sub"], &claims["nonce"]), (&"alice".into(), &"the nonce".into()));
    assert_eq!((&claims["auth_time"], &claims["exp"]), (&now.into(), &(now + 300).into()));
    assert!(!text(&claims, "sid").is_empty());
    let (_, plain) = provider.exchange(&provider.code(&[("scope", "profile email"), ("nonce", "")]).await).await;
    assert!(plain.get("id_token").is_none());
    provider.stop().await;
}

#[tokio::test]
async fn a_client_without_pkce_or_with_basic_credentials_or_a_scheme_of_its_own_signs_in() {
    let provider = Provider::start().await;
    let back = "editor://extension/auth-callback";
    let changes = [("code_challenge", ""), ("code_challenge_method", ""), ("redirect_uri", back)];
    let code = provider.code(&changes).await;
    let form = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", back)];
    let answer = provider.post("/oauth/token").basic_auth("acme", Some("acme-secret")).form(&form).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    provider.stop().await;
}

#[tokio::test]
async fn a_replayed_code_ends_the_grant_it_made() {
    let provider = Provider::start().await;
    let code = provider.code(&[]).await;
    let (_, tokens) = provider.exchange(&code).await;
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 200);
    let (status, error) = provider.exchange(&code).await;
    assert_eq!((status, text(&error, "error")), (400, "invalid_grant"));
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 401);
    assert_eq!(provider.refresh(text(&tokens, "refresh_token")).await.0, 400);
    provider.stop().await;
}

#[tokio::test]
async fn a_code_is_good_for_a_minute_and_an_access_token_as_long_as_it_says() {
    let provider = Provider::start().await;
    let late = provider.code(&[]).await;
    provider.clock.advance(Duration::from_mins(1));
    assert_eq!(text(&provider.exchange(&late).await.1, "error"), "invalid_grant");
    let tokens = provider.tokens().await;
    provider.clock.advance(Duration::from_secs(299));
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 200);
    provider.clock.advance(Duration::from_secs(1));
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 401);
    assert_eq!(provider.refresh(text(&tokens, "refresh_token")).await.0, 200);
    provider.stop().await;
}

#[tokio::test]
async fn a_refresh_token_rotates_and_an_old_one_ends_the_grant_after_the_grace_time() {
    let provider = Provider::start().await;
    let first = provider.tokens().await;
    let (_, second) = provider.refresh(text(&first, "refresh_token")).await;
    assert_ne!(text(&first, "refresh_token"), text(&second, "refresh_token"));
    let (status, same) = provider.refresh(text(&first, "refresh_token")).await;
    assert_eq!((status, &same["refresh_token"], &same["access_token"]), (200, &second["refresh_token"], &second["access_token"]));
    provider.clock.advance(Duration::from_secs(30));
    assert_eq!(text(&provider.refresh(text(&first, "refresh_token")).await.1, "error"), "invalid_grant");
    assert_eq!(text(&provider.refresh(text(&second, "refresh_token")).await.1, "error"), "invalid_grant");
    assert_eq!(provider.userinfo(text(&second, "access_token")).await, 401);
    provider.stop().await;
}

#[tokio::test]
async fn without_grace_a_second_use_ends_the_grant_at_once() {
    let strict = cardea::config::idp::Idp { rotation_grace_seconds: 0, ..settings() };
    let provider = Provider::with(strict, Clock::manual(Timestamp(1_790_000_000_000))).await;
    let first = provider.tokens().await;
    let (_, second) = provider.refresh(text(&first, "refresh_token")).await;
    assert_eq!(provider.refresh(text(&first, "refresh_token")).await.0, 400);
    assert_eq!(provider.refresh(text(&second, "refresh_token")).await.0, 400);
    provider.stop().await;
}

#[tokio::test]
async fn refreshes_at_the_same_time_all_give_the_same_tokens() {
    let provider = Provider::start().await;
    let tokens = provider.tokens().await;
    let answers = join_all((0..16).map(|_| provider.refresh(text(&tokens, "refresh_token")))).await;
    let (status, first) = &answers[0];
    assert_eq!(*status, 200);
    for (status, answer) in &answers {
        assert_eq!((*status, &answer["refresh_token"]), (200, &first["refresh_token"]));
    }
    assert_eq!(provider.refresh(text(first, "refresh_token")).await.0, 200);
    provider.stop().await;
}

#[tokio::test]
async fn exchanges_at_the_same_time_give_tokens_at_most_once() {
    let provider = Provider::start().await;
    let code = provider.code(&[]).await;
    let answers = join_all((0..8).map(|_| provider.exchange(&code))).await;
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 1);
    provider.stop().await;
}

#[tokio::test]
async fn a_restart_keeps_grants_sessions_and_key_and_the_file_holds_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let kept = || cardea::config::idp::Idp { state_file: Some(state_file(&folder)), ..settings() };
    let clock = Clock::manual(Timestamp(1_790_000_000_000));
    let provider = Provider::with(kept(), clock.clone()).await;
    let signed_in = provider.log_in(&Provider::authorize(&[]), "alice", "alice").await;
    let cookie = super::cookies(&signed_in);
    let code = query(&signed_in)["code"].clone();
    let (_, tokens) = provider.exchange(&code).await;
    let keys = provider.get("/oauth/jwks").send().await.unwrap().text().await.unwrap();
    provider.stop().await;

    let path = state_file(&folder);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let written = std::fs::read_to_string(&path).unwrap();
    let cookie_value = cookie.rsplit_once('=').unwrap().1;
    for secret in [&code, text(&tokens, "access_token"), text(&tokens, "refresh_token"), cookie_value] {
        let random = secret.rsplit('.').next().unwrap();
        assert!(!written.contains(random), "the state file holds a secret");
    }

    let provider = Provider::with(kept(), clock).await;
    assert_eq!(provider.get("/oauth/jwks").send().await.unwrap().text().await.unwrap(), keys);
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 200);
    let again = provider.get(&Provider::authorize(&[])).header("cookie", &cookie).send().await.unwrap();
    assert!(query(&again).contains_key("code"));
    let (status, fresh) = provider.refresh(text(&tokens, "refresh_token")).await;
    assert_eq!(status, 200);
    provider.stop().await;

    let provider = Provider::with(kept(), Clock::manual(Timestamp(1_790_000_001_000))).await;
    let (status, forgiven) = provider.refresh(text(&tokens, "refresh_token")).await;
    assert_eq!(status, 200, "the answer was lost with the restart, the grace time was not");
    assert_ne!(forgiven["refresh_token"], fresh["refresh_token"]);
    provider.stop().await;
}

#[tokio::test]
async fn a_damaged_state_file_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = state_file(&folder);
    std::fs::write(&path, "{ half").unwrap();
    let kept = cardea::config::idp::Idp { state_file: Some(path.clone()), ..settings() };
    let error = cardea::idp::Idp::start(kept, Clock::system(), &cardea::platform::shutdown::Shutdown::default()).await;
    assert!(error.unwrap_err().to_string().contains("damaged"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ half");
}

#[tokio::test]
async fn revoking_a_refresh_token_ends_everything_and_an_access_token_only_itself() {
    let provider = Provider::start().await;
    let tokens = provider.tokens().await;
    let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
    let revoke = async |client: &str, token: &str| {
        let secret = format!("{client}-secret");
        let form = [("token", token), ("client_id", client), ("client_secret", &secret)];
        provider.post("/oauth/revoke").form(&form).send().await.unwrap().status().as_u16()
    };
    assert_eq!(revoke("acme", "unknown").await, 200);
    assert_eq!(revoke("globex", refresh).await, 200);
    assert_eq!(provider.userinfo(access).await, 200, "another client's token is not touched");
    assert_eq!(revoke("acme", access).await, 200);
    assert_eq!(provider.userinfo(access).await, 401);
    let (status, next) = provider.refresh(refresh).await;
    assert_eq!(status, 200);
    assert_eq!(revoke("acme", text(&next, "refresh_token")).await, 200);
    assert_eq!(provider.userinfo(text(&next, "access_token")).await, 401);
    assert_eq!(provider.refresh(text(&next, "refresh_token")).await.0, 400);
    provider.stop().await;
}

#[tokio::test]
async fn a_code_with_another_verifier_address_or_client_is_refused() {
    let provider = Provider::start().await;
    let right = [
        ("grant_type", "authorization_code"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("client_id", "acme"),
        ("client_secret", "acme-secret"),
    ];
    let wrong: [&[(&str, &str)]; 4] = [
        &[("code_verifier", "another-verifier-of-43-characters-0123456789abc")],
        &[("code_verifier", "")],
        &[("redirect_uri", "http://localhost:8080/other")],
        &[("client_id", "globex"), ("client_secret", "globex-secret")],
    ];
    for change in wrong {
        let code = provider.code(&[]).await;
        let mut form: std::collections::BTreeMap<&str, &str> = right.into();
        form.extend(change.iter().copied());
        form.insert("code", &code);
        let form: Vec<_> = form.into_iter().collect();
        let (status, error) = provider.token(&form).await;
        assert_eq!((status, text(&error, "error")), (400, "invalid_grant"), "{change:?}");
    }
    let bare = provider.code(&[("code_challenge", ""), ("code_challenge_method", "")]).await;
    assert_eq!(provider.exchange(&bare).await.0, 400, "a verifier without a challenge");
    provider.stop().await;
}
