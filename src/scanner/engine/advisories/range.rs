//! Affected versions as intervals, with the meaning OSV gives to its events. Knows nothing of packages or records.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::scanner::engine::ecosystem::Ecosystem;
use crate::scanner::engine::version_order::Version;

/// From one version on, up to an end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::scanner::engine) struct Interval {
    /// The first affected version; `0` is before every version.
    pub(in crate::scanner::engine) from: String,
    pub(in crate::scanner::engine) end: End,
}

/// Where an interval ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::scanner::engine) enum End {
    /// The version that has the fix, no longer affected.
    Fixed(String),
    /// The last affected version.
    Last(String),
    /// A version that is no longer affected, without a word about a fix.
    Before(String),
    /// There is no fix: all later versions are affected.
    Never,
    /// The source does not say where it ends.
    Unknown,
}

impl Interval {
    /// Whether `version` lies inside. A version without an order lies in no interval.
    pub(in crate::scanner::engine) fn contains(&self, ecosystem: Ecosystem, version: &Version) -> bool {
        let begun = self.from == "0" || *version >= Version::parse(ecosystem, &self.from);
        begun
            && version.has_order()
            && match &self.end {
                End::Fixed(end) | End::Before(end) => *version < Version::parse(ecosystem, end),
                End::Last(last) => *version <= Version::parse(ecosystem, last),
                End::Never | End::Unknown => true,
            }
    }

    /// Whether it has no end only because the source lost it.
    pub(in crate::scanner::engine) fn is_unbounded_by_loss(&self) -> bool {
        self.end == End::Unknown
    }

    /// The version with the fix, when one is named.
    pub(in crate::scanner::engine) fn fixed(&self) -> Option<&str> {
        match &self.end {
            End::Fixed(version) => Some(version),
            _ => None,
        }
    }

    /// In words, e.g. `>= 2.13.0, < 2.15.0`.
    pub(in crate::scanner::engine) fn words(&self) -> String {
        let end = match &self.end {
            End::Fixed(version) | End::Before(version) => format!("< {version}"),
            End::Last(version) => format!("<= {version}"),
            End::Never => "no fixed version".to_owned(),
            End::Unknown => "upper bound unknown".to_owned(),
        };
        match (self.from.as_str(), &self.end) {
            ("0", End::Never | End::Unknown) => format!("all versions, {end}"),
            ("0", _) => end,
            (from, _) => format!(">= {from}, {end}"),
        }
    }
}

/// One event of an OSV range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Introduced(String),
    LastAffected(String),
    Fixed(String),
    Limit(String),
}

impl Event {
    fn version(&self) -> &str {
        match self {
            Self::Introduced(version) | Self::LastAffected(version) | Self::Fixed(version) | Self::Limit(version) => version,
        }
    }

    /// At the same version an interval opens before it closes.
    fn order(&self) -> u8 {
        match self {
            Self::Introduced(_) => 0,
            Self::LastAffected(_) => 1,
            Self::Fixed(_) | Self::Limit(_) => 2,
        }
    }
}

/// The intervals that `events` open and close, in any order of the events. Without a closing event `open_end` is the end.
pub(super) fn intervals(ecosystem: Ecosystem, events: Vec<Event>, open_end: &End) -> Vec<Interval> {
    let (limits, mut events): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|event| matches!(event, Event::Limit(_)));
    events.sort_by(|left, right| compare(ecosystem, left.version(), right.version()).then(left.order().cmp(&right.order())));
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for event in events {
        match (event, open.take()) {
            (Event::Introduced(version), None) => open = Some(version),
            (Event::Introduced(_), Some(from)) => open = Some(from),
            (Event::Fixed(version), Some(from)) => found.push(Interval { from, end: End::Fixed(version) }),
            (Event::LastAffected(version), Some(from)) => found.push(Interval { from, end: End::Last(version) }),
            (Event::Limit(_), still_open) => open = still_open,
            (_, None) => {}
        }
    }
    found.extend(open.map(|from| Interval { from, end: open_end.clone() }));
    cut(ecosystem, found, &limits)
}

/// Versions at or beyond the highest limit are not affected; `*` is no limit.
fn cut(ecosystem: Ecosystem, found: Vec<Interval>, limits: &[Event]) -> Vec<Interval> {
    if limits.iter().any(|limit| limit.version() == "*") {
        return found;
    }
    let Some(limit) = limits.iter().map(Event::version).max_by(|left, right| compare(ecosystem, left, right)) else {
        return found;
    };
    let inside = |interval: &Interval| compare(ecosystem, &interval.from, limit).is_lt();
    let shortened = |interval: Interval| {
        let ends_before = match &interval.end {
            End::Fixed(end) | End::Before(end) => compare(ecosystem, end, limit).is_le(),
            End::Last(last) => compare(ecosystem, last, limit).is_lt(),
            End::Never | End::Unknown => false,
        };
        if ends_before { interval } else { Interval { end: End::Before(limit.to_owned()), ..interval } }
    };
    found.into_iter().filter(inside).map(shortened).collect()
}

