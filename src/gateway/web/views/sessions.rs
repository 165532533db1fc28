//! Sessions as their users and administrators see them.

use std::time::Duration;

use askama::Template;

use super::admin::Tabs;
use super::layout::Chrome;
use super::pager::{Extent, Pager};
use super::words::{When, count};
use crate::gateway::services::sessions::{Everybody, ListedSession, MOST, Own, Person, Policy};
use crate::gateway::web::urls;

/// People on a page of the company's sessions.
const PEOPLE: usize = 25;

/// One's own sessions.
#[derive(Template)]
#[template(path = "sessions/own.html")]
pub(in crate::gateway) struct OwnPage {
    chrome: Chrome,
    rows: Vec<Row>,
    /// Whether there are others than this one.
    has_others: bool,
    idle: String,
    absolute: String,
    most: Option<String>,
    end_others: &'static str,
}

pub(super) struct Row {
    pub(super) device: String,
    pub(super) network: String,
    pub(super) started: When,
    pub(super) seen: When,
    pub(super) is_this: bool,
    pub(super) end: String,
}

impl OwnPage {
    pub(in crate::gateway) fn new(chrome: Chrome, own: &Own) -> Self {
        let Policy { idle, absolute, per_user } = own.policy;
        Self {
            chrome,
            rows: own.sessions.iter().map(|session| Row::of(session, &own.this, urls::own_session_end)).collect(),
            has_others: own.sessions.iter().any(|session| session.id != own.this),
            idle: span(idle),
            absolute: span(absolute),
            most: per_user.map(|most| count(most as u64, "session", "sessions")),
            end_others: urls::OWN_SESSIONS_END_OTHERS,
        }
    }
}

impl Row {
    pub(super) fn of(session: &ListedSession, this: &str, end: impl Fn(&str) -> String) -> Self {
        Self {
            device: session.device.words(),
            network: if session.network.is_empty() { "Unknown".to_owned() } else { session.network.clone() },
            started: When::of(Some(session.started_at)),
            seen: When::of(Some(session.last_seen)),
            is_this: session.id == this,
            end: end(&session.id),
        }
    }
}

/// The sessions of a company, by person.
#[derive(Template)]
#[template(path = "sessions/all.html")]
pub(in crate::gateway) struct AllPage {
    chrome: Chrome,
    tabs: Tabs,
    people: Vec<PersonView>,
    wanted: String,
    pager: Pager,
    /// Said when some sessions are not in the list.
    most: Option<String>,
    list: &'static str,
}

struct PersonView {
    /// Names the heading in the page.
    anchor: String,
    name: String,
    email: String,
    is_administrator: bool,
    sessions: String,
    rows: Vec<Row>,
    /// Where all of them are ended; `None` when there is only one, or only this one.
    end_all: Option<String>,
    /// The session of whoever looks is among them and stays.
    is_self: bool,
}

impl AllPage {
    /// `page` counts from 1.
    pub(in crate::gateway) fn new(chrome: Chrome, everybody: &Everybody, wanted: &str, page: u32) -> Self {
        let size = u32::try_from(PEOPLE).unwrap_or(u32::MAX);
        let extent = Extent { total: everybody.people.len() as u64, complete: everybody.complete, page, size };
        let start = PEOPLE.saturating_mul(usize::try_from(page.saturating_sub(1)).unwrap_or(usize::MAX));
        let shown = everybody.people.iter().skip(start).take(PEOPLE);
        Self {
            chrome,
            tabs: Tabs::at(urls::ALL_SESSIONS),
            people: shown.map(|person| PersonView::of(person, &everybody.this)).collect(),
            wanted: wanted.to_owned(),
            pager: Pager::new(extent, "person", "people", |page| urls::all_sessions(wanted, page)),
            most: (!everybody.complete).then(|| count(MOST as u64, "session", "sessions")),
            list: urls::ALL_SESSIONS,
        }
    }
}

impl PersonView {
    fn of(person: &Person, this: &str) -> Self {
        let is_self = person.sessions.iter().any(|session| session.id == this);
        Self {
            anchor: format!("person-{}", person.user.chars().take(16).collect::<String>()),
            name: person.name.short(80),
            email: person.email.short(120),
            is_administrator: person.role == crate::gateway::domain::role::Role::Administrator,
            sessions: count(person.sessions.len() as u64, "session", "sessions"),
            rows: person.sessions.iter().map(|session| Row::of(session, this, urls::any_session_end)).collect(),
            end_all: (person.sessions.len() > 1).then(|| urls::person_end(&person.user)),
            is_self,
        }
    }
}

/// `30 minutes`, `12 hours`.
fn span(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    if minutes >= 60 && minutes.is_multiple_of(60) {
        count(minutes / 60, "hour", "hours")
    } else {
        count(minutes, "minute", "minutes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_in_the_largest_unit_that_fits() {
        assert_eq!(span(Duration::from_mins(30)), "30 minutes");
        assert_eq!(span(Duration::from_hours(1)), "1 hour");
        assert_eq!(span(Duration::from_mins(90)), "90 minutes");
        assert_eq!(span(Duration::from_hours(12)), "12 hours");
    }
}
