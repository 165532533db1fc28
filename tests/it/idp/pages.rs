//! What a person sees: the login form, the refusal of strangers, signing out.

use std::time::Duration;

use super::{CALLBACK, Provider, between, cookies, query, text};

#[tokio::test]
async fn pages_run_nothing_and_lead_only_home_and_to_the_client() {
    let provider = Provider::start().await;
    let answer = provider.get(&Provider::authorize(&[])).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(policy.contains("form-action 'self' http://localhost:8080;"), "{policy}");
    let html = answer.text().await.unwrap();
    assert!(!html.contains("<script") && !html.contains("style=") && !html.contains("<style"));
    let app = Provider::authorize(&[("redirect_uri", "editor://extension/auth-callback")]);
    let answer = provider.get(&app).send().await.unwrap();
    assert!(answer.headers()["content-security-policy"].to_str().unwrap().contains("form-action 'self' editor:;"));
    let style = provider.get("/style.css").send().await.unwrap();
    assert_eq!(style.headers()["content-type"], "text/css; charset=utf-8");
    provider.stop().await;
}

#[tokio::test]
async fn a_second_sign_in_is_silent_unless_it_must_not_be() {
    let provider = Provider::start().await;
    let cookie = cookies(&provider.log_in(&Provider::authorize(&[]), "alice", "alice").await);
    let silent = |changes: &[(&str, &str)]| provider.get(&Provider::authorize(changes)).header("cookie", &cookie).send();
    assert!(query(&silent(&[]).await.unwrap()).contains_key("code"));
    assert!(query(&silent(&[("prompt", "none")]).await.unwrap()).contains_key("code"));
    assert_eq!(silent(&[("prompt", "login")]).await.unwrap().status(), 200);
    provider.clock.advance(Duration::from_hours(12));
    assert_eq!(silent(&[]).await.unwrap().status(), 200);
    provider.stop().await;
}

#[tokio::test]
async fn somebody_of_another_organization_is_told_so_and_can_change() {
    let provider = Provider::start().await;
    let refused = provider.log_in(&Provider::authorize(&[]), "carol", "carol").await;
    assert_eq!(refused.status(), 403);
    assert!(!cookies(&refused).contains("cardea_idp="));
    let html = refused.text().await.unwrap();
    assert!(html.contains("does not belong to the organization") && html.contains("acme portal"));
    assert!(html.contains("carol &#38; &#60;b&#62;co"), "the name is text: {html}");
    let again = between(&html, "href=\"/oauth/authorize?", "\"").replace("&#38;", "&");
    assert!(again.contains("prompt=login"));
    let changed = provider.log_in(&format!("/oauth/authorize?{again}"), "bob", "bob").await;
    assert!(query(&changed).contains_key("code"));

    let cookie = cookies(&changed);
    let globex = [("client_id", "globex"), ("redirect_uri", "http://globex.localhost:8080/auth/callback")];
    let silent = provider.get(&Provider::authorize(&globex)).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(silent.status(), 403, "a session does not carry anybody into another organization");
    let globex = [globex[0], globex[1], ("prompt", "none")];
    let never = provider.get(&Provider::authorize(&globex)).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(query(&never)["error"], "interaction_required");
    provider.stop().await;
}

#[tokio::test]
async fn guessing_is_slowed_and_tells_nothing_about_names() {
    let provider = Provider::start().await;
    let path = Provider::authorize(&[]);
    let mut pages = Vec::new();
    for name in ["alice", "nobody"] {
        let answer = provider.log_in(&path, name, "guess").await;
        assert_eq!(answer.status(), 400);
        let html = answer.text().await.unwrap();
        pages.push(html.replace(name, "NAME").replace(&between(&html, "name=\"token\" value=\"", "\""), "TOKEN"));
    }
    assert_eq!(pages[0], pages[1]);
    for _ in 0..4 {
        provider.log_in(&path, "alice", "guess").await;
    }
    let waiting = provider.log_in(&path, "alice", "alice").await;
    assert_eq!(waiting.status(), 429, "the right password waits too");
    let seconds: u64 = waiting.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(provider.log_in(&path, "bob", "bob").await.status(), 303, "others are not held up");
    provider.clock.advance(Duration::from_secs(seconds));
    assert_eq!(provider.log_in(&path, "alice", "alice").await.status(), 303);
    provider.stop().await;
}

#[tokio::test]
async fn a_form_of_another_site_signs_nobody_in() {
    let provider = Provider::start().await;
    let path = Provider::authorize(&[]);
    let form = [("token", "guess"), ("username", "alice"), ("password", "alice")];
    let bare = provider.post(&path).form(&form).send().await.unwrap();
    assert_eq!(bare.status(), 403);
    assert!(!cookies(&bare).contains("cardea_idp="));
    let page = provider.get(&path).send().await.unwrap();
    let cookie = cookies(&page);
    let token = between(&page.text().await.unwrap(), "name=\"token\" value=\"", "\"");
    let form = [("token", token.as_str()), ("username", "alice"), ("password", "alice")];
    let send = |site: &'static str| provider.post(&path).header("cookie", &cookie).header("sec-fetch-site", site).form(&form);
    assert_eq!(send("cross-site").send().await.unwrap().status(), 403);
    assert_eq!(send("same-origin").send().await.unwrap().status(), 303);
    provider.stop().await;
}

#[tokio::test]
async fn signing_out_asks_first_unless_the_client_shows_whose_session_it_is() {
    let provider = Provider::start().await;
    let signed_in = provider.log_in(&Provider::authorize(&[]), "alice", "alice").await;
    let cookie = cookies(&signed_in);
    let (_, tokens) = provider.exchange(&query(&signed_in)["code"]).await;
    let home = "http://localhost:8080/bye";
    let path = |pairs: &[(&str, &str)]| {
        format!("/oauth/end_session?{}", url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    };
    let asked = path(&[("client_id", "acme"), ("post_logout_redirect_uri", home), ("state", "s")]);
    let question = provider.get(&asked).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(question.status(), 200);
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 200, "asking changes nothing");
    let foreign = provider.post(&asked).header("cookie", &cookie).form(&[("token", "guess")]).send().await.unwrap();
    assert_eq!(foreign.status(), 200);
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 200, "another site's form changes nothing");
    let form_cookie = cookies(&question);
    let token = between(&question.text().await.unwrap(), "name=\"token\" value=\"", "\"");
    let both = format!("{cookie}; {form_cookie}");
    let done = provider.post(&asked).header("cookie", both).form(&[("token", &token)]).send().await.unwrap();
    assert_eq!(query(&done)["state"], "s");
    assert!(done.headers()["location"].to_str().unwrap().starts_with(home));
    assert_eq!(provider.userinfo(text(&tokens, "access_token")).await, 401);

    let signed_in = provider.log_in(&Provider::authorize(&[]), "alice", "alice").await;
    let cookie = cookies(&signed_in);
    let (_, tokens) = provider.exchange(&query(&signed_in)["code"]).await;
    let hint = text(&tokens, "id_token");
    let evil = path(&[("id_token_hint", hint), ("post_logout_redirect_uri", "https://evil.example/")]);
    let done = provider.get(&evil).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(done.status(), 200, "signed out, but sent nowhere strange");
    assert!(done.headers().get("location").is_none());
    let login = provider.get(&Provider::authorize(&[("redirect_uri", CALLBACK)])).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(login.status(), 200, "the session is over");
    provider.stop().await;
}