/// The end that a `last_known_affected_version_range` such as `<= 1.2.3` or `< 2` gives.
pub(super) fn last_known(text: &str) -> Option<End> {
    let text = text.trim();
    let version = |rest: &str| rest.trim().to_owned();
    let end = match (text.strip_prefix("<="), text.strip_prefix('<')) {
        (Some(rest), _) => End::Last(version(rest)),
        (None, Some(rest)) => End::Before(version(rest)),
        (None, None) => return None,
    };
    match &end {
        End::Last(version) | End::Before(version) if !version.is_empty() => Some(end),
        _ => None,
    }
}

/// The order of a world, with `0` before every version.
pub(in crate::scanner::engine) fn compare(ecosystem: Ecosystem, left: &str, right: &str) -> Ordering {
    match (left == "0", right == "0") {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => Version::parse(ecosystem, left).cmp(&Version::parse(ecosystem, right)),
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Event, Interval, intervals, last_known};
    use crate::scanner::engine::ecosystem::Ecosystem::Maven;
    use crate::scanner::engine::version_order::Version;

    fn event(text: &str) -> Event {
        let (kind, version) = text.split_once(' ').unwrap();
        let version = version.to_owned();
        match kind {
            "introduced" => Event::Introduced(version),
            "fixed" => Event::Fixed(version),
            "last" => Event::LastAffected(version),
            _ => Event::Limit(version),
        }
    }

    fn affected(events: &[&str], version: &str) -> bool {
        let found = intervals(Maven, events.iter().map(|one| event(one)).collect(), &End::Never);
        found.iter().any(|one| one.contains(Maven, &Version::parse(Maven, version)))
    }

    #[test]
    fn an_interval_opens_inclusively_and_a_fix_closes_it_exclusively() {
        let events = ["introduced 1.0", "fixed 1.5"];
        assert!(!affected(&events, "1.0-rc1"));
        assert!(affected(&events, "1.0"));
        assert!(affected(&events, "1.5-rc1"));
        assert!(!affected(&events, "1.5"));
    }

    #[test]
    fn zero_is_before_every_version() {
        assert!(affected(&["introduced 0", "fixed 2"], "0-alpha-1"));
        assert!(affected(&["introduced 0"], "999"));
    }

    #[test]
    fn the_last_affected_version_is_affected() {
        assert!(affected(&["introduced 1", "last 1.4"], "1.4"));
        assert!(!affected(&["introduced 1", "last 1.4"], "1.4.1"));
        assert!(affected(&["introduced 1.4", "last 1.4"], "1.4.0"));
    }

    #[test]
    fn events_may_come_in_any_order_and_open_again() {
        let events = ["fixed 3.2", "introduced 3.0", "fixed 1.9.4", "introduced 0", "introduced 20020520"];
        let found = |version| affected(&events, version);
        assert_eq!(
            [found("1.0"), found("1.9.4"), found("2.9"), found("3.1"), found("3.2"), found("20020520")],
            [true, false, false, true, false, true]
        );
    }

    #[test]
    fn a_limit_ends_what_is_open() {
        assert!(affected(&["introduced 1", "limit 2"], "1.9"));
        assert!(!affected(&["introduced 1", "limit 2"], "2"));
        assert!(affected(&["introduced 1", "limit 2", "limit 3"], "2"));
        assert!(affected(&["introduced 1", "limit *"], "99"));
        assert!(!affected(&["introduced 5", "limit 2"], "5"));
        assert!(!affected(&["introduced 1", "last 3", "limit 3"], "3"));
    }

    #[test]
    fn a_last_known_range_is_an_end() {
        assert_eq!(last_known("<= 1.2.3"), Some(End::Last("1.2.3".to_owned())));
        assert_eq!(last_known("< 2"), Some(End::Before("2".to_owned())));
        assert_eq!(last_known("<="), None);
        assert_eq!(last_known("1.2"), None);
    }

    #[test]
    fn intervals_have_words() {
        let words = |from: &str, end: End| Interval { from: from.to_owned(), end }.words();
        assert_eq!(words("2.13.0", End::Fixed("2.15.0".to_owned())), ">= 2.13.0, < 2.15.0");
        assert_eq!(words("0", End::Last("1.2".to_owned())), "<= 1.2");
        assert_eq!(words("0", End::Never), "all versions, no fixed version");
        assert_eq!(words("1", End::Unknown), ">= 1, upper bound unknown");
    }
}
