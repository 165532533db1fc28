//! Who a person is, from the claims of userinfo and id token, by the tenant's configured claim paths.

use serde_json::{Map, Value};

use crate::config::gateway::Identity as Settings;
use crate::gateway::domain::identity::{Identity, Origin};
use crate::platform::hostile::Hostile;

use super::super::reading;
use super::{IdentityError, keys};

/// The longest identifier of a person that is taken.
const LONGEST_SUBJECT: usize = 255;

/// Userinfo's claims win over those of the id token, which fill what userinfo does not tell.
pub(super) fn identity(
    settings: &Settings,
    issuer: &str,
    proven: Option<&Value>,
    told: Option<Value>,
) -> Result<Identity, IdentityError> {
    let mut all = told.and_then(|claims| if let Value::Object(map) = claims { Some(map) } else { None }).unwrap_or_default();
    for (name, value) in proven.and_then(Value::as_object).unwrap_or(&Map::new()) {
        if !all.contains_key(name) {
            all.insert(name.clone(), value.clone());
        }
    }
    let claims = Value::Object(all);
    let paths = &settings.claims;
    let subject = text(&claims, &paths.subject);
    let subject = subject.raw().trim();
    if subject.is_empty() || subject.len() > LONGEST_SUBJECT || subject.chars().any(char::is_control) {
        return Err(IdentityError::Garbage("it does not tell who the person is"));
    }
    let mut name = text(&claims, &paths.name);
    if name.is_empty() {
        let parts = [reading::text(&claims, &["given_name"]), reading::text(&claims, &["family_name"])];
        name = Hostile::new(parts.iter().map(|part| part.raw().trim()).collect::<Vec<_>>().join(" ").trim());
    }
    let roles = roles(&claims, &paths.role);
    let one_of = |values: &[String]| roles.iter().any(|role| values.contains(role));
    let is_administrator = one_of(&settings.administrator_values);
    let is_admitted = is_administrator || settings.member_values.is_empty() || one_of(&settings.member_values);
    let asked_at = proven.into_iter().chain([&claims]).find_map(|claims| keys::time(claims, "auth_time"));
    Ok(Identity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        name,
        email: text(&claims, &paths.email),
        is_administrator,
        is_admitted,
        origin: proven.and_then(origin),
        asked_at,
        roles,
        raw: claims,
    })
}

/// Session and person as the id token names them.
fn origin(proven: &Value) -> Option<Origin> {
    let plain = |name: &str| proven.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    Some(Origin { subject: plain("sub")?, session: plain("sid"), told_at: keys::time(proven, "iat").unwrap_or(i64::MAX) })
}

/// The claim of a path: a key of that whole name, or a way through objects along the dots.
fn claim<'c>(claims: &'c Value, path: &str) -> Option<&'c Value> {
    let found = claims.get(path).or_else(|| path.split('.').try_fold(claims, |at, key| at.get(key)));
    found.filter(|value| !value.is_null())
}

fn first<'c>(claims: &'c Value, paths: &[String]) -> Option<&'c Value> {
    paths.iter().find_map(|path| claim(claims, path))
}

/// Text or number of the first path that is there; an object is none.
fn text(claims: &Value, paths: &[String]) -> Hostile {
    match first(claims, paths) {
        Some(value @ (Value::String(_) | Value::Number(_))) => reading::plain(value),
        _ => Hostile::default(),
    }
}

/// A list of roles, or one.
fn roles(claims: &Value, paths: &[String]) -> Vec<String> {
    match first(claims, paths) {
        Some(Value::String(role)) => vec![role.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
