//! Findings of a task: the list, and one finding.

use askama::Template;
use serde_json::Value;

use super::finding_body::{ChainLink, FindingBody};
use super::layout::Chrome;
use super::pager::{Extent, Pager, grouped};
use super::task_tabs::{Here, Tabs};
use super::tasks::{self, Choice, project};
use super::words::{ReachView, SeverityView, breakable};
use crate::contract::ids::{TaskId, VulId};
use crate::contract::results::Severity;
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::domain::finding::{FindingRow, Purchase};
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::services::findings::{FindingList, Opened, PAGE};
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// Characters shown of one unknown field.
const LONGEST_MORE: usize = 20_000;

/// Fields that have a place of their own on the page.
const SHOWN: [&str; 47] = [
    "ovId",
    "vulId",
    "id",
    "taskId",
    "category",
    "description",
    "cweId",
    "cwe",
    "severity",
    "purchaseStatus",
    "price",
    "title",
    "name",
    "cveIds",
    "cves",
    "CVEs",
    "cveId",
    "component",
    "fixedVersion",
    "fixed_version",
    "confidence",
    "reachability",
    "taskLang",
    "lang",
    "location",
    "apiPath",
    "apiMethod",
    "verifyResult",
    "aliases",
    "affectedRange",
    "published",
    "evidence",
    "references",
    "fixSuggestion",
    "fix_suggestion",
    "pocScript",
    "poc_script",
    "pocScriptOutput",
    "poc_script_output",
    "source",
    "sink",
    "codeFlow",
    "code_flow",
    "codeSnippet",
    "code_snippet",
    "componentTask",
    "success",
];

/// What a finding is called: its title, else its kind.
pub(in crate::gateway) fn title(row: &FindingRow, limit: usize) -> String {
    let named = [&row.title, &row.category].into_iter().find(|text| !text.is_empty());
    named.map_or_else(|| "Finding without a title".to_owned(), |text| text.short(limit))
}

#[derive(Template)]
#[template(path = "findings/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    task_href: String,
    here: String,
    short: String,
    project: String,
    counts: String,
    tabs: Tabs,
    text: String,
    severities: Vec<Choice>,
    reached: Vec<Choice>,
    /// The component it is narrowed to, to stay in the form; both may be empty.
    component: String,
    place: String,
    /// How many of the rows are cleared, in words; empty when none is.
    cleared: String,
    has_reach: bool,
    active: Vec<String>,
    rows: Vec<Row>,
    pager: Pager,
    /// Findings can be chosen to be shared.
    can_share: bool,
    task: String,
}

struct Row {
    id: String,
    href: String,
    title: String,
    badge: String,
    severity: SeverityView,
    component: Vec<String>,
    version: String,
    /// CVEs and the weakness; each stays in one piece where there is room.
    known_as: Vec<String>,
    fixed: String,
    reach: Option<ReachView>,
    is_cleared: bool,
}

impl List {
    pub(in crate::gateway) fn new(chrome: Chrome, filter: &FindingFilter, list: &FindingList) -> Self {
        let id = &list.task.id;
        let words = |severity| match severity {
            Severity::Critical => "Critical",
            Severity::High => "High",
            Severity::Medium => "Medium",
            Severity::Low => "Low",
        };
        Self {
            chrome,
            task_href: urls::task(id),
            here: urls::findings(id),
            short: project(&list.task, 60),
            project: project(&list.task, 200),
            counts: if list.counts.total == 0 && list.counts.cleared == 0 {
                String::new()
            } else {
                format!("{}.", tasks::findings(&list.counts))
            },
            tabs: Tabs::new(&list.task, Some(&list.counts), &list.parts, Here::Findings),
            text: filter.text.clone(),
            severities: Severity::ALL
                .into_iter()
                .map(|one| Choice { value: one.as_str(), word: words(one), checked: filter.severities.contains(&one) })
                .collect(),
            reached: Reached::ALL
                .into_iter()
                .map(|one| Choice { value: one.as_str(), word: one.word(), checked: filter.reached.contains(&one) })
                .collect(),
            component: filter.component.clone(),
            place: filter.place.clone(),
            cleared: match list.cleared {
                None | Some(0) => String::new(),
                Some(number) => format!(", {} of them cleared and listed last", grouped(number)),
            },
            has_reach: list.counts.cleared > 0
                || !filter.reached.is_empty()
                || list.listed.items.iter().any(|row| row.reachability.is_some()),
            active: filter.words(),
            rows: list.listed.items.iter().map(|row| Row::new(id, row, filter)).collect(),
            pager: Pager::new(extent(filter, list), "finding", "findings", |page| {
                urls::with_query(urls::findings(id), &filter.query(page))
            }),
            can_share: list.task.status == crate::gateway::domain::task::Status::Done,
            task: urls::written(id.as_str()),
        }
    }
}

