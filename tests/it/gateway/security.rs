//! What every answer carries, who may change what, where a sign-in may lead, and that secrets stay where they belong.

use std::fs;

use reqwest::Method;

use crate::support::client::{Answer, Browser, Manners};
use crate::support::demo::Demo;
use crate::support::jar::vulnerable_war;

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let mut answers = Vec::new();
    for path in [
        "/",
        "/tasks",
        "/tasks/new",
        "/shares",
        "/admin/keys",
        "/tasks/nothing",
        "/nowhere",
        "/s/abcdefghijklmnop",
        "/o/abcdefghijklmnop",
        "/o/abcdefghijklmnop/view",
        "/tasks?page=x",
        "/livez",
    ] {
        answers.push(alice.get(&format!("{}{path}", demo.portal)).await);
    }
    answers.push(alice.get(&format!("{}/auth/logout", demo.portal)).await);
    answers.push(alice.post(&format!("{}/tasks", demo.portal), &[]).await);
    answers.push(Browser::new().get(&format!("{}/tasks", demo.portal)).await);
    answers.push(Browser::new().get(&demo.portal.replace("localhost", "nobody.localhost")).await);
    let style = answers[0].link("href", "/assets/");
    answers.push(alice.get(&style).await);
    for answer in &answers {
        let at = format!("{} ({})", answer.url, answer.status);
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{at}: {policy}");
        assert!(!policy.contains("unsafe"), "{at}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{at}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{at}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{at}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{at}");
        assert!(!answer.header("referrer-policy").is_empty(), "{at}");
        assert!(!answer.header("permissions-policy").is_empty(), "{at}");
        assert_eq!(answer.header("x-request-id").len(), 32, "{at}");
        let cached = answer.header("cache-control");
        assert!(cached == "no-store" || answer.url.path().starts_with("/assets/"), "{at}: {cached}");
        assert!(answer.header("server").is_empty() && answer.header("x-powered-by").is_empty(), "{at}");
    }
}

#[tokio::test]
async fn pages_answer_to_head_as_to_get_without_a_body() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    for path in
        ["/", "/tasks", "/tasks/new", "/shares", "/admin", "/admin/users", "/admin/audit", "/admin/keys", "/account/sessions"]
    {
        let url = format!("{}{path}", demo.portal);
        let page = alice.get(&url).await;
        let head = alice.send(Method::HEAD, &url, &Manners::default(), |request| request).await;
        assert_eq!((page.status.as_u16(), head.status.as_u16()), (200, 200), "{path}");
        assert_eq!(head.header("content-type"), page.header("content-type"), "{path}");
        assert!(head.text().is_empty(), "{path}");
    }
    // What begins a sign-in or is noted as a download is no page.
    for path in ["/auth/login", "/admin/audit.csv"] {
        let head = alice.send(Method::HEAD, &format!("{}{path}", demo.portal), &Manners::default(), |request| request).await;
        assert_eq!((head.status.as_u16(), head.header("allow")), (405, "GET"), "{path}");
    }
}

#[tokio::test]
async fn a_change_needs_the_same_origin_and_the_token() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let token = alice.get(&format!("{}/tasks", demo.portal)).await.hidden("csrf");
    let step = alice.draft(&demo.portal, "shop").await.resolve("target");
    let mut bob = Browser::new();
    bob.sign_in(&demo.portal, "bob").await;
    let foreign_token = bob.get(&format!("{}/tasks", demo.portal)).await.hidden("csrf");
    let neighbour = demo.globex.clone();
    let sites = [Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none"), None];
    let origins =
        [Some(demo.portal.clone()), Some(neighbour), Some("http://evil.example".to_owned()), Some("null".to_owned()), None];
    let own = Some(demo.portal.clone());
    for site in sites {
        for origin in &origins {
            for sent in [Some(&token), Some(&foreign_token), None] {
                let headers = vec![("accept", "text/html".to_owned())];
                let manners = Manners { fetch_site: site, origin: origin.clone(), headers };
                let fields: Vec<(&str, &str)> = sent.iter().map(|token| ("csrf", token.as_str())).collect();
                let from_here = site == Some("same-origin") || (site.is_none() && *origin == own);
                let fine = from_here && sent == Some(&token);
                let words = format!(
                    "site {site:?}, origin {origin:?}, token {}",
                    sent.map_or("none", |sent| if *sent == token { "own" } else { "foreign" })
                );
                let entered = alice.post_as(&step, &fields, &manners).await;
                // A form that is let in does not say which state of the draft it is about.
                assert_eq!(entered.status, if fine { 400 } else { 403 }, "target: {words}: {}", entered.text());
                if !fine {
                    let out = alice.post_as(&format!("{}/auth/logout", demo.portal), &fields, &manners).await;
                    assert_eq!(out.status, 403, "logout: {words}: {}", out.text());
                }
            }
        }
    }
    assert!(alice.get(&format!("{}/", demo.portal)).await.text().contains("Alice"), "nothing of it signed anybody out");
}

