//! Nothing of one company is ever visible at another one's portal.

use crate::support::client::{Browser, Manners};
use crate::support::demo::Demo;
use crate::support::jar::vulnerable_war;

#[tokio::test]
async fn what_one_company_has_does_not_exist_for_another() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let task = alice.scan(&demo.portal, "shop-of-acme", "shop.war", vulnerable_war()).await;
    let findings = alice.get(&task.link("href", "/findings")).await;
    let finding = findings.link("href", "/findings/");
    let (link, _) = alice.share(&task.link("href", "/shares/new")).await;

    let mut carol = Browser::new();
    carol.sign_in(&demo.globex, "carol").await;
    let there = |address: &str| address.replacen(&demo.portal, &demo.globex, 1);
    for page in ["/", "/tasks", "/tasks?project=shop", "/shares", "/admin/keys"] {
        let page = carol.get(&format!("{}{page}", demo.globex)).await;
        assert_eq!(page.status, 200, "{}", page.url);
        for word in ["shop-of-acme", "Alice", "log4j", "Acme"] {
            assert!(!page.text().contains(word), "{} shows {word}: {}", page.url, page.text());
        }
    }
    let id = task.url.path().to_owned();
    let addresses = ["", "/delete", "/findings", "/report?type=html"].map(|part| format!("{}{id}{part}", demo.globex));
    let new_share = there(&task.link("href", "/shares/new"));
    for address in addresses.iter().chain([&there(&finding), &new_share]) {
        let foreign = carol.get(address).await;
        assert_eq!(foreign.status, 404, "{address}: {}", foreign.text());
        assert!(!foreign.text().contains("shop-of-acme"));
    }
    let live = carol.get(&format!("{}{id}/live", demo.globex)).await.status;
    let unknown = carol.get(&format!("{}/tasks/{}/live", demo.globex, "0".repeat(32))).await.status;
    assert_eq!((live.as_u16(), unknown.as_u16()), (404, 404), "a foreign task is like none");
    let csrf = carol.get(&format!("{}/tasks", demo.globex)).await.hidden("csrf");
    for action in ["/terminate", "/delete"] {
        let refused = carol.post(&format!("{}{id}{action}", demo.globex), &[("csrf", &csrf)]).await;
        assert_eq!(refused.status, 404, "{}", refused.text());
    }
    let shares = alice.get(&format!("{}/shares", demo.portal)).await;
    let end = there(&shares.link("action", "/end"));
    let refused = carol.post(&end, &[("csrf", &csrf)]).await;
    assert_eq!(refused.status, 404, "{}", refused.text());
    assert_eq!(alice.get(task.url.as_str()).await.status, 200, "and everything is still there");
    assert_eq!(Browser::new().get(&link).await.status, 200);
}

#[tokio::test]
async fn a_share_opens_only_at_the_company_that_made_it() {
    let demo = Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let task = alice.scan(&demo.portal, "shop-of-acme", "shop.war", vulnerable_war()).await;
    let (link, code) = alice.share(&task.link("href", "/shares/new")).await;
    let mut visitor = Browser::new();
    let right = visitor.post(&link, &[("code", &code)]).await;
    let inside = visitor.follow(right).await;
    assert!(inside.text().contains("shop-of-acme"));

    let elsewhere = link.replacen(&demo.portal, &demo.globex, 1);
    let name = visitor.share_cookie("localhost");
    visitor.plant("globex.localhost", &name.0, &name.1);
    let copied = visitor.get(&format!("{elsewhere}/view")).await;
    let door = format!("{elsewhere}?again");
    assert_eq!(copied.location().map(String::from), Some(door), "a grant is good at its own company only");
}

#[tokio::test]
async fn a_cookie_copied_to_another_company_signs_nobody_in() {
    let demo = Demo::start();
    let mut browser = Browser::new();
    browser.sign_in(&demo.portal, "alice").await;
    let cookie = browser.cookie("localhost", "cardea").unwrap();
    browser.plant("globex.localhost", "cardea", &cookie);
    let tried = browser.get(&format!("{}/tasks", demo.globex)).await;
    assert_eq!(tried.location().unwrap().path(), "/auth/login", "{}", tried.text());
    browser.plant("globex.localhost", "cardea", &cookie);
    let script = Manners {
        fetch_site: Some("same-origin"),
        headers: vec![("accept", "application/json".to_owned())],
        ..Manners::default()
    };
    let tried = browser.send(reqwest::Method::GET, &format!("{}/tasks", demo.globex), &script, |request| request).await;
    assert_eq!(tried.status, 401, "{}", tried.text());
    let home = browser.get(&format!("{}/", demo.portal)).await;
    assert!(home.text().contains("Alice"), "trying elsewhere does not end the session at home: {}", home.text());

    let again = browser.get(&format!("{}/auth/login", demo.globex)).await;
    let refused = browser.follow(again).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("does not belong"), "the provider refuses a stranger in words: {}", refused.text());
}

#[tokio::test]
async fn the_same_browser_may_be_two_people_at_two_companies() {
    let demo = Demo::start();
    let mut browser = Browser::new();
    browser.sign_in(&demo.portal, "alice").await;
    // The provider knows alice; carol signs in there as someone else.
    let refused = browser.open(&format!("{}/auth/login", demo.globex)).await;
    let form = browser.get(&refused.link("href", "prompt=login")).await;
    let token = form.hidden("token");
    let sent = browser
        .post(&form.link("action", "/oauth/authorize"), &[("token", &token), ("username", "carol"), ("password", "carol")])
        .await;
    let carol = browser.follow(sent).await;
    assert!(carol.text().contains("Carol") && carol.text().contains("Globex"), "{}", carol.text());
    let alice = browser.get(&format!("{}/", demo.portal)).await;
    assert!(alice.text().contains("Alice") && !alice.text().contains("Carol"), "{}", alice.text());
}

#[tokio::test]
async fn an_unknown_host_is_nobody() {
    let demo = Demo::start();
    let elsewhere = demo.portal.replace("localhost", "nobody.localhost");
    for page in ["/", "/tasks", "/auth/login", "/s/abcdefghijklmnop", "/assets/portal.css"] {
        let answer = Browser::new().get(&format!("{elsewhere}{page}")).await;
        assert_eq!(answer.status, 421, "{page}");
        assert!(!answer.text().contains("Acme") && !answer.text().contains("Globex"), "{}", answer.text());
        assert!(answer.header("content-security-policy").contains("default-src 'none'"));
    }
    let by_address = Browser::new().get(&demo.portal.replace("localhost", "127.0.0.1")).await;
    assert_eq!(by_address.status, 421, "an address is no name");
}
