//! Server keys as administrators see them: everything but the key. The page lists the API keys too.

use askama::Template;

use super::api_keys;
use super::layout::Chrome;
use super::words::{When, count};
use crate::gateway::domain::server_key::ServerKey;
use crate::gateway::domain::uses::Uses;
use crate::gateway::services::api_keys::Listed;
use crate::gateway::services::keys::{LONGEST_KEY, LONGEST_LABEL};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

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
    issued: Vec<api_keys::Row>,
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
    uses: String,
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
    /// `use_days`: days of which uses are counted.
    pub(in crate::gateway) fn new(
        page: &Page,
        (keys, issued): (&[(ServerKey, Uses)], &[Listed]),
        use_days: u32,
        problem: Problem,
    ) -> Self {
        let title = if problem.words.is_empty() { "Keys" } else { "Error: keys" };
        let active = || keys.iter().map(|(key, _)| key).filter(|key| key.active);
        let newest = active().max_by_key(|key| key.since()).map(|key| &key.id);
        let rows = keys.iter().map(|(key, uses)| Row {
            standby: key.active && newest != Some(&key.id),
            spare: key.active && active().count() > 1,
            uses: uses_of(uses, use_days),
            used: uses.last.map(|last| When::of(Some(last))),
            ..Row::of(key)
        });
        Self {
            chrome: page.chrome(title, "keys"),
            issued: issued.iter().map(|listed| api_keys::Row::of(listed, use_days)).collect(),
            new_api_key: urls::API_KEYS_NEW,
            rows: rows.collect(),
            has_active: newest.is_some(),
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
            uses: String::new(),
            deactivate: urls::key_deactivate(&key.id),
            test_at: urls::key_test(&key.id),
            activate: urls::key_activate(&key.id),
            remove: urls::key_remove(&key.id),
        }
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
    action: String,
    list: &'static str,
}

impl Remove {
    pub(in crate::gateway) fn new(page: &Page, key: &ServerKey) -> Self {
        let row = Row::of(key);
        Self {
            chrome: page.chrome("Remove a server key", "keys"),
            label: row.label,
            ending: row.ending,
            active: row.active,
            action: row.remove,
            list: urls::KEYS,
        }
    }
}
