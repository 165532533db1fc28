//! The first page of a signed-in person.

use askama::Template;

use super::layout::Chrome;
use super::tasks::Row;
use crate::gateway::services::home::Summary;

#[derive(Template)]
#[template(path = "home/index.html")]
pub(in crate::gateway) struct Home {
    chrome: Chrome,
    open_critical: u64,
    looked_at: usize,
    running_total: u64,
    running: Vec<Row>,
    recent: Vec<Row>,
}

impl Home {
    pub(in crate::gateway) fn new(chrome: Chrome, summary: &Summary) -> Self {
        Self {
            chrome,
            open_critical: summary.open_critical,
            looked_at: summary.looked_at,
            running_total: summary.running.total,
            running: summary.running.items.iter().map(Row::of).collect(),
            recent: summary.recent.iter().map(Row::of).collect(),
        }
    }
}
