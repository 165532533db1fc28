//! What may be shown about a server key (SK) of the scanning service. The key itself is never in here.

use serde::{Deserialize, Serialize};

use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Metadata of one server key of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct ServerKey {
    /// 22 URL-safe characters, made here.
    pub(in crate::gateway) id: String,
    pub(in crate::gateway) label: Hostile,
    /// The last four characters of the key; empty when it is too short to show any.
    pub(in crate::gateway) last_four: String,
    /// The first 16 hexadecimal characters of a keyed hash: the same key added twice is recognised by it.
    pub(in crate::gateway) fingerprint: String,
    pub(in crate::gateway) created_at: Timestamp,
    /// Name of the administrator who added it.
    pub(in crate::gateway) created_by: Hostile,
    /// Whether calls of the tenant may use it. At most two are, so that one can take the other's place; the newest is used.
    pub(in crate::gateway) active: bool,
    /// When it was made active last; keys of older records do not tell.
    #[serde(default)]
    pub(in crate::gateway) activated_at: Option<Timestamp>,
    /// The last test against the service.
    pub(in crate::gateway) last_tested: Option<KeyTest>,
    /// When it was last used, as records of an earlier version tell; see [`Uses`](super::uses::Uses).
    pub(in crate::gateway) last_used: Option<Timestamp>,
}

impl ServerKey {
    /// What puts active keys in order: the newest is used.
    pub(in crate::gateway) fn since(&self) -> Timestamp {
        self.activated_at.unwrap_or(self.created_at)
    }
}

/// Outcome of a test call with a server key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct KeyTest {
    pub(in crate::gateway) at: Timestamp,
    pub(in crate::gateway) ok: bool,
    /// What the service said, in words for an administrator.
    pub(in crate::gateway) words: Hostile,
}
