//! Who a person is, as the tenant's identity provider says.

use serde_json::Value;

use crate::platform::hostile::Hostile;

/// A person. `(tenant, issuer, subject)` is the key; the mail address never is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Identity {
    pub issuer: String,
    /// The provider's identifier of the person; opaque.
    pub subject: String,
    pub name: Hostile,
    pub email: Hostile,
    /// Values of the role claim, as they came.
    pub roles: Vec<String>,
    /// Whether one of the roles makes an administrator.
    pub is_administrator: bool,
    /// Whether the roles let the person in at all.
    pub is_admitted: bool,
    /// `sub` and `sid` of the id token, by which the provider ends sessions; none without an id token.
    pub origin: Option<Origin>,
    /// `auth_time`: when the provider asked the person last who they are, in seconds since the epoch by its clock; none where it
    /// does not tell.
    pub asked_at: Option<i64>,
    /// All claims as they came.
    pub raw: Value,
}

/// A session at the provider, as its id token names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `sub`: the person, whatever claim the portal takes for its own subject.
    pub subject: String,
    /// `sid`: the session, where the provider tells it.
    pub session: Option<String>,
    /// `iat`: when the provider said so, in seconds since the epoch by its clock.
    pub told_at: i64,
}
