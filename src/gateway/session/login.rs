//! One sign-in of one user, and the index of all of them: which sessions a user and a tenant have, what is known of each.
//!
//! The index is entered before the session is written, so that no session is missing from it; what ran out is taken out
//! when somebody looks. A sign-in's entry lives for the absolute limit, counted by the store from the sign-in on, and is
//! never given more: a session is given no time that its entry does not have, so that no replica's clock can add any.

use std::fmt;
use std::time::Duration;

use futures_util::future;
use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};

use super::ending::tombstone;
use super::scope::{Loaded, Visit};
use super::{Parts, Sessions, tokens};
use crate::gateway::domain::device::Device;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Swap, Unavailable, Version};
use crate::platform::clock::Timestamp;
use crate::platform::digest::{hex, sha256};
use crate::platform::hostile::Hostile;
use crate::platform::random;

const PURPOSE: &str = "login";
/// A sign-in that is in the index and has no session yet will have one within this time, or never.
const BEGINS_WITHIN: Duration = Duration::from_mins(1);
/// Tries to write an entry that others write, too.
const CONFLICTS: usize = 10;
/// Entries that are read at the same time.
const AT_ONCE: usize = 32;
/// Users whose sessions are read at the same time.
const USERS_AT_ONCE: usize = 8;

/// Names one sign-in. It is in the sealed session and mixed into the key of the token record, so it is kept as a secret;
/// [`LoginId::public`] stands for it elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::gateway) struct LoginId(String);

impl LoginId {
    /// A new one for a new sign-in.
    ///
    /// # Errors
    /// Without randomness there is no sign-in.
    pub(in crate::gateway) fn new() -> Result<Self, random::Unavailable> {
        random::token().map(Self)
    }

    /// 32 hexadecimal characters that may be shown, logged and sent along to end the session.
    pub(in crate::gateway) fn public(&self) -> String {
        hex(&sha256(self.0.as_bytes())).chars().take(32).collect()
    }

    pub(super) fn secret(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for LoginId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "LoginId({})", self.public())
    }
}

/// A session in a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct ListedSession {
    /// [`LoginId::public`] of its sign-in.
    pub(in crate::gateway) id: String,
    /// [`Principal::key`] of its user.
    pub(in crate::gateway) user: String,
    pub(in crate::gateway) name: Hostile,
    pub(in crate::gateway) email: Hostile,
    pub(in crate::gateway) role: Role,
    pub(in crate::gateway) device: Device,
    /// Where it was used last: IPv4 /24, IPv6 /48; empty when unknown.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) started_at: Timestamp,
    /// To about a minute.
    pub(in crate::gateway) last_seen: Timestamp,
}

/// The sessions of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct AllSessions {
    pub(in crate::gateway) found: Vec<ListedSession>,
    /// False: there are more than were asked for.
    pub(in crate::gateway) complete: bool,
}

/// What the index knows of a sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Name of the session's record.
    pub(super) session: String,
    pub(super) user: String,
    pub(super) started_at: Timestamp,
    name: Hostile,
    email: Hostile,
    role: Role,
    device: Device,
    network: String,
    last_seen: Timestamp,
}

impl Entry {
    /// Of a sign-in that begins now, on this visit.
    pub(super) fn new(session: &Key, principal: &Principal, started_at: Timestamp, (visit, now): (&Visit, Timestamp)) -> Self {
        Self {
            session: session.id().to_owned(),
            user: principal.key(),
            started_at,
            name: principal.name.clone(),
            email: principal.email.clone(),
            role: principal.role,
            device: Device::read(&visit.agent),
            network: visit.network.clone(),
            last_seen: now,
        }
    }

    /// The same sign-in of a user who is as told now.
    pub(super) fn restated(self, principal: &Principal) -> Self {
        let Principal { name, email, role, .. } = principal.clone();
        Self { name, email, role, ..self }
    }

    fn listed(self, id: String) -> ListedSession {
        let Self { session: _, user, started_at, name, email, role, device, network, last_seen } = self;
        ListedSession { id, user, name, email, role, device, network, started_at, last_seen }
    }
}

/// An entry as it was read.
pub(super) struct Entered {
    pub(super) entry: Entry,
    version: Version,
    /// What the sign-in has left of its absolute limit.
    pub(super) left: Duration,
}

/// How a move to a new handle ended.
pub(super) enum Moved {
    /// With this left of the absolute limit.
    Here { left: Duration },
    /// Another request moved it first.
    Elsewhere,
    /// The session ended.
    Over,
}

/// How a sign-in stands.
enum Standing {
    Alive(Box<ListedSession>),
    /// Its session is about to be written: it is in the index first.
    Beginning,
    Over,
}

