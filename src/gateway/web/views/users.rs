//! The people of a company as its administrators see them.

use askama::Template;

use super::admin::Tabs;
use super::layout::Chrome;
use super::pager::{Extent, Pager};
use super::sessions::Row as SessionRow;
use super::words::{When, count};
use crate::gateway::domain::api_key::ApiKey;
use crate::gateway::domain::role::Role;
use crate::gateway::services::users::{Disabled, Found, LONGEST_REASON, Listed, MOST, One, PAGE_SIZE, Person, Which};
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// The list.
#[derive(Template)]
#[template(path = "admin/users.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    rows: Vec<Row>,
    wanted: String,
    choices: Vec<Choice>,
    is_filtered: bool,
    pager: Pager,
    /// Said when some people were not looked at.
    most: Option<String>,
    everybody: &'static str,
}

struct Row {
    href: String,
    name: String,
    email: String,
    role: &'static str,
    last: When,
    sessions: String,
    is_disabled: bool,
}

struct Choice {
    name: &'static str,
    word: &'static str,
    is_chosen: bool,
}

impl List {
    /// `page` counts from 1.
    pub(in crate::gateway) fn new(chrome: Chrome, found: &Found, (wanted, which): (&str, Which), page: u32) -> Self {
        let extent = Extent { total: found.total, complete: found.complete, page, size: PAGE_SIZE };
        let choice = |one: Which| Choice { name: one.name(), word: word(one), is_chosen: one == which };
        Self {
            chrome,
            tabs: Tabs::at(urls::USERS),
            rows: found.people.iter().map(Row::of).collect(),
            wanted: wanted.to_owned(),
            choices: Which::ALL.into_iter().map(choice).collect(),
            is_filtered: !wanted.is_empty() || which != Which::All,
            pager: Pager::new(extent, "person", "people", |page| urls::users(wanted, which.name(), page)),
            most: (!found.complete).then(|| count(MOST as u64, "person", "people")),
            everybody: urls::USERS,
        }
    }
}

const fn word(which: Which) -> &'static str {
    match which {
        Which::All => "Everybody",
        Which::Administrators => "Administrators",
        Which::Members => "Members",
        Which::Disabled => "Disabled",
    }
}

const fn role(person: &Person) -> &'static str {
    match person.role {
        Role::Administrator => "Administrator",
        Role::Member => "Member",
    }
}

/// A name, or what stands in its place.
fn name(person: &Person) -> String {
    if person.name.is_empty() { "Without a name".to_owned() } else { person.name.short(80) }
}

impl Row {
    fn of(listed: &Listed) -> Self {
        let Listed { user, person, sessions } = listed;
        Self {
            href: urls::of_user(urls::USER, user),
            name: name(person),
            email: person.email.short(120),
            role: role(person),
            last: When::of(Some(person.last_at)),
            sessions: if *sessions == 0 { "None".to_owned() } else { sessions.to_string() },
            is_disabled: person.disabled.is_some(),
        }
    }
}

/// One person.
#[derive(Template)]
#[template(path = "admin/user.html")]
pub(in crate::gateway) struct Show {
    chrome: Chrome,
    name: String,
    email: String,
    role: &'static str,
    first: When,
    last: When,
    issuer: String,
    subject: String,
    rows: Vec<SessionRow>,
    sessions: String,
    end_all: Option<String>,
    disabled: Option<DisabledView>,
    was_disabled: Option<DisabledView>,
    is_self: bool,
    /// API keys that this person has made and that work on.
    keys: Vec<KeyView>,
    knows_keys: bool,
    disable: String,
    enable: String,
    problem: String,
    /// What was typed before.
    typed: String,
    longest_reason: usize,
    list: &'static str,
}

/// An API key, by label and the part of its text that is no secret.
struct KeyView {
    label: String,
    id: String,
    href: String,
}

struct DisabledView {
    at: When,
    by: String,
    reason: String,
}

impl Show {
    /// `refused`: why somebody was not disabled, and the reason that was typed.
    pub(in crate::gateway) fn new(chrome: Chrome, one: &One, refused: Option<(String, String)>) -> Self {
        let (problem, typed) = refused.unwrap_or_default();
        let person = &one.person;
        let end_one = |id: &str| urls::user_end_one(&one.user, id);
        let others = one.sessions.iter().filter(|session| session.id != one.this).count();
        Self {
            chrome,
            name: name(person),
            email: person.email.short(120),
            role: role(person),
            first: When::of(Some(person.first_at)),
            last: When::of(Some(person.last_at)),
            issuer: Hostile::from(person.issuer.as_str()).short(200),
            subject: Hostile::from(person.subject.as_str()).short(200),
            rows: one.sessions.iter().map(|session| SessionRow::of(session, &one.this, end_one)).collect(),
            sessions: count(one.sessions.len() as u64, "session", "sessions"),
            end_all: (others > 1).then(|| urls::of_user(urls::USER_END_ALL, &one.user)),
            disabled: person.disabled.as_ref().map(DisabledView::of),
            was_disabled: person.was_disabled.as_ref().map(DisabledView::of),
            is_self: one.is_self,
            keys: one.keys.iter().flatten().map(KeyView::of).collect(),
            knows_keys: one.keys.is_some(),
            disable: urls::of_user(urls::USER_DISABLE, &one.user),
            enable: urls::of_user(urls::USER_ENABLE, &one.user),
            problem,
            typed: Hostile::from(typed).short(2 * LONGEST_REASON),
            longest_reason: LONGEST_REASON,
            list: urls::USERS,
        }
    }
}

impl DisabledView {
    fn of(disabled: &Disabled) -> Self {
        let Disabled { at, by, reason } = disabled;
        Self { at: When::of(Some(*at)), by: by.short(80), reason: reason.short(LONGEST_REASON) }
    }
}

impl KeyView {
    fn of(key: &ApiKey) -> Self {
        Self { label: key.label.short(60), id: key.id.clone(), href: urls::api_key(&key.id) }
    }
}
