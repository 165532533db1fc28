//! Whose portal a request is for. Chosen by the host name alone, never by anything a user sends along.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Id of a tenant: 1 to 32 of `a-z`, `0-9` and `-`, not starting or ending with `-`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(in crate::gateway) struct TenantId(Arc<str>);

/// The text is no tenant id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tenant id is 1 to 32 of a-z, 0-9 and -, not starting or ending with -")]
pub(in crate::gateway) struct BadTenantId;

impl TenantId {
    /// Reads an id.
    ///
    /// # Errors
    /// [`BadTenantId`] for anything else; nothing is trimmed or folded.
    pub(in crate::gateway) fn parse(text: &str) -> Result<Self, BadTenantId> {
        let plain = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        let fits = (1..=32).contains(&text.len()) && !text.starts_with('-') && !text.ends_with('-');
        if plain && fits { Ok(Self(text.into())) } else { Err(BadTenantId) }
    }

    /// The id as text.
    pub(in crate::gateway) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl TryFrom<String> for TenantId {
    type Error = BadTenantId;

    fn try_from(text: String) -> Result<Self, BadTenantId> {
        Self::parse(&text)
    }
}

impl From<TenantId> for String {
    fn from(id: TenantId) -> Self {
        id.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::TenantId;

    #[test]
    fn only_short_plain_names_are_tenant_ids() {
        for good in ["acme", "a", "globex-2", "0", &"x".repeat(32)] {
            assert_eq!(TenantId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "Acme", "a b", "a/b", "a}b", "ä", " acme", "a\0", &"x".repeat(33)] {
            assert!(TenantId::parse(bad).is_err(), "{bad:?}");
        }
    }
}
