//! The page of one task, and what its live status tells.

use std::fmt::Write as _;

use askama::Template;
use serde::Serialize;

use super::chart::Chart;
use super::finding_body::Fact;
use super::layout::Chrome;
use super::pager::grouped;
use super::settings::{Setting, settings, text_of};
use super::task_tabs::{Here, Tabs};
use super::tasks::project;
use super::words::{Badge, ReachView, SeverityView, When, count};
use crate::contract::ids::TaskId;
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::contract::results;
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::domain::task::{self, Counts, Status, Task};
use crate::gateway::services::tasks::Overview;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// Archives that could not be identified and are named on the page.
const NAMED: usize = 200;
/// Characters of an account's address.
const ADDRESS: usize = 500;

#[derive(Template)]
#[template(path = "tasks/show.html")]
pub(in crate::gateway) struct TaskPage {
    chrome: Chrome,
    short: String,
    project: String,
    here: String,
    status: Badge,
    words: String,
    ended: bool,
    progress: u8,
    error: String,
    /// Address of the event stream while there is something to wait for.
    live: Option<String>,
    stop: Option<String>,
    delete: String,
    share: Option<String>,
    found: Option<Found>,
    reports: Vec<ReportLink>,
    summary: Option<SummaryView>,
    tabs: Tabs,
    group: Option<GroupBox>,
    accounts: Vec<(String, String)>,
    created: When,
    facts: Vec<Fact>,
    settings: Vec<Setting>,
}

/// The group a task is in.
struct GroupBox {
    href: String,
    service: String,
    /// `One of 3 tasks that were created together.`
    words: String,
}

/// What a finished task found.
struct Found {
    href: String,
    total: String,
    /// `2 findings are cleared.`; empty when none is.
    cleared: String,
    cleared_href: String,
    /// Why there is nothing; empty when there is something.
    none: String,
    top: Vec<TopRow>,
    chart: Chart,
}

struct TopRow {
    href: String,
    title: String,
    severity: SeverityView,
    reach: Option<ReachView>,
}

/// A report to download.
pub(in crate::gateway) struct ReportLink {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) lang: &'static str,
    pub(in crate::gateway) words: &'static str,
}

struct SummaryView {
    components: String,
    unidentified_count: String,
    advisories: String,
    advisory_date: String,
    notes: Vec<String>,
    unidentified: Vec<Unidentified>,
    left_out: usize,
}

struct Unidentified {
    path: String,
    reason: String,
}

impl TaskPage {
    pub(in crate::gateway) fn new(chrome: Chrome, overview: &Overview) -> Self {
        let task = &overview.task;
        let ended = task.status.has_ended();
        let done = task.status == Status::Done;
        let live = LiveView::of(task);
        Self {
            chrome,
            short: project(task, 60),
            project: project(task, 200),
            here: urls::task(&task.id),
            status: Badge::of(&task.status),
            words: live.words,
            ended,
            progress: live.progress,
            error: error(task),
            live: (!ended).then(|| urls::task_live(&task.id)),
            stop: (!ended).then(|| urls::task_terminate(&task.id)),
            delete: urls::task_delete(&task.id),
            share: done.then(|| urls::share_new(&task.id, &[])),
            found: overview.counts.as_ref().map(|counts| Found::new(overview, counts)),
            reports: if done { reports(&task.id) } else { Vec::new() },
            summary: task.summary.as_ref().map(SummaryView::new),
            tabs: Tabs::new(task, overview.counts.as_ref(), &overview.parts, Here::Summary),
            group: GroupBox::of(task),
            accounts: task.accounts.iter().map(|account| (account.role.short(80), account.address.short(ADDRESS))).collect(),
            created: When::of(task.created),
            facts: facts(task),
            settings: settings(task),
        }
    }
}

impl GroupBox {
    fn of(task: &Task) -> Option<Self> {
        let href = urls::group(task.group.as_ref()?);
        let words = match task.group_tasks.len() {
            0 => "This task was created together with others.".to_owned(),
            1 => "This task was created as a group, and is the only one in it.".to_owned(),
            many => format!("One of {} tasks that were created together.", grouped(many as u64)),
        };
        Some(Self { href, service: task.service.short(200), words })
    }
}

