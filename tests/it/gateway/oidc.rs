//! A certified OpenID provider: the way in, what a callback may not be, refresh tokens that are used up, the ways out, every way
//! a client shows itself, and a provider that is away.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use url::Url;

use crate::support::client::{Answer, Browser};
use crate::support::demo::{cardea, data_folder};
use crate::support::eventually;
use crate::support::redis::free_port;

/// A child process that ends with its owner. Its output stays open: it may say something later.
struct Process {
    child: Child,
    _output: Option<BufReader<ChildStdout>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The gateway with one tenant, and its provider.
struct Portal {
    url: String,
    issuer: String,
    provider: Option<Process>,
    _gateway: Process,
    folder: TempDir,
}

/// How provider and client are set up.
#[derive(Clone, Copy)]
struct Setup {
    /// As providers and their documents name it.
    auth: &'static str,
    /// The gateway's word for the same.
    client_auth: &'static str,
    /// Logout tokens name the session, or the person.
    by_session: bool,
    access_seconds: u32,
    profile: &'static str,
}

const USUAL: Setup =
    Setup { auth: "client_secret_post", client_auth: "auto", by_session: true, access_seconds: 3600, profile: "oidc" };

/// Starts the provider on a port (0 for any) and gives its issuer. The client's own key, if it has one, comes into `folder`.
fn provider(port: u16, portal: &str, setup: Setup, folder: &Path) -> (Process, String) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut process = Command::new("node")
        .arg("oidc/provider.mjs")
        .args([&port.to_string(), &format!("{portal}/auth/callback"), setup.auth])
        .args([if setup.by_session { "sid" } else { "sub" }, &setup.access_seconds.to_string()])
        .arg(folder.join("client.pem"))
        .current_dir(tests)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("node is installed");
    let mut line = String::new();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let process = Process { child: process, _output: Some(out) };
    let issuer = line.trim().strip_prefix("ready ").expect("the provider starts; run `npm ci --prefix tests` first");
    (process, issuer.to_owned())
}

fn configuration(port: u16, issuer: &str, setup: Setup) -> String {
    let (profile, client_auth) = (setup.profile, setup.client_auth);
    let credential = if setup.auth == "private_key_jwt" {
        "client_key_file = \"client.pem\"\nclient_key_id = \"portal-1\""
    } else {
        "client_secret = \"portal-secret-of-the-tests\""
    };
    format!(
        r#"
[gateway.server]
listen = "127.0.0.1:{port}"
[gateway.session]
cookie_name = "cardea"
[gateway.store]
path = "gateway.redb"
[[gateway.keys]]
id = "test"
key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
[gateway.tenants.acme]
name = "Acme"
hosts = ["localhost:{port}"]
public_url = "http://localhost:{port}"
[gateway.tenants.acme.identity]
profile = "{profile}"
auth_url = "{issuer}"
client_id = "portal"
client_auth = "{client_auth}"
{credential}
scopes = ["openid", "profile", "email", "offline_access"]
[gateway.tenants.acme.service]
base_url = "http://127.0.0.1:9"
"#
    )
}

impl Portal {
    async fn start() -> Self {
        Self::start_with(USUAL).await
    }

    async fn start_with(setup: Setup) -> Self {
        let port = free_port();
        let folder = data_folder();
        let (provider, issuer) = provider(0, &format!("http://localhost:{port}"), setup, folder.path());
        Self { provider: Some(provider), ..Self::alone(port, issuer, setup, folder).await }
    }

    /// Without its provider, which will be at `issuer`.
    async fn alone(port: u16, issuer: String, setup: Setup, folder: TempDir) -> Self {
        let url = format!("http://localhost:{port}");
        let file = folder.path().join("cardea.toml");
        fs::write(&file, configuration(port, &issuer, setup)).unwrap();
        let mut command = cardea();
        command.args(["serve", "--config"]).arg(file).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let gateway = Process { child: command.spawn().unwrap(), _output: None };
        eventually("the gateway", async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()).await;
        Self { url, issuer, provider: None, _gateway: gateway, folder }
    }

    /// What the provider has done.
    async fn seen(&self) -> Value {
        let answer = Browser::new().get(&format!("{}/seen", self.issuer)).await;
        serde_json::from_slice(&answer.bytes).unwrap()
    }

