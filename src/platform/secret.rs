//! Text that must never be printed: no Debug, Display or Serialize of its content; wiped when dropped.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};

use super::digest::same;

/// A secret text value.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps `text`.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The content, for the one call that needs it. Never store or log what this returns.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Equality in constant time.
    #[must_use]
    pub fn matches(&self, other: &str) -> bool {
        same(self.expose().as_bytes(), other.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[secret]")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::new)
    }
}
