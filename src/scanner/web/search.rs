//! Filters, sorts and pages, the same for every list (WIRE 18 #3).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::time::Duration;

use actix_web::HttpResponse;
use serde::Serialize;
use serde_json::Value;

use super::App;
use super::error::Failure;
use super::tasks;
use crate::contract::ids::TaskId;
use crate::contract::limits::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE};
use crate::contract::results::Severity;
use crate::contract::tasks::{Filter, Operator, Page, Search};
use crate::platform::clock::Timestamp;
use crate::scanner::identity::Caller;
use crate::scanner::store::{Store, StoreError};

/// What a field holds, and so how it compares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// EQ and IN compare without regard to case, LIKE looks for a part.
    Text,
    /// EQ and IN.
    Severity,
    /// EQ, GE, LE and BETWEEN.
    Time,
}

/// The content of a field.
pub(super) enum Field<'a> {
    Text(Cow<'a, str>),
    Severity(Severity),
    Time(Timestamp),
}

/// A row of a list.
pub(super) trait Row {
    /// The fields a search may use.
    const FIELDS: &'static [(&'static str, Kind)];

    /// The content of a field of [`Row::FIELDS`].
    fn field(&self, name: &str) -> Option<Field<'_>>;
}

/// The page of a search in what `read` gives of a task of the caller. A task that has not ended has nothing yet.
pub(super) async fn of_task<R: Row + Serialize + Send + 'static>(
    app: &App,
    caller: &Caller,
    task: &str,
    search: &Search,
    read: fn(&Store, &TaskId) -> Result<Vec<R>, StoreError>,
) -> Result<HttpResponse, Failure> {
    let task = tasks::find(app, caller, task).await?;
    let rows = app.store.run(move |store| read(store, &task.id)).await.map_err(Failure::internal)?;
    Ok(HttpResponse::Ok().json(page(rows, search)?))
}

/// Filters and sorts `rows`, which come in the order that stands when no sort is asked for, and takes one page.
pub(super) fn page<R: Row>(mut rows: Vec<R>, search: &Search) -> Result<Page<R>, Failure> {
    let size = search.size.unwrap_or(DEFAULT_PAGE_SIZE);
    if !(1..=MAX_PAGE_SIZE).contains(&size) {
        return Err(Failure::bad(format!("size must lie between 1 and {MAX_PAGE_SIZE}.")));
    }
    for filter in &search.filters {
        let test = Test::read(known::<R>(&filter.field)?, filter)?;
        rows.retain(|row| row.field(&filter.field).is_some_and(|field| test.passes(&field)));
    }
    // Sorts are stable: the last one first leaves the first one in charge.
    for sort in search.sorts.iter().rev() {
        let (name, descending) = sort.strip_prefix('-').map_or((sort.as_str(), false), |name| (name, true));
        known::<R>(name)?;
        rows.sort_by(|left, right| {
            let order = compare(left.field(name), right.field(name));
            if descending { order.reverse() } else { order }
        });
    }
    let total = rows.len() as u64;
    let first = usize::try_from(u64::from(search.page.unwrap_or(0)) * u64::from(size)).unwrap_or(usize::MAX);
    let data = rows.into_iter().skip(first).take(size as usize).collect();
    Ok(Page { data, total })
}

fn known<R: Row>(name: &str) -> Result<Kind, Failure> {
    R::FIELDS.iter().find(|(field, _)| *field == name).map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<&str> = R::FIELDS.iter().map(|(field, _)| *field).collect();
        Failure::bad(format!("A filter or sort names an unknown field. Known are: {}.", names.join(", ")))
    })
}

fn compare(left: Option<Field<'_>>, right: Option<Field<'_>>) -> Ordering {
    match (left, right) {
        (Some(Field::Text(left)), Some(Field::Text(right))) => left.to_lowercase().cmp(&right.to_lowercase()),
        (Some(Field::Severity(left)), Some(Field::Severity(right))) => left.cmp(&right),
        (Some(Field::Time(left)), Some(Field::Time(right))) => left.cmp(&right),
        // What has no such field comes last.
        (left, right) => left.is_none().cmp(&right.is_none()),
    }
}

/// A filter that was understood.
enum Test {
    OneOf(Vec<String>),
    Contains(String),
    Bands(Vec<Severity>),
    Span(Option<Timestamp>, Option<Timestamp>),
}

