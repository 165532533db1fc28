//! Front-end bootstrap (interface section 4).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of publishable-key.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishableKey {
    /// What a front end starts its authentication kit with. Meant for browsers, so no secret.
    pub publishable_key: String,
}
