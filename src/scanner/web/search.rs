//! Filters, sorts and pages, the same for every list (WIRE 18 #3): from the wire to a query of the store.

use std::time::Duration;

use actix_web::HttpResponse;
use serde::Serialize;
use serde_json::Value;

use super::App;
use super::error::Failure;
use super::tasks;
use crate::contract::limits::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE};
use crate::contract::results::Severity;
use crate::contract::searches::{FARTHEST, Kind};
use crate::contract::tasks::{Filter, Operator, Search};
use crate::platform::clock::Timestamp;
use crate::scanner::identity::Caller;
use crate::scanner::store::lists::Kept;
use crate::scanner::store::query::{Field, Listed, Query, Test, folded};

/// The page of a search in a list of a task of the caller. A task that has not ended has nothing yet.
pub(super) async fn of_task<R: Kept + Serialize + Send + 'static>(
    app: &App,
    caller: &Caller,
    task: &str,
    search: &Search,
) -> Result<HttpResponse, Failure> {
    let task = tasks::find(app, caller, task).await?;
    let query = query::<R>(search)?;
    let page = app.store.run(move |store| store.page::<R>(task.id.as_str(), &query)).await.map_err(Failure::internal)?;
    Ok(HttpResponse::Ok().json(page))
}

/// Understands a search in a list of `R`.
pub(super) fn query<R: Listed>(search: &Search) -> Result<Query, Failure> {
    let size = search.size.unwrap_or(DEFAULT_PAGE_SIZE);
    if !(1..=MAX_PAGE_SIZE).contains(&size) {
        return Err(Failure::bad(format!("size must lie between 1 and {MAX_PAGE_SIZE}.")));
    }
    let mut query =
        Query { first: u64::from(search.page.unwrap_or(0)) * u64::from(size), size: size as usize, ..Query::default() };
    for filter in &search.filters {
        let (at, kind) = known::<R>(&filter.field)?;
        query.tests.push((at, test(kind, filter)?));
    }
    for sort in &search.sorts {
        let (name, is_descending) = sort.strip_prefix('-').map_or((sort.as_str(), false), |name| (name, true));
        query.sorts.push((known::<R>(name)?.0, is_descending));
    }
    Ok(query)
}

fn known<R: Listed>(name: &str) -> Result<(usize, Kind), Failure> {
    let at = R::FIELDS.iter().enumerate().find(|(_, (field, _))| *field == name).map(|(at, (_, kind))| (at, *kind));
    at.ok_or_else(|| {
        let names: Vec<&str> = R::FIELDS.iter().map(|(field, _)| *field).collect();
        Failure::bad(format!("A filter or sort names an unknown field. Known are: {}.", names.join(", ")))
    })
}

/// What a filter asks of a field of this kind.
fn test(kind: Kind, filter: &Filter) -> Result<Test, Failure> {
    let text = |value: &Value| Ok(Field::Text(&lower(filter, value)?).encoded());
    let severity = |value: &Value| Ok(Field::Severity(band(filter, value)?).encoded());
    match (kind, filter.operator) {
        (Kind::Time, _) => span(filter).map(|(from, to)| Test::Span(from, to)),
        (Kind::Text, Operator::Like) => lower(filter, &filter.value).map(Test::Contains),
        (Kind::Text, Operator::Eq) => Ok(Test::OneOf(vec![text(&filter.value)?])),
        (Kind::Text, Operator::In) => list(filter)?.iter().map(text).collect::<Result<_, _>>().map(Test::OneOf),
        (Kind::Severity, Operator::Eq) => Ok(Test::OneOf(vec![severity(&filter.value)?])),
        (Kind::Severity, Operator::In) => list(filter)?.iter().map(severity).collect::<Result<_, _>>().map(Test::OneOf),
        (Kind::Text, _) => Err(wrong(filter, "EQ, LIKE or IN")),
        (Kind::Severity, _) => Err(wrong(filter, "EQ or IN")),
    }
}

fn lower(filter: &Filter, value: &Value) -> Result<String, Failure> {
    let text = value.as_str().ok_or_else(|| Failure::bad(format!("The filter on {} takes text.", filter.field)))?;
    Ok(folded(text))
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
    if let Some(number) = value.as_f64() {
        // `3.0` is a whole number of JSON too.
        let whole = value.as_i64().or_else(|| format!("{number:.0}").parse().ok().filter(|_| number.fract() == 0.0));
        return whole.filter(|whole| (-FARTHEST..=FARTHEST).contains(whole)).map(Timestamp);
    }
    let text = value.as_str()?.trim();
    if text.len() != "2026-01-31".len() {
        return Timestamp::parse_rfc3339(text);
    }
    let start = Timestamp::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    Some(if ends { start.after(Duration::from_millis(86_400_000 - 1)) } else { start })
}
