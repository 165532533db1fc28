//! Tokens of the identity provider at rest: apart from the session, sealed, written only at sign-in and by the refresher.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::login::LoginId;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Swap, Unavailable, Version};
use crate::platform::clock::Timestamp;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const PURPOSE: &str = "tokens";

/// The tokens of one sign-in.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct TokenSet {
    pub(in crate::gateway) access: Secret,
    /// None when the provider gave none: then the sign-in ends with the access token.
    pub(in crate::gateway) refresh: Option<Secret>,
    /// Needed for signing out at the provider.
    pub(in crate::gateway) id_token: Option<Secret>,
    /// When the access token came.
    pub(in crate::gateway) issued_at: Timestamp,
    /// When the access token expires.
    pub(in crate::gateway) expires_at: Timestamp,
}

/// Everything that is kept about the tokens of a sign-in.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) set: TokenSet,
    /// Whose they are. What this person may do is told by [`standing`](super::standing) alone.
    pub(super) owner: Principal,
    pub(super) due: Due,
    /// Fencing number of the lease they were refreshed under; 0 from a sign-in.
    pub(super) fence: u64,
    /// When they were last renewed because the service refused the ones before.
    pub(super) forced_at: Option<Timestamp>,
}

/// What of the provider's last answer still has to be checked. Tokens are written before that, so that no crash loses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Due {
    Nothing,
    /// Whose the access token is.
    Access,
    /// That, and the id token that came with it.
    Both,
}

/// The tokens as they are stored now.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) held: Held,
    pub(super) version: Version,
}

/// A token record before sealing.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Plain {
    access: String,
    refresh: Option<String>,
    id_token: Option<String>,
    issued_at: i64,
    expires_at: i64,
    #[zeroize(skip)]
    owner: Principal,
    #[zeroize(skip)]
    due: Due,
    fence: u64,
    forced_at: Option<i64>,
}

/// The token records of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Tokens {
    store: Store,
    ring: Arc<Ring>,
    /// No token outlives the longest session.
    kept: Duration,
}

impl Tokens {
    /// Records in `store`, sealed with `ring`, kept for `kept` after they were last written: the absolute limit of sessions.
    pub(in crate::gateway) const fn new(store: Store, ring: Arc<Ring>, kept: Duration) -> Self {
        Self { store, ring, kept }
    }

    /// Writes the tokens of a new sign-in of `owner`, before its session is written.
    pub(in crate::gateway) async fn store(&self, login: &LoginId, owner: &Principal, set: &TokenSet) -> Result<(), Unavailable> {
        let key = key(&owner.tenant, &login.public());
        let (set, owner) = (set.clone(), owner.clone());
        let held = Held { set, owner, due: Due::Nothing, fence: 0, forced_at: None };
        self.store.put(&key, self.seal(&key, login, &held)?, Some(self.kept)).await.map(|_| ())
    }

    /// The tokens as they are; `None` when the sign-in ended.
    pub(in crate::gateway) async fn current(&self, tenant: &TenantId, login: &LoginId) -> Result<Option<TokenSet>, Unavailable> {
        Ok(self.read(tenant, login).await?.map(|current| current.held.set))
    }

    /// Deletes the tokens. Ending a session does that too; this is for sign-ins that never had one.
    pub(in crate::gateway) async fn forget(&self, tenant: &TenantId, login: &LoginId) -> Result<(), Unavailable> {
        self.store.delete(&key(tenant, &login.public())).await.map(|_| ())
    }

    pub(super) async fn read(&self, tenant: &TenantId, login: &LoginId) -> Result<Option<Current>, Unavailable> {
        let key = key(tenant, &login.public());
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        let opened = self.ring.open(PURPOSE, &key.context(), login.secret(), &record.value);
        if let Ok(plain) = &opened {
            let renewed = self.ring.renew(PURPOSE, &key.context(), login.secret(), (&record.value, plain));
            self.store.rewrap(&key, record.version, renewed).await;
        }
        let Some(plain) = opened.ok().and_then(|plain| serde_json::from_slice::<Plain>(&plain).ok()) else {
            tracing::warn!(%tenant, "a token record does not open; its sealing key may be gone");
            return Ok(None);
        };
        let set = TokenSet {
            access: Secret::new(plain.access.as_str()),
            refresh: plain.refresh.as_deref().map(Secret::new),
            id_token: plain.id_token.as_deref().map(Secret::new),
            issued_at: Timestamp(plain.issued_at),
            expires_at: Timestamp(plain.expires_at),
        };
        let held = Held {
            set,
            owner: plain.owner.clone(),
            due: plain.due,
            fence: plain.fence,
            forced_at: plain.forced_at.map(Timestamp),
        };
        Ok(Some(Current { held, version: record.version }))
    }

    /// Writes refreshed tokens in the place of those that were read. Never brings back what was deleted.
    pub(super) async fn replace(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        old: Version,
        held: &Held,
    ) -> Result<Swap, Unavailable> {
        let key = key(tenant, &login.public());
        self.store.compare_and_set(&key, old, self.seal(&key, login, held)?, Some(self.kept)).await
    }

    fn seal(&self, key: &Key, login: &LoginId, held: &Held) -> Result<Vec<u8>, Unavailable> {
        let text = |secret: &Secret| secret.expose().to_owned();
        let set = &held.set;
        let plain = Plain {
            access: text(&set.access),
            refresh: set.refresh.as_ref().map(text),
            id_token: set.id_token.as_ref().map(text),
            issued_at: set.issued_at.0,
            expires_at: set.expires_at.0,
            owner: held.owner.clone(),
            due: held.due,
            fence: held.fence,
            forced_at: held.forced_at.map(|at| at.0),
        };
        let bytes = Zeroizing::new(serde_json::to_vec(&plain).map_err(|error| Unavailable(error.to_string()))?);
        let sealed = self.ring.seal(PURPOSE, &key.context(), login.secret(), &bytes);
        sealed.map_err(|error| Unavailable(error.to_string()))
    }
}

/// Name of the token record of a sign-in, by its public id.
pub(super) fn key(tenant: &TenantId, public: &str) -> Key {
    Key::new(tenant, PURPOSE, public)
}
