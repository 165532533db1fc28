//! The people of each tenant: one sealed record for everybody who has signed in, written at each sign-in, and whether an
//! administrator has disabled them. Name and e-mail address are for administrators to read and stand only inside the seal; the
//! record is named by the hash that stands for a person everywhere.

mod outside;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};

use self::outside::Outside;
use super::domain::principal::Principal;
use super::domain::role::Role;
use super::domain::tenant::TenantId;
use super::store::{Key, Lease, Store, Swap, Unavailable, Version};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

const KIND: &str = "person";
/// Changes by others that one change gives way to.
const TRIES: usize = 20;
/// Whoever decides who may come in is alone for this long at most.
const ALONE: Duration = Duration::from_secs(10);
/// Looks whether somebody else is done with that, and the wait between two.
const LOOKS: (u32, Duration) = (200, Duration::from_millis(25));
/// Records that are read at the same time.
const AT_ONCE: usize = 32;

/// Why the roster gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum RosterError {
    /// Nothing is overwritten.
    #[error("the record of a person does not open; its sealing key may be gone")]
    Sealed,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Somebody who has signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Person {
    pub(in crate::gateway) issuer: String,
    pub(in crate::gateway) subject: String,
    /// Name, e-mail address and role as the provider told them at the last sign-in.
    pub(in crate::gateway) name: Hostile,
    pub(in crate::gateway) email: Hostile,
    pub(in crate::gateway) role: Role,
    pub(in crate::gateway) first_at: Timestamp,
    pub(in crate::gateway) last_at: Timestamp,
    pub(in crate::gateway) disabled: Option<Disabled>,
    /// The last time it was so, once they may come in again.
    #[serde(default)]
    pub(in crate::gateway) was_disabled: Option<Disabled>,
}

/// That somebody may not come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Disabled {
    pub(in crate::gateway) at: Timestamp,
    /// The administrator's name.
    pub(in crate::gateway) by: Hostile,
    /// For other administrators.
    pub(in crate::gateway) reason: Hostile,
}

impl Person {
    /// The person as sessions know them.
    pub(in crate::gateway) fn principal(&self, tenant: &TenantId) -> Principal {
        Principal {
            tenant: tenant.clone(),
            issuer: self.issuer.clone(),
            subject: self.subject.clone(),
            name: self.name.clone(),
            email: self.email.clone(),
            role: self.role,
        }
    }
}

/// Everybody of a tenant, as far as there was room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Everybody {
    /// [`Principal::key`] and the person, in no order that means anything.
    pub(in crate::gateway) people: Vec<(String, Person)>,
    /// False: there are more than were asked for.
    pub(in crate::gateway) complete: bool,
}

/// The people of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Roster {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    outside: Outside,
}

impl Roster {
    /// Who is disabled is believed for `copy_life` without looking again. Must be called inside a tokio runtime.
    pub(in crate::gateway) fn new(
        (store, ring): (Store, Arc<Ring>),
        clock: Clock,
        copy_life: Duration,
        shutdown: &Shutdown,
    ) -> Self {
        let outside = Outside::new(&store, copy_life, shutdown);
        Self { store, ring, clock, outside }
    }

    /// Somebody signs in now: their record is as the provider says, and stays for `kept`. False when they are disabled; then
    /// nothing is written.
    pub(in crate::gateway) async fn enter(&self, who: &Principal, kept: Duration) -> Result<bool, RosterError> {
        let (tenant, user, now) = (&who.tenant, who.key(), self.clock.now());
        for _ in 0..TRIES {
            let found = self.record(tenant, &user).await?;
            if found.as_ref().is_some_and(|(person, _)| person.disabled.is_some()) {
                return Ok(false);
            }
            let first_at = found.as_ref().map_or(now, |(person, _)| person.first_at);
            let Principal { issuer, subject, name, email, role, .. } = who.clone();
            let was_disabled = found.as_ref().and_then(|(person, _)| person.was_disabled.clone());
            let person = Person { issuer, subject, name, email, role, first_at, last_at: now, disabled: None, was_disabled };
            // First the index: somebody who is in no list could not be disabled.
            self.store.add(&index(tenant), &user, Some(kept)).await?;
            if self.write(tenant, (&user, &person), found.map(|(_, version)| version), Some(kept)).await? {
                return Ok(true);
            }
        }
        Err(Unavailable("a person's record changes all the time".to_owned()).into())
    }

