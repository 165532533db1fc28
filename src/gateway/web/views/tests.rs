//! Every page with hostile text in every field: nothing runs, nothing leads out, nothing leaves its attribute.

use askama::Template;
use serde_json::json;

use super::chains::{ChainPage, List as ChainsPage};
use super::components::{List as ComponentsPage, Plan};
use super::downloads::Downloads;
use super::findings::{FindingPage, List as FindingsPage};
use super::groups::{DeletePage as DeleteGroupPage, GroupPage};
use super::home::Home;
use super::layout::{AssetLinks, Chrome, SiteView, UserView};
use super::task::{LiveView, TaskPage};
use super::tasks::{DeletePage, List as TasksPage};
use crate::contract::ids::{ShareId, TaskId};
use crate::contract::results;
use crate::contract::shares::ShareType;
use crate::gateway::domain::chain::{Chain, Step, StepKind};
use crate::gateway::domain::component::ComponentRow;
use crate::gateway::domain::component_filter::ComponentFilter;
use crate::gateway::domain::filter::{FindingFilter, TaskFilter};
use crate::gateway::domain::finding::{
    Advice, Component, Evidence, Finding, FindingRow, Fix, Place, Poc, Purchase, Reachability, Reference, Severity, Suggestion,
    Taint, Text,
};
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::domain::group::GroupId;
use crate::gateway::domain::share_entry::{Entry, Maker, Mark, State};
use crate::gateway::domain::task::{Account, Counts, Status, Summary, Task};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::upgrade::Upgrade;
use crate::gateway::services::chains::{ChainList, OpenedChain};
use crate::gateway::services::components::ComponentPage;
use crate::gateway::services::findings::{FindingList, Opened, Place as Position};
use crate::gateway::services::groups::Group;
use crate::gateway::services::home;
use crate::gateway::services::lists::Listed;
use crate::gateway::services::parts::{Part, Parts};
use crate::gateway::services::shares::{Seen, Standing};
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
        user: Some(UserView { name: Hostile::from(evil).short(60), is_administrator: true, is_operator: true }),
        csrf: "token".into(),
        request_id: "0".repeat(32),
        flash: None,
        offers_sign_in: true,
    }
}

fn closed_share(evil: &str) -> Seen {
    let id: ShareId = "0123456789abcdef0123456789abcdef".parse().unwrap();
    let mark = Mark::of(&TenantId::parse("acme").unwrap(), &id);
    let maker = Maker { key: "k".to_owned(), name: Hostile::from(evil) };
    let mut entry = Entry::new(id, "t1".parse().unwrap(), ShareType::Report, maker, Timestamp(0), 1);
    entry.project = Hostile::from(evil);
    Seen { mark, entry, standing: Standing::Is(State::CodeDead), wrong: 100, is_own: true, is_kept: true }
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
        counts: Some(Counts { total: 4, critical: 1, high: 1, medium: 1, low: 1, cleared: 2 }),
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
        group: Some(group_id(evil)),
        service: text(),
        file: text(),
        group_tasks: vec!["t1".parse().unwrap(), "t2".parse().unwrap()],
        accounts: vec![Account { role: text(), address: text() }],
        params: vec![(text(), json!(evil)), (text(), json!([{ evil: evil }, [evil], 1]))],
        raw: json!({}),
    }
}

fn group_id(evil: &str) -> GroupId {
    evil.chars().filter(|c| !c.is_control()).take(128).collect::<String>().parse().unwrap()
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
        reachability: Some(Reachability::Other(text())),
        purchase: Purchase::Other(text()),
        raw: json!({ evil: evil, "nested": { evil: [evil] }, "sandboxAuthInfos": "cookie-of-a-session" }),
    }
}

fn finding(evil: &str) -> Finding {
    let text = || Hostile::from(evil);
    let reference = || Reference { kind: text(), title: text(), url: text() };
    let place =
        || Place { file: text(), class: text(), method: text(), archive: text(), line: 3, start_column: 1, end_column: 2 };
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
        flow: vec![place(), Place { file: text(), ..Place::default() }],
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
        "svg", "rect", "text", "desc", "path", "progress", "details", "summary", "strong", "hr", "br", "wbr",
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
    let counts = Counts { total: 4, critical: 1, high: 1, medium: 1, low: 1, cleared: 2 };
    // A field gives back what its own user typed; only what others wrote is made visible.
    let typed = Hostile::from(evil).text();
    let filter = TaskFilter { project: typed.clone(), page: 2, ..TaskFilter::default() };
    let narrow = FindingFilter {
        severities: vec![results::Severity::Low],
        reached: vec![Reached(results::Reachability::NotPresent)],
        component: typed.clone(),
        place: typed.clone(),
        text: typed.clone(),
        page: 2,
    };
    let parts = Parts { components: Part::Holds(3), chains: Part::Holds(7) };
    let list = |items| FindingList {
        task: task(evil, Status::Done),
        counts,
        parts,
        listed: Listed { items, total: 500, complete: false },
        cleared: Some(3),
    };
    let place = Position { position: 2, total: 3, previous: Some((row(evil).id, 1)), next: Some((row(evil).id, 2)) };
    let opened =
        Opened { task: task(evil, Status::Done), finding: finding(evil), place: Some(place), parts, chains: vec![chain(evil)] };
    let summary = home::Summary {
        closed: vec![closed_share(evil)],
        running: listed(),
        recent: tasks.clone(),
        open_critical: 3,
        looked_at: 1,
    };
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
        let overview = Overview { task: task(evil, state), counts, top: vec![row(evil)], parts };
        pages.push(("task", TaskPage::new(chrome(evil), &overview).render().unwrap()));
    }
    pages.extend(parts_pages(evil, parts));
    pages.extend(group_pages(evil, tasks));
    pages
}

