//! Pages of a group: its tasks together, and the question before deleting them.

use askama::Template;

use super::layout::Chrome;
use super::pager::grouped;
use super::share_page::{CountView, counts};
use super::tasks::{self, project};
use super::words::{Badge, When, count};
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::domain::task::{Status, Task};
use crate::gateway::services::groups::Group;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// A task of the group.
struct Row {
    href: String,
    /// The service it is about, else its file, else its project.
    name: String,
    /// File and project, where they are not the name.
    beside: Vec<String>,
    status: Badge,
    findings: String,
    /// Why it failed; empty when it did not.
    error: String,
    reports: Vec<ReportLink>,
}

struct ReportLink {
    href: String,
    words: &'static str,
    /// For those who hear only the link.
    label: String,
}

impl Row {
    fn of(task: &Task) -> Self {
        let mut names = vec![task.service.short(120), task.file.short(120), project(task, 120)];
        names.retain(|name| !name.is_empty());
        names.dedup();
        let beside = names.split_off(names.len().min(1));
        let name = names.pop().unwrap_or_default();
        Self {
            href: urls::task(&task.id),
            status: Badge::of(&task.status),
            findings: tasks::found(task),
            error: match task.status {
                Status::Failed if task.err_detail.is_empty() => "The service does not say why.".to_owned(),
                Status::Failed => task.err_detail.short(300),
                _ => String::new(),
            },
            reports: if task.status == Status::Done { reports(task, &name) } else { Vec::new() },
            beside,
            name,
        }
    }
}

fn reports(task: &Task, name: &str) -> Vec<ReportLink> {
    let link = |form, words: &'static str| ReportLink {
        href: urls::task_report_in(&task.id, form, ReportLanguage::English),
        words,
        label: format!("{words} report of {name}"),
    };
    vec![link(ReportType::Pdf, "PDF"), link(ReportType::Html, "HTML")]
}

#[derive(Template)]
#[template(path = "groups/show.html")]
pub(in crate::gateway) struct GroupPage {
    chrome: Chrome,
    id: String,
    /// `3 tasks: 2 finished, 1 failed`.
    words: String,
    total: String,
    counts: Vec<CountView>,
    cleared: String,
    created: When,
    /// Some has not ended.
    stop: Option<String>,
    delete: Option<String>,
    list_href: String,
    here: String,
    failed: String,
    complete: bool,
    rows: Vec<Row>,
}

impl GroupPage {
    pub(in crate::gateway) fn new(chrome: Chrome, group: &Group) -> Self {
        let running = group.tasks.iter().any(|task| !task.status.has_ended());
        Self {
            chrome,
            id: Hostile::from(group.id.as_str()).short(128),
            words: states(&group.tasks),
            total: count(group.counts.total, "finding", "findings"),
            counts: counts(&group.counts),
            cleared: if group.counts.cleared == 0 { String::new() } else { format!("{} cleared", grouped(group.counts.cleared)) },
            created: When::of(group.tasks.iter().filter_map(|task| task.created).min()),
            stop: running.then(|| urls::group_terminate(&group.id)),
            delete: group.complete.then(|| urls::group_delete(&group.id)),
            list_href: urls::tasks(&TaskFilter::in_group(group.id.clone()).query(1)),
            here: urls::group(&group.id),
            failed: failed(&group.tasks),
            complete: group.complete,
            rows: group.tasks.iter().map(Row::of).collect(),
        }
    }
}

/// How many tasks there are in each state.
fn states(tasks: &[Task]) -> String {
    let mut numbers: Vec<(String, u64)> = Vec::new();
    for task in tasks {
        let word = Badge::of(&task.status).word.to_lowercase();
        match numbers.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => numbers.push((word, 1)),
        }
    }
    let parts: Vec<String> = numbers.into_iter().map(|(word, number)| format!("{} {word}", grouped(number))).collect();
    format!("{}: {}", count(tasks.len() as u64, "task", "tasks"), parts.join(", "))
}

/// What a failed part means for the whole; empty when none failed.
fn failed(tasks: &[Task]) -> String {
    let failed = tasks.iter().filter(|task| task.status == Status::Failed).count() as u64;
    if failed == 0 {
        return String::new();
    }
    let scans = count(failed, "scan", "scans");
    format!("{scans} did not finish. The numbers above are of the others; nothing is known about what did not finish.")
}

#[derive(Template)]
#[template(path = "groups/delete.html")]
pub(in crate::gateway) struct DeletePage {
    chrome: Chrome,
    back: String,
    action: String,
    number: usize,
    words: String,
    total: String,
    running: bool,
    complete: bool,
    rows: Vec<Row>,
}

impl DeletePage {
    pub(in crate::gateway) fn new(chrome: Chrome, group: &Group) -> Self {
        Self {
            chrome,
            back: urls::group(&group.id),
            action: urls::group_delete(&group.id),
            number: group.tasks.len(),
            words: states(&group.tasks),
            total: count(group.counts.total, "finding", "findings"),
            running: group.tasks.iter().any(|task| !task.status.has_ended()),
            complete: group.complete,
            rows: group.tasks.iter().map(Row::of).collect(),
        }
    }
}