#[tokio::test]
async fn signing_out_takes_a_form_and_no_link() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    let home = alice.sign_in(&demo.portal, "alice").await;
    let link = alice.get(&format!("{}/auth/logout", demo.portal)).await;
    assert_eq!((link.status.as_u16(), link.header("allow")), (405, "POST"), "{}", link.text());
    assert!(alice.get(&format!("{}/", demo.portal)).await.text().contains("Alice"));
    let out = alice.post(&format!("{}/auth/logout", demo.portal), &[("csrf", &home.hidden("csrf"))]).await;
    assert_eq!(out.status, 303);
    // "Back" after a sign-out is no way in: the provider asks again.
    let again = alice.get(&format!("{}/auth/login", demo.portal)).await;
    assert!(again.header("location").contains("prompt=login"), "{}", again.header("location"));
    assert!(out.header("clear-site-data").contains("\"storage\""));
    assert!(alice.follow(out).await.text().contains("You are signed out"));
    assert!(alice.cookie("localhost", "cardea").is_none(), "the cookie is taken back");
}

#[tokio::test]
async fn a_sign_in_returns_to_pages_of_this_portal_only() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let hostile = [
        "https://evil.example/",
        "//evil.example/tasks",
        "/\\evil.example",
        "\\\\evil.example",
        "/tasks/../..//evil.example",
        "/%2f%2fevil.example",
        "/tasks%0d%0aset-cookie:a=b",
        "javascript:alert(1)",
        "/auth/logout",
        "/auth/login?return_to=/",
        "/s/abcdefghijklmnop",
        "/o/abcdefghijklmnop",
        "http:evil.example",
        " //evil.example",
        "/\t/evil.example",
        "tasks",
        "",
    ];
    for target in hostile {
        let mut address = url::Url::parse(&format!("{}/auth/login", demo.portal)).unwrap();
        address.query_pairs_mut().append_pair("return_to", target);
        let answer = alice.get(address.as_str()).await;
        assert_eq!(answer.header("location"), "/", "{target}");
    }
    for target in ["/tasks?status=success", "/shares", "/tasks/4f/findings"] {
        let mut address = url::Url::parse(&format!("{}/auth/login", demo.portal)).unwrap();
        address.query_pairs_mut().append_pair("return_to", target);
        assert_eq!(alice.get(address.as_str()).await.header("location"), target);
    }
    let after = Browser::new().sign_in_to(&format!("{}/tasks?status=failed", demo.portal), "bob").await;
    assert_eq!(after.url.as_str(), format!("{}/tasks?status=failed", demo.portal), "one comes back to where one was going");
}

#[tokio::test]
async fn keys_are_for_administrators() {
    let demo = Demo::start();
    let mut bob = Browser::new();
    let home = bob.sign_in(&demo.portal, "bob").await;
    assert!(home.links("href", "/admin/keys").is_empty());
    let csrf = home.hidden("csrf");
    assert_eq!(bob.get(&format!("{}/admin/keys", demo.portal)).await.status, 403);
    for path in [
        "/admin/keys",
        "/admin/keys/any/test",
        "/admin/keys/any/activate",
        "/admin/keys/any/deactivate",
        "/admin/keys/any/remove",
        "/admin/api-keys",
        "/admin/api-keys/any/rotate",
        "/admin/api-keys/any/revoke",
    ] {
        let fields = [
            ("csrf", csrf.as_str()),
            ("label", "mine"),
            ("key", "sk-0123456789"),
            ("confirm", "yes"),
            ("group", "read"),
            ("days", "1"),
            ("once", "0123456789abcdef"),
            ("newest", "1"),
            ("overlap", "0"),
        ];
        let refused = bob.post(&format!("{}{path}", demo.portal), &fields).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text());
    }
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let keys = alice.get(&format!("{}/admin/keys", demo.portal)).await;
    assert_eq!(keys.status, 200);
    assert!(!keys.text().contains("mine"), "{}", keys.text());
}

