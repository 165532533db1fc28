//! What a company allows its members to share, and how doors are guarded. Every number here is the company's own; the settings
//! say what holds where it says nothing.

use serde::{Deserialize, Serialize};

/// The rules of shares in one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gateway) struct SharePolicy {
    /// A share may be made without a code: then the link alone opens it.
    pub(in crate::gateway) without_code: bool,
    /// A share ends this many days after today unless its maker says otherwise.
    pub(in crate::gateway) usual_days: u32,
    /// A share ends at most this many days after today.
    pub(in crate::gateway) most_days: u32,
    /// A share opens at most this often; none leaves it to its maker.
    pub(in crate::gateway) most_views: Option<u32>,
    /// A maker may let recipients see evidence and proof-of-concept text.
    pub(in crate::gateway) evidence: bool,
    /// Minutes an opened share stays open for its recipient.
    pub(in crate::gateway) grant_minutes: u32,
    /// Wrong codes per share and network before that network has to wait.
    pub(in crate::gateway) wrong_by_network: u32,
    /// Minutes those count, and that it then waits.
    pub(in crate::gateway) network_minutes: u32,
    /// Wrong codes per share from all networks together before everybody has to wait.
    pub(in crate::gateway) wrong_anywhere: u32,
    /// Minutes those count.
    pub(in crate::gateway) anywhere_minutes: u32,
    /// Minutes everybody then waits.
    pub(in crate::gateway) locked_minutes: u32,
    /// Wrong codes in the life of a code after which it opens nothing any more.
    pub(in crate::gateway) wrong_in_life: u32,
    /// Days a share that is over stays in the list, without what it showed and without its code.
    pub(in crate::gateway) kept_days: u32,
}

#[cfg(test)]
pub(in crate::gateway) mod tests {
    use super::*;

    /// What settings may give.
    pub(in crate::gateway) const GIVEN: SharePolicy = SharePolicy {
        without_code: true,
        usual_days: 7,
        most_days: 90,
        most_views: None,
        evidence: true,
        grant_minutes: 30,
        wrong_by_network: 5,
        network_minutes: 15,
        wrong_anywhere: 20,
        anywhere_minutes: 10,
        locked_minutes: 30,
        wrong_in_life: 100,
        kept_days: 180,
    };
}
