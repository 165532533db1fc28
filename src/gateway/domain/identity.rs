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
    /// All claims as they came.
    pub raw: Value,
}
