//! Findings as the portal shows them (WIRE 6, 18 #4). Every text may have been written by an attacker.

use serde_json::Value;

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
    pub purchase: Purchase,
    /// The whole row as it came.
    pub raw: Value,
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

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Hostile,
    pub line: u64,
    pub start_column: u64,
    pub end_column: u64,
}
