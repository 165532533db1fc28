//! The first page of administration, and the row of its parts.

use std::time::Duration;

use askama::Template;

use super::layout::Chrome;
use super::words::{When, count};
use crate::gateway::domain::audit::Deed;
use crate::gateway::services::overview::{Act, KeyNotice, Shown};
use crate::gateway::services::reach::{Presence, Probe};
use crate::gateway::web::urls;

/// Keys and acts that are named at most.
const NAMED: usize = 10;

/// The parts of administration, for `admin/tabs.html`.
pub(in crate::gateway) struct Tabs(Vec<Tab>);

pub(in crate::gateway) struct Tab {
    pub(in crate::gateway) word: &'static str,
    pub(in crate::gateway) href: &'static str,
    pub(in crate::gateway) is_here: bool,
}

impl Tabs {
    /// With the part that is shown.
    pub(in crate::gateway) fn at(here: &str) -> Self {
        let all = [
            ("Overview", urls::ADMIN),
            ("Users", urls::USERS),
            ("Sessions", urls::ALL_SESSIONS),
            ("Shares", urls::ALL_SHARES),
            ("Policy", urls::POLICY),
            ("Keys", urls::KEYS),
            ("Audit log", urls::AUDIT),
        ];
        Self(all.into_iter().map(|(word, href)| Tab { word, href, is_here: href == here }).collect())
    }

    pub(in crate::gateway) fn all(&self) -> &[Tab] {
        &self.0
    }
}

/// How something stands: badge and words.
pub(in crate::gateway) struct Stand {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: &'static str,
    pub(in crate::gateway) more: String,
}

impl Stand {
    /// That of a service or a provider.
    pub(in crate::gateway) fn of(probe: Option<Probe>) -> Self {
        let Some(Probe { presence, took }) = probe else { return Self::unknown() };
        let within = format!("within {} ms", took.as_millis().max(1));
        match presence {
            Presence::There => Self { kind: "done", word: "Answers", more: within },
            Presence::InTrouble => Self { kind: "other", word: "In trouble", more: format!("it says so itself, {within}") },
            Presence::Away => Self { kind: "failed", word: "Away", more: "no connection".to_owned() },
            Presence::Silent => Self { kind: "failed", word: "Silent", more: format!("no answer {within}") },
        }
    }

    fn of_store(took: Option<Duration>) -> Self {
        took.map_or_else(
            || Self { kind: "failed", word: "Silent", more: "no answer in time".to_owned() },
            |took| Self { kind: "done", word: "Answers", more: format!("within {} ms", took.as_millis().max(1)) },
        )
    }

    fn unknown() -> Self {
        Self { kind: "other", word: "Not known now", more: String::new() }
    }
}

#[derive(Template)]
#[template(path = "admin/overview.html")]
pub(in crate::gateway) struct Overview {
    chrome: Chrome,
    tabs: Tabs,
    service: Stand,
    provider: Stand,
    store: Stand,
    audit_waiting: usize,
    keys: Option<Keys>,
    shares: Option<Shares>,
    users: String,
    acts: Option<Vec<ActView>>,
    operator: Option<&'static str>,
}

struct Keys {
    rows: Vec<KeyRow>,
    more: usize,
    no_server_key: bool,
    within: String,
}

struct KeyRow {
    label: String,
    ends: When,
    is_over: bool,
}

struct Shares {
    living: String,
    breaching: u64,
    breaches: String,
    locked: Vec<String>,
    dead: Vec<String>,
}

struct ActView {
    at: When,
    by: String,
    words: String,
}

impl Overview {
    pub(in crate::gateway) fn new(chrome: Chrome, shown: &Shown, runs_platform: bool) -> Self {
        let attention = shown.shares.as_ref();
        Self {
            chrome,
            tabs: Tabs::at(urls::ADMIN),
            service: Stand::of(shown.reached.map(|reached| reached.service)),
            provider: Stand::of(shown.reached.map(|reached| reached.provider)),
            store: Stand::of_store(shown.store),
            audit_waiting: shown.audit_waiting,
            keys: shown.keys.as_ref().map(|keys| Keys::of(keys, shown.notice_days)),
            shares: attention.map(|found| Shares {
                living: count(found.living, "share", "shares"),
                breaching: found.breaching,
                breaches: urls::all_shares("show=breaches", 1),
                locked: found.locked.iter().take(NAMED).cloned().collect(),
                dead: found.dead.iter().take(NAMED).cloned().collect(),
            }),
            users: shown.users.map_or_else(|| "not known now".to_owned(), |users| count(users as u64, "person", "people")),
            acts: shown.acts.as_ref().map(|acts| acts.iter().map(ActView::of).collect()),
            operator: runs_platform.then_some(urls::OPERATOR),
        }
    }
}

impl Keys {
    fn of(notice: &KeyNotice, days: u32) -> Self {
        let row = |key: &crate::gateway::services::overview::EndingKey| KeyRow {
            label: key.label.short(60),
            ends: When::of(Some(key.ends)),
            is_over: key.is_over,
        };
        Self {
            rows: notice.ending.iter().take(NAMED).map(row).collect(),
            more: notice.ending.len().saturating_sub(NAMED),
            no_server_key: notice.no_server_key,
            within: count(u64::from(days), "day", "days"),
        }
    }
}

impl ActView {
    fn of(act: &Act) -> Self {
        let event = &act.written.event;
        let by = act.by.as_ref().map(|name| name.short(60));
        let by = by.unwrap_or_else(|| {
            event.user.as_ref().map_or("The portal", |_| "Somebody who is not in the list of users").to_owned()
        });
        Self { at: When::of(Some(act.written.at)), by, words: words(act) }
    }
}

/// An act in a sentence without its subject.
fn words(act: &Act) -> String {
    let event = &act.written.event;
    let what = event.detail.split(' ').next().unwrap_or_default();
    match event.deed {
        Deed::ApiKey => format!("API key: {}", event.detail),
        Deed::ServerKey => format!("server key: {}", event.detail),
        Deed::PolicyChanged => format!("changed the policy, {}", event.detail),
        Deed::UserAccess => {
            let whom = act.to.as_ref().map_or_else(|| "a user".to_owned(), |name| name.short(60));
            format!("{what} {whom}")
        }
        Deed::SharesEnded => format!("ended all shares of a person: {what}"),
        Deed::OperatorLooked => "looked at policy and counts, as one who runs the platform".to_owned(),
        Deed::KeyRotation => "another sealing key seals".to_owned(),
        other => other.name().replace('_', " "),
    }
}
