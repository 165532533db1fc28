//! Domain ownership (interface section 4, WIRE 8 and 18 #8, #9).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of random-content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnershipContent {
    /// 64 lower-case hexadecimal characters, bound to the account.
    pub content: String,
    /// RFC 3339; 3 hours from the first answer with this content.
    pub expired_at: String,
    /// Always `hash.txt`.
    pub file_name: String,
}

/// Body of verify.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VerifyDomain {
    /// The target address.
    pub url: String,
    /// Host and port of `url`, for services that read it from here.
    #[serde(default)]
    pub domain: String,
    /// The random content that was published there.
    pub content: String,
}

/// Files below `/.well-known/` that may hold the content, in the order they are looked for (WIRE 18 #9).
pub const FILE_NAMES: [&str; 2] = ["hash.txt", "zast.txt"];
