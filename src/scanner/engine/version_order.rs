//! The order of versions in each package world. Only compares; knows no ranges and no packages.

use std::cmp::Ordering;
use std::str::FromStr as _;

use super::ecosystem::Ecosystem;
use super::maven_version::MavenVersion;

/// A version in the order of its world.
#[derive(Clone, Debug)]
pub(super) struct Version(Order);

#[derive(Clone, Debug)]
enum Order {
    /// Not a version of its world; before all others, so that sorting stays total.
    Text(MavenVersion),
    Maven(MavenVersion),
    Semantic(semver::Version),
    Python(Box<pep440_rs::Version>),
}

impl Version {
    /// Reads a version. What is none of its world compares below all others and [`Version::has_order`] says so.
    pub(super) fn parse(ecosystem: Ecosystem, text: &str) -> Self {
        let text = text.trim();
        let order = match ecosystem {
            Ecosystem::Maven => Some(Order::Maven(MavenVersion::parse(text))),
            Ecosystem::Npm | Ecosystem::CratesIo | Ecosystem::Go => semantic(text).map(Order::Semantic),
            Ecosystem::PyPi => pep440_rs::Version::from_str(text).ok().map(|version| Order::Python(Box::new(version))),
        };
        Self(order.unwrap_or_else(|| Order::Text(MavenVersion::parse(text))))
    }

    /// Whether it has a place in the order of its world.
    pub(super) const fn has_order(&self) -> bool {
        !matches!(self.0, Order::Text(_))
    }
}

/// Semantic versions with what is usual around them: `v1.2.3`, `1.2`; build metadata (`+incompatible`) has no weight.
fn semantic(text: &str) -> Option<semver::Version> {
    let text = text.strip_prefix(['v', 'V', '=']).unwrap_or(text);
    if let Ok(version) = semver::Version::parse(text) {
        return Some(version);
    }
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at_checked(end)?;
    let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok());
    let version = [parts.next()?, parts.next().unwrap_or(Some(0)), parts.next().unwrap_or(Some(0))];
    let [Some(major), Some(minor), Some(patch)] = version else { return None };
    if parts.next().is_some() {
        return None;
    }
    semver::Version::parse(&format!("{major}.{minor}.{patch}{rest}")).ok()
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Order::Text(left), Order::Text(right)) | (Order::Maven(left), Order::Maven(right)) => left.cmp(right),
            (Order::Semantic(left), Order::Semantic(right)) => left.cmp_precedence(right),
            (Order::Python(left), Order::Python(right)) => left.cmp(right),
            (left, right) => rank(left).cmp(&rank(right)),
        }
    }
}

const fn rank(order: &Order) -> u8 {
    match order {
        Order::Text(_) => 0,
        Order::Maven(_) => 1,
        Order::Semantic(_) => 2,
        Order::Python(_) => 3,
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

#[cfg(test)]
mod tests {
    use super::Version;
    use crate::scanner::engine::ecosystem::Ecosystem::{self, CratesIo, Go, Npm, PyPi};

    fn in_order(ecosystem: Ecosystem, versions: &[&str]) {
        let parsed: Vec<Version> = versions.iter().map(|text| Version::parse(ecosystem, text)).collect();
        for (pair, texts) in parsed.windows(2).zip(versions.windows(2)) {
            assert!(pair[0] < pair[1], "{texts:?}");
        }
    }

    #[test]
    fn every_world_has_its_own_order() {
        in_order(Npm, &["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "1.10.0"]);
        in_order(CratesIo, &["0.0.0-0", "0.1.0-rc.1", "0.1.0", "0.1.44"]);
        in_order(
            Go,
            &[
                "v0.0.0-20190101000000-aaaaaaaaaaaa",
                "v0.0.0-20220906165146-f3363e06e74c",
                "v0.1.0",
                "v1.2.0+incompatible",
                "v2.0.0",
            ],
        );
        in_order(PyPi, &["1.0.dev1", "1.0a1", "1.0rc1", "1.0", "1.0.post1", "1.1", "1!0.1"]);
    }

    #[test]
    fn the_same_version_may_be_written_in_several_ways() {
        let same =
            |ecosystem, left, right| assert_eq!(Version::parse(ecosystem, left), Version::parse(ecosystem, right), "{left}");
        same(Go, "v2.0.0+incompatible", "2.0.0");
        same(Npm, "1.2", "1.2.0");
        same(PyPi, "1.0", "1.0.0");
        same(PyPi, "1.0-RC1", "1.0rc1");
    }

    #[test]
    fn what_is_no_version_has_no_order() {
        for (ecosystem, text) in
            [(Npm, "latest"), (Npm, "1.2.3.4"), (PyPi, "1.x"), (Go, ""), (CratesIo, "99999999999999999999.0.0")]
        {
            assert!(!Version::parse(ecosystem, text).has_order(), "{text}");
        }
    }
}
