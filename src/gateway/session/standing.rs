//! What the provider says of a user now, where that is not what it said at the sign-in. Kept beside the session, because only
//! the browser's handle opens the session itself: every load of the session looks here.

use serde::{Deserialize, Serialize};

use super::login::LoginId;
use super::portal::{self, State};
use super::{Parts, Sessions};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Unavailable};

const PURPOSE: &str = "standing";

/// A user's claims after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) principal: Principal,
    /// Authorization generation: 0 at the sign-in, one more with every change of the role.
    pub(super) generation: u64,
}

impl Sessions {
    /// From now on the session of this sign-in speaks for the user as they stand. On this replica with the next request, on
    /// the others when they hear of it.
    pub(super) async fn restate(&self, login: &LoginId, standing: &Standing) -> Result<(), Unavailable> {
        let parts = &self.0;
        let (tenant, public) = (&standing.principal.tenant, login.public());
        let key = key(tenant, &public);
        let plain = serde_json::to_vec(standing).map_err(|error| Unavailable(error.to_string()))?;
        let sealed = parts.ring.seal(PURPOSE, &key.context(), login.secret(), &plain);
        let sealed = sealed.map_err(|error| Unavailable(error.to_string()))?;
        parts.store.put(&key, sealed, Some(parts.settings.absolute)).await?;
        let Some(entered) = parts.entered(tenant, &public).await? else { return Ok(()) };
        let entry = entered.entry.clone().restated(&standing.principal);
        // A conflict is a request that wrote down that it was here; the list shows the role of the sign-in then.
        parts.rewrite(tenant, &public, &entered, &entry).await?;
        parts.changed(&Key::new(tenant, "session", &entry.session), &public).await
    }
}

impl Parts {
    /// The state of a session as its user stands now.
    pub(super) async fn as_it_stands(&self, tenant: &TenantId, mut state: State) -> Result<State, Unavailable> {
        let Some(owner) = portal::owner(&state) else { return Ok(state) };
        let key = key(tenant, &owner.login.public());
        if let Some(record) = self.store.get(&key).await? {
            let opened = self.ring.open(PURPOSE, &key.context(), owner.login.secret(), &record.value).ok();
            let Some(standing) = opened.and_then(|plain| serde_json::from_slice::<Standing>(&plain).ok()) else {
                tracing::warn!(%tenant, "a changed claim does not open; its sealing key may be gone");
                // What the user may do is not known any more: nobody is signed in.
                return Ok(State::new());
            };
            portal::restate(&mut state, standing);
        }
        Ok(state)
    }
}

/// Name of the record of a sign-in, by its public id.
pub(super) fn key(tenant: &TenantId, public: &str) -> Key {
    Key::new(tenant, PURPOSE, public)
}
