//! One sign-in of one user, and the index of all of them: which sessions a user has, and how to end one from elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Parts, Sessions};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Event, Key, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::digest::{hex, sha256};
use crate::platform::random;

/// What a replica tells the others when a session ended.
const ENDED: &str = "session-ended";
/// What is left of an ended session, so that nothing written late is taken for one.
pub(super) const TOMBSTONE: &[u8] = b"ended";
const TOMBSTONE_KEPT: std::time::Duration = std::time::Duration::from_hours(1);
const PURPOSE: &str = "login";

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

/// A session in the list of a user's sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct ListedSession {
    /// [`LoginId::public`] of its sign-in.
    pub(in crate::gateway) id: String,
    pub(in crate::gateway) started_at: Timestamp,
}

/// What the index knows of a sign-in.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Name of the session's record.
    session: String,
    user: String,
    started_at: Timestamp,
}

impl Sessions {
    /// The sessions of a user (by [`Principal::key`](crate::gateway::domain::principal::Principal::key)), oldest first.
    /// Entries of sessions that ran out are taken out of the index on the way.
    pub(in crate::gateway) async fn list(&self, tenant: &TenantId, user: &str) -> Result<Vec<ListedSession>, Unavailable> {
        let parts = &self.0;
        let mut found = Vec::new();
        for id in parts.store.members(&of_user(tenant, user)).await? {
            let living = match parts.entry(tenant, &id).await? {
                Some(entry) => parts.is_alive(tenant, &entry).await?.then_some(entry),
                None => None,
            };
            match living {
                Some(entry) => found.push(ListedSession { id, started_at: entry.started_at }),
                None => parts.forget(tenant, &id, user).await?,
            }
        }
        found.sort_by_key(|session| session.started_at);
        Ok(found)
    }

    /// Ends the session of a sign-in, with its tokens, on all replicas. False when it had ended before.
    pub(in crate::gateway) async fn end(&self, tenant: &TenantId, id: &str) -> Result<bool, Unavailable> {
        let Some(entry) = self.0.entry(tenant, id).await? else { return Ok(false) };
        self.0.end(tenant, &Key::new(tenant, "session", &entry.session), Some((id, &entry.user))).await?;
        Ok(true)
    }

    /// Resolves when the session of this sign-in (by [`LoginId::public`]) ends, wherever that happens: for streams that must not outlive it.
    pub(in crate::gateway) async fn ended(&self, tenant: &TenantId, id: &str) {
        let mut events = self.0.store.subscribe(ENDED);
        let ours = format!("{tenant}/{id}");
        loop {
            if matches!(self.0.entry(tenant, id).await, Ok(None)) {
                return;
            }
            loop {
                match events.next().await {
                    Some(Event::Message(which)) if which == ours.as_bytes() => return,
                    Some(Event::Message(_)) => {}
                    Some(Event::Missed) => break,
                    None => return,
                }
            }
        }
    }
}

impl Parts {
    /// Enters a sign-in into the index. Before the session is written, so that no session is missing from it.
    pub(super) async fn enter(&self, session: &Key, id: &str, user: &str, started_at: Timestamp) -> Result<(), Unavailable> {
        let key = Key::new(session.tenant(), "login", id);
        let entry = Entry { session: session.id().to_owned(), user: user.to_owned(), started_at };
        let plain = serde_json::to_vec(&entry).map_err(|error| Unavailable(error.to_string()))?;
        let sealed = self.ring.seal(PURPOSE, &key.context(), &[], &plain).map_err(|error| Unavailable(error.to_string()))?;
        let lifetime = Some(self.settings.absolute);
        self.store.put(&key, sealed, lifetime).await?;
        self.store.add(&of_user(session.tenant(), user), id, lifetime).await
    }

    /// Ends a session: a tombstone first, then what hangs on it, then word to the other replicas.
    pub(super) async fn end(&self, tenant: &TenantId, session: &Key, owner: Option<(&str, &str)>) -> Result<(), Unavailable> {
        self.store.put(session, TOMBSTONE.to_vec(), Some(TOMBSTONE_KEPT)).await?;
        if let Some((id, user)) = owner {
            self.store.delete(&super::tokens::key(tenant, id)).await?;
            self.store.delete(&super::standing::key(tenant, id)).await?;
            self.forget(tenant, id, user).await?;
            self.store.publish(ENDED, format!("{tenant}/{id}").as_bytes()).await?;
        }
        Ok(())
    }

    async fn forget(&self, tenant: &TenantId, id: &str, user: &str) -> Result<(), Unavailable> {
        self.store.remove(&of_user(tenant, user), id).await?;
        self.store.delete(&Key::new(tenant, "login", id)).await?;
        Ok(())
    }

    async fn entry(&self, tenant: &TenantId, id: &str) -> Result<Option<Entry>, Unavailable> {
        let key = Key::new(tenant, "login", id);
        let record = self.store.get(&key).await?;
        let plain = record.and_then(|record| self.ring.open(PURPOSE, &key.context(), &[], &record.value).ok());
        Ok(plain.and_then(|plain| serde_json::from_slice(&plain).ok()))
    }

    async fn is_alive(&self, tenant: &TenantId, entry: &Entry) -> Result<bool, Unavailable> {
        let record = self.store.get(&Key::new(tenant, "session", &entry.session)).await?;
        let young = self.clock.now().since(entry.started_at) < self.settings.absolute;
        Ok(young && record.is_some_and(|record| record.value != TOMBSTONE))
    }
}

fn of_user(tenant: &TenantId, user: &str) -> Key {
    Key::new(tenant, "user-sessions", user)
}
