//! Identifiers of the interface, parsed once at the edge (interface sections 2 and 8).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// An identifier that does not have the form the interface asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadId(pub &'static str);

macro_rules! id {
    ($(#[doc = $doc:literal])* $name:ident, $length:expr, $accept:expr, $hint:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The identifier as it stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                let accept: fn(&str) -> bool = $accept;
                if accept(text) { Ok(Self(text.to_owned())) } else { Err(BadId($hint)) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let (shortest, longest) = $length;
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .description(Some(concat!($($doc),*).trim()))
                    .min_length(Some(shortest))
                    .max_length(Some(longest))
                    .pattern(Some(OPAQUE))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

/// [`opaque`] in words of a schema.
const OPAQUE: &str = r"^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f]+$";

/// Opaque to everyone but the service; no control characters, so that it can stand in a path, a log line and a key.
fn opaque(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.chars().count()) && !text.chars().any(char::is_control) && text != "." && text != ".."
}

id!(
    /// A task: 1 to 32 characters (interface section 8).
    TaskId, (1, 32), |text| opaque(text, 32), "a task id has 1 to 32 characters"
);
id!(
    /// The SHA-256 of an uploaded file: exactly 64 lower-case hexadecimal characters (interface section 8).
    Sha256,
    (64, 64),
    |text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
    "a sha256 has exactly 64 lower-case hexadecimal characters"
);
id!(
    /// A share. Opaque, at most 128 characters (our bound).
    ShareId, (1, 128), |text| opaque(text, 128), "a share id has 1 to 128 characters"
);
id!(
    /// A finding. Opaque, at most 256 characters (our bound).
    VulId, (1, 256), |text| opaque(text, 256), "a finding id has 1 to 256 characters"
);