    /// Whether an administrator has disabled somebody (by [`Principal::key`]), at most as old as a copy lives.
    pub(in crate::gateway) async fn is_disabled(&self, tenant: &TenantId, user: &str) -> Result<bool, RosterError> {
        // The list may name somebody too many, whose change came to nothing or is being made; the record decides.
        let is_named = self.outside.list(tenant).await?.contains(user);
        Ok(is_named && self.record(tenant, user).await?.is_some_and(|(person, _)| person.disabled.is_some()))
    }

    /// Whether anybody of a tenant may be disabled: while nobody is, nobody has to be told from them.
    pub(in crate::gateway) async fn is_anybody_disabled(&self, tenant: &TenantId) -> Result<bool, RosterError> {
        Ok(!self.outside.list(tenant).await?.is_empty())
    }

    /// Resolves when somebody may have been disabled or enabled: with word of it, or when it is time to look again.
    pub(in crate::gateway) async fn news(&self, tenant: &TenantId) {
        self.outside.news(tenant).await;
    }

    pub(in crate::gateway) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Somebody by [`Principal::key`].
    pub(in crate::gateway) async fn person(&self, tenant: &TenantId, user: &str) -> Result<Option<Person>, RosterError> {
        Ok(self.record(tenant, user).await?.map(|(person, _)| person))
    }

    /// Everybody, at most `most`. One whose record does not open is left out and logged.
    pub(in crate::gateway) async fn everybody(&self, tenant: &TenantId, most: usize) -> Result<Everybody, RosterError> {
        let mut users = self.store.members(&index(tenant)).await?;
        let complete = users.len() <= most;
        users.truncate(most);
        let read = stream::iter(users).map(async |user| (self.record(tenant, &user).await, user));
        let read: Vec<_> = read.buffer_unordered(AT_ONCE).collect().await;
        let mut people = Vec::with_capacity(read.len());
        for (found, user) in read {
            match found {
                Ok(Some((person, _))) => people.push((user, person)),
                Ok(None) => self.forget(tenant, &user).await?,
                Err(RosterError::Sealed) => tracing::error!(%tenant, user, "the record of a person does not open"),
                Err(error) => return Err(error),
            }
        }
        Ok(Everybody { people, complete })
    }

    /// How many people are in the index; some of them may have run out.
    pub(in crate::gateway) async fn count(&self, tenant: &TenantId) -> Result<usize, RosterError> {
        Ok(self.store.members(&index(tenant)).await?.len())
    }

    /// Waits until nobody else decides who may come in, on whichever replica: two who decide about each other do so one after the
    /// other, and the second is found to be out already. To be given back with [`Roster::leave`].
    pub(in crate::gateway) async fn alone(&self, tenant: &TenantId) -> Result<Lease, RosterError> {
        let key = Key::new(tenant, "people", "deciding");
        for _ in 0..LOOKS.0 {
            if let Some(lease) = self.store.acquire(&key, ALONE).await? {
                return Ok(lease);
            }
            tokio::time::sleep(LOOKS.1).await;
        }
        Err(Unavailable("others decide all the time who may come in".to_owned()).into())
    }

    /// Lets others decide. A store that is away does it by itself.
    pub(in crate::gateway) async fn leave(&self, lease: &Lease) {
        if let Err(error) = self.store.release(lease).await {
            tracing::debug!(%error, "others wait a moment before they decide who may come in");
        }
    }

