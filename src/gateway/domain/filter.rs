//! Filters of the lists, as they stand in an address: read strictly, written back the same, and checked against rows, since
//! not every service understands every filter.

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, Time};
use url::form_urlencoded;

pub(in crate::gateway) use super::finding_filter::FindingFilter;
use super::group::GroupId;
use super::task::{Status, Task};
use crate::contract::limits::MAX_PROJECT_NAME;
use crate::contract::tasks::{Filter, Operator};
use crate::platform::clock::Timestamp;
use crate::platform::digits::whole;
use crate::platform::hostile::Hostile;

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
/// Pages beyond this are no pages.
const LAST_PAGE: u32 = 1_000_000;

/// A filter that cannot be used, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(in crate::gateway) struct Refused(pub(in crate::gateway) String);

/// States a list of tasks can be narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum State {
    Waiting,
    Running,
    Finished,
    Failed,
    Stopped,
}

impl State {
    pub(in crate::gateway) const ALL: [Self; 5] = [Self::Waiting, Self::Running, Self::Finished, Self::Failed, Self::Stopped];

    /// As it stands in an address.
    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// As it reads on a page.
    pub(in crate::gateway) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Running => "Running",
            Self::Finished => "Finished",
            Self::Failed => "Failed",
            Self::Stopped => "Stopped",
        }
    }

    /// The words of the wire that mean this (WIRE 18 #6).
    const fn wire(self) -> &'static [&'static str] {
        match self {
            Self::Waiting => &["CREATED"],
            Self::Running => &["RUNNING"],
            Self::Finished => &["SUCCESS", "FINISHED"],
            Self::Failed => &["FAILED"],
            Self::Stopped => &["TERMINATED", "CANCELLED", "CANCELED", "STOPPED"],
        }
    }

    fn fits(self, status: &Status) -> bool {
        matches!(
            (self, status),
            (Self::Waiting, Status::Created)
                | (Self::Running, Status::Running)
                | (Self::Finished, Status::Done)
                | (Self::Failed, Status::Failed)
                | (Self::Stopped, Status::Terminated)
        )
    }
}

/// Which tasks, and which page of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct TaskFilter {
    /// Part of the project's name, in any case; empty for all.
    pub(in crate::gateway) project: String,
    /// Empty for all.
    pub(in crate::gateway) states: Vec<State>,
    /// First day, in UTC.
    pub(in crate::gateway) from: Option<Date>,
    /// Last day, in UTC.
    pub(in crate::gateway) to: Option<Date>,
    /// Tasks that were made together.
    pub(in crate::gateway) group: Option<GroupId>,
    /// From 1.
    pub(in crate::gateway) page: u32,
}

impl Default for TaskFilter {
    fn default() -> Self {
        Self { project: String::new(), states: Vec::new(), from: None, to: None, group: None, page: 1 }
    }
}

impl TaskFilter {
    /// Tasks in one of `states`.
    pub(in crate::gateway) fn in_states(states: &[State]) -> Self {
        Self { states: states.to_vec(), ..Self::default() }
    }

    /// Tasks of one group.
    pub(in crate::gateway) fn in_group(group: GroupId) -> Self {
        Self { group: Some(group), ..Self::default() }
    }

