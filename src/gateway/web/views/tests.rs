//! Every page with hostile text in every field: nothing runs, nothing leads out, nothing leaves its attribute.

use askama::Template;
use serde_json::json;

use super::findings::{FindingPage, List as FindingsPage};
use super::home::Home;
use super::layout::{AssetLinks, Chrome, SiteView, UserView};
use super::task::{LiveView, TaskPage};
use super::tasks::{DeletePage, List as TasksPage};
use crate::contract::ids::TaskId;
use crate::contract::results;
use crate::gateway::domain::filter::{FindingFilter, TaskFilter};
use crate::gateway::domain::finding::{
    Advice, Component, Evidence, Finding, FindingRow, Fix, Place, Poc, Purchase, Reference, Severity, Suggestion, Taint, Text,
};
use crate::gateway::domain::task::{Counts, Status, Summary, Task};
use crate::gateway::services::findings::{FindingList, Opened, Place as Position};
use crate::gateway::services::home;
use crate::gateway::services::lists::Listed;
use crate::gateway::services::tasks::Overview;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

const CORPUS: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)//https://a.example",
    "data:text/html,<script>alert(1)</script>",
    "</title></textarea></pre><svg onload=alert(1)>",
    "{{ 7*7 }} {% include \"x\" %} ${7*7}",
    "\u{202e}gpj.exe\u{2066}\u{0}\u{7}",
    "<!--<script>",
    "<style>*{background:url(https://a.example)}</style>",
    "https://user:secret@a.example/<b>",
];

fn chrome(evil: &str) -> Chrome {
    Chrome {
        title: Hostile::from(evil).short(80),
        part: "tasks",
        site: SiteView { name: "Acme".into(), logo: String::new(), theme: "/assets/theme.css".into(), initial: "A".into() },
        assets: AssetLinks::current(),
        user: Some(UserView { name: Hostile::from(evil).short(60), is_administrator: true }),
        csrf: "token".into(),
        request_id: "0".repeat(32),
        flash: None,
        offers_sign_in: true,
    }
}

fn task(evil: &str, status: Status) -> Task {
    let text = || Hostile::from(evil);
    let id: String = evil.chars().filter(|c| !c.is_control()).take(32).collect();
    Task {
        id: id.parse().unwrap(),
        project: text(),
        lang: text(),
        status,
        created: Some(Timestamp(0)),
        updated: None,
        executed: Some(Timestamp(0)),
        ended: Some(Timestamp(0)),
        created_by: text(),
        counts: Some(Counts { total: 4, critical: 1, high: 1, medium: 1, low: 1 }),
        progress: Some(7),
        err_code: Some(1),
        err_detail: text(),
        summary: Some(Summary {
            component_count: 3,
            unidentified: vec![(text(), text())],
            notes: vec![text()],
            advisory_date: text(),
            advisory_count: 9,
        }),
        params: vec![(text(), text())],
        raw: json!({}),
    }
}

fn row(evil: &str) -> FindingRow {
    let text = || Hostile::from(evil);
    let id: String = evil.chars().filter(|c| !c.is_control()).collect();
    FindingRow {
        id: id.parse().unwrap(),
        task: None,
        severity: Severity::Other(text()),
        title: text(),
        category: text(),
        description: text(),
        cwe: text(),
        cves: vec![text(), text()],
        component: Some(Component { name: text(), version: text(), purl: text(), path: text() }),
        fixed_version: Some(text()),
        confidence: text(),
        purchase: Purchase::Other(text()),
        raw: json!({ evil: evil, "nested": { evil: [evil] }, "sandboxAuthInfos": "cookie-of-a-session" }),
    }
}

fn finding(evil: &str) -> Finding {
    let text = || Hostile::from(evil);
    let reference = || Reference { kind: text(), title: text(), url: text() };
    let place = || Place { file: text(), line: 3, start_column: 1, end_column: 2 };
    let taint = || Taint { file: text(), method: text(), message: text(), place: Some(place()), snippet: text() };
    let advice = || Advice { title: text(), description: text(), note: text() };
    Finding {
        row: row(evil),
        lang: text(),
        location: text(),
        api_path: text(),
        api_method: text(),
        verify_result: text(),
        aliases: vec![text()],
        affected_range: text(),
        published: text(),
        evidence: vec![Evidence { kind: text(), path: text(), detail: text() }],
        references: vec![reference()],
        fix: Fix::Suggestion(Box::new(Suggestion {
            principle: text(),
            method: text(),
            confidence: Some(0.5),
            before: text(),
            after: text(),
            explanation: text(),
            alternatives: vec![advice()],
            mitigations: vec![advice()],
            references: vec![reference()],
        })),
        poc: Poc { script: Text { text: text(), json: None }, output: Text { text: text(), json: None } },
        source: Some(taint()),
        sink: Some(taint()),
        flow: vec![place()],
        snippets: vec![text()],
    }
}

