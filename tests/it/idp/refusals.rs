//! Requests that are not as they should be.

use super::{CALLBACK, Provider, query, text};

type Form<'f> = &'f [(&'f str, &'f str)];

#[tokio::test]
async fn as_long_as_client_and_address_are_unknown_errors_are_pages() {
    let provider = Provider::start().await;
    let wrong: [&[(&str, &str)]; 5] = [
        &[("client_id", "")],
        &[("client_id", "nobody")],
        &[("redirect_uri", "")],
        &[("redirect_uri", "https://evil.example/")],
        &[("redirect_uri", "http://localhost:8080/auth/callback/../x")],
    ];
    for change in wrong {
        let answer = provider.get(&Provider::authorize(change)).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{change:?}");
        assert!(answer.headers().get("location").is_none());
        assert!(!answer.text().await.unwrap().contains("evil.example"));
    }
    let twice = format!("{}&client_id=acme", Provider::authorize(&[]));
    assert_eq!(provider.get(&twice).send().await.unwrap().status(), 400);
    provider.stop().await;
}

#[tokio::test]
async fn once_they_are_known_errors_go_back_with_state_and_issuer() {
    let provider = Provider::start().await;
    let wrong: [(&[(&str, &str)], &str); 8] = [
        (&[("response_type", "")], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("prompt", "dance")], "invalid_request"),
        (&[("prompt", "none")], "login_required"),
    ];
    for (change, expected) in wrong {
        let answer = provider.get(&Provider::authorize(change)).send().await.unwrap();
        assert!(answer.headers()["location"].to_str().unwrap().starts_with(CALLBACK));
        let back = query(&answer);
        assert_eq!(back["error"], expected, "{change:?}");
        assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("the state", provider.issuer.as_str()));
    }
    let twice = format!("{}&scope=profile", Provider::authorize(&[]));
    assert_eq!(query(&provider.get(&twice).send().await.unwrap())["error"], "invalid_request");
    provider.stop().await;
}

#[tokio::test]
async fn the_token_endpoint_names_what_is_wrong() {
    let provider = Provider::start().await;
    let (id, secret) = (("client_id", "acme"), ("client_secret", "acme-secret"));
    let wrong: [(Form<'_>, u16, &str); 10] = [
        (&[], 401, "invalid_client"),
        (&[id], 401, "invalid_client"),
        (&[id, ("client_secret", "guess")], 401, "invalid_client"),
        (&[("client_id", "nobody"), secret], 401, "invalid_client"),
        (&[id, secret], 400, "invalid_request"),
        (&[id, secret, ("grant_type", "password")], 400, "unsupported_grant_type"),
        (&[id, secret, ("grant_type", "authorization_code")], 400, "invalid_request"),
        (&[id, secret, ("grant_type", "refresh_token")], 400, "invalid_request"),
        (&[id, secret, ("grant_type", "refresh_token"), ("refresh_token", "x.y")], 400, "invalid_grant"),
        (&[id, id, secret, ("grant_type", "refresh_token")], 400, "invalid_request"),
    ];
    for (form, status, code) in wrong {
        let (found, error) = provider.token(form).await;
        assert_eq!((found, text(&error, "error")), (status, code), "{form:?}");
    }
    let both = provider.post("/oauth/token").basic_auth("acme", Some("acme-secret")).form(&[id, secret]).send().await.unwrap();
    assert_eq!(both.status(), 400);
    let challenge = provider.post("/oauth/token").basic_auth("acme", Some("guess")).form(&[id]).send().await.unwrap();
    assert!(challenge.headers().contains_key("www-authenticate"));
    provider.stop().await;
}

#[tokio::test]
async fn garbage_is_never_more_than_a_refusal() {
    let provider = Provider::start().await;
    let big = "x".repeat(100_000);
    for path in ["/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/oauth/end_session", &Provider::authorize(&[])] {
        for (kind, body) in [
            ("application/x-www-form-urlencoded", "%ff%fe=%00&&&=&a"),
            ("application/x-www-form-urlencoded", big.as_str()),
            ("application/json", "{\"grant_type\":1}"),
            ("text/plain", "\u{0}\u{1}"),
        ] {
            let answer = provider.post(path).header("content-type", kind).body(body.to_owned()).send().await.unwrap();
            assert!(answer.status().as_u16() < 500, "{path} {kind}");
        }
    }
    for token in ["", ".", "a.b", "é", &big[..5000]] {
        let answer = provider.get("/oauth/userinfo").header("authorization", format!("Bearer {token}")).send().await.unwrap();
        assert_eq!(answer.status(), 401);
        assert!(answer.headers().contains_key("www-authenticate"));
    }
    assert_eq!(provider.get("/oauth/userinfo").send().await.unwrap().status(), 401);
    assert_eq!(provider.get("/nowhere").send().await.unwrap().status(), 404);
    assert_eq!(provider.get("/oauth/token").send().await.unwrap().status(), 405);
    assert_eq!(provider.get("/healthz").send().await.unwrap().text().await.unwrap(), "ok");
    provider.stop().await;
}
