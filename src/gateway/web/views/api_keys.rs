//! API keys as administrators see them. The text of a key is on one page only: the answer to the form that made it.

use askama::Template;

use super::keys::uses_of;
use super::layout::Chrome;
use super::words::{When, ago, left};
use crate::gateway::domain::api_key::{ApiKey, Edition, Group, Overlap, Scopes};
use crate::gateway::services::api_keys::{Bounds, LONGEST_LABEL, Listed, Wanted, ends_soon};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;
use crate::platform::secret::Secret;

/// Days a key is good for unless somebody says otherwise.
const USUAL_DAYS: u32 = 90;

const fn words(group: Group) -> (&'static str, &'static str) {
    match group {
        Group::Read => ("Read", "tasks, findings, components, exploit chains and reports"),
        Group::Scan => ("Scan", "upload files, check targets, start and stop scans"),
        Group::Share => ("Share", "list, create, change and end shares"),
        Group::Delete => ("Delete", "delete tasks with all they found, for good"),
    }
}

const fn overlap_words(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::None => "At once: for a key that somebody else may have seen",
        Overlap::Hour => "In an hour",
        Overlap::Day => "In 24 hours",
        Overlap::Week => "In 7 days",
    }
}

/// A key in the list.
pub(in crate::gateway) struct Row {
    pub(super) label: String,
    pub(super) start: String,
    pub(super) may: String,
    pub(super) networks: Vec<String>,
    pub(super) is_over: bool,
    /// It still works, and ends within a month.
    pub(super) ends_soon: bool,
    /// How long it still works.
    pub(super) left: String,
    pub(super) ends: When,
    /// Earlier texts that still work.
    pub(super) overlapping: Vec<Earlier>,
    pub(super) used: When,
    pub(super) used_ago: String,
    pub(super) was_used: bool,
    pub(super) uses: String,
    pub(super) created: When,
    pub(super) created_by: String,
    pub(super) show: String,
    pub(super) rotate: String,
    pub(super) revoke: String,
}

pub(super) struct Earlier {
    pub(super) ends: When,
    /// How long it still works.
    pub(super) left: String,
    pub(super) used_ago: String,
    pub(super) was_used: bool,
}

impl Row {
    pub(in crate::gateway) fn of(listed: &Listed, (use_days, now): (u32, Timestamp)) -> Self {
        let key = &listed.key;
        let earlier = |(edition, used): &(Edition, Option<Timestamp>)| Earlier {
            ends: When::of(Some(edition.ends)),
            left: left(edition.ends.since(now)),
            used_ago: used.map(|at| ago(at, now)).unwrap_or_default(),
            was_used: used.is_some(),
        };
        Self {
            label: key.label.short(LONGEST_LABEL),
            start: start(key),
            may: may(&key.scopes),
            networks: key.networks.texts().to_vec(),
            is_over: listed.is_over,
            ends_soon: ends_soon(key.ends(), now),
            left: left(key.ends().since(now)),
            ends: When::of(Some(key.ends())),
            overlapping: listed.overlapping.iter().map(earlier).collect(),
            used: When::of(listed.uses.last),
            used_ago: listed.uses.last.map(|at| ago(at, now)).unwrap_or_default(),
            was_used: listed.uses.last.is_some(),
            uses: uses_of(&listed.uses, use_days),
            created: When::of(Some(key.created_at)),
            created_by: key.created_by.short(60),
            show: urls::api_key(&key.id),
            rotate: urls::api_key_rotate(&key.id),
            revoke: urls::api_key_revoke(&key.id),
        }
    }
}

/// What of a key's text is no secret.
fn start(key: &ApiKey) -> String {
    let last_four = key.editions.first().map_or("", |edition| &edition.last_four);
    format!("cdk_{}_…{last_four}", key.id)
}

/// `Read, Scan, createShare`.
fn may(scopes: &Scopes) -> String {
    let groups = Group::ALL.into_iter().filter(|group| scopes.has(*group)).map(|group| words(group).0);
    groups.chain(scopes.single()).collect::<Vec<_>>().join(", ")
}

/// The form for a new key.
#[derive(Template)]
#[template(path = "api_keys/new.html")]
pub(in crate::gateway) struct NewKey {
    chrome: Chrome,
    problem: String,
    action: &'static str,
    list: &'static str,
    once: String,
    label: String,
    groups: Vec<GroupChoice>,
    networks: String,
    days: String,
    longest_label: usize,
    most_days: u32,
    most_networks: usize,
    /// Single operations were chosen, so their list is open.
    has_single: bool,
}

struct GroupChoice {
    name: &'static str,
    word: &'static str,
    meaning: &'static str,
    checked: bool,
    operations: Vec<OperationChoice>,
}

