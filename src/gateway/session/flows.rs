//! Sign-ins that have begun: kept here, found by their `state`, bound to one browser, used once, gone after some minutes.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Unavailable};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, same, sha256};
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const PURPOSE: &str = "flow";
const DONE: &str = "flow-done";
/// The random parts of a begun sign-in and of its binding are of this many characters.
const TOKEN: usize = 43;

/// What the browser is sent away with, and what stays for the provider.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Begun {
    /// The `state` parameter: the tenant and 256 random bits.
    pub(in crate::gateway) state: Secret,
    /// PKCE verifier, 43 characters (RFC 7636). Only its challenge leaves with the browser.
    pub(in crate::gateway) verifier: Secret,
    /// The `nonce` parameter where `openid` is asked.
    pub(in crate::gateway) nonce: Secret,
    /// Value of the cookie that binds sign-ins to this browser: the one it has, or a new one.
    pub(in crate::gateway) binding: Secret,
}

/// A begun sign-in whose browser came back, for the first time.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Flow {
    pub(in crate::gateway) verifier: Secret,
    pub(in crate::gateway) nonce: Secret,
    pub(in crate::gateway) return_to: ReturnTo,
    /// The provider was told to ask the person even if it knows them.
    pub(in crate::gateway) asks: bool,
}

/// What a `state` stands for when the browser comes back with it.
#[derive(Clone, Debug)]
pub(in crate::gateway) enum Callback {
    /// The sign-in can go on. Nobody else gets this answer for it.
    First(Flow),
    /// It was used before, by the same browser: the back button, or a reload. With a live session, go to the target.
    Again(ReturnTo),
}

/// Why a `state` is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum FlowError {
    /// Never begun here, or expired.
    #[error("this sign-in is not known here, or it took too long")]
    Unknown,
    /// Begun in another browser.
    #[error("this sign-in was begun in another browser")]
    OtherBrowser,
    /// Begun at another tenant.
    #[error("this sign-in was begun somewhere else")]
    OtherTenant,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

#[derive(Serialize, Deserialize)]
struct Plain {
    verifier: String,
    nonce: String,
    return_to: ReturnTo,
    binding: String,
    created_at: Timestamp,
    #[serde(default)]
    asks: bool,
}

/// The begun sign-ins of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Flows {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    lifetime: Duration,
}

impl Flows {
    /// Sign-ins that may take `lifetime` each.
    pub(in crate::gateway) const fn new(store: Store, ring: Arc<Ring>, clock: Clock, lifetime: Duration) -> Self {
        Self { store, ring, clock, lifetime }
    }

    /// How long a begun sign-in may take, and the lifetime of its cookie.
    pub(in crate::gateway) const fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Begins a sign-in. `binding` is the value of the browser's cookie from an earlier one, so that several tabs can
    /// sign in side by side. `asks`: the provider is told to ask even whom it knows.
    pub(in crate::gateway) async fn begin(
        &self,
        tenant: &TenantId,
        binding: Option<&str>,
        (return_to, asks): (ReturnTo, bool),
    ) -> Result<Begun, Unavailable> {
        let token = || random::token().map_err(|error| Unavailable(error.to_string()));
        let begun = Begun {
            state: Secret::new(format!("{tenant}.{}", token()?)),
            verifier: Secret::new(token()?),
            nonce: Secret::new(token()?),
            binding: Secret::new(match binding.filter(|binding| is_token(binding)) {
                Some(known) => known.to_owned(),
                None => token()?,
            }),
        };
        let plain = Plain {
            verifier: begun.verifier.expose().to_owned(),
            nonce: begun.nonce.expose().to_owned(),
            return_to,
            binding: fingerprint(tenant, begun.binding.expose()),
            created_at: self.clock.now(),
            asks,
        };
        let key = Key::hashed(tenant, PURPOSE, begun.state.expose());
        self.write(&key, PURPOSE, begun.state.expose(), &plain).await?;
        Ok(begun)
    }

    /// Takes up the sign-in that `state` stands for. `binding` is the value of the browser's cookie.
    pub(in crate::gateway) async fn finish(
        &self,
        tenant: &TenantId,
        state: &str,
        binding: Option<&str>,
    ) -> Result<Callback, FlowError> {
        let (of, random) = state.split_once('.').ok_or(FlowError::Unknown)?;
        let of = TenantId::parse(of).ok().filter(|_| is_token(random)).ok_or(FlowError::Unknown)?;
        if of != *tenant {
            return Err(self.of_another(&of, state).await?);
        }
        let (key, done) = (Key::hashed(tenant, PURPOSE, state), Key::hashed(tenant, DONE, state));
        let binding = fingerprint(tenant, binding.unwrap_or_default());
        let mine = |plain: &Plain| same(plain.binding.as_bytes(), binding.as_bytes());
        let Some(plain) = self.read(&key, PURPOSE, state).await? else {
            let plain = self.read(&done, DONE, state).await?.ok_or(FlowError::Unknown)?;
            return if mine(&plain) { Ok(Callback::Again(plain.return_to)) } else { Err(FlowError::OtherBrowser) };
        };
        if !mine(&plain) {
            return Err(FlowError::OtherBrowser);
        }
        // Written before the record is taken, so that a second callback at the same moment finds one of the two.
        let spent = Plain { verifier: String::new(), nonce: String::new(), ..plain };
        self.write(&done, DONE, state, &spent).await?;
        let Some(taken) = self.store.take(&key).await? else { return Ok(Callback::Again(spent.return_to)) };
        let plain = self.open(&key, PURPOSE, state, &taken).ok_or(FlowError::Unknown)?;
        Ok(Callback::First(Flow {
            verifier: Secret::new(plain.verifier),
            nonce: Secret::new(plain.nonce),
            return_to: plain.return_to,
            asks: plain.asks,
        }))
    }

    /// A state that names another tenant: theirs indeed, or made up.
    async fn of_another(&self, named: &TenantId, state: &str) -> Result<FlowError, Unavailable> {
        for kind in [PURPOSE, DONE] {
            if self.store.get(&Key::hashed(named, kind, state)).await?.is_some() {
                return Ok(FlowError::OtherTenant);
            }
        }
        Ok(FlowError::Unknown)
    }

    async fn write(&self, key: &Key, purpose: &str, state: &str, plain: &Plain) -> Result<(), Unavailable> {
        let bytes = Zeroizing::new(serde_json::to_vec(plain).map_err(|error| Unavailable(error.to_string()))?);
        let sealed = self.ring.seal(purpose, &key.context(), state.as_bytes(), &bytes);
        let sealed = sealed.map_err(|error| Unavailable(error.to_string()))?;
        self.store.put(key, sealed, Some(self.lifetime)).await.map(|_| ())
    }

    async fn read(&self, key: &Key, purpose: &str, state: &str) -> Result<Option<Plain>, Unavailable> {
        Ok(self.store.get(key).await?.and_then(|record| self.open(key, purpose, state, &record.value)))
    }

    fn open(&self, key: &Key, purpose: &str, state: &str, sealed: &[u8]) -> Option<Plain> {
        let plain = self.ring.open(purpose, &key.context(), state.as_bytes(), sealed).ok()?;
        let plain: Plain = serde_json::from_slice(&plain).ok()?;
        // Also when the store kept it longer, e.g. after it was restored from a backup.
        (self.clock.now().since(plain.created_at) < self.lifetime).then_some(plain)
    }
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn fingerprint(tenant: &TenantId, binding: &str) -> String {
    hex(&sha256(format!("{tenant}\0{binding}").as_bytes()))
}
