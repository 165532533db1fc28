//! Which version to go to: without the known flaws, and of the variant in use. Chooses among what advisories name.

use super::advisories::Advisories;
use super::advisories::model::Affected;
use super::advisories::range::Interval;
use super::ecosystem::Ecosystem;
use super::matching::{self, Match};
use super::metadata::Coordinates;
use super::version_order::Version;

/// Qualifiers that say how finished a version is, not which variant of it.
const NO_VARIANT: [&str; 26] = [
    "alpha",
    "beta",
    "rc",
    "cr",
    "milestone",
    "pre",
    "preview",
    "ea",
    "snapshot",
    "dev",
    "nightly",
    "sp",
    "sec",
    "sr",
    "fp",
    "ga",
    "final",
    "release",
    "stable",
    "incubating",
    "build",
    "patch",
    "update",
    "hotfix",
    "fix",
    "rev",
];
/// Variants whose digits are a part of them: `jre8` is not `jre11`.
const NUMBERED: [&str; 5] = ["jre", "jdk", "java", "hadoop", "spark"];

/// A version to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// As people of its world write it.
    pub(super) version: String,
    /// Otherwise the fix is named for another variant, and the one in use has it from there on.
    pub(super) is_exact: bool,
}

impl Target {
    /// `2.15.0` or `at least 9.4.52`.
    pub(super) fn words(&self) -> String {
        if self.is_exact { self.version.clone() } else { format!("at least {}", self.version) }
    }
}

/// The lowest version above the component's that has none of the known flaws; `None` when one of its flaws has no fix.
pub(super) fn target(component: &Coordinates, advisories: &Advisories) -> Option<Target> {
    let ecosystem = component.ecosystem;
    let package = component.package();
    let mine = matching::matches(advisories, &package, component);
    if mine.is_empty() || mine.iter().any(|hit| hit.fixed.is_none()) {
        return None;
    }
    let records: Vec<&Affected> = advisories.about(ecosystem, &package).flat_map(|(_, records)| records).collect();
    let current = Version::parse(ecosystem, &component.version);
    let fixed = records.iter().flat_map(|record| &record.intervals).filter_map(Interval::fixed);
    let mut free: Vec<(Version, &str)> = fixed
        .map(|text| (Version::parse(ecosystem, text), text))
        .filter(|(version, text)| *version > current && is_free(&records, ecosystem, text))
        .collect();
    free.sort();
    let lowest = free.first()?.1;
    // One of the own variant that is a little higher says more than "at least"; one of another main line does not.
    let mut same_line = free.iter().map(|(_, text)| *text).filter(|text| main_number(text) == main_number(lowest));
    let of_own = same_line.find_map(|text| own_variant(component, &records, text));
    Some(of_own.map_or_else(|| shown(ecosystem, lowest, false), |version| shown(ecosystem, &version, true)))
}

/// The version to go to for one flaw alone, whose fix is in `fixed`.
pub(super) fn fix(component: &Coordinates, hit: &Match<'_>, fixed: &str) -> Target {
    let of_package = |record: &&Affected| record.ecosystem == hit.record.ecosystem && record.package == hit.record.package;
    let records: Vec<&Affected> = hit.advisory.affected.iter().filter(of_package).collect();
    match own_variant(component, &records, fixed) {
        Some(version) => shown(component.ecosystem, &version, true),
        None => shown(component.ecosystem, fixed, false),
    }
}

fn shown(ecosystem: Ecosystem, version: &str, is_exact: bool) -> Target {
    Target { version: ecosystem.shown(version), is_exact }
}

/// Whether no record says that `text` is affected.
fn is_free(records: &[&Affected], ecosystem: Ecosystem, text: &str) -> bool {
    let version = Version::parse(ecosystem, text);
    records.iter().all(|record| {
        let inside = |one: &Interval| !one.is_unbounded_by_loss() && one.contains(ecosystem, &version);
        let is_listed = |listed: &String| matching::is_same(record, listed, text, &version);
        !record.intervals.iter().any(inside) && !record.versions.iter().any(is_listed)
    })
}

/// `fixed`, or the same number in the component's own variant when the records say that it is free; `None` when there is no
/// telling.
fn own_variant(component: &Coordinates, records: &[&Affected], fixed: &str) -> Option<String> {
    let ecosystem = component.ecosystem;
    let own = variant(ecosystem, &component.version);
    if own == variant(ecosystem, fixed) {
        return Some(fixed.to_owned());
    }
    let Variant::Word { ending, .. } = own else { return None };
    let mapped = format!("{}{}", number(fixed), ending?);
    let is_higher = Version::parse(ecosystem, &mapped) > Version::parse(ecosystem, &component.version);
    (is_higher && is_free(records, ecosystem, &mapped)).then_some(mapped)
}

/// For whom a version was built.
#[derive(Clone, Debug, Eq)]
enum Variant<'a> {
    None,
    /// Ends with its date, `v20180605`.
    Dated,
    /// `jre`; with what is behind the number, `-jre`, when another version can have the same ending.
    Word {
        word: String,
        ending: Option<&'a str>,
    },
}

