//! Server keys as administrators see them: everything but the key.

use askama::Template;

use super::layout::Chrome;
use super::words::When;
use crate::gateway::domain::server_key::ServerKey;
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
    test: Option<TestView>,
    used: When,
    was_used: bool,
    test_at: String,
    activate: String,
    remove: String,
}

struct TestView {
    kind: &'static str,
    words: String,
    at: When,
}

impl List {
    pub(in crate::gateway) fn new(page: &Page, keys: &[ServerKey], problem: Problem) -> Self {
        let title = if problem.words.is_empty() { "Server keys" } else { "Error: server keys" };
        Self {
            chrome: page.chrome(title, "keys"),
            rows: keys.iter().map(Row::of).collect(),
            has_active: keys.iter().any(|key| key.active),
            problem: problem.words,
            typed_label: problem.label.short(200),
            longest_key: LONGEST_KEY,
            longest_label: LONGEST_LABEL,
        }
    }
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
            used: When::of(key.last_used),
            was_used: key.last_used.is_some(),
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