#[tokio::test]
async fn pages_for_members_lead_strangers_to_sign_in_and_answer_programs_401() {
    let demo = Demo::start();
    let pages = [
        "/tasks",
        "/tasks?status=failed",
        "/tasks/new",
        "/tasks/4f",
        "/tasks/4f/delete",
        "/tasks/4f/findings",
        "/tasks/4f/findings/1",
        "/tasks/4f/report?type=pdf",
        "/tasks/4f/live",
        "/shares",
        "/tasks/new/aaaaaaaaaaaaaaaaaaaaaa/target",
        "/tasks/new/aaaaaaaaaaaaaaaaaaaaaa/target/stages",
        "/tasks/new/aaaaaaaaaaaaaaaaaaaaaa/accounts",
        "/shares/new?task=4f",
        "/admin/keys",
        "/admin/api-keys/new",
        "/admin/api-keys/4f/rotate",
    ];
    for page in pages {
        let url = format!("{}{page}", demo.portal);
        let sent = Browser::new().get(&url).await;
        assert_eq!(sent.status, 303, "{page}: {}", sent.text());
        let login = sent.location().unwrap();
        assert_eq!(login.path(), "/auth/login", "{page}");
        let back = login.query_pairs().find(|(name, _)| name == "return_to").map(|(_, value)| value.into_owned());
        assert_eq!(back.as_deref(), Some(page));
        let program = Manners { headers: vec![("accept", "application/json".to_owned())], ..Manners::default() };
        let refused = Browser::new().send(Method::GET, &url, &program, |request| request).await;
        assert_eq!(refused.status, 401, "{page}");
        let problem: serde_json::Value = serde_json::from_slice(&refused.bytes).unwrap();
        assert_eq!(problem["status"], 401, "{problem}");
    }
    let hash = "0".repeat(64);
    let script = Browser::new().get(&format!("{}/uploads/{hash}", demo.portal)).await;
    assert!(script.status == 303 || script.status == 401, "{}", script.status);
    let home = Browser::new().get(&format!("{}/", demo.portal)).await;
    assert!(home.status == 200 && home.text().contains("/auth/login"), "the first page invites: {}", home.text());
}

/// What somebody types as cookie and header of a test account.
const TYPED: [&str; 2] = ["cookie-of-a-test-account-0123", "header-of-a-test-account-0123"];

/// Every step of a draft that holds a session, and a refusal of the same.
async fn draft_with_an_account(demo: &Demo, alice: &mut Browser) -> Vec<Answer> {
    let first = alice.draft(&demo.portal, "kept").await;
    let accounts = alice.get(&first.resolve("accounts")).await;
    let (csrf, version) = (accounts.hidden("csrf"), accounts.hidden("v"));
    let [cookie, header] = [format!("sid={}", TYPED[0]), format!("Authorization: {}", TYPED[1])];
    let fields = [
        ("csrf", &*csrf),
        ("v", &version),
        ("role", "admin"),
        ("url", "https://a.example/"),
        ("cookies", &cookie),
        ("headers", &header),
    ];
    let saved = alice.post(accounts.url.as_str(), &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.text());
    // The form is older than the draft now. Its answer, and no other page, has what was typed in its fields once more.
    let stale = alice.post(accounts.url.as_str(), &fields).await;
    assert!(stale.status == 409 && TYPED.iter().all(|typed| stale.text().contains(typed)), "{}", stale.text());
    let mut pages = vec![alice.get(&format!("{}/tasks/new", demo.portal)).await];
    for step in ["artifact", "target", "ownership", "source", "accounts", "options", "check"] {
        let page = alice.get(&first.resolve(step)).await;
        assert_eq!(page.status, 200, "{}", page.text());
        pages.push(page);
    }
    pages
}

