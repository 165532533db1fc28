//! Checks id tokens: audience, party, times, nonce. Whether the provider signed them is `keys` to say.

use serde_json::Value;

use crate::platform::digest::same;

use super::IdentityError;
use super::keys::{Signed, time};

/// What the token must say.
#[derive(Clone, Copy)]
pub(super) struct Expected<'e> {
    pub(super) client_id: &'e str,
    /// None at a refresh, where there was no login page.
    pub(super) nonce: Option<&'e str>,
    pub(super) now: i64,
    /// Seconds by which clocks may differ.
    pub(super) leeway: i64,
}

/// The claims of a good id token.
pub(super) fn check(signed: Signed, expected: Expected<'_>) -> Result<Value, IdentityError> {
    let bad = |why| Err(IdentityError::BadIdToken(why));
    let (claims, now, leeway) = (signed.claims, expected.now, expected.leeway);
    if signed.kind.is_some_and(|kind| kind.eq_ignore_ascii_case("logout+jwt") || kind.eq_ignore_ascii_case("at+jwt")) {
        return bad("it is another kind of token");
    }
    if claims.get("sub").and_then(Value::as_str).is_none_or(str::is_empty) {
        return bad("it does not tell who the person is");
    }
    if time(&claims, "exp").is_none_or(|exp| exp.saturating_add(leeway) <= now) {
        return bad("it is over");
    }
    if ["iat", "nbf"].iter().any(|name| time(&claims, name).is_some_and(|at| at.saturating_sub(leeway) > now)) {
        return bad("it is from the future");
    }
    let party = claims.get("azp").and_then(Value::as_str);
    let many = claims.get("aud").and_then(Value::as_array).is_some_and(|all| all.len() > 1);
    if party.is_some_and(|party| party != expected.client_id) || (many && party.is_none()) {
        return bad("it was made for another client");
    }
    let Some(nonce) = expected.nonce else {
        return Ok(claims);
    };
    match claims.get("nonce").and_then(Value::as_str) {
        Some(found) if same(found.as_bytes(), nonce.as_bytes()) => Ok(claims),
        _ => bad("its nonce is another"),
    }
}
