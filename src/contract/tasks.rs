//! Tasks: create, create-group, search, detail, terminate, delete (interface sections 2 to 4, WIRE 5 and 18).

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::browsers::SessionInfo;
use super::ids::{Sha256, TaskId};

/// Body of create and create-group. Unknown fields are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateTask {
    /// What the task is called in lists and reports.
    #[schema(required = true, min_length = 1, max_length = 200, pattern = r"\S")]
    pub project_name: String,
    /// Language code such as `JAVA`; any case.
    #[schema(required = true, min_length = 1, example = "JAVA")]
    pub lang: String,
    /// The `sha256` that the upload answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 64, max_length = 64, pattern = "^[0-9a-fA-F]{64}$")]
    pub primary_source_code: Option<String>,
    /// What older clients send instead of `primarySourceCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java_package: Option<String>,
    /// Address of the deployed service, http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_home_page_url: Option<String>,
    /// What older clients send instead of `sandboxHomePageUrl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_target_service_url: Option<String>,
    /// Captured sessions, a list of [`AuthInfo`]: secrets, never echoed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AuthInfo>>)]
    pub sandbox_auth_infos: Option<Value>,
    /// The remote browser the sessions were captured in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub browser_box_id: Option<String>,
    /// Source archives beside the artifact: `{type, sourceCode, fileName}` each, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>, max_items = 20)]
    pub source_code_infos: Option<Value>,
    /// Further artifacts of a group (WIRE 18 #2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_source_codes: Option<Vec<GroupArtifact>>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A login of the target, one of `sandboxAuthInfos` (WIRE 5.2).
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthInfo {
    /// `admin`, `normal` or a free text.
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    pub role_name: String,
    /// Where one signs in, http or https.
    #[schema(format = "uri", max_length = 2048, pattern = r"^https?://")]
    pub login_url: String,
    /// What the browser held when somebody had signed in: a secret.
    pub origin_request_data: SessionInfo,
}

/// One further artifact of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupArtifact {
    /// The `sha256` that its upload answered.
    pub source_code: Sha256,
    /// Its file name, for lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// What the part is called beside the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// Address of its own deployed service, http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_target_service_url: Option<String>,
}

/// Answer to create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTaskResponse {
    /// Names the task in everything that is asked of it.
    pub task_id: TaskId,
    /// How it begins.
    pub status: TaskStatus,
    /// RFC 3339.
    pub created_at: String,
}

/// Answer to create-group: that of create for the first task, and what became of the others (WIRE 18 #2).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateGroupResponse {
    #[serde(flatten)]
    pub first: CreateTaskResponse,
    /// Names the group in searches and terminate.
    pub group_id: String,
    /// Tasks that were made, in the order of their artifacts.
    pub task_ids: Vec<TaskId>,
    /// Artifacts no task was made for (added field).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<GroupFailure>,
}

/// An artifact of a group that was refused while others were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupFailure {
    /// 0 is the artifact on top of the body, 1 the first of `primarySourceCodes`.
    pub index: u32,
    /// The artifact no task was made of.
    pub file_name: String,
    /// Why, as in an error answer.
    pub err_code: u32,
    /// The same in words.
    pub err_detail: String,
}

/// The life of a task: CREATED, RUNNING, then one of the three ends (WIRE 5.5, 18 #6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum TaskStatus {
    Created,
    Running,
    Success,
    Failed,
    Terminated,
}

impl TaskStatus {
    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::Running => "RUNNING",
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
            Self::Terminated => "TERMINATED",
        }
    }

    /// Whether nothing changes any more.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Terminated)
    }
}

/// Body of every search: page from 0, filters and sorts (WIRE 5.3, 18 #3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Search {
    /// From 0.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub page: Option<u32>,
    /// Rows on a page.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub size: Option<u32>,
    /// Rows fit all of them.
    pub filters: Vec<Filter>,
    /// Field names; a leading `-` is descending; `severity` is most severe first.
    pub sorts: Vec<String>,
}

/// JSON knows one kind of number: `3.0` is a whole one too (JSON Schema 2020-12, 6.1.1).
fn whole<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(from)? else { return Ok(None) };
    let whole =
        Some(number).filter(|number| number.fract() == 0.0).and_then(|number| format!("{:.0}", number + 0.0).parse().ok());
    whole.map(Some).ok_or_else(|| D::Error::custom("page and size are whole numbers from 0"))
}

