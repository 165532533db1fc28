//! Shares, the owner's side and the recipient's (interface section 4, WIRE 18 #10 to #15).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::chains::ExploitChain;
use super::ids::{ShareId, TaskId, VulId};
use super::results::VulRow;
use super::tasks::ResultsStat;

/// Answer of generate-id.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeneratedShareId {
    /// A new id, to be sent with create.
    pub share_id: ShareId,
}

/// What a share gives access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ShareType {
    /// Chosen findings.
    Vul,
    /// The whole report of a task.
    Report,
}

/// Body of create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateShare {
    /// From generate-id.
    pub share_id: ShareId,
    /// The task whose findings are shared; one of yours.
    pub task_id: TaskId,
    /// Whether all of the task is shared, or chosen findings.
    pub share_type: ShareType,
    /// The chosen findings; leave it out where all are shared.
    #[serde(default)]
    pub vul_ids: Vec<VulId>,
    /// 8 to 64 letters and digits, of which capitals, and the signs between them, do not count when it is typed; none means that
    /// the link alone opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 8, max_length = 128)]
    pub extraction_code: Option<String>,
    /// RFC 3339; without one it ends as late as is allowed, or never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expired_at: Option<String>,
}

/// Answer to create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedShare {
    /// The share.
    pub share_id: ShareId,
    /// When it ends, RFC 3339; missing where none was given, and it then ends as late as is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<String>,
}

/// One row of a share search. The code itself is never here.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareRow {
    /// The share.
    pub share_id: ShareId,
    /// The task whose findings are shared.
    pub task_id: TaskId,
    /// Project of that task.
    pub project_name: String,
    /// Whether all of the task is shared, or chosen findings.
    pub share_type: ShareType,
    /// The chosen findings; empty where all are shared.
    pub vul_ids: Vec<VulId>,
    /// Whether it opens with a code only.
    pub need_extraction_code: bool,
    /// When it ends, RFC 3339; null where none was given, and it then ends as late as is allowed.
    pub expired_at: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
}

/// Body of PATCH: a missing field stays, `null` removes (WIRE 18 #13).
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateShare {
    /// RFC 3339, in the future.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expired_at: Option<Option<String>>,
    /// 8 to 64 letters and digits, of which capitals, and the signs between them, do not count when it is typed.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 8, max_length = 128)]
    pub extraction_code: Option<Option<String>>,
}

#[expect(clippy::option_option, reason = "missing and null differ in a PATCH")]
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(from).map(Some)
}

/// Body of delete.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteShares {
    /// The shares to end, all of them yours.
    #[schema(min_items = 1)]
    pub share_ids: Vec<ShareId>,
}

/// Body of the public POST variants.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtractShare {
    /// What the owner gave to the recipient. A share without a code needs none.
    pub extraction_code: String,
}

/// What a recipient sees.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicShare {
    /// The share.
    pub share_id: ShareId,
    /// Whether all of the task is shared, or chosen findings.
    pub share_type: ShareType,
    /// Project of the task.
    pub project_name: String,
    /// Language of the task.
    pub lang: String,
    /// The task; it opens nothing without a credential.
    pub task_id: TaskId,
    /// When the share ends, RFC 3339; null for never.
    pub expired_at: Option<String>,
    /// Whether it opens with a code only.
    pub need_extraction_code: bool,
    /// Counts of the findings of the share.
    pub results_stat: ResultsStat,
    /// The findings of the share.
    pub vuls: Vec<VulRow>,
    /// The exploit chains that lead to them.
    pub exploit_chains: Vec<ExploitChain>,
}