/// Pages of what a task has beside its findings.
fn parts_pages(evil: &str, parts: Parts) -> Vec<(&'static str, String)> {
    let done = || task(evil, Status::Done);
    let components = |listed| ComponentPage { task: done(), parts, listed };
    let some = || Listed { items: vec![upgrade(evil, true), upgrade(evil, false)], total: 120, complete: false };
    let none = || Listed { items: Vec::new(), total: 0, complete: true };
    let typed = Hostile::from(evil).text();
    let narrow = ComponentFilter { name: typed.clone(), ecosystems: vec!["npm".to_owned(), typed], vulnerable: true, page: 2 };
    let chains = |listed| ChainList { task: done(), parts, listed };
    let chain_rows = Listed { items: vec![chain(evil)], total: 120, complete: true };
    let no_chains = Listed { items: Vec::new(), total: 0, complete: true };
    let opened = OpenedChain { task: done(), parts, chain: chain(evil), findings: vec![row(evil)] };
    vec![
        ("components", ComponentsPage::new(chrome(evil), &narrow, &components(Some(some()))).render().unwrap()),
        ("no components", ComponentsPage::new(chrome(evil), &narrow, &components(Some(none()))).render().unwrap()),
        ("components unknown", ComponentsPage::new(chrome(evil), &narrow, &components(None)).render().unwrap()),
        ("upgrades", Plan::new(chrome(evil), 2, &components(Some(some()))).render().unwrap()),
        ("no upgrades", Plan::new(chrome(evil), 1, &components(Some(none()))).render().unwrap()),
        ("chains", ChainsPage::new(chrome(evil), 2, &chains(Some(chain_rows))).render().unwrap()),
        ("no chains", ChainsPage::new(chrome(evil), 1, &chains(Some(no_chains))).render().unwrap()),
        ("chain", ChainPage::new(chrome(evil), &opened).render().unwrap()),
        ("downloads", Downloads::new(chrome(evil), &done(), &parts).render().unwrap()),
    ]
}

fn group_pages(evil: &str, tasks: Vec<Task>) -> Vec<(&'static str, String)> {
    let counts = Counts { total: 16, critical: 4, high: 4, medium: 4, low: 4, cleared: 8 };
    let group = Group { id: group_id(evil), tasks, complete: true, counts };
    vec![
        ("group", GroupPage::new(chrome(evil), &group).render().unwrap()),
        ("delete group", DeleteGroupPage::new(chrome(evil), &group).render().unwrap()),
    ]
}

fn upgrade(evil: &str, has_target: bool) -> Upgrade {
    let text = || Hostile::from(evil);
    Upgrade {
        row: ComponentRow {
            part: Component { name: text(), version: text(), purl: text(), path: text() },
            ecosystem: text(),
            identified_by: text(),
            counts: Counts { total: 4, critical: 1, high: 1, medium: 1, low: 1, cleared: 2 },
            findings: vec![row(evil).id],
            upgrade_to: None,
            reachability: Some(Reachability::Other(text())),
            raw: json!({ evil: evil }),
        },
        places: vec![text(); 9],
        target: has_target.then(text),
        clears: 2,
        of: 4,
        without_fix: vec![row(evil); 10],
    }
}

fn chain(evil: &str) -> Chain {
    let text = || Hostile::from(evil);
    let step = |kind| Step {
        kind,
        place: Place { file: text(), class: text(), method: text(), archive: text(), line: 3, ..Place::default() },
        finding: Some(row(evil).id),
        category: text(),
        severity: Severity::Other(text()),
        api_method: text(),
        api_path: text(),
        description: text(),
        poc_script: text(),
        poc_output: text(),
    };
    Chain {
        id: row(evil).id,
        title: text(),
        category: text(),
        severity: Severity::Other(text()),
        cwe: text(),
        description: text(),
        impact: text(),
        precondition: text(),
        fix: Fix::Text(text()),
        findings: vec![row(evil).id],
        steps: vec![step(StepKind::Entry), step(StepKind::Call), step(StepKind::Other(text())), step(StepKind::Sink)],
        created: None,
        raw: json!({ evil: evil, "nested": { evil: [evil] } }),
    }
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
    let overview = Overview { counts: done.counts, task: done, top: Vec::new(), parts: Parts::default() };
    let html = TaskPage::new(chrome("x"), &overview).render().unwrap();
    assert!(html.contains("No known vulnerability was found in 3 identified components."), "{html}");
    assert!(html.contains("2026-11-01") && html.contains("1 archive that could not be identified"), "{html}");
}

#[test]
fn only_a_task_that_can_still_change_is_watched_and_can_be_stopped() {
    let id: TaskId = "shop".parse().unwrap();
    for (status, changes) in [(Status::Created, true), (Status::Running, true), (Status::Done, false), (Status::Failed, false)] {
        let overview = Overview { task: task("shop", status.clone()), counts: None, top: Vec::new(), parts: Parts::default() };
        let html = TaskPage::new(chrome("x"), &overview).render().unwrap();
        let live = html.contains(&format!("data-live=\"{}\"", crate::gateway::web::urls::task_live(&id)));
        assert_eq!(
            (live, html.contains("Stop the scan"), html.contains("Refresh the status")),
            (changes, changes, changes),
            "{status:?}"
        );
    }
}
