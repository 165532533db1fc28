//! Access tokens that come as bearers, and the people whom administrators have disabled. Whether a token is good is for the service
//! to say; whose it is, the identity provider says, and it is asked only while somebody of the tenant is disabled. Whoever brings a
//! token that nobody can name then is let in no more than who is disabled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// Keys of people, by what stands for their tokens.
type Owners = HashMap<(TenantId, [u8; 32]), Arc<str>>;

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
        let Inner { users, .. } = &*self.0;
        if !users.is_anybody_disabled(tenant).await? {
            return Ok(Worth::Good);
        }
        let owner = match self.owner(tenant, token).await? {
            Ok(owner) => owner,
            Err(worth) => return Ok(worth),
        };
        Ok(if users.is_disabled(tenant, &owner).await? { Worth::Disabled } else { Worth::Good })
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
            self.0.users.news(tenant).await;
        }
    }

    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key) of whom a token belongs to.
    async fn owner(&self, tenant: &TenantId, token: &Secret) -> Result<Result<Arc<str>, Worth>, Error> {
        let Inner { directory, fingerprint_key, most, .. } = &*self.0;
        let name = (tenant.clone(), keyed(fingerprint_key.expose().as_bytes(), token.expose().as_bytes()));
        if let Some(owner) = self.known().get(&name) {
            return Ok(Ok(Arc::clone(owner)));
        }
        let tokens = Tokens { access: token.clone(), refresh: None, id_token: None, expires_in: None };
        let identity = match directory.of(tenant)?.identity.identify(&tokens, None).await {
            Ok(identity) => identity,
            Err(IdentityError::Unauthorized) => return Ok(Err(Worth::Unknown)),
            Err(error) => {
                tracing::warn!(%tenant, %error, "the provider does not tell whose an access token is");
                return Ok(Err(Worth::Untold));
            }
        };
        let owner: Arc<str> = principal(tenant, &identity).key().into();
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
