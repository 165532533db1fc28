//! Asks a tenant's provider for new tokens, and whose they are, for the room that keeps tokens.

use super::signin::principal;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{CheckError, Refresh, RefreshError, Refreshed};
use crate::gateway::upstream::identity::{Hint, IdentityError, IdentityProvider, Tokens as IssuedTokens};
use crate::platform::secret::Secret;

/// Refreshes with the provider of one tenant.
#[derive(Clone)]
pub(in crate::gateway) struct Refresher {
    pub(in crate::gateway) tenant: TenantId,
    pub(in crate::gateway) provider: IdentityProvider,
}

impl Refresh for Refresher {
    async fn refresh(&self, token: Secret) -> Result<Refreshed, RefreshError> {
        match self.provider.refresh(&token).await {
            Ok(tokens) => Ok(Refreshed {
                access: tokens.access,
                refresh: tokens.refresh,
                id_token: tokens.id_token,
                expires_in: tokens.expires_in,
            }),
            Err(IdentityError::InvalidGrant) => Err(RefreshError::Refused),
            Err(error) => {
                tracing::warn!(tenant = %self.tenant, %error, "tokens could not be refreshed");
                Err(RefreshError::Trouble)
            }
        }
    }

    async fn identify(&self, access: Secret, id_token: Option<Secret>) -> Result<Option<Principal>, CheckError> {
        let tokens = IssuedTokens { access, refresh: None, id_token, expires_in: None };
        match self.provider.identify(&tokens, None).await {
            // Who is not let in any more is nobody here.
            Ok(identity) if !identity.is_admitted => Err(CheckError::NotAdmitted),
            Ok(identity) => Ok(Some(principal(&self.tenant, &identity))),
            Err(IdentityError::NothingTold) => Ok(None),
            Err(IdentityError::OtherPerson) => Err(CheckError::NotTheirs),
            Err(error) => {
                tracing::warn!(tenant = %self.tenant, %error, "it is not known yet whose refreshed tokens are");
                Err(CheckError::Trouble)
            }
        }
    }

    async fn revoke(&self, token: Secret) {
        if let Err(error) = self.provider.revoke(&token, Hint::Refresh).await {
            tracing::warn!(tenant = %self.tenant, %error, "a refresh token that nobody uses could not be revoked");
        }
    }
}