struct OperationChoice {
    name: &'static str,
    about: &'static str,
    checked: bool,
}

impl NewKey {
    /// With what was typed, or what is usual.
    pub(in crate::gateway) fn new(page: &Page, bounds: Bounds, typed: &Wanted, problem: String) -> Self {
        let is_chosen = |name: &str| typed.operations.iter().any(|operation| operation == name);
        let groups = Group::ALL.into_iter().map(|group| {
            let operations = group.routes().map(|route| OperationChoice {
                name: route.name,
                about: route.about,
                checked: is_chosen(route.name),
            });
            let (word, meaning) = words(group);
            let checked = typed.groups.contains(&group);
            GroupChoice { name: group.as_str(), word, meaning, checked, operations: operations.collect() }
        });
        Self {
            chrome: page.chrome(if problem.is_empty() { "New API key" } else { "Error: new API key" }, "keys"),
            problem,
            action: urls::API_KEYS,
            list: urls::KEYS,
            once: typed.once.clone(),
            label: typed.label.chars().take(200).collect(),
            groups: groups.collect(),
            networks: typed.networks.chars().take(4000).collect(),
            days: typed.days.chars().take(20).collect(),
            longest_label: LONGEST_LABEL,
            most_days: bounds.days,
            most_networks: bounds.networks,
            has_single: !typed.operations.is_empty(),
        }
    }
}

/// What a form begins with.
pub(in crate::gateway) fn usual(bounds: Bounds, once: String) -> Wanted {
    Wanted {
        label: String::new(),
        groups: vec![Group::Read, Group::Scan],
        operations: Vec::new(),
        networks: String::new(),
        days: USUAL_DAYS.min(bounds.days).to_string(),
        once,
    }
}

/// The text of a key, this once.
#[derive(Template)]
#[template(path = "api_keys/made.html")]
pub(in crate::gateway) struct Made {
    chrome: Chrome,
    text: String,
    label: String,
    may: String,
    networks: Vec<String>,
    ends: When,
    /// When the earlier text stops to work; none for a new key.
    earlier: Option<When>,
    is_new: bool,
    example: String,
    list: &'static str,
}

impl Made {
    pub(in crate::gateway) fn new(page: &Page, key: &ApiKey, text: &Secret) -> Self {
        let is_new = key.editions.iter().all(|edition| edition.number == 1);
        let address = format!("{}/scanner/api/v1/tasks/search", page.site.public_url);
        Self {
            chrome: page.chrome(if is_new { "API key created" } else { "API key rotated" }, "keys"),
            text: text.expose().to_owned(),
            label: key.label.short(LONGEST_LABEL),
            may: may(&key.scopes),
            networks: key.networks.texts().to_vec(),
            ends: When::of(Some(key.ends())),
            earlier: key.editions.iter().skip(1).map(|edition| edition.ends).max().map(|ends| When::of(Some(ends))),
            is_new,
            example: format!(
                "curl -H \"Authorization: Bearer $API_KEY\" \\\n  --json '{{\"page\":0,\"size\":10}}' \\\n  {address}"
            ),
            list: urls::KEYS,
        }
    }
}

/// The form was sent before.
#[derive(Template)]
#[template(path = "api_keys/sent_before.html")]
pub(in crate::gateway) struct SentBefore {
    chrome: Chrome,
    /// Its key was made and shown; otherwise nobody knows whether one was.
    was_made: bool,
    list: &'static str,
}

impl SentBefore {
    pub(in crate::gateway) fn new(page: &Page, was_made: bool) -> Self {
        let title = if was_made { "The key was already shown" } else { "This form was sent before" };
        Self { chrome: page.chrome(title, "keys"), was_made, list: urls::KEYS }
    }
}

/// Asks when the present text of a key shall end.
#[derive(Template)]
#[template(path = "api_keys/rotate.html")]
pub(in crate::gateway) struct Rotate {
    chrome: Chrome,
    row: Row,
    once: String,
    newest: u32,
    choices: Vec<OverlapChoice>,
    days: u32,
    list: &'static str,
}

struct OverlapChoice {
    name: &'static str,
    words: &'static str,
    checked: bool,
}

impl Rotate {
    pub(in crate::gateway) fn new(page: &Page, listed: &Listed, shown: (u32, Timestamp), once: String) -> Self {
        let choices = Overlap::ALL.into_iter().map(|overlap| OverlapChoice {
            name: overlap.as_str(),
            words: overlap_words(overlap),
            checked: overlap == Overlap::Day,
        });
        Self {
            chrome: page.chrome("Rotate an API key", "keys"),
            row: Row::of(listed, shown),
            once,
            newest: listed.key.newest(),
            choices: choices.collect(),
            days: listed.key.days,
            list: urls::KEYS,
        }
    }
}
