//! What a signed-in user may do in a tenant.

use serde::{Deserialize, Serialize};

/// The two roles. An administrator may do all a member may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::gateway) enum Role {
    /// Scans, reads, shares.
    Member,
    /// Also keeps the server keys and sees the sessions of the tenant.
    Administrator,
}

impl Role {
    /// One word, for the audit trail.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Administrator => "administrator",
        }
    }
}
