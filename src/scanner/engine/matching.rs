//! Looks one component up in the advisories: which flaws its version has, and where they are fixed. Only the rules.

use super::advisories::Advisories;
use super::advisories::model::{Advisory, Affected};
use super::advisories::range::{Interval, compare};
use super::ecosystem::Ecosystem;
use super::metadata::Coordinates;
use super::version_order::Version;

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

/// All flaws of a component; `package` is its [`Coordinates::package`].
pub(super) fn matches<'a>(advisories: &'a Advisories, package: &'a str, component: &Coordinates) -> Vec<Match<'a>> {
    let (ecosystem, text) = (component.ecosystem, component.version.as_str());
    let parsed = Version::parse(ecosystem, text);
    advisories.about(ecosystem, package).filter_map(|(advisory, records)| look(advisory, &records, text, &parsed)).collect()
}

fn look<'a>(advisory: &'a Advisory, records: &[&'a Affected], text: &str, version: &Version) -> Option<Match<'a>> {
    let hits = records.iter().flat_map(|record| {
        let inside = record
            .intervals
            .iter()
            .filter(|interval| interval.contains(record.ecosystem, version))
            .map(|interval| (*record, Some(interval)));
        let listed = record.versions.iter().filter(|listed| is_same(record, listed, text, version)).map(|_| (*record, None));
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

/// The same text, or another spelling of the same version where the world has an order of its own.
pub(super) fn is_same(record: &Affected, listed: &str, text: &str, version: &Version) -> bool {
    let respelled = || record.ecosystem != Ecosystem::Maven && version.has_order();
    listed == text || (respelled() && Version::parse(record.ecosystem, listed) == *version)
}

/// A range with a fix says most, one without a known end least.
fn weight(interval: &Interval) -> u8 {
    match interval.fixed() {
        Some(_) => 0,
        None if interval.is_unbounded_by_loss() => 3,
        None => 2,
    }
}

fn fixed_above<'a>(records: &[&'a Affected], version: &Version) -> Option<&'a str> {
    let ecosystem = records.first()?.ecosystem;
    let intervals = || records.iter().flat_map(|record| &record.intervals);
    let is_affected =
        |fixed: &Version| intervals().any(|interval| !interval.is_unbounded_by_loss() && interval.contains(ecosystem, fixed));
    intervals()
        .filter_map(Interval::fixed)
        .filter(|fixed| {
            let fixed = Version::parse(ecosystem, fixed);
            fixed > *version && !is_affected(&fixed)
        })
        .min_by(|left, right| compare(ecosystem, left, right))
}
