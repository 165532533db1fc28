//! Tolerant reading of answers (WIRE "Reading rules for all answers"): nothing an answer holds or lacks is an error as long as
//! the one thing that is needed from it is there. Unknown fields stay in `raw`.

mod chains;
mod components;
mod results;
mod shares;
mod tasks;

use std::str::FromStr;

use serde_json::Value;

use crate::gateway::domain::page::Listing;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

pub(super) use chains::chain;
pub(super) use components::component_row;
pub(super) use results::{finding, finding_row};
pub(super) use shares::{created_share, public_share, share_row};
pub(super) use tasks::{counts, created, statistics, task};

/// Keys that stand beside `data` in an envelope.
const ENVELOPE: [&str; 9] = ["success", "data", "message", "msg", "code", "status", "timestamp", "requestId", "traceId"];
const LISTS: [&str; 4] = ["data", "list", "items", "records"];
/// Captured sessions: removed wherever they stand (rule 9).
const SECRET_KEYS: [&str; 2] = ["sandboxauthinfos", "sandboxauthheaders"];

/// The object itself, or what an envelope around it holds (rule 3).
pub(super) fn unwrapped(value: &Value) -> &Value {
    match (value.as_object(), value.get("data")) {
        (Some(all), Some(data)) if all.keys().all(|key| ENVELOPE.contains(&key.as_str())) => data,
        _ => value,
    }
}

/// The items of a list answer and the total (rule 3).
pub(super) fn list<'v>(value: &'v Value, extra: &[&str]) -> Listing<&'v Value> {
    if let Some(items) = value.as_array() {
        return Listing { items: items.iter().collect(), total: items.len() as u64 };
    }
    let names = || extra.iter().chain(&LISTS);
    if let Some(items) = names().find_map(|name| value.get(name)?.as_array()) {
        let total = unsigned(value, &["total", "totalCount"]).unwrap_or(items.len() as u64);
        return Listing { items: items.iter().collect(), total };
    }
    value.get("data").filter(|data| data.is_object()).map_or_else(Listing::default, |data| list(data, extra))
}

/// The first of `names` that is there and not null (rule 4).
pub(super) fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().find_map(|name| value.get(name).filter(|found| !found.is_null()))
}

/// Text of the first of `names`; numbers and objects become text, nothing is empty.
pub(super) fn text(value: &Value, names: &[&str]) -> Hostile {
    field(value, names).map_or_else(Hostile::default, plain)
}

/// Any value as text.
pub(super) fn plain(value: &Value) -> Hostile {
    match value {
        Value::Null => Hostile::default(),
        Value::String(text) => Hostile::new(text.clone()),
        other => Hostile::new(other.to_string()),
    }
}

/// A list of texts; a single text is a list of one.
pub(super) fn texts(value: &Value, names: &[&str]) -> Vec<Hostile> {
    match field(value, names) {
        Some(Value::Array(items)) => items.iter().map(plain).filter(|text| !text.is_empty()).collect(),
        Some(single) => Some(plain(single)).filter(|text| !text.is_empty()).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A list of objects, each read by `read`; what cannot be read is left out.
pub(super) fn objects<T>(value: &Value, names: &[&str], read: impl FnMut(&Value) -> Option<T>) -> Vec<T> {
    field(value, names).and_then(Value::as_array).map(|items| items.iter().filter_map(read).collect()).unwrap_or_default()
}

/// An identifier of the contract.
pub(super) fn id<T: FromStr>(value: &Value, names: &[&str]) -> Option<T> {
    plain(field(value, names)?).raw().trim().parse().ok()
}

/// Identifiers in a list.
pub(super) fn ids<T: FromStr>(value: &Value, names: &[&str]) -> Vec<T> {
    texts(value, names).iter().filter_map(|text| text.raw().trim().parse().ok()).collect()
}

/// A count; may be text (rule 6).
pub(super) fn unsigned(value: &Value, names: &[&str]) -> Option<u64> {
    integer(value, names).and_then(|number| u64::try_from(number).ok())
}

/// A whole number; may be text or have a fraction (rule 6).
pub(super) fn integer(value: &Value, names: &[&str]) -> Option<i64> {
    decimal(value, names).and_then(whole)
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: f64) -> Option<i64> {
    (number.abs() < 9.0e15).then_some(number as i64)
}

/// A number; may be text (rule 6).
pub(super) fn decimal(value: &Value, names: &[&str]) -> Option<f64> {
    match field(value, names)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// A yes or no; may be text or a number.
pub(super) fn flag(value: &Value, names: &[&str]) -> Option<bool> {
    match field(value, names)? {
        Value::Bool(flag) => Some(*flag),
        other => match plain(other).raw().trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        },
    }
}

/// A time: ISO with or without zone, `YYYY-MM-DD HH:MM:SS` in UTC, a date, or milliseconds (rule 6).
pub(super) fn time(value: &Value, names: &[&str]) -> Option<Timestamp> {
    match field(value, names)? {
        Value::Number(_) => integer(value, names).map(Timestamp),
        Value::String(text) => instant(text.trim()),
        _ => None,
    }
}

fn instant(text: &str) -> Option<Timestamp> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(Timestamp);
    }
    let (date, clock) = text.split_at_checked(10)?;
    let Some(clock) = clock.strip_prefix(['T', 't', ' ']) else {
        return clock.is_empty().then(|| Timestamp::parse_rfc3339(&format!("{date}T00:00:00Z"))).flatten();
    };
    let zone = clock.find(['Z', 'z', '+', '-']);
    let (clock, zone) = zone.map_or((clock, "Z"), |at| clock.split_at(at));
    let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
    let zone = match zone.len() {
        3 => format!("{zone}:00"),
        5 => zone.split_at_checked(3).map(|(hours, minutes)| format!("{hours}:{minutes}"))?,
        _ => zone.to_owned(),
    };
    Timestamp::parse_rfc3339(&format!("{date}T{clock}{seconds}{zone}"))
}

/// JSON that may stand in a string (rule 5): the text to show, and the object or list if it is one.
pub(super) fn embedded(value: &Value, names: &[&str]) -> (Hostile, Option<Value>) {
    match field(value, names) {
        Some(Value::String(text)) => {
            let parsed = serde_json::from_str(text).ok().filter(|parsed: &Value| parsed.is_object() || parsed.is_array());
            (Hostile::new(text.clone()), parsed)
        }
        Some(found @ (Value::Object(_) | Value::Array(_))) => {
            (Hostile::new(serde_json::to_string_pretty(found).unwrap_or_default()), Some(found.clone()))
        }
        Some(other) => (plain(other), None),
        None => (Hostile::default(), None),
    }
}

/// Removes captured sessions at any depth, also from JSON inside strings (rule 9).
pub(super) fn without_secrets(mut value: Value) -> Value {
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !SECRET_KEYS.contains(&key.to_ascii_lowercase().as_str()));
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::String(text) if SECRET_KEYS.iter().any(|key| text.to_ascii_lowercase().contains(key)) => {
            *text = match serde_json::from_str::<Value>(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => without_secrets(inner).to_string(),
                _ => String::new(),
            };
        }
        _ => {}
    }
}
