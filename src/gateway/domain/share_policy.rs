//! What a company allows its members to share, and how doors are guarded. Every number here is the company's own; the settings
//! say what holds where it says nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::platform::clock::Timestamp;

const DAY: Duration = Duration::from_hours(24);

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

impl SharePolicy {
    /// Why every new share needs a code, in words for its maker; none where one may be made without.
    pub(in crate::gateway) const fn why_code(&self) -> Option<&'static str> {
        match (self.without_code, self.most_views) {
            (false, _) => Some("Your company allows no shares without a code."),
            (true, Some(_)) => {
                Some("Your company limits how often a share opens. Views are counted by their code, so each share needs one.")
            }
            (true, None) => None,
        }
    }

    /// The latest end of a share that is made or changed now: the last second of its last day, in UTC.
    pub(in crate::gateway) fn latest_end(&self, now: Timestamp) -> Timestamp {
        Timestamp(self.too_late(now).0.saturating_sub(1000))
    }

    /// Whether a share with this end lives on after the last day that one made now could have.
    pub(in crate::gateway) fn is_too_late(&self, ends: Timestamp, now: Timestamp) -> bool {
        ends >= self.too_late(now)
    }

    /// Midnight, in UTC, after the last day. The last day counts whole, whatever the hour is now.
    fn too_late(&self, now: Timestamp) -> Timestamp {
        let into_the_day = now.seconds().rem_euclid(DAY.as_secs().cast_signed());
        let midnight = Timestamp(now.seconds().saturating_sub(into_the_day).saturating_mul(1000));
        midnight.after(DAY * self.most_days.saturating_add(1))
    }
}

#[cfg(test)]
pub(in crate::gateway) mod tests {
    use super::*;

    #[test]
    fn why_a_code_is_needed_is_said_as_it_is() {
        assert_eq!(GIVEN.why_code(), None);
        let counted = SharePolicy { most_views: Some(3), ..GIVEN };
        assert!(counted.why_code().unwrap().contains("Views are counted"));
        let forbidden = SharePolicy { without_code: false, ..counted };
        assert!(forbidden.why_code().unwrap().contains("allows no shares without a code"));
    }

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

    #[test]
    fn the_last_day_counts_whole_and_the_next_one_not_at_all() {
        let at = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
        let policy = SharePolicy { most_days: 3, ..GIVEN };
        for now in ["2026-11-28T00:00:00Z", "2026-11-28T12:30:00.250Z", "2026-11-28T23:59:59.999Z"].map(at) {
            assert_eq!(policy.latest_end(now), at("2026-12-01T23:59:59Z"));
            for fits in ["2026-11-28T23:59:59Z", "2026-12-01T23:59:59Z", "2026-12-01T23:59:59.999Z", "2026-12-02T01:00:00+02:00"]
            {
                assert!(!policy.is_too_late(at(fits), now), "{fits}");
            }
            for late in ["2026-12-02T00:00:00Z", "2026-12-01T23:00:00-02:00", "9999-12-31T23:59:59-23:59"] {
                assert!(policy.is_too_late(at(late), now), "{late}");
            }
        }
    }
}