impl Sessions {
    /// The sessions of a user (by [`Principal::key`]), oldest first. Entries of sessions that ran out are taken out of the
    /// index on the way.
    pub(in crate::gateway) async fn list(&self, tenant: &TenantId, user: &str) -> Result<Vec<ListedSession>, Unavailable> {
        self.0.list(tenant, user).await
    }

    /// The living session of this sign-in.
    #[cfg(test)]
    pub(in crate::gateway) async fn one(&self, tenant: &TenantId, id: &str) -> Result<Option<ListedSession>, Unavailable> {
        Ok(match self.0.standing(tenant, id).await? {
            Standing::Alive(session) => Some(*session),
            Standing::Beginning | Standing::Over => None,
        })
    }

    /// Whose the sign-in was (by [`Principal::key`]) that has this id, or had it lately; `None` when there was none.
    pub(in crate::gateway) async fn whose(&self, tenant: &TenantId, id: &str) -> Result<Option<String>, Unavailable> {
        if let Some(Entered { entry, .. }) = self.0.entered(tenant, id).await? {
            return Ok(Some(entry.user));
        }
        let record = self.0.store.get(&left_by(tenant, id)).await?;
        Ok(record.and_then(|record| String::from_utf8(record.value).ok()))
    }

    /// The sessions of a tenant, those of a user together and oldest first; at most about `most` of them.
    pub(in crate::gateway) async fn list_all(&self, tenant: &TenantId, most: usize) -> Result<AllSessions, Unavailable> {
        let mut all = AllSessions { found: Vec::new(), complete: true };
        for some in self.0.store.members(&users(tenant)).await?.chunks(USERS_AT_ONCE) {
            if all.found.len() >= most {
                all.complete = false;
                break;
            }
            let read = some.iter().map(async |user| (user, self.0.list(tenant, user).await));
            for (user, found) in future::join_all(read).await {
                let found = found?;
                if found.is_empty() {
                    self.forget_user(tenant, user).await?;
                }
                all.found.extend(found);
            }
        }
        all.complete &= all.found.len() <= most;
        all.found.truncate(most);
        Ok(all)
    }

    /// Takes somebody without a session out of the tenant's people.
    async fn forget_user(&self, tenant: &TenantId, user: &str) -> Result<(), Unavailable> {
        let store = &self.0.store;
        store.remove(&users(tenant), user).await?;
        // Somebody may have signed in since; then the user is there again.
        if !store.members(&of_user(tenant, user)).await?.is_empty() {
            store.add(&users(tenant), user, Some(self.0.settings.absolute)).await?;
        }
        Ok(())
    }
}

impl Parts {
    /// Enters a sign-in into the index.
    pub(super) async fn enter(&self, tenant: &TenantId, id: &str, entry: &Entry) -> Result<(), Unavailable> {
        let key = key(tenant, id);
        let lifetime = Some(self.settings.absolute);
        self.store.put(&key, self.seal_entry(&key, entry)?, lifetime).await?;
        self.store.add(&of_user(tenant, &entry.user), id, lifetime).await?;
        self.store.add(&users(tenant), &entry.user, lifetime).await
    }

    /// The sign-in that had its session at `old` has it at `new` from now on. What it has left stays.
    pub(super) async fn move_to(&self, old: &Key, new: &Key, id: &str, principal: &Principal) -> Result<Moved, Unavailable> {
        let tenant = new.tenant();
        for _ in 0..CONFLICTS {
            let Some(entered) = self.entered(tenant, id).await? else { return Ok(Moved::Over) };
            if entered.entry.session != old.id() {
                return Ok(Moved::Elsewhere);
            }
            let entry = Entry { session: new.id().to_owned(), ..entered.entry.clone().restated(principal) };
            match self.rewrite(tenant, id, &entered, &entry).await? {
                Swap::Done(_) => return Ok(Moved::Here { left: entered.left }),
                Swap::Gone => return Ok(Moved::Over),
                // Another request was seen meanwhile.
                Swap::Conflict => {}
            }
        }
        Err(Unavailable("the entry of a sign-in changes all the time".to_owned()))
    }

    /// Writes down that a session is in use and gives it more time, never beyond what its sign-in has left. How long it
    /// lives now; `None` when it has ended.
    pub(super) async fn used(&self, loaded: &Loaded, network: &str) -> Result<Option<Duration>, Unavailable> {
        let Some(owner) = &loaded.owner else { return Ok(None) };
        let (tenant, id) = (loaded.key.tenant(), owner.login.public());
        let Some(entered) = self.entered(tenant, &id).await? else { return Ok(None) };
        let network = if network.is_empty() { entered.entry.network.clone() } else { network.to_owned() };
        let entry = Entry { last_seen: self.clock.now(), network, ..entered.entry.clone() };
        // A conflict is another request of the same session, which wrote the same.
        if self.rewrite(tenant, &id, &entered, &entry).await? == Swap::Gone {
            return Ok(None);
        }
        let Some(by_clock) = self.lifetime(entry.started_at) else { return Ok(None) };
        let time = by_clock.min(entered.left);
        Ok(self.store.touch(&Key::new(tenant, "session", &entry.session), time).await?.then_some(time))
    }

