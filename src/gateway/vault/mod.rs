//! Keys of a tenant: server keys (SKs) of the scanning service, which go out to it and nowhere else, and API keys issued here,
//! of which only a proof is kept. All keys of one kind and tenant are one sealed record, changed by compare-and-set; replicas
//! believe a copy of it for at most a second and drop it at once when word of a change comes.

mod api_keys;
mod behind;
mod origins;
mod records;
mod server_keys;
mod shelf;
#[cfg(test)]
pub(in crate::gateway) mod tests;
mod usage;

use std::sync::Arc;
use std::time::Duration;

pub(in crate::gateway) use self::api_keys::{IssuedKeys, NewApiKey, Refused, use_of};
pub(in crate::gateway) use self::server_keys::ServerKeys;
use super::store::{Store, Unavailable};
use crate::config::gateway::Vault as VaultSettings;
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// Why the vault did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum VaultError {
    /// No such key in this tenant.
    #[error("there is no such key")]
    Unknown,
    /// The same server key is there already.
    #[error("this server key was added before")]
    Duplicate,
    /// As many keys of this kind are there as there may be.
    #[error("a company can have at most {most} {kind} keys; remove one first")]
    Full { most: usize, kind: &'static str },
    /// Too many texts of one API key are good at the same time.
    #[error("the key was rotated several times lately, and all its texts still work; rotate it without an overlap")]
    ManyTexts,
    /// An API key has another newest text than the one that whoever rotates it looked at.
    #[error(
        "this key was rotated after its page was opened, so nothing was changed; load its page again to see whether that will do"
    )]
    Rotated,
    /// The one active server key cannot be made inactive.
    #[error("this is the only active server key; make another one active first, or remove it")]
    OnlyActive,
    /// Empty, longer than 4096 characters, or with characters that no header can carry.
    #[error("this is no server key: it must be 1 to 4096 visible ASCII characters")]
    Malformed,
    /// The record of the keys does not open. Nothing is overwritten.
    #[error("the keys do not open; their sealing key may be gone")]
    Sealed,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// What both kinds of keys are made with.
#[derive(Clone)]
pub(in crate::gateway) struct Parts {
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) ring: Arc<Ring>,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) settings: VaultSettings,
    pub(in crate::gateway) shutdown: Shutdown,
}

impl Parts {
    const fn copy_life(&self) -> Duration {
        Duration::from_millis(self.settings.copy_ms)
    }
}
