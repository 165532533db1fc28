//! Server keys of a tenant, as its administrators keep them. The text of a key comes in once and goes to the service only.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use crate::contract::tasks::Search;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::server_key::ServerKey;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::{KeyUser, Origins, Uses};
use crate::gateway::upstream::Kind;
use crate::gateway::vault::{ServerKeys, VaultError};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// The longest key that is taken.
pub(in crate::gateway) const LONGEST_KEY: usize = 512;
/// The longest label, in characters.
pub(in crate::gateway) const LONGEST_LABEL: usize = 60;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Keys {
    credentials: Credentials,
    vault: ServerKeys,
    audit: Audit,
}

/// What the service said to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Verdict {
    Accepted,
    Refused,
}

/// What became of a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Added {
    /// It works and is the active one.
    Active,
    /// It works; another one is active.
    Accepted,
    /// The service does not accept it.
    Refused,
    /// The service could not be asked.
    Untested,
}

impl Keys {
    pub(in crate::gateway) const fn new(credentials: Credentials, vault: ServerKeys, audit: Audit) -> Self {
        Self { credentials, vault, audit }
    }

    /// The keys of the administrator's tenant with their uses, oldest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor) -> Result<Vec<(ServerKey, Uses)>, Error> {
        let tenant = &actor.principal.tenant;
        let (keys, mut uses) = (self.vault.list(tenant).await?, self.vault.uses(tenant).await?);
        Ok(keys.into_iter().map(|key| (uses.remove(&key.id).unwrap_or_default(), key)).map(|(uses, key)| (key, uses)).collect())
    }

    /// One key of the tenant with its uses, and all of them for what can be done with it.
    pub(in crate::gateway) async fn one_of_all(&self, actor: &Actor, id: &str) -> Result<Vec<(ServerKey, Uses)>, Error> {
        let all = self.list(actor).await?;
        if all.iter().any(|(key, _)| key.id == id) { Ok(all) } else { Err(Error::NotFound) }
    }

    /// What used a key in the last seven days, by operation and [`KeyUser`].
    pub(in crate::gateway) async fn origins(&self, actor: &Actor, id: &str) -> Result<Origins, Error> {
        Ok(self.vault.origins(&actor.principal.tenant, id).await?)
    }

    /// Keeps a new key and shows it to the service once. Where no key is active, one that the service accepts becomes it. A
    /// service that cannot be reached does not stand in the way; the key is not active then.
    pub(in crate::gateway) async fn add(&self, actor: &Actor, label: &str, key: &Secret) -> Result<Added, Error> {
        let (label, text) = (label.trim(), key.expose().trim());
        if Hostile::from(label).is_empty() || label.chars().count() > LONGEST_LABEL {
            return Err(Error::Invalid(format!("A label needs 1 to {LONGEST_LABEL} characters.")));
        }
        if text.is_empty() || text.len() > LONGEST_KEY || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let words = format!("This is no server key: it must be 1 to {LONGEST_KEY} visible ASCII characters without blanks.");
            return Err(Error::Invalid(words));
        }
        let tenant = &actor.principal.tenant;
        let added = self.vault.add(tenant, Hostile::from(label), Secret::new(text), actor.principal.name.clone()).await;
        let id = added.as_ref().map_or_else(|_| String::new(), |added| added.id.clone());
        let added = self.noted(actor, ("added", &id), added)?;
        match self.tested(tenant, &actor.request_id, &added.id).await {
            Ok(Verdict::Refused) => Ok(Added::Refused),
            Ok(Verdict::Accepted) if self.vault.active(tenant).await?.is_empty() => {
                let activated = self.vault.activate(tenant, &added.id).await;
                self.noted(actor, ("activated", &added.id), activated)?;
                Ok(Added::Active)
            }
            Ok(Verdict::Accepted) => Ok(Added::Accepted),
            Err(error) => {
                tracing::info!(%error, "the new server key could not be tested");
                Ok(Added::Untested)
            }
        }
    }

    /// Asks the service for something harmless with the key and writes down what it said.
    pub(in crate::gateway) async fn test(&self, actor: &Actor, id: &str) -> Result<Verdict, Error> {
        let verdict = self.tested(&actor.principal.tenant, &actor.request_id, id).await?;
        self.note(actor, if verdict == Verdict::Accepted { "tested_accepted" } else { "tested_not_accepted" }, id);
        Ok(verdict)
    }

    /// Makes a key the active one after the service accepted it; a refused key stays as it is.
    pub(in crate::gateway) async fn activate(&self, actor: &Actor, id: &str) -> Result<(), Error> {
        if self.tested(&actor.principal.tenant, &actor.request_id, id).await? == Verdict::Refused {
            self.note(actor, "refused_activation", id);
            let words = "The scanning service does not accept this key, so it was not made active. The active key is as before.";
            return Err(Error::Conflict(words.to_owned()));
        }
        let activated = self.vault.activate(&actor.principal.tenant, id).await;
        self.noted(actor, ("activated", id), activated).map(drop)
    }

    /// Makes one of two active keys inactive.
    pub(in crate::gateway) async fn deactivate(&self, actor: &Actor, id: &str) -> Result<(), Error> {
        let deactivated = self.vault.deactivate(&actor.principal.tenant, id).await;
        self.noted(actor, ("deactivated", id), deactivated).map(drop)
    }

    /// Deletes a key for good.
    pub(in crate::gateway) async fn remove(&self, actor: &Actor, id: &str) -> Result<(), Error> {
        let removed = self.vault.remove(&actor.principal.tenant, id).await;
        self.noted(actor, ("removed", id), removed).map(drop)
    }

    /// Writes down what was done; that it may have been done, where the store went away before it said so.
    fn noted<T>(&self, actor: &Actor, (what, id): (&str, &str), done: Result<T, VaultError>) -> Result<T, Error> {
        match &done {
            Ok(_) => self.note(actor, what, id),
            Err(VaultError::Unavailable(_)) => self.note(actor, &format!("{what}_unsure"), id),
            Err(_) => {}
        }
        done.map_err(Error::from)
    }

    fn note(&self, actor: &Actor, what: &str, id: &str) {
        self.audit.record(&actor.principal.tenant, actor.did(Event::new(Deed::ServerKey, format!("{what} {id}").trim_end())));
    }

    async fn tested(&self, tenant: &TenantId, request_id: &str, id: &str) -> Result<Verdict, Error> {
        let (_, key) = self.vault.reveal(tenant, id).await?;
        let (service, call) = self.credentials.with_key(tenant, request_id, key)?;
        self.vault.count_use(tenant, id, ("searchTasks", KeyUser::Test));
        let search = Search { page: Some(0), size: Some(1), ..Search::default() };
        let (verdict, words) = match service.search_tasks(&call, &search).await {
            Ok(_) => (Verdict::Accepted, "Accepted"),
            Err(error) => match error.kind {
                Kind::Unauthorized => (Verdict::Refused, "Not accepted: the service does not know this key"),
                Kind::Forbidden => (Verdict::Refused, "Not accepted: the key may not read tasks"),
                Kind::Subscription => (Verdict::Refused, "Not accepted: the subscription does not cover this"),
                _ => return Err(error.into()),
            },
        };
        self.vault.note_test(tenant, id, verdict == Verdict::Accepted, Hostile::from(words)).await?;
        Ok(verdict)
    }
}
