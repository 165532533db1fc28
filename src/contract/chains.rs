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
    pub task_id: TaskId,
    pub title: String,
    pub category: String,
    pub severity: Severity,
    #[serde(default)]
    pub cwe_id: String,
    /// Says that the chain is derived from bytecode and was not executed.
    pub description: String,
    pub step_count: u32,
    /// The findings it leads to.
    pub vul_ids: Vec<VulId>,
    pub steps: Vec<ChainStep>,
    pub created_at: String,
    pub impact: String,
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
    pub category: String,
    pub severity: Severity,
    /// `GET`, `POST`, …; empty on steps that are no entry point.
    pub api_method: String,
    /// The path pattern; empty when unknown.
    pub api_path: String,
    pub description: String,
    /// (added field)
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
