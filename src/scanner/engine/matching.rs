//! Looks one component up in the advisories: which flaws its version has, and where they are fixed. Only the rules.

use super::advisories::Advisories;
use super::advisories::model::{Advisory, Affected};
use super::advisories::range::{Interval, compare};
use super::maven_version::MavenVersion;

/// A flaw that the version of a component has.
#[derive(Clone, Debug)]
pub(super) struct Match<'a> {
    pub(super) advisory: &'a Advisory,
    /// The record whose word it is.
    pub(super) record: &'a Affected,
    /// `>= 2.0, < 2.15.0`.
    pub(super) range: String,
    /// The lowest version above the found one that is named as fixed and not affected itself.
    pub(super) fixed: Option<&'a str>,
    /// The source does not say where the range ends.
    pub(super) is_end_unknown: bool,
}

/// All flaws of `version` of `package` (`group:artifact`).
pub(super) fn matches<'a>(advisories: &'a Advisories, package: &'a str, version: &str) -> Vec<Match<'a>> {
    let parsed = MavenVersion::parse(version);
    advisories.about(package).filter_map(|(advisory, records)| look(advisory, &records, version, &parsed)).collect()
}

fn look<'a>(advisory: &'a Advisory, records: &[&'a Affected], text: &str, version: &MavenVersion) -> Option<Match<'a>> {
    let hits = records.iter().flat_map(|record| {
        let inside =
            record.intervals.iter().filter(|interval| interval.contains(version)).map(|interval| (*record, Some(interval)));
        let listed = record.versions.iter().filter(|listed| *listed == text).map(|_| (*record, None));
        inside.chain(listed)
    });
    let (record, interval) = hits.min_by_key(|(_, interval)| interval.map_or(1, weight))?;
    Some(Match {
        advisory,
        record,
        range: interval.map_or_else(|| format!("= {text}"), Interval::words),
        fixed: fixed_above(records, version),
        is_end_unknown: interval.is_some_and(Interval::is_unbounded_by_loss),
    })
}

/// A range with a fix says most, one without a known end least.
fn weight(interval: &Interval) -> u8 {
    match interval.fixed() {
        Some(_) => 0,
        None if interval.is_unbounded_by_loss() => 3,
        None => 2,
    }
}

fn fixed_above<'a>(records: &[&'a Affected], version: &MavenVersion) -> Option<&'a str> {
    let intervals = || records.iter().flat_map(|record| &record.intervals);
    let is_affected =
        |fixed: &MavenVersion| intervals().any(|interval| !interval.is_unbounded_by_loss() && interval.contains(fixed));
    intervals()
        .filter_map(Interval::fixed)
        .filter(|fixed| {
            let fixed = MavenVersion::parse(fixed);
            fixed > *version && !is_affected(&fixed)
        })
        .min_by(|left, right| compare(left, right))
}
