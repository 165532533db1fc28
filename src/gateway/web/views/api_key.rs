//! One API key as administrators see it: what it is, who uses it, what was done to it; and the page that asks before it is revoked.

use std::collections::BTreeSet;

use askama::Template;

use super::api_keys::Row;
use super::audit::{KeyEvent, whole_log};
use super::day_chart::DayChart;
use super::layout::Chrome;
use super::pager::grouped;
use super::words::count;
use crate::gateway::domain::uses::{Origin, Origins};
use crate::gateway::services::api_keys::Listed;
use crate::gateway::services::audit::Shown;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;

/// Rows of who used a key that a page shows.
const ORIGINS: usize = 50;

/// One key.
#[derive(Template)]
#[template(path = "api_keys/show.html")]
pub(in crate::gateway) struct Show {
    chrome: Chrome,
    row: Row,
    chart: DayChart,
    origins: Vec<OriginRow>,
    origins_words: String,
    other_origins: Option<String>,
    events: Vec<KeyEvent>,
    log: String,
    list: &'static str,
}

/// Calls of one operation from one network.
struct OriginRow {
    operation: String,
    network: String,
    count: String,
}

impl Show {
    pub(in crate::gateway) fn new(
        page: &Page,
        listed: &Listed,
        origins: &Origins,
        events: &Shown,
        shown: (u32, Timestamp),
    ) -> Self {
        let row = Row::of(listed, shown);
        Self {
            chrome: page.chrome(format!("API key {}", row.label), "keys"),
            chart: DayChart::new(&listed.uses, shown.0, shown.1),
            origins: rows(origins),
            origins_words: words(origins),
            other_origins: others(origins),
            events: KeyEvent::all(events),
            log: whole_log(&listed.key.id, listed.key.created_at),
            list: urls::KEYS,
            row,
        }
    }
}

/// Asks before a key is taken back.
#[derive(Template)]
#[template(path = "api_keys/revoke.html")]
pub(in crate::gateway) struct Revoke {
    chrome: Chrome,
    row: Row,
    was_used_lately: bool,
    origins: Vec<OriginRow>,
    origins_words: String,
    other_origins: Option<String>,
    list: &'static str,
}

impl Revoke {
    pub(in crate::gateway) fn new(page: &Page, listed: &Listed, origins: &Origins, shown: (u32, Timestamp)) -> Self {
        Self {
            chrome: page.chrome("Revoke an API key", "keys"),
            row: Row::of(listed, shown),
            was_used_lately: !origins.all.is_empty(),
            origins: rows(origins),
            origins_words: words(origins),
            other_origins: others(origins),
            list: urls::KEYS,
        }
    }
}

fn rows(origins: &Origins) -> Vec<OriginRow> {
    let row = |origin: &Origin| OriginRow {
        operation: origin.operation.clone(),
        network: origin.network.clone(),
        count: grouped(origin.count),
    };
    origins.all.iter().take(ORIGINS).map(row).collect()
}

/// `About 340 calls of 3 operations from 2 networks`.
fn words(origins: &Origins) -> String {
    let different = |of: fn(&Origin) -> &String| origins.all.iter().map(of).collect::<BTreeSet<_>>().len() as u64;
    format!(
        "About {} of {} from {}",
        count(total(origins), "call", "calls"),
        count(different(|origin| &origin.operation), "operation", "operations"),
        count(different(|origin| &origin.network), "network", "networks"),
    )
}

fn total(origins: &Origins) -> u64 {
    origins.all.iter().fold(origins.others, |sum, origin| sum.saturating_add(origin.count))
}

/// What has no row.
fn others(origins: &Origins) -> Option<String> {
    let more = origins.all.iter().skip(ORIGINS).fold(origins.others, |sum, origin| sum.saturating_add(origin.count));
    (more > 0)
        .then(|| format!("{} more came from other operations or networks that are not listed.", count(more, "call", "calls")))
}