impl Found {
    fn new(overview: &Overview, counts: &Counts) -> Self {
        let id = &overview.task.id;
        let only = |severity| FindingFilter { severities: vec![severity], ..FindingFilter::default() };
        let top = overview.top.iter().map(|row| TopRow {
            href: urls::finding(id, &row.id),
            title: super::findings::title(row, 120),
            severity: SeverityView::of(&row.severity),
            reach: row.reachability.as_ref().map(ReachView::of),
        });
        let cleared = FindingFilter { reached: vec![Reached(results::Reachability::NotPresent)], ..FindingFilter::default() };
        Self {
            href: urls::findings(id),
            total: grouped(counts.total),
            cleared: match counts.cleared {
                0 => String::new(),
                1 => "1 finding is cleared: the class that makes it dangerous is not in the artifact.".to_owned(),
                many => format!(
                    "{} findings are cleared: the classes that make them dangerous are not in the artifact.",
                    grouped(many)
                ),
            },
            cleared_href: urls::with_query(urls::findings(id), &cleared.query(1)),
            none: if counts.total == 0 { nothing(overview.task.summary.as_ref()) } else { String::new() },
            top: top.collect(),
            chart: Chart::new(counts, |severity| urls::with_query(urls::findings(id), &only(severity).query(1))),
        }
    }
}

/// Nothing found is no promise: it says what that rests on.
fn nothing(summary: Option<&task::Summary>) -> String {
    let Some(summary) = summary else {
        return "No known vulnerability was found.".to_owned();
    };
    let mut words = format!(
        "No known vulnerability was found in {}.",
        count(summary.component_count, "identified component", "identified components")
    );
    if !summary.advisory_date.is_empty() {
        let _ = write!(words, " The newest advisory the scan knew is of {}.", summary.advisory_date.short(20));
    }
    if !summary.unidentified.is_empty() {
        let number = summary.unidentified.len() as u64;
        let _ =
            write!(words, " Nothing can be said about {} that could not be identified.", count(number, "archive", "archives"));
    }
    words
}

impl SummaryView {
    fn new(summary: &task::Summary) -> Self {
        let named = summary.unidentified.iter().take(NAMED);
        Self {
            components: grouped(summary.component_count),
            unidentified_count: grouped(summary.unidentified.len() as u64),
            advisories: grouped(summary.advisory_count),
            advisory_date: if summary.advisory_date.is_empty() { "not told".to_owned() } else { summary.advisory_date.short(20) },
            notes: summary.notes.iter().map(Hostile::text).collect(),
            unidentified: named.map(|(path, reason)| Unidentified { path: path.text(), reason: reason.text() }).collect(),
            left_out: summary.unidentified.len().saturating_sub(NAMED),
        }
    }
}

/// The report in its forms and languages.
pub(in crate::gateway) fn reports(id: &TaskId) -> Vec<ReportLink> {
    let link =
        |form, language, words| ReportLink { href: urls::task_report_in(id, form, language), lang: language.as_str(), words };
    vec![
        link(ReportType::Pdf, ReportLanguage::English, "PDF in English"),
        link(ReportType::Html, ReportLanguage::English, "HTML in English"),
        link(ReportType::Pdf, ReportLanguage::Chinese, "PDF in Chinese (中文)"),
        link(ReportType::Html, ReportLanguage::Chinese, "HTML in Chinese (中文)"),
    ]
}

fn error(task: &Task) -> String {
    match (&task.status, task.err_detail.is_empty(), task.err_code) {
        (Status::Failed, true, None) => "The scan failed, and the service does not say why.".to_owned(),
        (_, true, None) => String::new(),
        (_, true, Some(code)) => format!("The service tells the error code {code}."),
        (_, false, None) => task.err_detail.text(),
        (_, false, Some(code)) => format!("{} (code {code})", task.err_detail.text()),
    }
}

fn facts(task: &Task) -> Vec<Fact> {
    let time = |at: Option<_>| at.map(|at| When::of(Some(at)).words).unwrap_or_default();
    let all = [
        ("Created by", task.created_by.text(), false),
        ("Started", time(task.executed), false),
        ("Ended", time(task.ended), false),
        ("Language", text_of(task.lang.raw()), false),
        ("Task id", Hostile::from(task.id.as_str()).text(), true),
    ];
    all.into_iter()
        .filter(|(_, value, _)| !value.trim().is_empty())
        .map(|(name, value, is_code)| Fact { name, value, is_code })
        .collect()
}

/// One event of the live status, as `portal.js` reads it.
#[derive(Serialize)]
pub(in crate::gateway) struct LiveView {
    word: String,
    kind: &'static str,
    words: String,
    progress: u8,
    ended: bool,
}

impl LiveView {
    pub(in crate::gateway) fn of(task: &Task) -> Self {
        let Badge { kind, word } = Badge::of(&task.status);
        let progress = task.progress.unwrap_or(0).min(100);
        let words = match &task.status {
            Status::Created => "It starts as soon as the service has room.".to_owned(),
            Status::Running if task.progress.is_some() => format!("{progress} of 100 done."),
            Status::Running => "The scan is running.".to_owned(),
            Status::Done => "The scan has finished.".to_owned(),
            Status::Failed => "The scan did not finish.".to_owned(),
            Status::Terminated => "The scan was stopped before it finished.".to_owned(),
            Status::Other(_) => "The service tells a state this portal does not know.".to_owned(),
        };
        Self { word, kind, words, progress, ended: task.status.has_ended() }
    }
}
