//! Which credential a call to the scanning service carries: the user's token by default, refreshed ahead of expiry; the
//! tenant's server key only where a use case asks for it; nothing on public calls unless the tenant's settings say so.

use std::future::Future;

use super::Actor;
use super::directory::Directory;
use super::error::Error;
use super::signin::Refresher;
use crate::config::gateway::PublicAuth;
use crate::contract::reports::ReportLanguage;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::TokenSource;
use crate::gateway::upstream::{Call, Credential, Kind, ScanningService, UpstreamError};
use crate::gateway::vault::Vault;
use crate::platform::secret::Secret;

const NOT_BELIEVED: &str = "The scanning service does not accept your sign-in, although it is fresh.";

/// Hands out clients with the right credential. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Credentials {
    directory: Directory,
    tokens: TokenSource,
    vault: Vault,
}

impl Credentials {
    pub(in crate::gateway) const fn new(directory: Directory, tokens: TokenSource, vault: Vault) -> Self {
        Self { directory, tokens, vault }
    }

    /// Runs `work` with the actor's token. If the service answers 401, the token is refreshed once and `work` runs once
    /// more; where there is no other token, the person signs in again. A second 401 says that the service does not believe
    /// fresh tokens: a new sign-in would not help. Only for work that may run twice: reads and idempotent changes.
    pub(in crate::gateway) async fn with_user<T, F>(
        &self,
        actor: &Actor,
        work: impl Fn(ScanningService, Call) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let (service, call) = self.user(actor).await?;
        let used = match &call.credential {
            Credential::UserToken(token) => token.clone(),
            Credential::ServerKey(_) | Credential::None => return Err(Error::SignIn),
        };
        match work(service.clone(), call).await {
            Err(error) if error.kind == Kind::Unauthorized => {
                let tenant = &actor.principal.tenant;
                let token = self.tokens.force(tenant, &actor.login, &used, self.refresher(tenant)?).await?;
                if token.matches(used.expose()) {
                    return Err(Error::SignIn);
                }
                match work(service, call_with(actor, token)).await {
                    Err(error) if error.kind == Kind::Unauthorized => Err(Error::Unusable(NOT_BELIEVED)),
                    other => other.map_err(Error::from),
                }
            }
            other => other.map_err(Error::from),
        }
    }

    /// The service and a call with a fresh user token, for work that may run only once (a streamed upload).
    pub(in crate::gateway) async fn user(&self, actor: &Actor) -> Result<(ScanningService, Call), Error> {
        let service = self.directory.of(&actor.principal.tenant)?.service.clone();
        let token = self.tokens.access(&actor.principal.tenant, &actor.login, self.refresher(&actor.principal.tenant)?).await?;
        Ok((service, call_with(actor, token)))
    }

    fn refresher(&self, tenant: &TenantId) -> Result<Refresher, Error> {
        Ok(Refresher(self.directory.of(tenant)?.identity.clone()))
    }

    /// The service and a call for public share paths: without a credential, or with the server key where the tenant says so.
    pub(in crate::gateway) async fn public(&self, tenant: &TenantId, request_id: &str) -> Result<(ScanningService, Call), Error> {
        let clients = self.directory.of(tenant)?;
        let credential = match clients.public_auth {
            PublicAuth::None => Credential::None,
            PublicAuth::Sk => self.vault.active(tenant).await?.map_or(Credential::None, |(_, key)| Credential::ServerKey(key)),
        };
        Ok((clients.service.clone(), Call { credential, request_id: request_id.to_owned(), language: ReportLanguage::English }))
    }

    /// The service and a call with the tenant's active server key; `None` when there is no active key.
    pub(in crate::gateway) async fn server_key(
        &self,
        tenant: &TenantId,
        request_id: &str,
    ) -> Result<Option<(ScanningService, Call)>, Error> {
        let service = self.directory.of(tenant)?.service.clone();
        let key = self.vault.active(tenant).await?;
        Ok(key.map(|(_, key)| {
            let credential = Credential::ServerKey(key);
            (service, Call { credential, request_id: request_id.to_owned(), language: ReportLanguage::English })
        }))
    }

    /// The service and a call with this server key, active or not: for testing it.
    pub(in crate::gateway) fn with_key(
        &self,
        tenant: &TenantId,
        request_id: &str,
        key: Secret,
    ) -> Result<(ScanningService, Call), Error> {
        let service = self.directory.of(tenant)?.service.clone();
        let credential = Credential::ServerKey(key);
        Ok((service, Call { credential, request_id: request_id.to_owned(), language: ReportLanguage::English }))
    }
}

fn call_with(actor: &Actor, token: Secret) -> Call {
    Call { credential: Credential::UserToken(token), request_id: actor.request_id.clone(), language: ReportLanguage::English }
}