impl PartialEq for Variant<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) | (Self::Dated, Self::Dated) => true,
            (Self::Word { word, .. }, Self::Word { word: other, .. }) => word == other,
            _ => false,
        }
    }
}

/// Only Maven's versions have variants.
fn variant(ecosystem: Ecosystem, version: &str) -> Variant<'_> {
    if ecosystem != Ecosystem::Maven {
        return Variant::None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut end = version.len();
    for segment in version.rsplit(['-', '.', '+']) {
        let start = end - segment.len();
        let word = segment.trim_end_matches(|c: char| c.is_ascii_digit());
        let lower = word.to_ascii_lowercase();
        let number = segment.get(word.len()..).unwrap_or_default();
        if lower == "v" && number.len() == 8 && digits(number) {
            return Variant::Dated;
        }
        let is_word = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_word && !NO_VARIANT.contains(&lower.as_str()) {
            let is_numbered = NUMBERED.contains(&lower.as_str());
            // What counts up behind a word (`redhat-00001`) is of that very version.
            let can_end = end == version.len() && start > 0 && (is_numbered || number.is_empty());
            let ending = if can_end { version.get(start - 1..) } else { None };
            let word = if is_numbered { segment.to_ascii_lowercase() } else { lower };
            return Variant::Word { word, ending };
        }
        end = start.saturating_sub(1);
    }
    Variant::None
}

/// `32.0.0` of `32.0.0-android`.
fn number(version: &str) -> &str {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    version.get(..end).unwrap_or_default().trim_end_matches('.')
}

fn main_number(version: &str) -> &str {
    version.trim_start_matches(['v', 'V']).split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Ecosystem, Target, Variant, main_number, number, own_variant, variant};
    use crate::scanner::engine::advisories::model::{Affected, Source};
    use crate::scanner::engine::advisories::range::{End, Interval};
    use crate::scanner::engine::metadata::Coordinates;

    #[test]
    fn the_variant_is_a_word_behind_the_number_that_says_for_whom_it_was_built() {
        let word = |text| match variant(Ecosystem::Maven, text) {
            Variant::Word { word, .. } => word,
            Variant::Dated => "a date".to_owned(),
            Variant::None => String::new(),
        };
        for (version, expected) in [
            ("25.0-jre", "jre"),
            ("32.0.0-android", "android"),
            ("25.0-rc1-android", "android"),
            ("9.2.1.jre8", "jre8"),
            ("2.6.0-redhat-00001", "redhat"),
            ("1.2.3.redhat00004", "redhat"),
            ("9.4.11.v20180605", "a date"),
            ("4.1.39.Final", ""),
            ("5.0.4.RELEASE", ""),
            ("3.0.0-M1", ""),
            ("2.0-beta-2", ""),
            ("1.0.b2", ""),
            ("1.2.17", ""),
            ("1145.vb_cf6cf6ed960", ""),
            ("", ""),
            ("-.+", ""),
        ] {
            assert_eq!(word(version), expected, "{version}");
        }
        assert_eq!(variant(Ecosystem::Npm, "1.0.0-android"), Variant::None);
        assert_eq!((number("32.0.0-android"), number("12.0.0.beta0"), main_number("v0.17.0")), ("32.0.0", "12.0.0", "0"));
    }

    fn recommended(version: &str, fixed: &str) -> Option<String> {
        let interval = Interval { from: "0".to_owned(), end: End::Fixed(fixed.to_owned()) };
        let record = Affected {
            ecosystem: Ecosystem::Maven,
            package: "g:a".to_owned(),
            record: String::new(),
            source: Source::Starter,
            modified: String::new(),
            intervals: vec![interval],
            versions: Vec::new(),
        };
        own_variant(&Coordinates::new("g", "a", version).unwrap(), &[&record], fixed)
    }

    #[test]
    fn a_fix_in_another_variant_is_taken_over_by_number_only_when_the_records_say_so() {
        for (version, fixed, expected) in [
            ("25.0-jre", "32.0.0-android", Some("32.0.0-jre")),
            ("25.0-android", "32.0.0-android", Some("32.0.0-android")),
            // By the order of Maven 32.0.0-android is before 32.0.0-jre, so nobody says that it has the fix.
            ("25.0-android", "32.0.0-jre", None),
            ("20.0", "32.0.0-android", None),
            ("25.0-jre", "32.0.0", Some("32.0.0-jre")),
            ("9.4.11.v20180605", "9.4.12.v20180830", Some("9.4.12.v20180830")),
            ("9.4.11.v20180605", "9.4.52", None),
            ("9.2.1.jre8", "9.4.1.jre11", None),
            ("9.2.1.jre11", "9.4.1", Some("9.4.1.jre11")),
            ("2.6.0.redhat-00001", "2.7.0", None),
            ("4.1.39.Final", "4.1.42", Some("4.1.42")),
        ] {
            assert_eq!(recommended(version, fixed).as_deref(), expected, "{version} {fixed}");
        }
        let target = Target { version: "9.4.52".to_owned(), is_exact: false };
        assert_eq!(target.words(), "at least 9.4.52");
    }
}
