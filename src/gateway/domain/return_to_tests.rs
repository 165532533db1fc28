//! Attack payloads against return targets: whatever comes in, what comes out is a page of this portal.

use proptest::prelude::*;
use url::Url;

use super::ReturnTo;

const PAGES: &[&str] = &["/", "/tasks", "/tasks/{task}", "/tasks/{task}/findings/{finding}", "/shares/new", "/admin/keys"];

/// Not one of these may pass.
const ATTACKS: &[&str] = &[
    // Other schemes and hosts, as they are.
    "https://evil.example",
    "http://evil.example/tasks",
    "HTTPS://evil.example",
    "hTtPs://evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "https:\\\\evil.example",
    "http:\\evil.example",
    "ftp://evil.example",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "javascript://evil.example/%0aalert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u{1}javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "blob:https://evil.example/1",
    "about:blank",
    "mailto:a@evil.example",
    "view-source:https://evil.example",
    "ws://evil.example",
    "intent://evil.example#Intent;end",
    "x:y",
    "evil.example",
    "www.evil.example",
    "evil.example/tasks",
    ".evil.example",
    "@evil.example",
    ":80",
    ":@evil.example",
    "portal.example@evil.example",
    "?next=//evil.example",
    "#//evil.example",
    "",
    " ",
    "tasks",
    "./tasks",
    "../tasks",
    "..",
    ".",
    "*",
    "~",
    // No scheme, but a host.
    "//evil.example",
    "//evil.example/tasks",
    "///evil.example",
    "////evil.example",
    "/////evil.example/..",
    "//evil.example:443",
    "//user@evil.example",
    "//user:pass@evil.example",
    "//[::1]",
    "//127.0.0.1",
    "//0x7f000001",
    "//2130706433",
    "//evil%E3%80%82example",
    "//evil。example",
    "//EVIL.EXAMPLE",
    "//portal.example",
    "//portal.example@evil.example",
    "//portal.example.evil.example",
    "//",
    "///",
    "//%2f",
    "//;@evil.example",
    "//\t/evil.example",
    "//\u{a0}evil.example",
    "//?",
    "//#",
    // Backslashes, which browsers read as slashes.
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "\\evil.example",
    "/\\/evil.example",
    "/\\\\evil.example",
    "\\//evil.example",
    "/tasks\\..\\..\\evil.example",
    "/\\\t/evil.example",
    "/tasks\\",
    "/\\@evil.example",
    "/\\",
    "\\",
    "/tasks?x=\\",
    // Characters that browsers drop or trim.
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r/evil.example",
    "/\r\n/evil.example",
    "\t//evil.example",
    "\n//evil.example",
    " //evil.example",
    "\u{0}//evil.example",
    "\u{b}//evil.example",
    "\u{c}/\u{c}/evil.example",
    "\u{1f}//evil.example",
    "\u{feff}//evil.example",
    "\u{200b}//evil.example",
    "\u{a0}//evil.example",
    "\u{3000}//evil.example",
    " /tasks",
    "\t/tasks",
    "/tasks ",
    "/tasks\n",
    "/tasks\u{0}",
    "/ta\u{0}sks",
    "/tasks\u{7f}",
    "/\u{2028}/evil.example",
    "/\u{202e}elpmaxe.live//",
    // Header splitting.
    "/tasks\r\nLocation: https://evil.example",
    "/tasks\r\nSet-Cookie: a=b",
    "/tasks\r\n\r\n<script>alert(1)</script>",
    "/tasks?x=\r\nX: y",
    "/tasks?x=%0d%0aSet-Cookie:%20a=b",
    "/tasks%0d%0aLocation:%20https://evil.example",
    "/%0a/evil.example",
    "/%0d/evil.example",
    "/%09/evil.example",
    "/%00/evil.example",
    "/tasks%00",
    "/tasks?x=%00",
    "/tasks?x=%7f",
    "/%e5%98%8a%e5%98%8d",
    // Encoded slashes, dots, percent signs.
    "/%2fevil.example",
    "/%2Fevil.example",
    "/%2f%2fevil.example",
    "%2f%2fevil.example",
    "/%5cevil.example",
    "/%5C%5Cevil.example",
    "/%252fevil.example",
    "/%25252fevil.example",
    "/%25%32%66evil.example",
    "/%u002fevil.example",
    "/%c0%afevil.example",
    "/%ef%bc%8fevil.example",
    "/tasks/%2e%2e/%2e%2e//evil.example",
    "/%2e%2e/evil.example",
    "/%2e/evil.example",
    "/tasks/.%2e/x",
    "/tasks/%2e./x",
    "/%68%74%74%70://evil.example",
    "/tasks%3f//evil.example",
    "/tasks%23//evil.example",
    "/tasks%40evil.example%2f",
    "/%",
    "/%2",
    "/%zz",
    "/%%32%66",
    "/tasks?x=%",
    "/tasks?x=%g1",
    "/tasks?%2",
    "/%3Cscript%3E",
    "/%22onload%3D",
    "/%27",
    // Climbing and empty segments.
    "/..",
    "/../",
    "/../evil.example",
    "/../../evil.example",
    "/tasks/..//evil.example",
    "/tasks/../..//evil.example",
    "/./",
    "/.//evil.example",
    "/./tasks",
    "/tasks/./",
    "/tasks//",
    "/tasks//evil.example",
    "/tasks/",
    "/...",
    "/tasks/....//x",
    // User information, matrix parameters, fragments, markup.
    "/@evil.example",
    "/:@evil.example",
    "/;@evil.example",
    "/;//evil.example",
    "/tasks;jsessionid=1",
    "/tasks#//evil.example",
    "/tasks#",
    "/#",
    "/tasks?x=1#y",
    "/https://evil.example",
    "/http:/evil.example",
    "/javascript:alert(1)",
    "/<script>",
    "/tasks?x=<script>",
    "/tasks?x=\"onload=",
    "/tasks?x='",
    "/tasks?x=`",
    "/tasks?x={y}",
    "/tasks?x=[y]",
    "/tasks?x=|",
    "/tasks?x=^",
    "/tasks/{task}",
    "/\u{e4}",
    "/tasks?x=\u{e4}",
    "/\u{ff0f}evil.example",
    "/\u{2215}evil.example",
    "／／evil.example",
    "/⁄evil.example",
    "/tasks?x= y",
    "/tasks?x=;y",
];

