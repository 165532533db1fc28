//! The page of what can be downloaded of a task.

use askama::Template;

use super::layout::Chrome;
use super::task::{ReportLink, reports};
use super::task_tabs::{Here, Tabs};
use super::tasks::project;
use crate::contract::reports::ReportType;
use crate::gateway::domain::task::{Status, Task};
use crate::gateway::services::parts::{Part, Parts};
use crate::gateway::web::urls;

#[derive(Template)]
#[template(path = "tasks/downloads.html")]
pub(in crate::gateway) struct Downloads {
    chrome: Chrome,
    tabs: Tabs,
    task_href: String,
    short: String,
    project: String,
    done: bool,
    reports: Vec<ReportLink>,
    /// Empty where the service knows no components.
    inventories: Vec<Inventory>,
    share: String,
}

/// A bill of materials in one form.
pub(in crate::gateway) struct Inventory {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) words: &'static str,
    pub(in crate::gateway) about: &'static str,
}

/// Both forms of the bill of materials; none where the service knows no components.
pub(in crate::gateway) fn inventories(task: &Task, parts: &Parts) -> Vec<Inventory> {
    if parts.components == Part::NotOffered || task.status != Status::Done {
        return Vec::new();
    }
    let one = |form, words, about| Inventory { href: urls::task_report(&task.id, form), words, about };
    vec![
        one(
            ReportType::CycloneDx,
            "CycloneDX 1.6 (JSON)",
            "Components with what is known about them, for tools that track vulnerabilities.",
        ),
        one(ReportType::Spdx, "SPDX 2.3 (JSON)", "Components as packages, for tools that track origins and licences."),
    ]
}

impl Downloads {
    pub(in crate::gateway) fn new(chrome: Chrome, task: &Task, parts: &Parts) -> Self {
        let done = task.status == Status::Done;
        Self {
            chrome,
            tabs: Tabs::new(task, None, parts, Here::Report),
            task_href: urls::task(&task.id),
            short: project(task, 60),
            project: project(task, 200),
            done,
            reports: if done { reports(&task.id) } else { Vec::new() },
            inventories: inventories(task, parts),
            share: urls::share_new(&task.id, &[]),
        }
    }
}
