//! Server keys as administrators see them: everything but the key. The page lists the API keys too.

use askama::Template;

use super::admin::Tabs;
use super::api_keys;
use super::audit::{KeyEvent, whole_log};
use super::day_chart::DayChart;
use super::layout::Chrome;
use super::pager::grouped;
use super::words::{When, ago, count};
use crate::gateway::domain::server_key::ServerKey;
use crate::gateway::domain::uses::{KeyUser, Origin, Origins, Uses};
use crate::gateway::services::api_keys::{Listed, ending};
use crate::gateway::services::audit::Shown;
use crate::gateway::services::keys::{LONGEST_KEY, LONGEST_LABEL};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Rows of what used a key that a page shows.
const USERS: usize = 50;

/// What was wrong with a form; empty when there was none.
#[derive(Default)]
pub(in crate::gateway) struct Problem {
    pub(in crate::gateway) words: String,
    /// What was typed as label. The key itself is never sent back.
    pub(in crate::gateway) label: Hostile,
}

/// The list and the form for a new key.
#[derive(Template)]
#[template(path = "keys/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    issued: Vec<api_keys::Row>,
    /// API keys that end within a month.
    ending: Vec<api_keys::Row>,
    ending_words: String,
    /// Until when keys can be changed without another sign-in.
    recent: Option<When>,
    step_up: String,
    new_api_key: &'static str,
    rows: Vec<Row>,
    has_active: bool,
    problem: String,
    /// What was typed before.
    typed_label: String,
    longest_key: usize,
    longest_label: usize,
}

struct Row {
    label: String,
    ending: String,
    fingerprint: String,
    created: When,
    created_by: String,
    active: bool,
    /// Active behind a newer one.
    standby: bool,
    /// It can be made inactive, because another one is active.
    spare: bool,
    test: Option<TestView>,
    used: Option<When>,
    used_ago: String,
    uses: String,
    show: String,
    test_at: String,
    activate: String,
    deactivate: String,
    remove: String,
}

struct TestView {
    kind: &'static str,
    words: String,
    at: When,
}

impl List {
    /// `shown`: days of which uses are counted, and now.
    pub(in crate::gateway) fn new(
        page: &Page,
        (keys, issued): (&[(ServerKey, Uses)], &[Listed]),
        shown: (u32, Timestamp),
        problem: Problem,
    ) -> Self {
        let title = if problem.words.is_empty() { "Keys" } else { "Error: keys" };
        let row = |listed| api_keys::Row::of(listed, shown);
        let ending: Vec<api_keys::Row> = ending(issued, shown.1).into_iter().map(row).collect();
        let soon = count(ending.len() as u64, "API key ends", "API keys end");
        Self {
            chrome: page.chrome(title, "keys"),
            tabs: Tabs::at(urls::KEYS),
            issued: issued.iter().map(row).collect(),
            ending,
            ending_words: format!("{soon} within 30 days."),
            recent: page.proved_until().map(|until| When::of(Some(until))),
            step_up: urls::step_up(urls::KEYS),
            new_api_key: urls::API_KEYS_NEW,
            rows: keys.iter().map(|(key, uses)| Row::among(keys, (key, uses), shown)).collect(),
            has_active: keys.iter().any(|(key, _)| key.active),
            problem: problem.words,
            typed_label: problem.label.short(200),
            longest_key: LONGEST_KEY,
            longest_label: LONGEST_LABEL,
        }
    }
}

/// `340 calls in 30 days`.
pub(super) fn uses_of(uses: &Uses, days: u32) -> String {
    format!("{} in {}", count(uses.total(), "call", "calls"), count(u64::from(days), "day", "days"))
}

impl Row {
    /// A key with what can be done with it beside the others.
    fn among(all: &[(ServerKey, Uses)], (key, uses): (&ServerKey, &Uses), (use_days, now): (u32, Timestamp)) -> Self {
        let active = || all.iter().map(|(key, _)| key).filter(|key| key.active);
        let newest = active().max_by_key(|key| key.since()).map(|key| &key.id);
        Self {
            standby: key.active && newest != Some(&key.id),
            spare: key.active && active().count() > 1,
            uses: uses_of(uses, use_days),
            used: uses.last.map(|last| When::of(Some(last))),
            used_ago: uses.last.map(|last| ago(last, now)).unwrap_or_default(),
            ..Self::of(key)
        }
    }

