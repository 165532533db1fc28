//! Uploaded files (interface section 4, WIRE 4 and 18 #16).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids::Sha256;

/// Answer to an upload.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// Names the file in everything that is asked of it.
    pub sha256: Sha256,
    /// As the upload named it; the service reads nothing from it.
    pub file_name: String,
    /// Bytes.
    pub size: u64,
    /// RFC 3339, UTC.
    pub created_at: String,
}
