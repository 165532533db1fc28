//! Findings as the portal shows them (WIRE 6, 18 #4). Every text may have been written by an attacker.

use serde_json::Value;

use super::task::Counts;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::results;
use crate::platform::hostile::Hostile;

/// How bad a finding is; a word this version does not know is kept and sorts last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Known(results::Severity),
    Other(Hostile),
}

impl Severity {
    /// Reads a word in any case or a number from 1 (critical) to 4 (low).
    pub(crate) fn read(text: &str) -> Self {
        results::Severity::read(text).map_or_else(|| Self::Other(Hostile::new(text)), Self::Known)
    }
}

/// Whether the vulnerable code is there and can be reached; a word this version does not know is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reachability {
    Known(results::Reachability),
    Other(Hostile),
}

impl Reachability {
    /// Reads the word of the wire in any case, with blanks and dashes for underscores; None when there is none.
    pub(crate) fn read(word: &str) -> Option<Self> {
        use results::Reachability::{NotPresent, PresentNoPath, Reachable, Unknown};
        let plain = word.trim().to_ascii_uppercase().replace(['-', ' '], "_");
        Some(match plain.as_str() {
            "" => return None,
            "REACHABLE" => Self::Known(Reachable),
            "PRESENT_NO_PATH" => Self::Known(PresentNoPath),
            "UNKNOWN" => Self::Known(Unknown),
            "NOT_PRESENT" => Self::Known(NotPresent),
            _ => Self::Other(Hostile::new(word)),
        })
    }
}

/// Whether the finding may be read in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purchase {
    /// `PURCHASED`, or the answer does not tell.
    Open,
    /// Another word, shown as a badge.
    Other(Hostile),
}

/// The part of the artifact a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Component {
    pub name: Hostile,
    pub version: Hostile,
    /// Package URL.
    pub purl: Hostile,
    /// Where in the artifact.
    pub path: Hostile,
}

impl Component {
    /// What an address calls it by: the package URL, else name and version.
    pub(in crate::gateway) fn key(&self) -> String {
        let purl = self.purl.raw().trim();
        if purl.is_empty() { format!("{} {}", self.name.raw(), self.version.raw()).trim().to_owned() } else { purl.to_owned() }
    }
}

/// One row of a list of findings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FindingRow {
    pub id: VulId,
    pub task: Option<TaskId>,
    pub severity: Severity,
    pub title: Hostile,
    pub category: Hostile,
    pub description: Hostile,
    pub cwe: Hostile,
    pub cves: Vec<Hostile>,
    pub component: Option<Component>,
    pub fixed_version: Option<Hostile>,
    pub confidence: Hostile,
    /// None: the service does not say.
    pub reachability: Option<Reachability>,
    pub purchase: Purchase,
    /// The whole row as it came.
    pub raw: Value,
}

impl FindingRow {
    /// Whether the code that makes the version vulnerable is not in the artifact.
    pub(in crate::gateway) const fn is_cleared(&self) -> bool {
        matches!(self.reachability, Some(Reachability::Known(results::Reachability::NotPresent)))
    }

    /// It alone, counted: what is cleared is counted apart.
    pub(in crate::gateway) fn as_counts(&self) -> Counts {
        if self.is_cleared() {
            return Counts { cleared: 1, ..Counts::default() };
        }
        let of = |band| u64::from(self.severity == Severity::Known(band));
        Counts {
            total: 1,
            critical: of(results::Severity::Critical),
            high: of(results::Severity::High),
            medium: of(results::Severity::Medium),
            low: of(results::Severity::Low),
            cleared: 0,
        }
    }

    /// Orders what is open by severity and, within one, by how well it is reached; what is cleared comes last.
    pub(in crate::gateway) const fn rank(&self) -> (bool, u8, u8) {
        let severity = match self.severity {
            Severity::Known(results::Severity::Critical) => 0,
            Severity::Known(results::Severity::High) => 1,
            Severity::Known(results::Severity::Medium) => 2,
            Severity::Known(results::Severity::Low) => 3,
            Severity::Other(_) => 4,
        };
        let reach = match self.reachability {
            Some(Reachability::Known(results::Reachability::Reachable)) => 0,
            _ => 1,
        };
        (self.is_cleared(), severity, reach)
    }
}

/// A finding in full.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub row: FindingRow,
    pub lang: Hostile,
    pub location: Hostile,
    pub api_path: Hostile,
    pub api_method: Hostile,
    /// `VERIFY_PASS`, `VERSION_MATCH` and the like.
    pub verify_result: Hostile,
    pub aliases: Vec<Hostile>,
    pub affected_range: Hostile,
    /// `YYYY-MM-DD`.
    pub published: Hostile,
    pub evidence: Vec<Evidence>,
    pub references: Vec<Reference>,
    pub fix: Fix,
    pub poc: Poc,
    pub source: Option<Taint>,
    pub sink: Option<Taint>,
    /// Steps from source to sink.
    pub flow: Vec<Place>,
    pub snippets: Vec<Hostile>,
}

/// Something seen in the artifact that supports a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub kind: Hostile,
    pub path: Hostile,
    pub detail: Hostile,
}

/// Where to read on; `url` is no link until [`Hostile::link`] says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub kind: Hostile,
    pub title: Hostile,
    pub url: Hostile,
}

/// What to do about a finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Fix {
    #[default]
    None,
    /// The suggestion was no JSON object: shown as text.
    Text(Hostile),
    Suggestion(Box<Suggestion>),
}

/// A parsed fix suggestion (WIRE 6.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Suggestion {
    pub principle: Hostile,
    pub method: Hostile,
    /// 0 to 1.
    pub confidence: Option<f64>,
    pub before: Hostile,
    pub after: Hostile,
    pub explanation: Hostile,
    pub alternatives: Vec<Advice>,
    pub mitigations: Vec<Advice>,
    pub references: Vec<Reference>,
}

/// A titled paragraph of a suggestion, with its use case or urgency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub title: Hostile,
    pub description: Hostile,
    pub note: Hostile,
}

/// Proof of concept: the script and what it printed, JSON or plain text (WIRE 6.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Poc {
    pub script: Text,
    pub output: Text,
}

/// Text that may hold JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text {
    /// For showing: the text as it came, or the object in readable lines.
    pub text: Hostile,
    /// The same read as a JSON object or list.
    pub json: Option<Value>,
}

/// One end of a taint path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taint {
    pub file: Hostile,
    pub method: Hostile,
    pub message: Hostile,
    pub place: Option<Place>,
    pub snippet: Hostile,
}

/// A place in the source or in a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Hostile,
    /// `org.example.Orders`.
    pub class: Hostile,
    /// Name and parameters.
    pub method: Hostile,
    /// Where the class lies in the artifact.
    pub archive: Hostile,
    /// 0 when unknown.
    pub line: u64,
    pub start_column: u64,
    pub end_column: u64,
}
