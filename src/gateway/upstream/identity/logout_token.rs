//! Checks logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6). That none is used twice is for those who keep
//! something; whether the provider signed it is [`Keys`](super::keys::Keys)' to say.

use serde_json::Value;

use super::IdentityError;
use super::keys::{Signed, time};

/// The one event.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// The longest identifiers that are taken.
const LONGEST: usize = 255;

/// Whose sessions end. At least one of subject and session is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedOut {
    pub issuer: String,
    /// `sub` of id tokens.
    pub subject: Option<String>,
    /// `sid` of id tokens.
    pub session: Option<String>,
    /// `jti`: this token is good once.
    pub id: String,
    /// `iat`: when the provider said so, in seconds since the epoch by its clock.
    pub told_at: i64,
}

/// What the token must say.
#[derive(Clone, Copy)]
pub(super) struct Expected<'e> {
    pub(super) issuer: &'e str,
    pub(super) now: i64,
    /// Seconds by which clocks may differ.
    pub(super) leeway: i64,
    /// Seconds that a token is good for after it was made.
    pub(super) lifetime: i64,
    /// The type `logout+jwt` and an expiry have to be there: providers from before the final specification send neither.
    pub(super) strict: bool,
}

/// What a good token asks for.
pub(super) fn check(signed: &Signed, expected: Expected<'_>) -> Result<LoggedOut, IdentityError> {
    let bad = |why| Err(IdentityError::BadLogoutToken(why));
    let Expected { now, leeway, lifetime, strict, .. } = expected;
    let claims = &signed.claims;
    let kind = signed.kind.as_deref().unwrap_or("JWT").to_ascii_lowercase();
    let kind = kind.strip_prefix("application/").unwrap_or(&kind);
    if kind != "logout+jwt" && (strict || kind != "jwt") {
        return bad("it is another kind of token");
    }
    if !claims.get("events").and_then(|events| events.get(EVENT)).is_some_and(Value::is_object) {
        return bad("it speaks of no sign-out");
    }
    if claims.get("nonce").is_some() {
        return bad("it has a nonce");
    }
    let Some(made) = time(claims, "iat") else { return bad("it does not tell when it was made") };
    if made.saturating_sub(leeway) > now {
        return bad("it is from the future");
    }
    if made.saturating_add(lifetime).saturating_add(leeway) < now {
        return bad("it is too old");
    }
    match time(claims, "exp") {
        Some(over) if over.saturating_add(leeway) <= now => return bad("it is over"),
        None if strict || claims.get("exp").is_some() => return bad("it does not tell when it is over"),
        _ => {}
    }
    let text = |name: &str| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if (1..=LONGEST).contains(&text.len()) => Ok(Some(text.clone())),
        Some(_) => Err(IdentityError::BadLogoutToken("one of its identifiers is no text of a usable length")),
    };
    let (subject, session) = (text("sub")?, text("sid")?);
    if subject.is_none() && session.is_none() {
        return bad("it names neither person nor session");
    }
    let id = text("jti")?.ok_or(IdentityError::BadLogoutToken("it has no id"))?;
    Ok(LoggedOut { issuer: expected.issuer.to_owned(), subject, session, id, told_at: made })
}
