//! Changes that another site starts are refused, counted and written down; what our own pages send goes through.

use reqwest::Method;
use serde_json::{Value, json};

use super::operations::value;
use crate::support::client::{Answer, Browser, Manners};
use crate::support::redis::free_port;
use crate::support::replicas::{Replicas, Setup};

/// A browser at the accounts step of a draft: where its script sends JSON, with which token.
struct Step {
    browser: Browser,
    save: String,
    csrf: String,
    version: String,
}

impl Step {
    async fn at(replicas: &Replicas) -> Self {
        let portal = &replicas.all[0].url;
        let mut browser = replicas.signed_in().await;
        let accounts = browser.draft(portal, "shop").await.resolve("accounts");
        let page = browser.get(&accounts).await;
        Self { save: format!("{accounts}/session"), csrf: page.hidden("csrf"), version: page.hidden("v"), browser }
    }

    /// Sends a session that is as it should be, but for `version`.
    async fn save(&mut self, manners: &Manners, media: Option<&str>, version: &str) -> Answer {
        let info = json!({ "cookies": [{ "name": "sid", "value": "one" }], "localStorage": {}, "headers": [] });
        let body = json!({ "v": version, "role": "admin", "url": "https://a.example/", "sessionInfo": info }).to_string();
        let change = |request: reqwest::RequestBuilder| match media {
            Some(media) => request.header("content-type", media).body(body),
            None => request.body(body),
        };
        self.browser.send(Method::POST, &self.save, manners, change).await
    }

    fn own_manners(&self) -> Manners {
        let headers = vec![("accept", "application/json".to_owned()), ("x-csrf-token", self.csrf.clone())];
        Manners { headers, ..Browser::own_manners(&self.save) }
    }
}

#[tokio::test]
async fn of_all_that_a_script_can_say_only_the_same_origin_with_the_token_changes_something() {
    let replicas = Replicas::embedded().await;
    let mut step = Step::at(&replicas).await;
    let (own, neighbour) = (Some(replicas.all[0].url.clone()), Some(replicas.all[0].globex.clone()));
    let sites = [Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none"), Some("junk"), Some(""), None];
    let origins = [own.clone(), neighbour, Some("http://evil.example".to_owned()), Some("null".to_owned()), None];
    let tokens = [Some(step.csrf.clone()), Some("A".repeat(step.csrf.len())), Some(String::new()), None];
    let mut let_in = 0;
    for fetch_site in sites {
        for origin in &origins {
            for token in &tokens {
                let mut headers = vec![("accept", "application/json".to_owned())];
                headers.extend(token.iter().map(|token| ("x-csrf-token", token.clone())));
                let manners = Manners { fetch_site, origin: origin.clone(), headers };
                let answer = step.save(&manners, Some("application/json"), "0").await;
                let from_here = fetch_site == Some("same-origin") || (fetch_site.is_none() && *origin == own);
                let fine = from_here && token.as_deref() == Some(step.csrf.as_str());
                // What is let in is about an older draft, which is told.
                let words = format!("site {fetch_site:?}, origin {origin:?}, token {token:?}: {}", answer.text());
                assert_eq!(answer.status, if fine { 409 } else { 403 }, "{words}");
                let_in += usize::from(fine);
            }
        }
    }
    assert_eq!(let_in, 6, "same-origin with any origin, and the own origin where the site is not said");
}

#[tokio::test]
async fn what_a_form_of_any_site_can_send_is_no_json() {
    let port = free_port();
    let extra = format!("[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n");
    let replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let mut step = Step::at(&replicas).await;
    let (manners, version) = (step.own_manners(), step.version.clone());
    let simple = [
        Some("text/plain"),
        Some("text/plain; charset=application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=application/json"),
        Some("application/jsonp"),
        Some("json"),
        Some(""),
        None,
    ];
    for media in simple {
        let answer = step.save(&manners, media, &version).await;
        assert_eq!(answer.status, 415, "{media:?}: {}", answer.text());
        let foreign = Manners { fetch_site: Some("cross-site"), origin: Some("http://evil.example".to_owned()), headers: vec![] };
        assert_eq!(step.save(&foreign, media, &version).await.status, 403, "{media:?}");
    }
    let page = step.browser.get(&step.save.replace("/session", "")).await;
    assert!(page.text().contains("No account yet"), "nothing of it was kept: {}", page.text());
    for media in ["application/json", "Application/JSON; charset=utf-8"] {
        let version = step.browser.get(&step.save.replace("/session", "")).await.hidden("v");
        let kept = step.save(&manners, Some(media), &version).await;
        assert_eq!(kept.status, 200, "{media}: {}", kept.text());
    }
    let metrics = Browser::new().get(&format!("http://127.0.0.1:{port}/metrics")).await.text();
    assert_eq!(value(&metrics, "cardea_csrf_block_total{signal=\"media_type\"}"), Some(8.0), "{metrics}");
    assert_eq!(value(&metrics, "cardea_csrf_block_total{signal=\"fetch_site\"}"), Some(8.0), "{metrics}");
}

#[tokio::test]
async fn refusals_are_counted_by_what_showed_them_and_written_down_up_to_a_limit() {
    let port = free_port();
    let extra = format!("[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n[gateway.audit]\nstrangers_per_minute = 3\n");
    let mut replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let (portal, globex) = (replicas.all[0].url.clone(), replicas.all[0].globex.clone());
    let from = |fetch_site, origin: Option<&str>| Manners { fetch_site, origin: origin.map(str::to_owned), headers: vec![] };
    let mut stranger = Browser::new();
    let tries = [
        (&portal, from(Some("cross-site"), Some(&*portal)), 2),
        (&portal, from(None, Some("http://evil.example")), 3),
        (&portal, from(None, None), 4),
        (&globex, from(Some("same-site"), None), 1),
    ];
    for (host, manners, times) in &tries {
        for _ in 0..*times {
            let refused = stranger.post_as(&format!("{host}/auth/logout"), &[], manners).await;
            assert_eq!(refused.status, 403, "{}", refused.text());
        }
    }
    let mut member = replicas.signed_in().await;
    assert_eq!(member.post(&format!("{portal}/auth/logout"), &[("csrf", "old")]).await.status, 403);
    let metrics = Browser::new().get(&format!("http://127.0.0.1:{port}/metrics")).await.text();
    for (signal, count) in [("fetch_site", 3.0), ("origin", 3.0), ("nothing", 4.0), ("token", 1.0), ("media_type", 0.0)] {
        let series = format!("cardea_csrf_block_total{{signal=\"{signal}\"}}");
        assert_eq!(value(&metrics, &series), Some(count), "{metrics}");
    }
    replicas.all[0].finish().await;
    let details = |tenant: &str| {
        let events = super::audit::events(&replicas.all[0], tenant);
        let strangers = events.into_iter().filter(|event| event["deed"] == "cross_site" || event["deed"] == "left_out");
        strangers.map(|event: Value| event["detail"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(details("acme"), ["fetch_site", "fetch_site", "origin", "cross_site 7"], "three a minute for a tenant");
    assert_eq!(details("globex"), ["fetch_site"], "another tenant has its own");
}
