//! Domain ownership (interface section 4, WIRE 8 and 18 #8, #9).

use serde::{Deserialize, Serialize};

/// Body of verify.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifyDomain {
    /// The target address.
    pub url: String,
    /// Host and port of `url`, for services that read it from here.
    pub domain: String,
    pub content: String,
}
