//! Network diagnostics (interface section 4, WIRE 7).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateDiagnostics {
    /// The address to check, http or https. What is wrong with it is told by the first stage.
    #[schema(min_length = 1, max_length = 2048, pattern = r"\S")]
    pub test_url: String,
}

/// Answer to create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CreatedDiagnostics {
    /// Names the check in next-stage.
    pub id: String,
}

/// Answer of next-stage: every stage that has ended so far, so that each answer can replace the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostics {
    /// The check.
    pub diag_id: String,
    /// The address that is checked.
    pub test_url: String,
    /// Whether stages are still to come.
    pub status: DiagnosticsStatus,
    /// How many stages there are when all pass; the same in every answer.
    pub stage_count: u32,
    /// The stage that runs now; none when finished.
    pub next_stage: Option<String>,
    /// Those that have ended, in order.
    pub stages: Vec<DiagnosticsStage>,
}

/// Clients know these two and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DiagnosticsStatus {
    InProgress,
    Finished,
}

/// One stage that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticsStage {
    /// `ADDRESS`, `POLICY`, `DNS`, `TCP`, `TLS`, `HTTP`, `REDIRECTS`.
    pub stage_name: String,
    /// What the stage asks, one line for people.
    pub description: String,
    /// How it ended.
    pub status: StageStatus,
    /// What was seen, one or more lines.
    pub result_info: String,
    /// What to do about a failure; empty when there is nothing to do (added field).
    #[serde(default)]
    pub hint: String,
    /// How long it took (added field).
    #[serde(default)]
    pub duration_ms: u64,
    /// RFC 3339 (added field).
    #[serde(default)]
    pub started_at: String,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum StageStatus {
    Pass,
    Fail,
}
