//! The identity provider over sockets: a provider of its own for each test, with a clock that is moved by hand.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail the test they help")]

mod grants;
mod pages;
mod refusals;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cardea::config::idp::{Client, Idp as Settings, User};
use cardea::idp::Idp;
use cardea::platform::clock::{Clock, Timestamp};
use cardea::platform::digest::sha256;
use cardea::platform::secret::Secret;
use cardea::platform::shutdown::Shutdown;
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use url::Url;

pub(crate) const CALLBACK: &str = "http://localhost:8080/auth/callback";
pub(crate) const VERIFIER: &str = "a-verifier-of-43-characters-or-more-0123456789";

pub(crate) struct Provider {
    pub(crate) issuer: String,
    pub(crate) clock: Clock,
    shutdown: Shutdown,
    http: reqwest::Client,
}

fn client(organization: &str, redirect_uris: &[&str]) -> Client {
    Client {
        secret: Secret::new(format!("{organization}-secret")),
        redirect_uris: redirect_uris.iter().map(|uri| (*uri).to_owned()).collect(),
        organization: organization.to_owned(),
        name: format!("{organization} portal"),
    }
}

fn user(name: &str, organization: &str, role: &str) -> (String, User) {
    let user = User {
        password: Secret::new(name),
        organization: organization.to_owned(),
        display_name: format!("{name} & <b>co</b>"),
        email: format!("{name}@{organization}.example"),
        roles: vec![role.to_owned()],
    };
    (name.to_owned(), user)
}

pub(crate) fn settings() -> Settings {
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        issuer: "http://127.0.0.1:0".to_owned(),
        state_file: None,
        access_token_seconds: 300,
        refresh_token_days: 30,
        rotation_grace_seconds: 30,
        clients: BTreeMap::from([
            ("acme".to_owned(), client("acme", &[CALLBACK, "editor://extension/auth-callback"])),
            ("globex".to_owned(), client("globex", &["http://globex.localhost:8080/auth/callback"])),
        ]),
        users: BTreeMap::from([
            user("alice", "acme", "administrator"),
            user("bob", "acme", "member"),
            user("carol", "globex", "administrator"),
        ]),
    }
}

#[expect(clippy::disallowed_methods, reason = "a browser and a client of a test, not of the product")]
fn http() -> reqwest::Client {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}

impl Provider {
    pub(crate) async fn start() -> Self {
        Self::with(settings(), Clock::manual(Timestamp(1_790_000_000_000))).await
    }

    pub(crate) async fn with(settings: Settings, clock: Clock) -> Self {
        let shutdown = Shutdown::default();
        let running = Idp::start(settings, clock.clone(), &shutdown).await.unwrap();
        Self { issuer: running.issuer().to_owned(), clock, shutdown, http: http() }
    }

    pub(crate) async fn stop(self) {
        self.shutdown.begin();
        self.shutdown.drain(Duration::from_secs(10)).await;
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.issuer))
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.issuer))
    }

    /// A path of the authorization endpoint; `changes` replace, add or (with an empty value) leave out parameters.
    pub(crate) fn authorize(changes: &[(&str, &str)]) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(sha256(VERIFIER.as_bytes()));
        let mut all = BTreeMap::from([
            ("response_type", "code"),
            ("client_id", "acme"),
            ("redirect_uri", CALLBACK),
            ("scope", "openid profile email"),
            ("state", "the state"),
            ("nonce", "the nonce"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        all.extend(changes.iter().copied());
        all.retain(|_, value| !value.is_empty());
        format!("/oauth/authorize?{}", url::form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish())
    }

    /// Opens the login form and sends it; gives the answer.
    pub(crate) async fn log_in(&self, path: &str, name: &str, password: &str) -> Response {
        let form = self.get(path).send().await.unwrap();
        let cookie = cookies(&form);
        let html = form.text().await.unwrap();
        let token = between(&html, "name=\"token\" value=\"", "\"");
        self.post(path)
            .header("cookie", cookie)
            .form(&[("token", token.as_str()), ("username", name), ("password", password)])
            .send()
            .await
            .unwrap()
    }

    /// A code for alice at acme.
    pub(crate) async fn code(&self, changes: &[(&str, &str)]) -> String {
        let answer = self.log_in(&Self::authorize(changes), "alice", "alice").await;
        query(&answer)["code"].clone()
    }

    pub(crate) async fn token(&self, form: &[(&str, &str)]) -> (u16, Value) {
        let answer = self.post("/oauth/token").form(form).send().await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "no-store");
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    pub(crate) async fn exchange(&self, code: &str) -> (u16, Value) {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
            ("client_id", "acme"),
            ("client_secret", "acme-secret"),
            ("scope", "an extra scope"),
        ])
        .await
    }

    pub(crate) async fn refresh(&self, token: &str) -> (u16, Value) {
        self.token(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("client_id", "acme"),
            ("client_secret", "acme-secret"),
        ])
        .await
    }

    /// Tokens of alice at acme.
    pub(crate) async fn tokens(&self) -> Value {
        let (status, tokens) = self.exchange(&self.code(&[]).await).await;
        assert_eq!(status, 200, "{tokens}");
        tokens
    }

    pub(crate) async fn userinfo(&self, access: &str) -> u16 {
        self.get("/oauth/userinfo").bearer_auth(access).send().await.unwrap().status().as_u16()
    }
}

/// Name and value of all cookies an answer sets.
pub(crate) fn cookies(answer: &Response) -> String {
    let set = answer.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
    set.map(|cookie| cookie.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

/// The query of the address an answer leads to.
pub(crate) fn query(answer: &Response) -> BTreeMap<String, String> {
    assert_eq!(answer.status(), 303);
    Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap().query_pairs().into_owned().collect()
}

pub(crate) fn between(text: &str, before: &str, after: &str) -> String {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0.to_owned()
}

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap()
}

pub(crate) fn state_file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("idp.json")
}
