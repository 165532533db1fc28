//! Pages of tasks: the list, the question before deleting. The page of one task is in `task.rs`.

use askama::Template;

use super::layout::Chrome;
use super::pager::{Extent, Pager, grouped};
use super::words::{Badge, When};
use crate::gateway::domain::filter::{State, TaskFilter, day_text};
use crate::gateway::domain::task::{Counts, Status, Task};
use crate::gateway::services::lists::Listed;
use crate::gateway::services::tasks::PAGE;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// A task in a list.
pub(in crate::gateway) struct Row {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) project: String,
    pub(in crate::gateway) status: Badge,
    pub(in crate::gateway) findings: String,
    pub(in crate::gateway) created: When,
    pub(in crate::gateway) created_by: String,
    pub(in crate::gateway) group: Option<GroupBadge>,
}

/// The group a task of a list is in.
pub(in crate::gateway) struct GroupBadge {
    pub(in crate::gateway) href: String,
    /// The service it is about, else words.
    pub(in crate::gateway) word: String,
}

impl GroupBadge {
    pub(in crate::gateway) fn of(task: &Task) -> Option<Self> {
        let href = urls::group(task.group.as_ref()?);
        let word = if task.service.is_empty() { "Group".to_owned() } else { format!("Group: {}", task.service.short(40)) };
        Some(Self { href, word })
    }
}

impl Row {
    pub(in crate::gateway) fn of(task: &Task) -> Self {
        Self {
            href: urls::task(&task.id),
            project: project(task, 120),
            status: Badge::of(&task.status),
            findings: found(task),
            created: When::of(task.created),
            created_by: task.created_by.short(60),
            group: GroupBadge::of(task),
        }
    }
}

/// The project's name, or words for a task without one: a link needs something to read.
pub(in crate::gateway) fn project(task: &Task, limit: usize) -> String {
    if task.project.is_empty() { "Task without a name".to_owned() } else { task.project.short(limit) }
}

/// The findings of a task in a list; a dash while nothing is known, which is not the same as none.
pub(in crate::gateway) fn found(task: &Task) -> String {
    let known = task.counts.as_ref().filter(|counts| task.status == Status::Done || counts.total > 0);
    known.map_or_else(|| "–".to_owned(), findings)
}

/// `12: 2 critical, 10 low; 3 cleared`.
pub(in crate::gateway) fn findings(counts: &Counts) -> String {
    if counts.total == 0 {
        return if counts.cleared == 0 { "None".to_owned() } else { format!("None open; {} cleared", grouped(counts.cleared)) };
    }
    let named = [(counts.critical, "critical"), (counts.high, "high"), (counts.medium, "medium"), (counts.low, "low")];
    let parts: Vec<String> =
        named.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{} {word}", grouped(count))).collect();
    let total = grouped(counts.total);
    let open = if parts.is_empty() { total } else { format!("{total}: {}", parts.join(", ")) };
    if counts.cleared == 0 { open } else { format!("{open}; {} cleared", grouped(counts.cleared)) }
}

/// A box to tick.
pub(in crate::gateway) struct Choice {
    pub(in crate::gateway) value: &'static str,
    pub(in crate::gateway) word: &'static str,
    pub(in crate::gateway) checked: bool,
}

#[derive(Template)]
#[template(path = "tasks/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    project: String,
    states: Vec<Choice>,
    from: String,
    to: String,
    /// The group it is narrowed to, to stay in the form; empty for all.
    group: String,
    group_href: String,
    active: Vec<String>,
    rows: Vec<Row>,
    /// Rows of a list need not name who made a task.
    has_authors: bool,
    pager: Pager,
}

impl List {
    pub(in crate::gateway) fn new(chrome: Chrome, filter: &TaskFilter, listed: &Listed<Task>) -> Self {
        Self {
            chrome,
            project: filter.project.clone(),
            states: State::ALL
                .into_iter()
                .map(|state| Choice { value: state.as_str(), word: state.word(), checked: filter.states.contains(&state) })
                .collect(),
            from: filter.from.map(day_text).unwrap_or_default(),
            to: filter.to.map(day_text).unwrap_or_default(),
            group: filter.group.as_ref().map(ToString::to_string).unwrap_or_default(),
            group_href: filter.group.as_ref().map(urls::group).unwrap_or_default(),
            active: filter.words(),
            rows: listed.items.iter().map(Row::of).collect(),
            has_authors: listed.items.iter().any(|task| !task.created_by.is_empty()),
            pager: Pager::new(extent(filter, listed), "task", "tasks", |page| urls::tasks(&filter.query(page))),
        }
    }
}

/// Where in the list a page is.
pub(in crate::gateway) fn extent(filter: &TaskFilter, listed: &Listed<Task>) -> Extent {
    Extent { total: listed.total, complete: listed.complete, page: filter.page, size: PAGE }
}

#[derive(Template)]
#[template(path = "tasks/delete.html")]
pub(in crate::gateway) struct DeletePage {
    chrome: Chrome,
    back: String,
    short: String,
    project: String,
    status: Badge,
    findings: String,
    id: String,
    ended: bool,
    action: String,
}

impl DeletePage {
    pub(in crate::gateway) fn new(chrome: Chrome, task: &Task) -> Self {
        Self {
            chrome,
            back: urls::task(&task.id),
            short: project(task, 60),
            project: project(task, 200),
            status: Badge::of(&task.status),
            findings: task.counts.as_ref().map_or_else(|| "Not known yet".to_owned(), findings),
            id: Hostile::from(task.id.as_str()).text(),
            ended: task.status.has_ended(),
            action: urls::task_delete(&task.id),
        }
    }
}
