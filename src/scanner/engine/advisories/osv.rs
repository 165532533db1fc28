//! Reads OSV records (the schema of google/osv.dev) of all package worlds this program knows. Only turns one record into one advisory.

use serde::Deserialize;

use super::cvss;
use super::model::{self, Advisory, Affected, Source};
use super::range::{End, Event, intervals, last_known};
use crate::contract::results::Severity;
use crate::scanner::engine::ecosystem::Ecosystem;
use crate::scanner::engine::version_order::Version;

/// A record as far as it is read; everything else is ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    id: String,
    modified: Option<String>,
    published: Option<String>,
    withdrawn: Option<String>,
    aliases: Option<Vec<String>>,
    summary: Option<String>,
    details: Option<String>,
    affected: Option<Vec<RecordAffected>>,
    severity: Option<Vec<Score>>,
    database_specific: Option<Facts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Score {
    score: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordAffected {
    package: Option<Package>,
    ranges: Option<Vec<RecordRange>>,
    versions: Option<Vec<String>>,
    database_specific: Option<Facts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Package {
    ecosystem: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordRange {
    #[serde(rename = "type")]
    kind: String,
    events: Vec<RecordEvent>,
    database_specific: Option<Facts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordEvent {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
    limit: Option<String>,
}

/// The parts of `database_specific` that are read, wherever it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Facts {
    severity: Option<serde_json::Value>,
    cwe_ids: Option<Vec<String>>,
    last_known_affected_version_range: Option<String>,
}

/// What a record says.
#[derive(Debug)]
pub(super) enum Reading {
    Advisory(Advisory),
    /// The record was taken back: forget what it said.
    Withdrawn(String),
    /// Why it is left out.
    Skipped(&'static str),
}

/// Reads one record.
pub(super) fn read(record: Record) -> Reading {
    if !model::is_id(&record.id) {
        return Reading::Skipped("no usable id");
    }
    if record.withdrawn.is_some() {
        return Reading::Withdrawn(record.id);
    }
    let modified = record.modified.unwrap_or_default();
    let all = record.affected.unwrap_or_default();
    let known: Vec<_> = all.into_iter().filter_map(|one| Some((ecosystem(&one)?, one))).collect();
    if known.is_empty() {
        return Reading::Skipped("no package of Maven, npm, PyPI, crates.io or Go");
    }
    let affected: Vec<Affected> =
        known.into_iter().filter_map(|(ecosystem, one)| read_affected(ecosystem, one, &record.id, &modified)).collect();
    if affected.is_empty() {
        return Reading::Skipped("no usable package name or no affected version");
    }
    let facts = record.database_specific.unwrap_or_default();
    let mut ids: Vec<String> = record.aliases.unwrap_or_default().into_iter().filter(|id| model::is_id(id)).collect();
    ids.push(record.id);
    model::sort_ids(&mut ids);
    let vector = record.severity.unwrap_or_default().into_iter().find_map(|one| cvss::vector(&one.score));
    let word = facts.severity.as_ref().and_then(|word| Severity::read(word.as_str()?));
    let severity = word.or_else(|| vector.as_deref().and_then(cvss::score).and_then(cvss::band));
    let text = [record.summary, record.details].into_iter().flatten().find(|text| !text.trim().is_empty());
    Reading::Advisory(Advisory {
        ids,
        title: model::title(&text.unwrap_or_default()),
        severity: severity.unwrap_or(Severity::Medium),
        is_severity_guessed: severity.is_none(),
        cvss: vector.unwrap_or_default(),
        cwes: facts.cwe_ids.unwrap_or_default().into_iter().filter(|cwe| model::is_id(cwe)).collect(),
        published: model::day(&record.published.unwrap_or_default()),
        classes: Vec::new(),
        reach: Vec::new(),
        is_configured: false,
        source: Source::Osv,
        affected,
    })
}

fn ecosystem(affected: &RecordAffected) -> Option<Ecosystem> {
    Ecosystem::read(&affected.package.as_ref()?.ecosystem)
}

fn read_affected(ecosystem: Ecosystem, affected: RecordAffected, record: &str, modified: &str) -> Option<Affected> {
    let package = ecosystem.package(&affected.package?.name)?;
    let known = affected.database_specific.and_then(|facts| facts.last_known_affected_version_range);
    let ranges = affected.ranges.unwrap_or_default();
    let found: Vec<_> = ranges
        .into_iter()
        .filter(|range| range.kind != "GIT")
        .flat_map(|range| {
            let here = range.database_specific.and_then(|facts| facts.last_known_affected_version_range);
            let open_end = here.as_deref().or(known.as_deref()).and_then(last_known).unwrap_or(End::Never);
            intervals(ecosystem, range.events.into_iter().flat_map(events).collect(), &open_end)
        })
        .collect();
    let covered = |version: &String| {
        let version = Version::parse(ecosystem, version);
        found.iter().any(|interval| interval.contains(ecosystem, &version))
    };
    let listed: Vec<String> = affected.versions.unwrap_or_default().into_iter().filter(|version| !covered(version)).collect();
    let something = !found.is_empty() || !listed.is_empty();
    something.then(|| Affected {
        ecosystem,
        package,
        record: record.to_owned(),
        source: Source::Osv,
        modified: modified.to_owned(),
        intervals: found,
        versions: listed,
    })
}

fn events(event: RecordEvent) -> impl Iterator<Item = Event> {
    [
        event.introduced.map(Event::Introduced),
        event.fixed.map(Event::Fixed),
        event.last_affected.map(Event::LastAffected),
        event.limit.map(Event::Limit),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::{Reading, Record, read};
    use crate::contract::results::Severity;

    fn read_text(text: &str) -> Reading {
        read(serde_json::from_str::<Record>(text).unwrap())
    }

    #[test]
    fn a_full_record_becomes_an_advisory() {
        let text = r#"{"id":"GHSA-aaaa-bbbb-cccc","modified":"2024-05-01T00:00:00Z","published":"2024-04-01T10:00:00Z",
            "aliases":["CVE-2024-0001"],"summary":"Bad  things\nhappen","affected":[{"package":{"ecosystem":"Maven","name":"g:a"},
            "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"1.0"},{"fixed":"1.2"}]},{"type":"GIT","events":[{"introduced":"0"}]}],
            "versions":["1.0","1.1","0.9-special"]}],"database_specific":{"severity":"MODERATE","cwe_ids":["CWE-502"]}}"#;
        let Reading::Advisory(advisory) = read_text(text) else { panic!("an advisory") };
        assert_eq!(advisory.ids, ["CVE-2024-0001", "GHSA-aaaa-bbbb-cccc"]);
        assert_eq!(advisory.title, "Bad things happen");
        assert_eq!((advisory.severity, advisory.published.as_str()), (Severity::Medium, "2024-04-01"));
        assert_eq!(advisory.affected[0].intervals.len(), 1);
        assert_eq!(advisory.affected[0].versions, ["0.9-special"]);
    }

    #[test]
    fn a_range_without_end_takes_the_last_known_version() {
        let text = r#"{"id":"GHSA-aaaa-bbbb-cccc","affected":[{"package":{"ecosystem":"Maven","name":"g:a"},
            "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}],
            "database_specific":{"last_known_affected_version_range":"<= 3.1"}}]}"#;
        let Reading::Advisory(advisory) = read_text(text) else { panic!("an advisory") };
        assert_eq!(advisory.affected[0].intervals[0].words(), "<= 3.1");
    }

    #[test]
    fn withdrawn_foreign_and_nameless_records_are_told_apart() {
        assert!(
            matches!(read_text(r#"{"id":"GHSA-1","withdrawn":"2024-01-01T00:00:00Z"}"#), Reading::Withdrawn(id) if id == "GHSA-1")
        );
        assert!(matches!(
            read_text(r#"{"id":"GHSA-1","affected":[{"package":{"ecosystem":"NuGet","name":"x"}}]}"#),
            Reading::Skipped("no package of Maven, npm, PyPI, crates.io or Go")
        ));
        assert!(matches!(read_text(r#"{"id":""}"#), Reading::Skipped("no usable id")));
        assert!(matches!(
            read_text(r#"{"id":"X-1","affected":[{"package":{"ecosystem":"Maven","name":"pkg"}}]}"#),
            Reading::Skipped(_)
        ));
    }
}