/// One filter of a search; filters are joined by "and".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Filter {
    /// Which fields a list knows is told with its operation.
    pub field: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub value: Value,
}

/// How a filter compares. `In` takes a list, `Between` a list of two, `Like` is a part of the text in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operator {
    Eq,
    Like,
    In,
    Ge,
    Le,
    Between,
}

/// Answer to every search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The rows of this page.
    pub data: Vec<T>,
    /// Rows on all pages.
    pub total: u64,
}

/// One row of a task search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// The task.
    pub task_id: TaskId,
    /// Its language code.
    pub lang: String,
    /// What it is called.
    pub project_name: String,
    /// How far it is.
    pub task_status: TaskStatus,
    /// RFC 3339.
    pub created_at: String,
    /// When something of it changed last, RFC 3339.
    pub updated_at: String,
    /// Why it failed, as in an error answer; only on tasks that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub err_code: Option<u32>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub err_detail: Option<String>,
    /// Counts of what was found so far.
    pub results_stat: ResultsStat,
    /// The group it was made in (added field).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// The service of the group it is about, when it was named (added field).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
}

/// A task in full. Captured sessions are stripped from `params` before they get here.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetail {
    #[serde(flatten)]
    pub row: TaskRow,
    /// When the scan began, RFC 3339; not there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executed_at: Option<String>,
    /// When it ended, RFC 3339; not there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Who made it.
    pub created_by: String,
    /// Whether findings come from static verification only; always true here.
    pub enable_static_verification: bool,
    /// What it was made of.
    pub params: TaskParams,
    /// What the engine is doing, 0 to 100 (added field).
    pub progress: u8,
    /// All tasks of its group, itself too; empty without a group (added field).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_task_ids: Vec<TaskId>,
    /// Logins given for the target, without what was captured: role and address without query (added field).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<AccountEcho>,
    /// What was scanned and what could not be (added field).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<ScanSummary>,
}

/// What of an [`AuthInfo`] may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountEcho {
    /// As it was sent.
    pub role_name: String,
    /// As it was sent.
    pub login_url: String,
}

/// The create body echoed, without secrets.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams {
    /// The body of create, without secrets.
    pub origin_request_data: Map<String, Value>,
}

/// What a composition analysis looked at (added field).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScanSummary {
    /// Components that were identified.
    pub component_count: u64,
    /// Archives inside the artifact that could not be identified: path and why.
    pub unidentified: Vec<Unidentified>,
    /// Limits that were hit, damaged entries: one sentence each.
    pub notes: Vec<String>,
    /// The newest advisory date in the database, `YYYY-MM-DD`.
    pub advisory_date: String,
    /// How many advisories the database holds.
    pub advisory_count: u64,
}

/// An archive whose origin is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Unidentified {
    /// Where in the artifact.
    pub path: String,
    /// Why it could not be told what it is.
    pub reason: String,
}

/// Counts by severity (WIRE 5.4).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResultsStat {
    /// All findings.
    pub total: u64,
    /// Findings of severity low.
    pub low_count: u64,
    /// Findings of severity medium.
    pub medium_count: u64,
    /// Findings of severity high.
    pub high_count: u64,
    /// Findings of severity critical.
    pub critical_count: u64,
    /// Same as `total`: nothing is sold here.
    pub purchased: u64,
    /// Findings whose vulnerable class is not in the archive; not among the other counts (added field).
    #[serde(skip_serializing_if = "is_zero")]
    pub cleared_count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Body of terminate: one task, or several (added field). Both may be there.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TerminateTask {
    /// One task to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Several of them; either of the two fields has to be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 200)]
    pub task_ids: Vec<TaskId>,
}

/// Answer to terminate when some of several tasks could not be ended; otherwise the answer is empty.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminateTasksResponse {
    /// Those that end.
    pub terminated: Vec<TaskId>,
    /// Those that do not, and why.
    pub failures: Vec<TerminateFailure>,
}

/// A task of several that was not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminateFailure {
    /// The task that goes on, or was over.
    pub task_id: TaskId,
    /// Why, as in an error answer.
    pub err_code: u32,
    /// The same in words.
    pub err_detail: String,
}

/// Body of delete: one or more tasks, all or nothing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteTasks {
    /// The tasks to delete, with all they found, for good.
    #[schema(min_items = 1)]
    pub task_ids: Vec<TaskId>,
}