/// Every page a signed-in administrator sees, and those of a share.
async fn everything_shown(demo: &Demo, alice: &mut Browser, visitor: &mut Browser) -> (Vec<Answer>, Vec<String>) {
    let task = alice.scan(&demo.portal, "shop", "shop.war", vulnerable_war()).await;
    let findings = alice.get(&task.link("href", "/findings")).await;
    let finding = alice.get(&findings.link("href", "/findings/")).await;
    let html = alice.get(&task.link("href", "type=html")).await;
    let (link, code) = alice.share(&task.link("href", "/shares/new")).await;
    let door = visitor.get(&link).await;
    let wrong = visitor.post(&link, &[("code", "AAAA-BBBB")]).await;
    let right = visitor.post(&link, &[("code", &code)]).await;
    let inside = visitor.follow(right).await;
    assert_eq!(inside.status, 200);
    let report = visitor.get(&inside.link("href", "type=html")).await;
    assert_eq!(report.status, 200, "{}", report.text());
    let mut pages = vec![task, findings, finding, html, door, wrong, inside, report];
    for page in ["/", "/tasks", "/tasks/new", "/shares", "/admin/keys", "/nowhere", "/auth/callback?state=x&code=y"] {
        pages.push(alice.get(&format!("{}{page}", demo.portal)).await);
    }
    pages.extend(draft_with_an_account(demo, alice).await);
    let id = link.rsplit('/').next().unwrap().to_owned();
    (pages, vec![id, code.replace('-', ""), code])
}

#[tokio::test]
async fn secrets_are_on_no_page_in_no_log_and_in_no_file_of_the_store() {
    let demo = Demo::start_in(crate::support::demo::data_folder(), 0, &[("CARDEA__TELEMETRY__FILTER", "debug")]);
    let (mut alice, mut visitor) = (Browser::new(), Browser::new());
    alice.sign_in(&demo.portal, "alice").await;
    let (pages, codes) = everything_shown(&demo, &mut alice, &mut visitor).await;
    let sheet = demo.sheet();
    let mut secrets: Vec<String> = ["acme", "globex"]
        .iter()
        .flat_map(|tenant| ["client_secret", "sk"].map(|name| sheet["tenants"][tenant][name].as_str().unwrap().to_owned()))
        .collect();
    let own: serde_json::Value = serde_json::from_slice(&fs::read(demo.data().join("secrets.json")).unwrap()).unwrap();
    secrets.push(own["sealing_key"].as_str().unwrap().to_owned());
    secrets.push(alice.cookie("localhost", "cardea").unwrap());
    secrets.push(visitor.share_cookie("localhost").1);
    secrets.extend(TYPED.map(str::to_owned));
    assert!(secrets.iter().all(|secret| secret.len() >= 20), "each is long enough to be told from chance");

    for page in &pages {
        let text = page.text();
        let shown = secrets.iter().find(|secret| text.contains(secret.as_str()));
        assert!(shown.is_none(), "{} shows {shown:?}", page.url);
        for word in ["access_token", "refresh_token", "Bearer ", "client_secret"] {
            assert!(!text.contains(word), "{} shows {word}", page.url);
        }
        let path = page.url.path();
        // The code is shown once, on the page that answers its making, which is not among these.
        let shown = codes[1..].iter().find(|code| text.contains(code.as_str()));
        assert!(shown.is_none(), "{path} shows the code {shown:?}");
        assert!(path.starts_with("/s/") || path.starts_with("/o/") || !text.contains(&codes[0]), "{path} shows a working link");
    }
    let log = demo.log();
    assert!(log.contains("answered"), "there is a log: {log}");
    for secret in secrets.iter().chain(&codes) {
        assert!(!log.contains(secret.as_str()), "the log shows {secret}");
    }
    for word in ["access_token", "refresh_token", "Bearer ", "code_verifier"] {
        assert!(!log.contains(word), "the log shows {word}");
    }
    demo.terminate();
    let (status, folder) = demo.ended().await;
    assert!(status.success(), "{status}");
    // The configured server key and the client's are known to the services; cookies, codes and share ids live here.
    let files: Vec<_> = walkdir::WalkDir::new(folder.path())
        .into_iter()
        .map(Result::unwrap)
        .filter(|file| file.path().extension().is_some_and(|end| end == "redb"))
        .collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        let bytes = fs::read(file.path()).unwrap();
        let gateway = file.path().ends_with("gateway.redb");
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(holds("acme"), "{} is looked through", file.path().display());
        assert!(!gateway || !holds("alice@acme.example"), "sessions are sealed");
        // The scanning service finds its shares by their ids; their codes are hashed there, too.
        for secret in secrets.iter().chain(if gateway { &codes[..] } else { &codes[1..] }) {
            assert!(!holds(secret), "{} holds {secret}", file.path().display());
        }
    }
}
