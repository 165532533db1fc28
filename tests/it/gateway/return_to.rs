//! Where a sign-in may lead: to pages of this portal, however another place is written.

use url::Url;

use super::signin::{callback, with_query};
use crate::support::client::Browser;
use crate::support::replicas::Replicas;

/// How a target may begin that leads a browser, or a proxy, elsewhere.
const STARTS: &[&str] = &[
    "//",
    "///",
    "////",
    "/\\",
    "\\\\",
    "\\/",
    "/%09/",
    "/\t/",
    "\t//",
    "/%5c",
    "/%5C%5C",
    "/%2f",
    "/%2F%2F",
    "//%2f",
    "https:",
    "https:/",
    "https://",
    "http:",
    "http://",
    "HTTPS://",
    "javascript:alert(1)//",
    "data:text/html,",
    "ftp://",
    "/.//",
    "/..//",
    "/%2e%2e//",
    "/;@",
    "/@",
    "@",
    " //",
    "%20//",
    "\n//",
    "/\n/",
    "/\r/",
    "\r\n//",
    "/%0d%0aLocation:%20//",
    "/%00//",
    "\u{0}//",
    "/%E3%80%82",
    "/\u{3002}",
    "\u{2028}//",
    "/\u{301d}",
    "/tasks//",
    "/tasks/..//",
    "/tasks/../../",
    "/tasks\\",
    "/tasks%2f..%2f",
    "/tasks;//",
    "/tasks/%252e%252e/",
    "//\u{ff0f}",
    "tasks",
    "?",
    "#",
    "./",
    "../",
    "//[::1]@",
    "/auth/login?return_to=//",
    "/s/",
];

/// Ways to write another site, as it stands behind `return_to`.
fn redirect_payloads(own: &str) -> Vec<String> {
    let hosts = ["evil.example", "user:pw@evil.example", own, "[2001:db8::1]", "3221225985", "evil%E3%80%82example"];
    let ends = ["", "/", "/tasks", "/%2e%2e", "?x=/tasks", "#/tasks"];
    let mut all = Vec::new();
    for start in STARTS {
        for host in hosts {
            all.extend(ends.iter().map(|end| format!("{start}{host}{end}")));
        }
    }
    all
}

#[tokio::test]
async fn no_way_to_write_another_site_leads_there_after_a_sign_in() {
    let replicas = Replicas::embedded().await;
    let portal = &replicas.all[0].url;
    let mut browser = replicas.signed_in().await;
    let payloads = redirect_payloads(portal.trim_start_matches("http://"));
    assert!(payloads.len() > 1500);
    for payload in &payloads {
        let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
        login.query_pairs_mut().append_pair("return_to", payload);
        let answer = browser.get(login.as_str()).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"), "{payload:?}");
    }
    // The same through a whole sign-in: the target is kept on this side, so the provider cannot change it either.
    for payload in payloads.iter().step_by(211) {
        let back = callback(portal, &mut Browser::new(), payload).await;
        assert!(!back.as_str().contains("evil"), "{back}");
        let mut fresh = Browser::new();
        let back = callback(portal, &mut fresh, payload).await;
        let changed = with_query(&back, |pairs| pairs.push(("return_to".to_owned(), "//evil.example".to_owned())));
        assert_eq!(fresh.get(&changed).await.header("location"), "/", "{payload:?}");
    }
    for fragment in ["/tasks#https://evil.example", "/tasks#"] {
        let mut login = Url::parse(&format!("{portal}/auth/login")).unwrap();
        login.query_pairs_mut().append_pair("return_to", fragment);
        assert_eq!(browser.get(login.as_str()).await.header("location"), "/", "a fragment is the browser's alone");
    }
}