    /// Disables somebody, for good until [`Roster::enable`]. `None`: there is nobody of that key. False: they were before; it
    /// stays as it was written down then.
    pub(in crate::gateway) async fn disable(
        &self,
        tenant: &TenantId,
        user: &str,
        (by, reason): (&Hostile, &Hostile),
    ) -> Result<Option<bool>, RosterError> {
        let disabled = Disabled { at: self.clock.now(), by: by.clone(), reason: reason.clone() };
        let disable = |person: &mut Person| {
            let news = person.disabled.is_none();
            person.disabled.get_or_insert_with(|| disabled.clone());
            news
        };
        // First the list: somebody who is disabled and not in it would go on coming in with tokens.
        self.outside.add(tenant, user).await?;
        let done = self.change(tenant, user, None, disable).await?;
        if done.is_none() {
            self.outside.remove(tenant, user).await?;
        }
        self.outside.changed(tenant).await;
        Ok(done)
    }

    /// Lets somebody in again; their record stays for `kept`. `None`: there is nobody of that key. False: they were not disabled.
    pub(in crate::gateway) async fn enable(
        &self,
        tenant: &TenantId,
        user: &str,
        kept: Duration,
    ) -> Result<Option<bool>, RosterError> {
        let enable = |person: &mut Person| {
            let before = person.disabled.take();
            let is_news = before.is_some();
            person.was_disabled = before.or_else(|| person.was_disabled.take());
            is_news
        };
        let done = self.change(tenant, user, Some(kept), enable).await?;
        self.outside.remove(tenant, user).await?;
        self.outside.changed(tenant).await;
        Ok(done)
    }

    async fn change(
        &self,
        tenant: &TenantId,
        user: &str,
        kept: Option<Duration>,
        mut work: impl FnMut(&mut Person) -> bool,
    ) -> Result<Option<bool>, RosterError> {
        for _ in 0..TRIES {
            let Some((mut person, version)) = self.record(tenant, user).await? else { return Ok(None) };
            if !work(&mut person) {
                return Ok(Some(false));
            }
            self.store.add(&index(tenant), user, kept).await?;
            if self.write(tenant, (user, &person), Some(version), kept).await? {
                return Ok(Some(true));
            }
        }
        Err(Unavailable("a person's record changes all the time".to_owned()).into())
    }

    /// Takes somebody whose record has run out from the index.
    async fn forget(&self, tenant: &TenantId, user: &str) -> Result<(), RosterError> {
        self.store.remove(&index(tenant), user).await?;
        // They may have signed in since; then they are there again.
        if self.store.get(&key(tenant, user)).await?.is_some() {
            self.store.add(&index(tenant), user, None).await?;
        }
        Ok(())
    }

    async fn record(&self, tenant: &TenantId, user: &str) -> Result<Option<(Person, Version)>, RosterError> {
        let key = key(tenant, user);
        let Some(found) = self.store.get(&key).await? else { return Ok(None) };
        let plain = self.ring.open(KIND, &key.context(), &[], &found.value).map_err(|_| RosterError::Sealed)?;
        self.store.rewrap(&key, found.version, self.ring.renew(KIND, &key.context(), &[], (&found.value, &plain))).await;
        let person = serde_json::from_slice(&plain).map_err(|_| RosterError::Sealed)?;
        Ok(Some((person, found.version)))
    }

    /// Writes in the place of what was read. False when something else is there.
    async fn write(
        &self,
        tenant: &TenantId,
        (user, person): (&str, &Person),
        before: Option<Version>,
        kept: Option<Duration>,
    ) -> Result<bool, RosterError> {
        let key = key(tenant, user);
        let plain = serde_json::to_vec(person).map_err(|_| RosterError::Sealed)?;
        let sealed = self.ring.seal(KIND, &key.context(), &[], &plain).map_err(|_| RosterError::Sealed)?;
        Ok(match before {
            Some(version) => matches!(self.store.compare_and_set(&key, version, sealed, kept).await?, Swap::Done(_)),
            None => self.store.insert(&key, sealed, kept).await?.is_some(),
        })
    }
}

fn key(tenant: &TenantId, user: &str) -> Key {
    Key::new(tenant, KIND, user)
}

fn index(tenant: &TenantId) -> Key {
    Key::new(tenant, "people", "all")
}