    fn of(key: &ServerKey) -> Self {
        Self {
            label: key.label.short(LONGEST_LABEL),
            ending: if key.last_four.is_empty() { "too short to show".to_owned() } else { format!("…{}", key.last_four) },
            fingerprint: key.fingerprint.chars().take(8).collect(),
            created: When::of(Some(key.created_at)),
            created_by: key.created_by.short(60),
            active: key.active,
            test: key.last_tested.as_ref().map(|test| TestView {
                kind: if test.ok { "done" } else { "failed" },
                words: test.words.short(120),
                at: When::of(Some(test.at)),
            }),
            standby: false,
            spare: false,
            used: None,
            used_ago: String::new(),
            show: urls::key(&key.id),
            uses: String::new(),
            deactivate: urls::key_deactivate(&key.id),
            test_at: urls::key_test(&key.id),
            activate: urls::key_activate(&key.id),
            remove: urls::key_remove(&key.id),
        }
    }
}

/// What used a server key in the last seven days, for `keys/users.html`.
struct Users {
    rows: Vec<UserRow>,
    caption: String,
    /// What has no row.
    more: Option<String>,
}

/// Calls of one operation for one user.
struct UserRow {
    operation: String,
    user: String,
    /// Page of the API key, where it is one that is still there.
    href: Option<String>,
    count: String,
}

impl Users {
    fn of(origins: &Origins, issued: &[Listed]) -> Self {
        let calls = |rest: &[Origin]| rest.iter().fold(origins.others, |sum, origin| sum.saturating_add(origin.count));
        let (shown, rest) = origins.all.split_at(origins.all.len().min(USERS));
        let more = calls(rest);
        Self {
            rows: shown.iter().map(|origin| UserRow::of(origin, issued)).collect(),
            caption: format!("About {} in the last 7 days", count(calls(&origins.all), "call", "calls")),
            more: (more > 0).then(|| format!("{} more are not listed.", count(more, "call", "calls"))),
        }
    }
}

impl UserRow {
    fn of(origin: &Origin, issued: &[Listed]) -> Self {
        let (user, href) = match KeyUser::read(&origin.network) {
            KeyUser::ApiKey(id) => match issued.iter().find(|listed| listed.key.id == id) {
                Some(listed) => (format!("API key {}", listed.key.label.short(LONGEST_LABEL)), Some(urls::api_key(id))),
                None => ("An API key that was revoked".to_owned(), None),
            },
            KeyUser::Recipients => ("People who open shares".to_owned(), None),
            KeyUser::Anybody => ("Calls without a credential".to_owned(), None),
            KeyUser::Test => ("Tests by administrators".to_owned(), None),
        };
        Self { operation: origin.operation.clone(), user, href, count: grouped(origin.count) }
    }
}

/// One server key: what it is, its uses, what was done to it.
#[derive(Template)]
#[template(path = "keys/show.html")]
pub(in crate::gateway) struct Show {
    chrome: Chrome,
    row: Row,
    chart: DayChart,
    users: Users,
    events: Vec<KeyEvent>,
    log: String,
    list: &'static str,
}

impl Show {
    /// None when the key is not among `all`.
    pub(in crate::gateway) fn new(
        page: &Page,
        (all, id): (&[(ServerKey, Uses)], &str),
        (origins, issued): (&Origins, &[Listed]),
        events: &Shown,
        shown: (u32, Timestamp),
    ) -> Option<Self> {
        let (key, uses) = all.iter().find(|(key, _)| key.id == id)?;
        let row = Row::among(all, (key, uses), shown);
        Some(Self {
            chrome: page.chrome(format!("Server key {}", row.label), "keys"),
            row,
            chart: DayChart::new(uses, shown.0, shown.1),
            users: Users::of(origins, issued),
            events: KeyEvent::all(events),
            log: whole_log(id, key.created_at),
            list: urls::KEYS,
        })
    }
}

/// Asks before a key is removed.
#[derive(Template)]
#[template(path = "keys/remove.html")]
pub(in crate::gateway) struct Remove {
    chrome: Chrome,
    label: String,
    ending: String,
    active: bool,
    chart: DayChart,
    users: Users,
    show: String,
    action: String,
    list: &'static str,
}

impl Remove {
    /// None when the key is not among `all`.
    pub(in crate::gateway) fn new(
        page: &Page,
        (all, id): (&[(ServerKey, Uses)], &str),
        (origins, issued): (&Origins, &[Listed]),
        shown: (u32, Timestamp),
    ) -> Option<Self> {
        let (key, uses) = all.iter().find(|(key, _)| key.id == id)?;
        let row = Row::of(key);
        Some(Self {
            chrome: page.chrome("Remove a server key", "keys"),
            label: row.label,
            ending: row.ending,
            active: row.active,
            chart: DayChart::new(uses, shown.0, shown.1),
            users: Users::of(origins, issued),
            show: row.show,
            action: row.remove,
            list: urls::KEYS,
        })
    }
}
