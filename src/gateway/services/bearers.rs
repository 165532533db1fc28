//! Access tokens that come as bearers, and the people whom administrators have disabled. Whether a token is good is for the service
//! to say; whose it is, the identity provider says, and it is asked only while somebody is disabled: of the tenant, or of another one
//! at the same service, which takes the tokens of both. Whoever brings a token that nobody can name then is let in no more than who
//! is disabled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;

use super::directory::Directory;
use super::error::Error;
use super::signin::principal;
use super::users::Users;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::upstream::identity::{IdentityError, Tokens};
use crate::platform::digest::keyed;
use crate::platform::secret::Secret;

/// The use case. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Bearers(Arc<Inner>);

/// Keys of people, in each tenant they may be of, by what stands for their tokens.
type Owners = HashMap<(TenantId, [u8; 32]), Owner>;
type Owner = Arc<[(TenantId, String)]>;

struct Inner {
    directory: Directory,
    users: Users,
    /// Stands between tokens and what names them in memory.
    fingerprint_key: Secret,
    /// Whose tokens are; so many at most. A token is one person's for as long as it lives, so this never gets old.
    known: Mutex<Owners>,
    most: usize,
}

/// What a token is worth here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Worth {
    /// Nothing speaks against it here; the service judges it.
    Good,
    /// It is of somebody whom an administrator has disabled.
    Disabled,
    /// The provider does not know it.
    Unknown,
    /// It cannot be told now whose it is.
    Untold,
}

impl Bearers {
    /// `most`: tokens that are remembered.
    pub(in crate::gateway) fn new((directory, users): (Directory, Users), fingerprint_key: Secret, most: usize) -> Self {
        Self(Arc::new(Inner { directory, users, fingerprint_key, known: Mutex::default(), most }))
    }

    /// What a token is worth now, at most a second behind any change.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store does not say who is disabled.
    pub(in crate::gateway) async fn worth(&self, tenant: &TenantId, token: &Secret) -> Result<Worth, Error> {
        let Inner { directory, users, .. } = &*self.0;
        let mut is_anybody_disabled = false;
        for tenant in &directory.of(tenant)?.at_same_service {
            is_anybody_disabled |= users.is_anybody_disabled(tenant).await?;
        }
        if !is_anybody_disabled {
            return Ok(Worth::Good);
        }
        let owner = match self.owner(tenant, token).await? {
            Ok(owner) => owner,
            Err(worth) => return Ok(worth),
        };
        for (tenant, user) in &*owner {
            if users.is_disabled(tenant, user).await? {
                return Ok(Worth::Disabled);
            }
        }
        Ok(Worth::Good)
    }

    /// Resolves when a token that was good is so no more, for what goes on after its call was taken. A store that does not answer
    /// ends nothing.
    pub(in crate::gateway) async fn ended(&self, tenant: &TenantId, token: &Secret) {
        loop {
            match self.worth(tenant, token).await {
                Ok(Worth::Good) => {}
                Ok(Worth::Disabled | Worth::Unknown | Worth::Untold) => return,
                Err(error) => tracing::debug!(%error, "it cannot be looked at who is disabled"),
            }
            let Ok(clients) = self.0.directory.of(tenant) else { return };
            let news = clients.at_same_service.iter().map(|tenant| self.0.users.news(tenant).boxed());
            futures_util::future::select_all(news).await;
        }
    }

    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key) of whom a token belongs to.
    async fn owner(&self, tenant: &TenantId, token: &Secret) -> Result<Result<Owner, Worth>, Error> {
        let Inner { directory, fingerprint_key, most, .. } = &*self.0;
        let name = (tenant.clone(), keyed(fingerprint_key.expose().as_bytes(), token.expose().as_bytes()));
        if let Some(owner) = self.known().get(&name) {
            return Ok(Ok(Arc::clone(owner)));
        }
        let tokens = Tokens { access: token.clone(), refresh: None, id_token: None, expires_in: None };
        let clients = directory.of(tenant)?;
        let identity = match clients.identity.identify(&tokens, None).await {
            Ok(identity) => identity,
            Err(IdentityError::Unauthorized) => return Ok(Err(Worth::Unknown)),
            Err(error) => {
                tracing::warn!(%tenant, %error, "the provider does not tell whose an access token is");
                return Ok(Err(Worth::Untold));
            }
        };
        let of = |tenant: &TenantId| (tenant.clone(), principal(tenant, &identity).key());
        let owner: Owner = clients.at_same_service.iter().map(of).collect();
        let mut known = self.known();
        if known.len() >= *most {
            known.clear();
        }
        known.insert(name, Arc::clone(&owner));
        Ok(Ok(owner))
    }

    fn known(&self) -> MutexGuard<'_, Owners> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
