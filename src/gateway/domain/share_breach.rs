//! Shares that are not as their company's policy says now: it was another one when they were made, or a program made them.

use serde::{Deserialize, Serialize};

use super::share_entry::Entry;
use super::share_policy::SharePolicy;
use crate::platform::clock::Timestamp;

/// What a share does that the policy does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::gateway) enum Breach {
    /// The link alone opens it.
    NoCode,
    /// It never ends.
    NoEnd,
    /// It ends later than one made today could.
    TooLong,
    /// It opens more often than it may, or without end.
    TooOften,
    /// It shows evidence and proof-of-concept text.
    ShowsEvidence,
}

/// Whether the policy keeps the door of this share closed, though nothing else does: it has no code, and the company allows none
/// without. Every other breach leaves a share as it is.
pub(in crate::gateway) const fn is_closed(entry: &Entry, policy: &SharePolicy) -> bool {
    !entry.needs_code && !policy.without_code
}

/// Everything about this share that the policy does not allow.
pub(in crate::gateway) fn breaches(entry: &Entry, policy: &SharePolicy, now: Timestamp) -> Vec<Breach> {
    let too_long = entry.ends.is_some_and(|ends| policy.is_too_late(ends, now));
    let too_often = policy.most_views.is_some_and(|most| entry.most_views.is_none_or(|views| views > most));
    let all = [
        (is_closed(entry, policy), Breach::NoCode),
        (entry.ends.is_none(), Breach::NoEnd),
        (too_long, Breach::TooLong),
        (too_often, Breach::TooOften),
        (!entry.hides_evidence && !policy.evidence, Breach::ShowsEvidence),
    ];
    all.into_iter().filter(|(is_one, _)| *is_one).map(|(_, breach)| breach).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::contract::shares::ShareType;
    use crate::gateway::domain::share_entry::Maker;
    use crate::gateway::domain::tenant_policy::tests::given;

    const NOW: Timestamp = Timestamp(1_795_828_230_250);

    fn entry(days: Option<u64>) -> Entry {
        let maker = Maker { key: "k".to_owned(), name: "Bob".into() };
        Entry {
            ends: days.map(|days| NOW.after(Duration::from_hours(24 * days))),
            needs_code: true,
            most_views: Some(5),
            hides_evidence: true,
            ..Entry::new("share-1".parse().unwrap(), "t1".parse().unwrap(), ShareType::Report, maker, NOW, 180)
        }
    }

    #[test]
    fn what_the_policy_does_not_allow_is_named_and_nothing_else() {
        let policy = SharePolicy { without_code: false, evidence: false, most_views: Some(5), most_days: 30, ..given().shares };
        assert_eq!(breaches(&entry(Some(30)), &policy, NOW), []);
        let open = Entry { needs_code: false, most_views: None, hides_evidence: false, ..entry(Some(31)) };
        assert_eq!(breaches(&open, &policy, NOW), [Breach::NoCode, Breach::TooLong, Breach::TooOften, Breach::ShowsEvidence]);
        assert_eq!(breaches(&open, &given().shares, NOW), [], "another policy allows it");
        assert_eq!(breaches(&entry(None), &given().shares, NOW), [Breach::NoEnd]);
    }
}
