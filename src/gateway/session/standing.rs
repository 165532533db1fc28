//! What the provider said of a user when it was last asked, in whatever session: one sealed record for each user of a tenant.
//! Every load of a session looks here, so what one session learns counts in all of them, on every replica, within the second
//! that a copy lives. Sign-ins and refreshes write it, nobody else.
//!
//! An answer that was asked for before somebody else wrote may be the older one: it is not written but asked for again. So
//! the record is read before the provider is asked, and written in the place of what was read.

use serde::{Deserialize, Serialize};

use super::portal::{self, State};
use super::{Parts, Sessions};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Swap, Unavailable, Version};

const PURPOSE: &str = "standing";
/// Changes by others that one change gives way to.
const CONFLICTS: usize = 10;

/// A user's claims now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) principal: Principal,
    /// Authorization generation: 0 at first, one more with every change of the role.
    pub(super) generation: u64,
    /// An administrator has disabled the user: no session of theirs counts, one that was about to begin neither.
    #[serde(default)]
    pub(super) is_disabled: bool,
}

/// What was known of a user before the provider was asked.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Known {
    /// None: nothing, or nothing that opens.
    standing: Option<Standing>,
    version: Option<Version>,
}

impl Known {
    /// Whether the provider has said exactly this before.
    pub(in crate::gateway) fn is(&self, principal: &Principal) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.principal == *principal)
    }

    /// Whether something is known.
    pub(in crate::gateway) const fn is_something(&self) -> bool {
        self.version.is_some()
    }
}

/// What came of telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Learnt {
    /// The role is as it was.
    Same,
    /// The user may do something else from now on.
    Role,
    /// Somebody else wrote after [`Sessions::known`]: the provider has to be asked again.
    Overtaken,
}

impl Sessions {
    /// What is known of a user (by [`Principal::key`]). To be asked for before the provider is.
    pub(in crate::gateway) async fn known(&self, tenant: &TenantId, user: &str) -> Result<Known, Unavailable> {
        self.0.known(tenant, user).await
    }

    /// The user as the provider described them last; as in the session where it was not asked since. Read from the store
    /// itself: no copy stands between a lost right and whoever asks for it.
    pub(in crate::gateway) async fn as_told(&self, principal: Principal) -> Result<Principal, Unavailable> {
        match self.0.known(&principal.tenant, &principal.key()).await? {
            // Their sessions have ended; what still runs has no right any more.
            Known { standing: Some(Standing { principal, is_disabled: true, .. }), .. } => {
                Ok(Principal { role: Role::Member, ..principal })
            }
            Known { standing: Some(standing), .. } => Ok(standing.principal),
            Known { version: None, .. } => Ok(principal),
            Known { .. } => Err(Unavailable("what is known of a user does not open".to_owned())),
        }
    }

    /// From now on all sessions of the user speak for the user as told `now`, on this replica with the next request, on the
    /// others when they hear of it, within a second in any case. `was`: who the user was where nothing is known.
    pub(in crate::gateway) async fn learn(
        &self,
        before: &Known,
        was: &Principal,
        now: &Principal,
    ) -> Result<Learnt, Unavailable> {
        let (parts, key) = (&self.0, key(&now.tenant, &now.key()));
        if before.is(now) {
            // It has to last as long as the youngest session.
            parts.store.touch(&key, parts.settings.absolute).await?;
            return Ok(Learnt::Same);
        }
        let (old, generation) = before.standing.as_ref().map_or((was, 0), |old| (&old.principal, old.generation));
        let is_role = old.role != now.role;
        let is_disabled = before.standing.as_ref().is_some_and(|old| old.is_disabled);
        let standing = Standing { principal: now.clone(), generation: generation + u64::from(is_role), is_disabled };
        if !parts.write(&key, before.version, &standing).await? {
            return Ok(if parts.known(&now.tenant, &now.key()).await?.is(now) { Learnt::Same } else { Learnt::Overtaken });
        }
        if old != now
            && let Err(error) = parts.restate(now).await
        {
            // The record counts; the copies are gone within a second, and lists tell the old role until the session is used.
            tracing::warn!(tenant = %now.tenant, %error, "not all sessions of a user were told of changed claims");
        }
        Ok(if is_role { Learnt::Role } else { Learnt::Same })
    }

