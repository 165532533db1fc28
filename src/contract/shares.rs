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
    pub share_id: ShareId,
    pub task_id: TaskId,
    pub share_type: ShareType,
    #[serde(default)]
    pub vul_ids: Vec<VulId>,
    /// 6 to 128 characters; none means that the link alone opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 6, max_length = 128)]
    pub extraction_code: Option<String>,
    /// RFC 3339; none means no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expired_at: Option<String>,
}

/// Answer to create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedShare {
    pub share_id: ShareId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<String>,
}

/// One row of a share search. The code itself is never here.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareRow {
    pub share_id: ShareId,
    pub task_id: TaskId,
    pub project_name: String,
    pub share_type: ShareType,
    pub vul_ids: Vec<VulId>,
    pub need_extraction_code: bool,
    pub expired_at: Option<String>,
    pub created_at: String,
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
    /// 6 to 128 characters.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 6, max_length = 128)]
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
    pub share_id: ShareId,
    pub share_type: ShareType,
    pub project_name: String,
    pub lang: String,
    pub task_id: TaskId,
    pub expired_at: Option<String>,
    pub need_extraction_code: bool,
    pub results_stat: ResultsStat,
    pub vuls: Vec<VulRow>,
    pub exploit_chains: Vec<ExploitChain>,
}