/// Tags of the page as (name, attributes with their unquoted names).
fn tags(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut out = Vec::new();
    for piece in html.split('<').skip(1) {
        let name: String = piece.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '!')).collect();
        let mut attributes = Vec::new();
        let mut rest = &piece[name.len()..];
        while let Some((before, after)) = rest.split_once('=') {
            let Some(value) = after.strip_prefix('"').and_then(|after| after.split_once('"')) else { break };
            if before.contains('>') {
                break;
            }
            let key = before.split_whitespace().last().unwrap_or_default().to_ascii_lowercase();
            attributes.push((key, value.0.to_owned()));
            rest = value.1;
        }
        out.push((name.to_ascii_lowercase(), attributes));
    }
    out
}

fn assert_harmless(html: &str, evil: &str, page: &str) {
    let known = [
        "!doctype", "html", "head", "meta", "title", "link", "script", "body", "a", "header", "div", "img", "span", "nav", "ul",
        "ol", "li", "form", "input", "button", "main", "footer", "h1", "h2", "h3", "p", "section", "table", "caption", "thead",
        "tbody", "tr", "th", "td", "time", "dl", "dt", "dd", "code", "pre", "label", "select", "option", "fieldset", "legend",
        "svg", "rect", "text", "progress", "details", "summary", "strong", "hr",
    ];
    let mut scripts = 0;
    for (name, attributes) in tags(html) {
        let plain = name.trim_start_matches('/');
        assert!(known.contains(&plain), "{page}: {evil:?} made a <{name}>");
        if name == "script" {
            scripts += 1;
        }
        for (key, value) in attributes {
            assert!(!key.starts_with("on") && key != "style" && key != "srcdoc", "{page}: {evil:?} made {key}={value:?}");
            if matches!(key.as_str(), "href" | "src" | "action" | "data-live") {
                let local = value.starts_with('/') && !value.starts_with("//") || value.starts_with('#');
                let web =
                    key == "href" && (value.starts_with("https://") || value.starts_with("http://")) && !value.contains('@');
                assert!(local || web, "{page}: {evil:?} made {key}={value:?}");
            }
        }
    }
    assert_eq!(scripts, 1, "{page}: only the portal's own script");
    assert!(!html.contains(['\u{202e}', '\u{2066}', '\0', '\u{7}']), "{page}: hidden characters are shown as tokens");
    assert!(!html.contains("cookie-of-a-session"), "{page}: captured sessions are never shown");
}

fn all_pages(evil: &str) -> Vec<(&'static str, String)> {
    let states = [Status::Running, Status::Done, Status::Failed, Status::Other(evil.into())];
    let tasks: Vec<Task> = states.iter().map(|status| task(evil, status.clone())).collect();
    let listed = || Listed { items: tasks.clone(), total: 900, complete: true };
    let counts = Counts { total: 4, critical: 1, high: 1, medium: 1, low: 1 };
    // A field gives back what its own user typed; only what others wrote is made visible.
    let typed = Hostile::from(evil).text();
    let filter = TaskFilter { project: typed.clone(), page: 2, ..TaskFilter::default() };
    let narrow = FindingFilter { severities: vec![results::Severity::Low], text: typed.clone(), page: 2 };
    let list =
        |items| FindingList { task: task(evil, Status::Done), counts, listed: Listed { items, total: 500, complete: false } };
    let place = Position { position: 2, total: 3, previous: Some((row(evil).id, 1)), next: Some((row(evil).id, 2)) };
    let opened = Opened { task: task(evil, Status::Done), finding: finding(evil), place: Some(place) };
    let summary = home::Summary { running: listed(), recent: tasks.clone(), open_critical: 3, looked_at: 1 };
    let nothing = Listed { items: Vec::new(), total: 0, complete: true };
    let mut pages = vec![
        ("home", Home::new(chrome(evil), &summary).render().unwrap()),
        ("tasks", TasksPage::new(chrome(evil), &filter, &listed()).render().unwrap()),
        ("no tasks", TasksPage::new(chrome(evil), &filter, &nothing).render().unwrap()),
        ("delete", DeletePage::new(chrome(evil), &task(evil, Status::Running)).render().unwrap()),
        ("findings", FindingsPage::new(chrome(evil), &narrow, &list(vec![row(evil)])).render().unwrap()),
        ("no findings", FindingsPage::new(chrome(evil), &narrow, &list(Vec::new())).render().unwrap()),
        ("finding", FindingPage::new(chrome(evil), &narrow, &opened).render().unwrap()),
    ];
    for state in states {
        let counts = (state == Status::Done).then_some(counts);
        let overview = Overview { task: task(evil, state), counts, top: vec![row(evil)] };
        pages.push(("task", TaskPage::new(chrome(evil), &overview).render().unwrap()));
    }
    pages
}