    /// From now on no session of the user counts, or sessions count again. Those that there are have to be ended besides: this is
    /// for those that begin meanwhile.
    pub(in crate::gateway) async fn set_disabled(&self, user: &Principal, is_disabled: bool) -> Result<(), Unavailable> {
        let (parts, key) = (&self.0, key(&user.tenant, &user.key()));
        for _ in 0..CONFLICTS {
            let before = parts.known(&user.tenant, &user.key()).await?;
            let old = before.standing.unwrap_or_else(|| Standing { principal: user.clone(), generation: 0, is_disabled: false });
            let now = Standing { is_disabled, ..old };
            if parts.write(&key, before.version, &now).await? {
                return parts.restate(&now.principal).await;
            }
        }
        Err(Unavailable("what is known of a user changes all the time".to_owned()))
    }
}

impl Parts {
    async fn known(&self, tenant: &TenantId, user: &str) -> Result<Known, Unavailable> {
        let key = key(tenant, user);
        let Some(record) = self.store.get(&key).await? else { return Ok(Known { standing: None, version: None }) };
        let opened = self.ring.open(PURPOSE, &key.context(), &[], &record.value).ok();
        if let Some(plain) = &opened {
            self.store.rewrap(&key, record.version, self.ring.renew(PURPOSE, &key.context(), &[], (&record.value, plain))).await;
        }
        let standing = opened.and_then(|plain| serde_json::from_slice(&plain).ok());
        if standing.is_none() {
            tracing::warn!(%tenant, "what is known of a user does not open; its sealing key may be gone");
        }
        Ok(Known { standing, version: Some(record.version) })
    }

    /// Writes in the place of what was read. False when something else is there.
    async fn write(&self, key: &Key, before: Option<Version>, standing: &Standing) -> Result<bool, Unavailable> {
        let plain = serde_json::to_vec(standing).map_err(|error| Unavailable(error.to_string()))?;
        let sealed = self.ring.seal(PURPOSE, &key.context(), &[], &plain);
        let sealed = sealed.map_err(|error| Unavailable(error.to_string()))?;
        let kept = Some(self.settings.absolute);
        match before {
            None => Ok(self.store.insert(key, sealed, kept).await?.is_some()),
            Some(version) => Ok(matches!(self.store.compare_and_set(key, version, sealed, kept).await?, Swap::Done(_))),
        }
    }

    /// Puts changed claims into the index and drops the copies of all sessions of the user, everywhere.
    async fn restate(&self, principal: &Principal) -> Result<(), Unavailable> {
        let tenant = &principal.tenant;
        for id in self.logins_of(tenant, &principal.key()).await? {
            let Some(entered) = self.entered(tenant, &id).await? else { continue };
            self.changed(&Key::new(tenant, "session", &entered.entry.session), &id).await?;
            let entry = entered.entry.clone().restated(principal);
            // A conflict is a request that wrote down that it was here; the list shows the old role until it comes again.
            self.rewrite(tenant, &id, &entered, &entry).await?;
        }
        Ok(())
    }

    /// The state of a session as its user stands now.
    pub(super) async fn as_it_stands(&self, tenant: &TenantId, mut state: State) -> Result<State, Unavailable> {
        let Some(owner) = portal::owner(&state) else { return Ok(state) };
        match self.known(tenant, &owner.user).await? {
            Known { version: None, .. } => {}
            Known { standing: Some(Standing { is_disabled: true, .. }), .. } => return Ok(State::new()),
            Known { standing: Some(standing), .. } => portal::restate(&mut state, standing),
            // What the user may do is not known any more: nobody is signed in. A new sign-in writes it anew.
            Known { .. } => return Ok(State::new()),
        }
        Ok(state)
    }
}

/// Name of the record of a user.
fn key(tenant: &TenantId, user: &str) -> Key {
    Key::new(tenant, PURPOSE, user)
}
