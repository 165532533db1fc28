//! The advisories this program brings along (`config/advisories/starter.toml`): facts in our own format and words.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::model::{self, Advisory, Affected, Source};
use super::range::{End, Interval};
use crate::contract::results::Severity;
use crate::scanner::engine::ecosystem::Ecosystem;

const TEXT: &str = include_str!("../../../../config/advisories/starter.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    advisory: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    title: String,
    severity: Severity,
    published: String,
    #[serde(default)]
    cwe: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    /// Classes the flaw is in, `org/example/Unsafe`.
    #[serde(default)]
    classes: Vec<String>,
    /// The package world all of `affected` is in.
    #[serde(default)]
    ecosystem: Ecosystem,
    /// Package to ranges such as `>= 2.13.0, < 2.15.0`.
    affected: BTreeMap<String, Vec<String>>,
}

/// Reads the pack.
pub(super) fn read() -> Result<Vec<Advisory>, String> {
    parse(TEXT)
}

fn parse(text: &str) -> Result<Vec<Advisory>, String> {
    let pack: Pack = toml::from_str(text).map_err(|error| error.to_string())?;
    pack.advisory.into_iter().map(advisory).collect()
}

fn advisory(entry: Entry) -> Result<Advisory, String> {
    let one = |(package, ranges): (String, Vec<String>)| affected(&entry.id, entry.ecosystem, &package, &ranges);
    let affected = entry.affected.into_iter().map(one).collect::<Result<_, _>>()?;
    let mut ids = entry.aliases;
    ids.push(entry.id);
    model::sort_ids(&mut ids);
    Ok(Advisory {
        ids,
        title: entry.title,
        severity: entry.severity,
        is_severity_guessed: false,
        cvss: String::new(),
        cwes: entry.cwe,
        published: entry.published,
        classes: entry.classes,
        reach: Vec::new(),
        is_configured: false,
        source: Source::Starter,
        affected,
    })
}

fn affected(id: &str, ecosystem: Ecosystem, package: &str, ranges: &[String]) -> Result<Affected, String> {
    let package = ecosystem.package(package).ok_or_else(|| format!("{id}: {package} is no package name"))?;
    let intervals = ranges
        .iter()
        .map(|range| interval(range).ok_or_else(|| format!("{id}: {range} is no range")))
        .collect::<Result<_, _>>()?;
    let (record, source) = (id.to_owned(), Source::Starter);
    Ok(Affected { ecosystem, package, record, source, modified: String::new(), intervals, versions: Vec::new() })
}

/// Reads `>= A, < B`, `>= A, <= B`, `< B`, `<= B`, `>= A` (no fix) and `*` (every version, no fix).
fn interval(text: &str) -> Option<Interval> {
    let mut interval = Interval { from: "0".to_owned(), end: End::Never };
    if text.trim() == "*" {
        return Some(interval);
    }
    for part in text.split(',').map(str::trim) {
        if let Some(version) = part.strip_prefix(">=") {
            version.trim().clone_into(&mut interval.from);
        } else if let Some(version) = part.strip_prefix("<=") {
            interval.end = End::Last(version.trim().to_owned());
        } else {
            interval.end = End::Fixed(part.strip_prefix('<')?.trim().to_owned());
        }
    }
    Some(interval)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{End, interval, read};
    use crate::scanner::engine::advisories::model;
    use crate::scanner::engine::advisories::range::compare;

    #[test]
    fn the_pack_parses_and_every_entry_is_well_formed() {
        let pack = read().unwrap();
        assert!(pack.len() >= 280, "{} advisories", pack.len());
        let mut seen = HashSet::new();
        for advisory in &pack {
            let id = &advisory.ids[0];
            assert!(id.starts_with("CVE-") || id.starts_with("GHSA-"), "{id}");
            assert!(advisory.ids.iter().all(|id| model::is_id(id) && seen.insert(id.clone())), "{id} is there twice");
            assert!((20..=160).contains(&advisory.title.chars().count()), "{id}: {}", advisory.title);
            assert_eq!(model::day(&advisory.published), advisory.published, "{id}");
            assert!(advisory.cwes.iter().all(|cwe| cwe.strip_prefix("CWE-").is_some_and(|n| n.parse::<u32>().is_ok())), "{id}");
            assert!(!advisory.affected.is_empty(), "{id}");
        }
    }

    #[test]
    fn every_range_of_the_pack_is_in_order_and_no_two_of_a_package_are_the_same() {
        for advisory in read().unwrap() {
            for affected in &advisory.affected {
                let place = format!("{} {}", advisory.ids[0], affected.package);
                let mut seen = HashSet::new();
                for interval in &affected.intervals {
                    assert!(seen.insert(interval.words()), "{place}");
                    match &interval.end {
                        End::Fixed(end) => {
                            assert!(compare(affected.ecosystem, &interval.from, end).is_lt(), "{place}: {}", interval.words());
                        }
                        End::Last(end) => {
                            assert!(compare(affected.ecosystem, &interval.from, end).is_le(), "{place}: {}", interval.words());
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn titles_of_the_pack_are_one_plain_line() {
        for advisory in read().unwrap() {
            let title = &advisory.title;
            assert!(!title.ends_with('.') && !title.contains("  ") && !title.chars().any(char::is_control), "{title}");
        }
    }

    #[test]
    fn ranges_are_read_in_every_form() {
        let words = |text: &str| interval(text).map(|one| one.words());
        assert_eq!(words(">= 2.13.0, < 2.15.0").as_deref(), Some(">= 2.13.0, < 2.15.0"));
        assert_eq!(words("<= 1.2.17").as_deref(), Some("<= 1.2.17"));
        assert_eq!(words("*").as_deref(), Some("all versions, no fixed version"));
        assert_eq!(words(">= 1.2").as_deref(), Some(">= 1.2, no fixed version"));
        assert_eq!(words("1.2"), None);
    }
}