    async fn is_signed_in(&self, browser: &Browser) -> bool {
        browser.clone().get(&format!("{}/tasks/new", self.url)).await.status == 200
    }

    /// Signs in and gives the first page.
    async fn sign_in(&self, browser: &mut Browser) -> Answer {
        let callback = self.up_to_the_callback(browser, DORA).await;
        let page = browser.open(&callback).await;
        assert_eq!((page.status.as_u16(), page.url.path()), (200, "/tasks/new"), "{}", page.text());
        page
    }

    fn login(&self) -> String {
        format!("{}/auth/login?return_to=%2Ftasks%2Fnew", self.url)
    }

    /// Goes through the provider's forms up to the callback, which is given back unopened.
    async fn up_to_the_callback(&self, browser: &mut Browser, choice: &[(&str, &str)]) -> String {
        let mut answer = browser.get(&self.login()).await;
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 15, "the provider never came to an end: {}", answer.url);
            if let Some(next) = answer.location() {
                if next.path() == "/auth/callback" {
                    return next.into();
                }
                answer = browser.get(next.as_str()).await;
            } else {
                assert_eq!(answer.status, 200, "{}: {}", answer.url, answer.text());
                let action = answer.link("action", "/interaction/");
                answer = browser.post(&action, choice).await;
            }
        }
    }
}

fn with_state(callback: &str, change: impl Fn(&str, &str) -> String) -> String {
    let mut url = Url::parse(callback).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().map(|(name, value)| (name.to_string(), change(&name, &value))).collect();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.into()
}

const DORA: &[(&str, &str)] = &[("login", "dora")];

#[tokio::test]
async fn a_certified_provider_signs_people_in() {
    let portal = Portal::start().await;
    let mut dora = Browser::new();
    let asked = dora.get(&portal.login()).await.location().unwrap();
    let parameters: std::collections::HashMap<_, _> = asked.query_pairs().into_owned().collect();
    assert_eq!(parameters["code_challenge_method"], "S256");
    assert_eq!(parameters["scope"], "openid profile email offline_access");
    assert!(parameters["nonce"].len() >= 22 && parameters["state"].len() >= 22);

    let callback = portal.up_to_the_callback(&mut dora, DORA).await;
    let page = dora.open(&callback).await;
    assert_eq!(page.url.path(), "/tasks/new", "{}", page.text());
    let text = page.text();
    assert!(text.contains("Dora Díaz"), "{text}");
    assert!(!text.contains("<b>& Co") && text.contains("&#60;b&#62;"), "a name is text: {text}");
    assert!(text.contains("/admin/keys"), "the role claim makes an administrator: {text}");
}