impl Test {
    fn read(kind: Kind, filter: &Filter) -> Result<Self, Failure> {
        match (kind, filter.operator) {
            (Kind::Time, _) => span(filter).map(|(from, to)| Self::Span(from, to)),
            (Kind::Text, Operator::Like) => lower(filter, &filter.value).map(Self::Contains),
            (Kind::Text, Operator::Eq) => Ok(Self::OneOf(vec![lower(filter, &filter.value)?])),
            (Kind::Text, Operator::In) => {
                list(filter)?.iter().map(|one| lower(filter, one)).collect::<Result<_, _>>().map(Self::OneOf)
            }
            (Kind::Severity, Operator::Eq) => Ok(Self::Bands(vec![band(filter, &filter.value)?])),
            (Kind::Severity, Operator::In) => {
                list(filter)?.iter().map(|one| band(filter, one)).collect::<Result<_, _>>().map(Self::Bands)
            }
            (Kind::Text, _) => Err(wrong(filter, "EQ, LIKE or IN")),
            (Kind::Severity, _) => Err(wrong(filter, "EQ or IN")),
        }
    }

    fn passes(&self, field: &Field<'_>) -> bool {
        match (self, field) {
            (Self::OneOf(words), Field::Text(text)) => words.contains(&text.to_lowercase()),
            (Self::Contains(part), Field::Text(text)) => text.to_lowercase().contains(part),
            (Self::Bands(bands), Field::Severity(severity)) => bands.contains(severity),
            (Self::Span(from, to), Field::Time(time)) => from.is_none_or(|from| *time >= from) && to.is_none_or(|to| *time <= to),
            _ => false,
        }
    }
}

fn lower(filter: &Filter, value: &Value) -> Result<String, Failure> {
    let text = value.as_str().ok_or_else(|| Failure::bad(format!("The filter on {} takes text.", filter.field)))?;
    Ok(text.to_lowercase())
}

fn list(filter: &Filter) -> Result<&[Value], Failure> {
    let list =
        filter.value.as_array().ok_or_else(|| Failure::bad(format!("The filter on {} takes a list here.", filter.field)))?;
    Ok(list)
}

fn band(filter: &Filter, value: &Value) -> Result<Severity, Failure> {
    Severity::read(&lower(filter, value)?).ok_or_else(|| Failure::bad("severity is critical, high, medium or low."))
}

fn wrong(filter: &Filter, operators: &str) -> Failure {
    Failure::bad(format!("The filter on {} takes the operator {operators}.", filter.field))
}

/// The first and the last instant a time filter lets through.
fn span(filter: &Filter) -> Result<(Option<Timestamp>, Option<Timestamp>), Failure> {
    let instant = |value: &Value, end| {
        instant(value, end)
            .ok_or_else(|| Failure::bad(format!("The filter on {} takes times such as 2026-01-31T12:00:00Z.", filter.field)))
    };
    let value = &filter.value;
    match (filter.operator, value.as_array().map(Vec::as_slice)) {
        (Operator::Eq, None) => Ok((Some(instant(value, false)?), Some(instant(value, true)?))),
        (Operator::Ge, None) => Ok((Some(instant(value, false)?), None)),
        (Operator::Le, None) => Ok((None, Some(instant(value, true)?))),
        (Operator::Between, Some([from, to])) => Ok((Some(instant(from, false)?), Some(instant(to, true)?))),
        (Operator::Between, _) => {
            Err(Failure::bad(format!("The filter on {} takes a list of two times for BETWEEN.", filter.field)))
        }
        _ => Err(wrong(filter, "EQ, GE, LE or BETWEEN")),
    }
}

/// RFC 3339, milliseconds, or a date in UTC: its first instant, or its last one when it ends a span.
fn instant(value: &Value, ends: bool) -> Option<Timestamp> {
    if let Some(milliseconds) = value.as_i64() {
        return Some(Timestamp(milliseconds));
    }
    let text = value.as_str()?.trim();
    if text.len() != "2026-01-31".len() {
        return Timestamp::parse_rfc3339(text);
    }
    let start = Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    Some(if ends { start.after(Duration::from_millis(86_400_000 - 1)) } else { start })
}