#[test]
fn hostile_text_in_any_field_of_any_page_stays_text() {
    for evil in CORPUS {
        for (page, html) in all_pages(evil) {
            assert_harmless(&html, evil, page);
        }
    }
}

#[test]
fn the_check_itself_sees_what_it_looks_for() {
    for bad in [
        "<script>x</script>",
        "<b onclick=\"x\">",
        "<a href=\"javascript:x\">",
        "<iframe src=\"/x\">",
        "<a href=\"//a.example\">",
        "<p style=\"x\">",
    ] {
        let page = format!("<script src=\"/assets/p.js\"></script>{bad}");
        assert!(std::panic::catch_unwind(|| assert_harmless(&page, bad, "check")).is_err(), "{bad}");
    }
}

#[test]
fn every_page_has_one_heading_and_every_field_a_label() {
    for (page, html) in all_pages("plain words") {
        assert_eq!(html.matches("<h1").count(), 1, "{page}");
        let tags = tags(&html);
        let of = |tag: &str, key: &str| -> Vec<String> {
            let found = tags.iter().filter(|(name, _)| name == tag);
            found.flat_map(|(_, attributes)| attributes).filter(|(name, _)| name == key).map(|(_, value)| value.clone()).collect()
        };
        let labels = of("label", "for");
        for (name, attributes) in &tags {
            let get = |key: &str| attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            if name == "th" {
                assert!(get("scope").is_some(), "{page}: a th without scope");
            }
            let hidden = matches!(get("type"), Some("hidden"));
            if matches!(name.as_str(), "input" | "select") && !hidden {
                assert!(get("id").is_some_and(|id| labels.iter().any(|label| label == id)), "{page}: {attributes:?}");
            }
            if name == "pre" {
                assert!(get("tabindex") == Some("0") && get("role") == Some("region") && get("aria-label").is_some(), "{page}");
            }
        }
        let mut ids: Vec<String> =
            tags.iter().flat_map(|(_, all)| all).filter(|(key, _)| key == "id").map(|(_, id)| id.clone()).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "{page}: an id stands twice");
        assert_eq!(html.matches("<table").count(), html.matches("<caption").count(), "{page}: a table without caption");
    }
}

#[test]
fn a_live_event_is_one_line_of_json_whatever_the_service_says() {
    let event =
        serde_json::to_string(&LiveView::of(&task("x\n\ndata: {}\r\nevent: gone", Status::Other("a\nb".into())))).unwrap();
    assert!(!event.contains(['\n', '\r']), "{event}");
    assert!(event.contains("\"ended\":false"), "{event}");
}

#[test]
fn a_task_without_findings_says_what_that_rests_on() {
    let mut done = task("shop", Status::Done);
    done.counts = Some(Counts::default());
    if let Some(summary) = &mut done.summary {
        summary.advisory_date = "2026-11-01".into();
    }
    let overview = Overview { counts: done.counts, task: done, top: Vec::new() };
    let html = TaskPage::new(chrome("x"), &overview).render().unwrap();
    assert!(html.contains("No known vulnerability was found in 3 identified components."), "{html}");
    assert!(html.contains("2026-11-01") && html.contains("1 archive that could not be identified"), "{html}");
}

#[test]
fn only_a_task_that_can_still_change_is_watched_and_can_be_stopped() {
    let id: TaskId = "shop".parse().unwrap();
    for (status, changes) in [(Status::Created, true), (Status::Running, true), (Status::Done, false), (Status::Failed, false)] {
        let overview = Overview { task: task("shop", status.clone()), counts: None, top: Vec::new() };
        let html = TaskPage::new(chrome("x"), &overview).render().unwrap();
        let live = html.contains(&format!("data-live=\"{}\"", crate::gateway::web::urls::task_live(&id)));
        assert_eq!(
            (live, html.contains("Stop the scan"), html.contains("Refresh the status")),
            (changes, changes, changes),
            "{status:?}"
        );
    }
}