    /// Reads the query of an address. Unknown names are passed over, unknown values are refused.
    pub(in crate::gateway) fn read(query: &str) -> Result<Self, Refused> {
        let mut filter = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "project" => filter.project = text("project", value)?,
                "status" if !value.is_empty() => {
                    let state = State::ALL.into_iter().find(|state| state.as_str() == value);
                    add(&mut filter.states, state.ok_or_else(|| unknown("status", value))?);
                }
                "from" => filter.from = day("from", value)?,
                "to" => filter.to = day("to", value)?,
                "group" if !value.is_empty() => filter.group = Some(value.parse().map_err(|_| unknown("group", value))?),
                "page" => filter.page = page(value)?,
                _ => {}
            }
        }
        if filter.from.zip(filter.to).is_some_and(|(from, to)| from > to) {
            return Err(Refused("The first day lies after the last day.".to_owned()));
        }
        Ok(filter)
    }

    /// The query of an address for `page`, without the question mark; empty for the first page of everything.
    pub(in crate::gateway) fn query(&self, page: u32) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        if !self.project.is_empty() {
            out.append_pair("project", &self.project);
        }
        for state in &self.states {
            out.append_pair("status", state.as_str());
        }
        for (name, day) in [("from", self.from), ("to", self.to)] {
            if let Some(day) = day {
                out.append_pair(name, &day_text(day));
            }
        }
        if let Some(group) = &self.group {
            out.append_pair("group", group.as_str());
        }
        paged(out, page)
    }

    /// The filter in words, one for each part that narrows.
    pub(in crate::gateway) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.project.is_empty() {
            words.push(format!("project name contains “{}”", Hostile::from(self.project.as_str()).short(80)));
        }
        if !self.states.is_empty() {
            let states: Vec<&str> = self.states.iter().map(|state| state.word()).collect();
            words.push(format!("status is {}", states.join(" or ")));
        }
        if let Some(from) = self.from {
            words.push(format!("created on or after {}", day_text(from)));
        }
        if let Some(to) = self.to {
            words.push(format!("created on or before {}", day_text(to)));
        }
        if let Some(group) = &self.group {
            words.push(format!("created together as group {}", Hostile::from(group.as_str()).short(40)));
        }
        words
    }

    /// The same for the service (WIRE 18 #3).
    pub(in crate::gateway) fn wire(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        if !self.project.is_empty() {
            filters.push(one("projectName", Operator::Like, self.project.as_str()));
        }
        if !self.states.is_empty() {
            let words: Vec<&str> = self.states.iter().flat_map(|state| state.wire()).copied().collect();
            filters.push(one("taskStatus", Operator::In, words));
        }
        if self.from.is_some() || self.to.is_some() {
            let first = start(self.from.unwrap_or(Date::from_ordinal_date(1970, 1).unwrap_or(Date::MIN)));
            let last = end(self.to.unwrap_or(Date::from_ordinal_date(2999, 365).unwrap_or(Date::MAX)));
            filters.push(one("createdAt", Operator::Between, vec![first.rfc3339(), last.rfc3339()]));
        }
        if let Some(group) = &self.group {
            filters.push(one("groupId", Operator::Eq, group.as_str()));
        }
        filters
    }

    /// Whether a row is one of those asked for.
    pub(in crate::gateway) fn fits(&self, task: &Task) -> bool {
        let name = self.project.is_empty() || contains(&task.project, &self.project);
        let state = self.states.is_empty() || self.states.iter().any(|state| state.fits(&task.status));
        let first = self.from.is_none_or(|from| task.created.is_some_and(|at| at >= start(from)));
        let last = self.to.is_none_or(|to| task.created.is_some_and(|at| at <= end(to)));
        let group = self.group.is_none() || task.group == self.group;
        name && state && first && last && group
    }
}

pub(super) fn contains(text: &Hostile, part: &str) -> bool {
    text.raw().to_lowercase().contains(&part.to_lowercase())
}

pub(super) fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

pub(super) fn unknown(name: &str, value: &str) -> Refused {
    Refused(format!("The filter “{name}” does not know the value “{}”.", Hostile::from(value).short(60)))
}

pub(super) fn text(name: &str, value: &str) -> Result<String, Refused> {
    if value.chars().count() > MAX_PROJECT_NAME {
        return Err(Refused(format!("The filter “{name}” takes at most {MAX_PROJECT_NAME} characters.")));
    }
    Ok(value.to_owned())
}

pub(super) fn day(name: &str, value: &str) -> Result<Option<Date>, Refused> {
    if value.is_empty() {
        return Ok(None);
    }
    let day = day_of(value).filter(|day| (1970..=2999).contains(&day.year()));
    day.map(Some).ok_or_else(|| Refused(format!("{} Write a day such as 2026-01-31.", unknown(name, value))))
}

pub(super) fn page(value: &str) -> Result<u32, Refused> {
    if value.is_empty() {
        return Ok(1);
    }
    whole(value).filter(|page| (1..=LAST_PAGE).contains(page)).ok_or_else(|| unknown("page", value))
}

pub(super) fn paged(mut out: form_urlencoded::Serializer<'_, String>, page: u32) -> String {
    if page > 1 {
        out.append_pair("page", &page.to_string());
    }
    out.finish()
}

/// Reads `2026-01-31` and nothing else: the library takes a sign before the year, too.
pub(in crate::gateway) fn day_of(text: &str) -> Option<Date> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    Date::parse(text, DAY).ok().filter(|_| is_plain && text.len() == "2026-01-31".len())
}

/// `2026-01-31`.
pub(in crate::gateway) fn day_text(day: Date) -> String {
    day.format(DAY).unwrap_or_default()
}

pub(super) fn start(day: Date) -> Timestamp {
    Timestamp(day.with_time(Time::MIDNIGHT).assume_utc().unix_timestamp() * 1000)
}

pub(super) fn end(day: Date) -> Timestamp {
    Timestamp(start(day).0 + 86_400_000 - 1)
}

/// One filter of the wire.
pub(in crate::gateway) fn one(field: &str, operator: Operator, value: impl Into<serde_json::Value>) -> Filter {
    Filter { field: field.to_owned(), operator, value: value.into() }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
