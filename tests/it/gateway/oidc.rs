//! Signing in with a certified OpenID provider: the way in, what a callback may not be, and a provider that is away.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;
use url::Url;

use crate::support::client::{Answer, Browser};
use crate::support::demo::{cardea, data_folder};
use crate::support::eventually;

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
    _folder: TempDir,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts the provider on a port (0 for any) and gives its issuer.
fn provider(port: u16, portal: &str) -> (Process, String) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut process = Command::new("node")
        .arg("oidc/provider.mjs")
        .args([&port.to_string(), &format!("{portal}/auth/callback")])
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

fn configuration(port: u16, issuer: &str) -> String {
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
profile = "oidc"
auth_url = "{issuer}"
client_id = "portal"
client_secret = "portal-secret-of-the-tests"
scopes = ["openid", "profile", "email", "offline_access"]
[gateway.tenants.acme.service]
base_url = "http://127.0.0.1:9"
"#
    )
}

impl Portal {
    async fn start() -> Self {
        let port = free_port();
        let url = format!("http://localhost:{port}");
        let (provider, issuer) = provider(0, &url);
        let folder = data_folder();
        let file = folder.path().join("cardea.toml");
        fs::write(&file, configuration(port, &issuer)).unwrap();
        let mut command = cardea();
        command.args(["serve", "--config"]).arg(file).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let gateway = Process { child: command.spawn().unwrap(), _output: None };
        eventually("the gateway", async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()).await;
        Self { url, issuer, provider: Some(provider), _gateway: gateway, _folder: folder }
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

    let out = dora.post(&format!("{}/auth/logout", portal.url), &[("csrf", &page.hidden("csrf"))]).await;
    assert_eq!(out.status, 303);
    assert_eq!(dora.get(&format!("{}/tasks/new", portal.url)).await.location().unwrap().path(), "/auth/login");
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
    assert_eq!(mixed.status, 502, "an answer in another provider's name: {}", mixed.text());
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

    portal.provider = Some(provider(port, &portal.url).0);
    let mut again = Browser::new();
    let callback = portal.up_to_the_callback(&mut again, DORA).await;
    let page = again.open(&callback).await;
    assert!(page.text().contains("Dora Díaz"), "{}", page.text());
}