/// Where in the list a page is.
pub(in crate::gateway) fn extent(filter: &FindingFilter, list: &FindingList) -> Extent {
    Extent { total: list.listed.total, complete: list.listed.complete, page: filter.page, size: PAGE }
}

fn address(task: &TaskId, vul: &VulId, filter: &FindingFilter, page: u32) -> String {
    urls::with_query(urls::finding(task, vul), &filter.query(page))
}

impl Row {
    fn new(task: &TaskId, row: &FindingRow, filter: &FindingFilter) -> Self {
        let component = row.component.as_ref();
        let weakness = row.cwe.short(40).to_ascii_uppercase();
        let known = row.cves.iter().map(|text| text.short(40)).chain([weakness]);
        Self {
            id: urls::written(row.id.as_str()),
            href: address(task, &row.id, filter, filter.page),
            title: title(row, 160),
            badge: match &row.purchase {
                Purchase::Open => String::new(),
                Purchase::Other(word) => word.short(30),
            },
            severity: SeverityView::of(&row.severity),
            component: component.map(|part| breakable(&part.name.short(120))).unwrap_or_default(),
            version: component.map(|part| part.version.short(40)).unwrap_or_default(),
            known_as: known.filter(|text| !text.is_empty()).take(4).collect(),
            fixed: row.fixed_version.as_ref().map(|version| version.short(40)).unwrap_or_default(),
            reach: row.reachability.as_ref().map(ReachView::of),
            is_cleared: row.is_cleared(),
        }
    }
}

#[derive(Template)]
#[template(path = "findings/show.html")]
pub(in crate::gateway) struct FindingPage {
    chrome: Chrome,
    task_href: String,
    list_href: String,
    short: String,
    title: String,
    place: String,
    previous: Option<String>,
    next: Option<String>,
    share: String,
    tabs: Tabs,
    body: FindingBody,
    more: Vec<(String, String)>,
}

impl FindingPage {
    pub(in crate::gateway) fn new(chrome: Chrome, filter: &FindingFilter, opened: &Opened) -> Self {
        let (task, row) = (&opened.task, &opened.finding.row);
        let place = opened.place.as_ref();
        let beside = |neighbour: Option<&(VulId, u32)>| neighbour.map(|(vul, page)| address(&task.id, vul, filter, *page));
        Self {
            chrome,
            task_href: urls::task(&task.id),
            list_href: urls::with_query(urls::findings(&task.id), &filter.query(filter.page)),
            short: project(task, 60),
            title: title(row, 300),
            place: place.map_or_else(String::new, |place| words(place.position, place.total, filter)),
            previous: beside(place.and_then(|place| place.previous.as_ref())),
            next: beside(place.and_then(|place| place.next.as_ref())),
            share: urls::share_new(&task.id, std::slice::from_ref(&row.id)),
            tabs: Tabs::inside(task, &opened.parts, Here::Findings),
            body: FindingBody::new(
                &opened.finding,
                opened
                    .chains
                    .iter()
                    .map(|chain| ChainLink { href: urls::chain(&task.id, &chain.id), title: super::chains::title(chain, 160) })
                    .collect(),
            ),
            more: more(&row.raw, &SHOWN),
        }
    }
}

fn words(position: u64, total: u64, filter: &FindingFilter) -> String {
    let filtered = if filter.is_active() { " that fit your filter" } else { "" };
    format!("Finding {} of {}{filtered}", grouped(position), grouped(total))
}

/// Fields this version has no place for. Captured sessions are never among them.
pub(in crate::gateway) fn more(raw: &Value, shown: &[&str]) -> Vec<(String, String)> {
    let Some(fields) = raw.as_object() else {
        return Vec::new();
    };
    fields
        .iter()
        .filter(|(name, value)| {
            !shown.contains(&name.as_str()) && !name.to_ascii_lowercase().starts_with("sandboxauth") && !is_empty(value)
        })
        .map(|(name, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => serde_json::to_string_pretty(other).unwrap_or_default(),
            };
            let cut: String = text.chars().take(LONGEST_MORE).collect();
            let cut = if cut.len() < text.len() { format!("{cut}\n… cut here") } else { cut };
            (Hostile::from(name.as_str()).short(80), Hostile::new(cut).code())
        })
        .collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