/// Local paths, but no pages of this portal.
const ELSEWHERE: &[&str] = &[
    "/login",
    "/logout",
    "/auth/callback?code=1",
    "/tasks/4f/delete",
    "/admin",
    "/admin/keys/1",
    "/api/scanner",
    "/evil.example",
    "/tasks/4f/findings",
    "/static/app.js",
    "/Tasks",
    "/TASKS",
    "/shares/new/x",
    "/a?next=//evil.example",
    "/www.evil.example",
];

fn portal() -> Url {
    Url::parse("https://portal.example/auth/callback?code=1").unwrap()
}

#[test]
fn no_attack_passes() {
    assert!(ATTACKS.len() >= 200, "{}", ATTACKS.len());
    for attack in ATTACKS {
        assert_eq!(ReturnTo::parse(attack), None, "{attack:?}");
        assert_eq!(ReturnTo::choose(Some(attack), PAGES).as_str(), "/", "{attack:?}");
    }
    assert_eq!(ReturnTo::parse(&format!("/{}", "a".repeat(2048))), None);
}

#[test]
fn a_local_path_that_is_no_page_leads_home() {
    for other in ELSEWHERE {
        assert!(ReturnTo::parse(other).is_some(), "{other:?}");
        assert_eq!(ReturnTo::choose(Some(other), PAGES).as_str(), "/", "{other:?}");
    }
    assert_eq!(ReturnTo::choose(None, PAGES), ReturnTo::home());
}

#[test]
fn pages_pass_with_their_queries_unchanged() {
    for page in [
        "/",
        "/tasks",
        "/tasks/4f00c1",
        "/tasks/4f/findings/a-b_c.d~e",
        "/tasks?status=RUNNING&from=2026-01-01&q=log4j%20core",
        "/tasks?q=%E4%B8%AD%E6%96%87+a%2Fb%25",
        "/tasks?time=10:30&to=a@b&next=/x?y",
        "/shares/new?task=4f",
        "/?a",
        "/tasks/a%20b",
    ] {
        let target = ReturnTo::choose(Some(page), PAGES);
        assert_eq!(target.as_str(), page);
        assert_eq!(target.path(), page.split('?').next().unwrap());
    }
}

#[test]
fn a_stored_target_is_checked_again_when_it_is_read() {
    assert!(serde_json::from_str::<ReturnTo>("\"/tasks\"").is_ok());
    assert!(serde_json::from_str::<ReturnTo>("\"//evil.example\"").is_err());
}

proptest! {
    #[test]
    fn whatever_passes_stays_on_the_portal(text in "(/|\\\\|%2f|\\.|\t|@|:|\\?|#|a|%|evil\\.example|\\PC){0,12}") {
        if let Some(target) = ReturnTo::parse(&text) {
            let reached = portal().join(target.as_str()).unwrap();
            prop_assert_eq!(reached.origin(), portal().origin());
            prop_assert_eq!(reached.path(), target.path());
            prop_assert_eq!(reached.username(), "");
        }
    }
}