/// Answers the provider's question whether to sign out.
async fn confirm(browser: &mut Browser, question: &Answer) -> Answer {
    assert_eq!(question.status, 200, "{}", question.text());
    let fields = [("xsrf", question.hidden("xsrf")), ("logout", "yes".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = browser.post(&question.link("action", "/session/end/confirm"), &fields).await;
    browser.follow(answer).await
}

#[tokio::test]
async fn signing_out_ends_the_session_at_a_certified_provider_too() {
    let portal = Portal::start_with(Setup { profile: "strict", ..USUAL }).await;
    let mut dora = Browser::new();
    let page = portal.sign_in(&mut dora).await;
    let out = dora.post(&format!("{}/auth/logout", portal.url), &[("csrf", &page.hidden("csrf"))]).await;
    assert_eq!(out.status, 200, "{}", out.text());
    assert!(!portal.is_signed_in(&dora).await);
    let onward = out.header("refresh").strip_prefix("0; url=").unwrap().to_owned();
    assert!(onward.starts_with(&portal.issuer) && onward.contains("id_token_hint="), "{onward}");
    let question = dora.open(&onward).await;
    let back = confirm(&mut dora, &question).await;
    assert_eq!((back.status.as_u16(), back.url.path()), (200, "/auth/signed-out"), "{}", back.text());
    assert!(back.text().contains("was asked to sign you out, too"), "{}", back.text());
    let asked = dora.open(&portal.login()).await;
    assert!(asked.text().contains("name=\"login\""), "the provider asks who it is: {}", asked.text());
    let failed = portal.seen().await["failed"].clone();
    assert_eq!(failed, serde_json::json!([]), "its back channel found a session that had ended, which is fine");
}

#[tokio::test]
async fn a_sign_out_at_a_certified_provider_ends_the_session_here() {
    for by_session in [true, false] {
        let portal = Portal::start_with(Setup { by_session, ..USUAL }).await;
        let mut dora = Browser::new();
        portal.sign_in(&mut dora).await;
        assert!(portal.is_signed_in(&dora).await);
        let question = dora.open(&format!("{}/session/end?client_id=portal", portal.issuer)).await;
        confirm(&mut dora, &question).await;
        let seen = portal.seen().await;
        assert_eq!((seen["failed"].as_array().unwrap().len(), seen["ended"].as_array().unwrap().len()), (0, 1), "{seen}");
        assert!(!portal.is_signed_in(&dora).await, "by_session {by_session}");
        portal.sign_in(&mut dora).await;
        assert!(portal.is_signed_in(&dora).await, "and a new sign-in is a new session");
    }
}

#[tokio::test]
async fn refresh_tokens_of_a_certified_provider_are_used_up_one_after_the_other() {
    let portal = Portal::start_with(Setup { access_seconds: 1, ..USUAL }).await;
    let mut dora = Browser::new();
    portal.sign_in(&mut dora).await;
    let tasks = format!("{}/tasks", portal.url);
    let grown = async |from: u64| {
        // The token is over after a second; the page needs one, and then a service that is not there.
        let page = dora.clone().get(&tasks).await;
        assert_eq!(page.status, 502, "nobody is signed out: {}", page.text());
        portal.seen().await["refreshes"].as_u64().filter(|count| *count > from)
    };
    let mut count = 0;
    for _ in 0..4 {
        count = eventually("a refresh", async || grown(count).await).await;
    }
    assert_eq!(portal.seen().await["refusals"], serde_json::json!([]), "none was sent twice");
    assert!(portal.is_signed_in(&dora).await);
}

#[tokio::test]
async fn a_certified_provider_knows_the_client_in_every_way_it_can_show_itself() {
    for (auth, client_auth) in
        [("client_secret_basic", "basic"), ("client_secret_post", "post"), ("private_key_jwt", "private_key_jwt")]
    {
        let portal = Portal::start_with(Setup { auth, client_auth, access_seconds: 1, ..USUAL }).await;
        let mut dora = Browser::new();
        let page = portal.sign_in(&mut dora).await;
        assert!(page.text().contains("Dora Díaz"), "{auth}");
        let refreshed = async || {
            dora.clone().get(&format!("{}/tasks", portal.url)).await;
            portal.seen().await["refreshes"].as_u64().filter(|count| *count > 0)
        };
        eventually("a refresh", refreshed).await;
        let page = dora.get(&format!("{}/tasks/new", portal.url)).await;
        let out = dora.post(&format!("{}/auth/logout", portal.url), &[("csrf", &page.hidden("csrf"))]).await;
        assert_eq!(out.status, 200, "{}", out.text());
        assert_eq!(portal.seen().await["refusals"], serde_json::json!([]), "{auth}");
    }
}

#[tokio::test]
async fn a_callback_that_was_not_asked_for_signs_nobody_in() {
    let portal = Portal::start().await;
    let mut dora = Browser::new();
    let callback = portal.up_to_the_callback(&mut dora, DORA).await;
    let signed_out = |answer: &Answer| answer.status == 400 && answer.text().contains("The sign-in did not work");

    let wrong =
        dora.get(&with_state(&callback, |name, value| if name == "state" { "x".repeat(43) } else { value.to_owned() })).await;
    assert!(signed_out(&wrong), "{}: {}", wrong.status, wrong.text());
    let stranger = Browser::new().get(&callback).await;
    assert!(signed_out(&stranger), "another browser: {}: {}", stranger.status, stranger.text());
    let bare = dora.get(&format!("{}/auth/callback", portal.url)).await;
    assert!(signed_out(&bare), "{}", bare.text());
    let mut mine = dora.clone();
    for answer in [&wrong, &stranger, &bare] {
        assert!(answer.text().contains("Try again") && !answer.text().contains(&callback), "{}", answer.text());
    }

    // A stranger's try with the right state must not have used it up.
    let own = mine.open(&callback).await;
    assert_eq!(own.url.path(), "/tasks/new", "{}", own.text());
    let replayed = mine.open(&callback).await;
    assert_eq!(replayed.url.path(), "/tasks/new", "with its session the same callback just goes on: {}", replayed.text());
    let copied = Browser::new().get(&callback).await;
    assert!(signed_out(&copied), "{}", copied.text());

    let mut other = Browser::new();
    let callback = portal.up_to_the_callback(&mut other, DORA).await;
    let forged = other
        .get(&with_state(&callback, |name, value| if name == "code" { "no-code".to_owned() } else { value.to_owned() }))
        .await;
    assert!(signed_out(&forged), "{}: {}", forged.status, forged.text());
    let spent = other.get(&callback).await;
    assert!(signed_out(&spent), "the state is used up: {}: {}", spent.status, spent.text());
    let issuer = portal.up_to_the_callback(&mut other, DORA).await;
    let mixed = other
        .get(&with_state(&issuer, |name, value| if name == "iss" { "http://127.0.0.1:1".to_owned() } else { value.to_owned() }))
        .await;
    assert!(signed_out(&mixed), "an answer in another provider's name: {}: {}", mixed.status, mixed.text());
}

#[tokio::test]
async fn who_leaves_the_providers_page_is_told_so() {
    let portal = Portal::start().await;
    let mut browser = Browser::new();
    let callback = portal.up_to_the_callback(&mut browser, &[("leave", "yes")]).await;
    let left = browser.get(&callback).await;
    assert_eq!(left.status, 403);
    assert!(left.text().contains("did not let you in, or you left it"), "{}", left.text());
}

#[tokio::test]
async fn a_provider_that_is_away_is_a_page_and_comes_back() {
    let mut portal = Portal::start().await;
    let mut dora = Browser::new();
    let callback = portal.up_to_the_callback(&mut dora, DORA).await;
    let port = portal.issuer.rsplit(':').next().unwrap().parse().unwrap();
    portal.provider = None;
    let down = dora.get(&callback).await;
    assert_eq!(down.status, 503, "{}", down.text());
    assert!(down.text().contains("cannot be reached right now"), "{}", down.text());

    portal.provider = Some(provider(port, &portal.url, USUAL, portal.folder.path()).0);
    let mut again = Browser::new();
    let callback = portal.up_to_the_callback(&mut again, DORA).await;
    let page = again.open(&callback).await;
    assert!(page.text().contains("Dora Díaz"), "{}", page.text());
}

#[tokio::test]
async fn the_portal_starts_without_its_provider_and_signs_in_once_that_is_there() {
    let (port, provider_port) = (free_port(), free_port());
    let issuer = format!("http://127.0.0.1:{provider_port}");
    let mut portal = Portal::alone(port, issuer, USUAL, data_folder()).await;
    let mut dora = Browser::new();
    for probe in ["/livez", "/readyz"] {
        assert_eq!(dora.get(&format!("{}{probe}", portal.url)).await.status, 200, "{probe}");
    }
    assert_eq!(dora.get(&format!("{}/s/abcdefghijklmnop", portal.url)).await.status, 200, "shares need no provider");
    let down = dora.get(&portal.login()).await;
    assert_eq!(down.status, 503, "{}", down.text());
    assert!(down.text().contains("cannot be reached right now"), "{}", down.text());
    portal.provider = Some(provider(provider_port, &portal.url, USUAL, portal.folder.path()).0);
    let ready = async || (dora.clone().get(&portal.login()).await.status == 303).then_some(());
    eventually("the provider is found", ready).await;
    portal.sign_in(&mut dora).await;
}

#[tokio::test]
async fn a_real_browser_goes_over_a_certified_provider_in_and_out() {
    let portal = Portal::start().await;
    let (url, issuer) = (portal.url.clone(), portal.issuer.clone());
    tokio::task::spawn_blocking(move || crate::browser::run("oidc.mjs", &[&url, &issuer])).await.unwrap();
    let seen = portal.seen().await;
    assert_eq!((seen["failed"].as_array().unwrap().len(), seen["refusals"].as_array().unwrap().len()), (0, 0), "{seen}");
}
