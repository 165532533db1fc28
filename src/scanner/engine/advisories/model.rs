//! One advisory in memory and in a snapshot: its names, facts and affected versions. Only data and the checks of its shape.

use serde::{Deserialize, Serialize};

use super::range::Interval;
use crate::contract::results::Severity;
use crate::scanner::engine::ecosystem::Ecosystem;

/// Longer texts of advisories are cut: titles are one line.
const MAX_TITLE: usize = 300;
const MAX_ID: usize = 64;

/// A flaw under all its names, with the packages it is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::scanner::engine) struct Advisory {
    /// CVE ids first, then GHSA ids, then others; the first is the one to show. Never empty.
    pub(in crate::scanner::engine) ids: Vec<String>,
    /// One line of prose.
    pub(in crate::scanner::engine) title: String,
    pub(in crate::scanner::engine) severity: Severity,
    /// The source names no severity: ours is a guess, and any other word counts more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(in crate::scanner::engine) is_severity_guessed: bool,
    /// The vector of CVSS 3 when the source gives one, `CVSS:3.1/AV:N/…`; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::scanner::engine) cvss: String,
    /// `CWE-502`, in the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scanner::engine) cwes: Vec<String>,
    /// `YYYY-MM-DD`; empty when unknown.
    pub(in crate::scanner::engine) published: String,
    /// Classes without which the flaw cannot be there, `org/example/Unsafe`; empty when unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scanner::engine) classes: Vec<String>,
    /// What is called by whoever uses the vulnerable part: classes, or methods as `org/example/Unsafe.load`. From our own list,
    /// never from a snapshot; empty when unknown.
    #[serde(skip)]
    pub(in crate::scanner::engine) reach: Vec<String>,
    /// Whether the class is loaded by name from a configuration, which calls do not show.
    #[serde(skip)]
    pub(in crate::scanner::engine) is_configured: bool,
    /// Where title, severity and weaknesses come from.
    pub(in crate::scanner::engine) source: Source,
    pub(in crate::scanner::engine) affected: Vec<Affected>,
}

/// Which versions of one package are affected, by the word of one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::scanner::engine) struct Affected {
    /// Snapshots of the first format hold Maven packages only and do not say so.
    #[serde(default)]
    pub(in crate::scanner::engine) ecosystem: Ecosystem,
    /// As its world names it, `group:artifact` in Maven's.
    pub(in crate::scanner::engine) package: String,
    /// The record's own id: a later state of the same record replaces this one.
    pub(in crate::scanner::engine) record: String,
    pub(in crate::scanner::engine) source: Source,
    /// When the record was last changed, RFC 3339; empty when the source does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::scanner::engine) modified: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scanner::engine) intervals: Vec<Interval>,
    /// Affected versions that no interval covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scanner::engine) versions: Vec<String>,
}

impl Affected {
    /// How much its bounds can be trusted: a table row that lost its end is worth less than a curated fact.
    pub(super) fn quality(&self) -> (u8, Source) {
        let bounds = match self.source {
            Source::Osv => 3,
            _ if self.intervals.iter().any(Interval::is_unbounded_by_loss) => 0,
            Source::Table => 2,
            Source::Starter => 1,
        };
        (bounds, self.source)
    }
}

/// Where a fact comes from, the least trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::scanner::engine) enum Source {
    /// What this program brings along.
    Starter,
    /// A row of the advisory table (CSV), which has no `last_affected`.
    Table,
    /// A full OSV record.
    Osv,
}

impl Source {
    /// As a person would call it.
    pub(in crate::scanner::engine) const fn words(self) -> &'static str {
        match self {
            Self::Starter => "starter pack",
            Self::Table => "advisory table",
            Self::Osv => "OSV record",
        }
    }
}

/// Sorts the names of a flaw so that the best known comes first, and drops repetitions.
pub(super) fn sort_ids(ids: &mut Vec<String>) {
    let rank = |id: &String| (!id.starts_with("CVE-"), !id.starts_with("GHSA-"));
    ids.sort_by(|left, right| rank(left).cmp(&rank(right)).then_with(|| left.cmp(right)));
    ids.dedup();
}

/// Whether `id` can be the name of an advisory.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= MAX_ID
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':'))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The day of an RFC 3339 instant; empty when it is something else.
pub(super) fn day(instant: &str) -> String {
    let shape = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    match instant.get(..10) {
        Some(day) if day.bytes().enumerate().all(shape) => day.to_owned(),
        _ => String::new(),
    }
}

/// One line of at most [`MAX_TITLE`] characters.
pub(super) fn title(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect()
}
