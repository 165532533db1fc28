//! ErrorResponse (interface section 7; fields from WIRE 18 #1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorResponse {
    /// Always false.
    pub success: bool,
    /// One sentence in plain words that says what to do.
    pub message: String,
    /// Code and detail.
    pub data: ErrorData,
}

/// What went wrong, for programs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// 10 × HTTP status + n, see [`codes`].
    pub err_code: u32,
    /// The same in words.
    pub err_detail: String,
}

impl ErrorResponse {
    /// An error body from a code of [`codes`] and its words.
    #[must_use]
    pub fn new(err_code: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { success: false, data: ErrorData { err_code, err_detail: message.clone() }, message }
    }
}

/// Error codes (WIRE 18 #1).
pub mod codes {
    pub const BAD_FIELD: u32 = 4000;
    pub const UNKNOWN_FILE: u32 = 4001;
    pub const OWNERSHIP_MISSING: u32 = 4002;
    pub const NO_TOKEN: u32 = 4010;
    pub const FORBIDDEN: u32 = 4030;
    pub const CODE_NEEDED: u32 = 4031;
    pub const CODE_WRONG: u32 = 4032;
    pub const NOT_FOUND: u32 = 4040;
    pub const SHARE_EXPIRED: u32 = 4041;
    /// The service has no browser here.
    pub const NO_BROWSER: u32 = 4042;
    pub const TOO_LARGE: u32 = 4130;
    pub const TOO_MANY: u32 = 4290;
    pub const INTERNAL: u32 = 5000;
    /// Kept for subscription problems at status 500; never retried (WIRE 3).
    pub const SUBSCRIPTION: u32 = 1010;
}