    pub(super) async fn entered(&self, tenant: &TenantId, id: &str) -> Result<Option<Entered>, Unavailable> {
        let key = key(tenant, id);
        let Some(record) = self.store.get(&key).await? else { return Ok(None) };
        let plain = self.ring.open(PURPOSE, &key.context(), &[], &record.value).ok();
        let entry = plain.and_then(|plain| serde_json::from_slice(&plain).ok());
        let left = record.expires_in.unwrap_or_default();
        Ok(entry.map(|entry| Entered { entry, version: record.version, left }))
    }

    /// The sign-ins of a user that are in the index, by their public ids.
    pub(super) async fn logins_of(&self, tenant: &TenantId, user: &str) -> Result<Vec<String>, Unavailable> {
        self.store.members(&of_user(tenant, user)).await
    }

    /// The sessions of a user, oldest first.
    pub(super) async fn list(&self, tenant: &TenantId, user: &str) -> Result<Vec<ListedSession>, Unavailable> {
        let ids = self.logins_of(tenant, user).await?;
        let read = stream::iter(ids).map(async |id| Ok((self.standing(tenant, &id).await?, id)));
        let read: Vec<Result<_, Unavailable>> = read.buffered(AT_ONCE).collect().await;
        let mut found = Vec::new();
        for one in read {
            match one? {
                (Standing::Alive(session), _) => found.push(*session),
                (Standing::Beginning, _) => {}
                (Standing::Over, id) => {
                    self.forget(tenant, &id, user).await?;
                    self.store.delete(&tokens::key(tenant, &id)).await?;
                }
            }
        }
        found.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        Ok(found)
    }

    async fn standing(&self, tenant: &TenantId, id: &str) -> Result<Standing, Unavailable> {
        let Some(Entered { entry, left, .. }) = self.entered(tenant, id).await? else { return Ok(Standing::Over) };
        let record = self.store.get(&Key::new(tenant, "session", &entry.session)).await?;
        let young = self.lifetime(entry.started_at).is_some();
        Ok(match record {
            Some(record) if young && tombstone(&record.value).is_none() => Standing::Alive(Box::new(entry.listed(id.to_owned()))),
            None if self.settings.absolute.saturating_sub(left) < BEGINS_WITHIN => Standing::Beginning,
            _ => Standing::Over,
        })
    }

    /// Whether the session of this sign-in has not ended.
    pub(super) async fn is_alive(&self, tenant: &TenantId, id: &str) -> Result<bool, Unavailable> {
        Ok(matches!(self.standing(tenant, id).await?, Standing::Alive(_)))
    }

    /// Takes a sign-in out of the index. Whose it was is remembered: who ends it once more is told that it has ended.
    pub(super) async fn forget(&self, tenant: &TenantId, id: &str, user: &str) -> Result<(), Unavailable> {
        self.store.put(&left_by(tenant, id), user.as_bytes().to_vec(), Some(self.settings.absolute)).await?;
        self.store.remove(&of_user(tenant, user), id).await?;
        self.store.delete(&key(tenant, id)).await?;
        Ok(())
    }

    pub(super) async fn rewrite(&self, tenant: &TenantId, id: &str, old: &Entered, new: &Entry) -> Result<Swap, Unavailable> {
        let key = key(tenant, id);
        self.store.compare_and_set(&key, old.version, self.seal_entry(&key, new)?, Some(old.left)).await
    }

    fn seal_entry(&self, key: &Key, entry: &Entry) -> Result<Vec<u8>, Unavailable> {
        let plain = serde_json::to_vec(entry).map_err(|error| Unavailable(error.to_string()))?;
        self.ring.seal(PURPOSE, &key.context(), &[], &plain).map_err(|error| Unavailable(error.to_string()))
    }
}

fn key(tenant: &TenantId, id: &str) -> Key {
    Key::new(tenant, "login", id)
}

/// Remembers whose an ended sign-in was.
fn left_by(tenant: &TenantId, id: &str) -> Key {
    Key::new(tenant, "ended-login", id)
}

fn of_user(tenant: &TenantId, user: &str) -> Key {
    Key::new(tenant, "user-sessions", user)
}

/// Everybody of the tenant who has a session, or had one not long ago.
fn users(tenant: &TenantId) -> Key {
    Key::new(tenant, "session-users", "all")
}
