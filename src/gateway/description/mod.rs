//! What the gateway serves to programs, described as OpenAPI 3.1: generated from the route table and the types of the
//! contract, so that it cannot say anything else than what is served. The only room of the gateway that knows utoipa; it is
//! pure and asks nobody. The page for people reads the same document through [`guide`].

mod answers;
mod callers;
mod document;
pub(in crate::gateway) mod guide;
mod parameters;
mod rules;
mod searches;
mod shapes;
mod tidy;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde_json::Value;

use self::guide::Guide;
use crate::platform::digest;

/// What differs from tenant to tenant.
pub(in crate::gateway) struct About<'a> {
    /// The company.
    pub(in crate::gateway) name: &'a str,
    /// Scheme and host that callers use, without a trailing slash.
    pub(in crate::gateway) origin: &'a str,
    /// Name of the session cookie.
    pub(in crate::gateway) cookie: &'a str,
    /// Whether operations are served that are not in the interface's tables.
    pub(in crate::gateway) has_additions: bool,
    /// Whether access tokens of the identity provider are taken as bearers.
    pub(in crate::gateway) takes_access_tokens: bool,
    pub(in crate::gateway) bounds: Bounds,
}

/// How large a call may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Bounds {
    pub(in crate::gateway) json_bytes: usize,
    pub(in crate::gateway) upload_bytes: u64,
    /// Path and query.
    pub(in crate::gateway) uri_bytes: usize,
    pub(in crate::gateway) head_bytes: usize,
    pub(in crate::gateway) head_fields: usize,
}

/// A description, ready to be served.
pub(in crate::gateway) struct Description {
    /// The document.
    pub(in crate::gateway) json: Bytes,
    /// Changes with the document; without quotes.
    pub(in crate::gateway) tag: String,
    /// The document for people.
    pub(in crate::gateway) guide: Guide,
}

impl Description {
    /// Describes what one tenant is served.
    ///
    /// # Errors
    /// When the document is no JSON, which would be a fault of the library.
    pub(in crate::gateway) fn of(about: &About<'_>) -> Result<Self, serde_json::Error> {
        let mut document: Value = serde_json::to_value(document::document(about))?;
        tidy::tidy(&mut document);
        let json = Bytes::from(serde_json::to_vec(&document)?);
        let tag = digest::hex(&digest::sha256(&json)).chars().take(32).collect();
        Ok(Self { json, tag, guide: Guide::of(&document, rules::of(about)) })
    }
}
