//! Exploit chains (interface section 4, WIRE 18 #7): how an HTTP entry point leads to vulnerable code.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids::{TaskId, VulId};
use super::results::Severity;

/// A chain; the search carries the steps too, as there is no other way to read them without a share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExploitChain {
    /// The chain's own id, used in the path of a share.
    pub vul_id: VulId,
    /// The task it was found in.
    pub task_id: TaskId,
    /// One line that names the chain.
    pub title: String,
    /// What kind of weakness it ends in.
    pub category: String,
    /// The worst of the findings it leads to.
    pub severity: Severity,
    /// Lower case with prefix: `cwe-502`; empty when unknown.
    #[serde(default)]
    pub cwe_id: String,
    /// Says that the chain is derived from bytecode and was not executed.
    pub description: String,
    /// How many steps there are.
    pub step_count: u32,
    /// The findings it leads to.
    pub vul_ids: Vec<VulId>,
    /// From the entry point to the vulnerable code.
    pub steps: Vec<ChainStep>,
    /// RFC 3339.
    pub created_at: String,
    /// What somebody could reach who goes this way.
    pub impact: String,
    /// What has to hold for it.
    pub precondition: String,
    /// JSON in a string (WIRE 6.4), see [`super::results::FixSuggestion`].
    pub fix_suggestion: String,
}

/// One step, in order from the entry point to the vulnerable code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainStep {
    /// From 1.
    pub order: u32,
    /// The finding this step reaches; the last step's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vul_id: Option<VulId>,
    /// What kind of weakness the step is about.
    pub category: String,
    /// How bad that is.
    pub severity: Severity,
    /// `GET`, `POST`, …; empty on steps that are no entry point.
    pub api_method: String,
    /// The path pattern; empty when unknown.
    pub api_path: String,
    /// What happens in this step, one line.
    pub description: String,
    /// What the step is (added field).
    pub kind: StepKind,
    /// `org.example.Orders` (added field).
    pub class_name: String,
    /// Name and parameters, `find(String, int)` (added field).
    pub method: String,
    /// Where the class lies, `app.war!/WEB-INF/lib/x.jar` (added field).
    pub path: String,
    /// Source file as the class tells it; empty when it does not (added field).
    #[serde(default)]
    pub file: String,
    /// Line of the call to the next step; of the method's start on the last one (added field).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What a step is in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    Entry,
    Call,
    Sink,
}
