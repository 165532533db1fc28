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
    /// Whether calls of the tenant use it. At most one does.
    pub(in crate::gateway) active: bool,
    /// The last test against the service.
    pub(in crate::gateway) last_tested: Option<KeyTest>,
    /// When it was last used, to within a minute.
    pub(in crate::gateway) last_used: Option<Timestamp>,
}

/// Outcome of a test call with a server key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct KeyTest {
    pub(in crate::gateway) at: Timestamp,
    pub(in crate::gateway) ok: bool,
    /// What the service said, in words for an administrator.
    pub(in crate::gateway) words: Hostile,
}
