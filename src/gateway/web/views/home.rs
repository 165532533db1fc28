//! The first page of a signed-in person.

use askama::Template;

use super::layout::Chrome;
use super::shares;
use super::tasks::Row;
use super::words::Badge;
use crate::gateway::services::home::Summary;
use crate::gateway::services::shares::Seen;
use crate::gateway::web::share_urls;

#[derive(Template)]
#[template(path = "home/index.html")]
pub(in crate::gateway) struct Home {
    chrome: Chrome,
    closed: Vec<Closed>,
    open_critical: u64,
    looked_at: usize,
    running_total: u64,
    running: Vec<Row>,
    recent: Vec<Row>,
}

/// An own share that needs a new code.
struct Closed {
    page: String,
    project: String,
    short_id: String,
    badge: Badge,
}

impl Closed {
    fn of(seen: &Seen) -> Self {
        Self {
            page: share_urls::share(&seen.mark),
            project: shares::project(&seen.entry.project, 120),
            short_id: seen.mark.short().to_owned(),
            badge: shares::badge(seen.standing),
        }
    }
}

impl Home {
    pub(in crate::gateway) fn new(chrome: Chrome, summary: &Summary) -> Self {
        Self {
            chrome,
            closed: summary.closed.iter().map(Closed::of).collect(),
            open_critical: summary.open_critical,
            looked_at: summary.looked_at,
            running_total: summary.running.total,
            running: summary.running.items.iter().map(Row::of).collect(),
            recent: summary.recent.iter().map(Row::of).collect(),
        }
    }
}
