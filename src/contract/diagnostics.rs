//! Network diagnostics (interface section 4, WIRE 7).

use serde::{Deserialize, Serialize};

/// Body of create.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateDiagnostics {
    pub test_url: String,
}
