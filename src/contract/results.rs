//! Findings of a task (interface section 4, WIRE 6 and 18 #4). Fields that the composition analysis adds are marked.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ids::{TaskId, VulId};
use super::tasks::ResultsStat;

/// How bad a finding is (CVSS v3.1 bands). Written in lower case, read in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Critical,
    High,
    Medium,
    Low,
}

impl Severity {
    /// All, most severe first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Reads words in any case (`MODERATE` is medium) and the numbers 1 (critical) to 4 (low); `None` for all else.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "critical" | "1" => Some(Self::Critical),
            "high" | "2" => Some(Self::High),
            "medium" | "moderate" | "3" => Some(Self::Medium),
            "low" | "4" => Some(Self::Low),
            _ => None,
        }
    }
}

/// One row of a result search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VulRow {
    /// A number of the row; the id to ask with is `vulId`.
    pub ov_id: u64,
    /// Names the finding.
    pub vul_id: VulId,
    /// The task it was found in.
    pub task_id: TaskId,
    /// What kind of weakness it is.
    pub category: String,
    /// What is wrong, in plain text.
    pub description: String,
    /// Lower case with prefix: `cwe-502`; empty when unknown.
    pub cwe_id: String,
    /// How bad it is.
    pub severity: Severity,
    /// Always `PURCHASED`: nothing is sold here (WIRE 18 #23).
    pub purchase_status: String,
    /// Always 0: nothing is sold here.
    pub price: u32,
    /// One line that names the finding (added field).
    pub title: String,
    /// `CVE-…` ids, first the one to show (added field).
    pub cve_ids: Vec<String>,
    /// What of the artifact it is about (added field).
    pub component: Component,
    /// The lowest version that has the fix, when there is one (added field).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_version: Option<String>,
    /// How sure it is (added field).
    pub confidence: Confidence,
    /// Whether the vulnerable code is there and can be reached; none where bytecode tells nothing, as in lock files (added field).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachability: Option<Reachability>,
}

/// The part of the artifact a finding is about (added).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// `group:artifact`.
    pub name: String,
    /// The version that was identified.
    pub version: String,
    /// Package URL, `pkg:maven/group/artifact@version`.
    pub purl: String,
    /// Where in the artifact, `app.war!/WEB-INF/lib/x.jar`.
    pub path: String,
}

/// Whether vulnerable code is in the artifact and reached from an entry point (added). It annotates and raises; nothing is
/// hidden by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reachability {
    /// A path of calls leads from an entry point to it.
    Reachable,
    /// It is there and no path was seen.
    PresentNoPath,
    /// Dynamic loading, damaged classes or a limit: nothing can be said.
    Unknown,
    /// The class that makes the version vulnerable is not in the archive.
    NotPresent,
}

/// How sure a finding is (added).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    High,
    Medium,
    Low,
}

/// A finding in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VulDetail {
    #[serde(flatten)]
    pub row: VulRow,
    /// Language of the task it was found in.
    pub task_lang: String,
    /// Same as `component.path`.
    pub location: String,
    /// `VERSION_MATCH`: the identified version lies in an affected range. Never claims more than was seen.
    pub verify_result: String,
    /// A script that shows the flaw; empty when there is none.
    pub poc_script: String,
    /// What that script printed; empty when it was not run.
    pub poc_script_output: String,
    /// JSON in a string (WIRE 6.4), see [`FixSuggestion`].
    pub fix_suggestion: String,
    /// Places in source code, in order; empty when no source was given.
    pub code_flow: Vec<Value>,
    /// The lines around those places.
    pub code_snippet: Vec<String>,
    /// Whether the finding is about a component, not about code of your own.
    pub component_task: bool,
    /// All other names of the same flaw, e.g. GHSA ids (added field).
    pub aliases: Vec<String>,
    /// The affected range in words, e.g. `>= 2.0, < 2.15.0` (added field).
    pub affected_range: String,
    /// What was seen, in order of weight (added field).
    pub evidence: Vec<Evidence>,
    /// Web addresses to read on (added field).
    pub references: Vec<String>,
    /// When the advisory was published, `YYYY-MM-DD`; empty when unknown (added field).
    pub published: String,
}

/// Something seen in the artifact that supports a finding (added).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// What kind: `pom.properties`, `pom.xml`, `manifest`, `file name`, `advisory`, `note`.
    pub kind: String,
    /// Where: the path in the archive.
    pub path: String,
    /// What was read there.
    pub detail: String,
}

/// The content of `fixSuggestion` (WIRE 6.4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct FixSuggestion {
    /// Why the fix helps.
    pub principle: String,
    /// What to do.
    pub fix_method: String,
    /// 0 to 1.
    pub confidence: f64,
    /// The change as code, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_example: Option<CodeExample>,
    /// Where to read on.
    pub references: Vec<FixReference>,
}

/// Before and after of a fix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CodeExample {
    /// As it is.
    pub before: String,
    /// As it should be.
    pub after: String,
    /// What differs, and why.
    pub explanation: String,
}

/// Where to read on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct FixReference {
    /// What kind of source it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// Answer of stat.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Stat {
    #[serde(flatten)]
    pub counts: ResultsStat,
    /// The same by category, CWE and severity.
    pub detail: Vec<StatDetail>,
}

/// One group of a stat answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatDetail {
    /// What kind of weakness.
    pub category: String,
    /// Lower case with prefix: `cwe-502`; empty when unknown.
    pub cwe_id: String,
    /// How bad.
    pub severity: Severity,
    /// Findings of this group.
    pub count: u64,
}
