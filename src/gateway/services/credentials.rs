//! Which credential a call to the scanning service carries: the user's token by default, refreshed ahead of expiry; the
//! tenant's server key only where a use case asks for it; nothing on public calls unless the tenant's settings say so.

use std::future::Future;
use std::sync::Arc;

use super::Actor;
use super::directory::Directory;
use super::error::{Error, KEYS_NOT_BELIEVED, NOT_BELIEVED};
use super::refresher::Refresher;
use crate::config::gateway::PublicAuth;
use crate::contract::error::codes;
use crate::contract::reports::ReportLanguage;
use crate::gateway::cache::Cache;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::server_key::ServerKey;
use crate::gateway::domain::share::Opened;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::KeyUser;
use crate::gateway::session::{LoginId, TokenSource};
use crate::gateway::upstream::{Call, Credential, Kind, ScanningService, UpstreamError};
use crate::gateway::vault::ServerKeys;
use crate::platform::secret::Secret;

/// Hands out clients with the right credential. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Credentials {
    directory: Directory,
    tokens: TokenSource,
    vault: ServerKeys,
    cache: Cache<Error>,
}

impl Credentials {
    pub(in crate::gateway) const fn new(
        directory: Directory,
        tokens: TokenSource,
        vault: ServerKeys,
        cache: Cache<Error>,
    ) -> Self {
        Self { directory, tokens, vault, cache }
    }

    /// Runs `work` with the actor's token. If the service answers 401, which says that it did nothing, the token is refreshed
    /// once and `work` runs once more; where there is no other token, the person signs in again. A second 401 says that the
    /// service does not believe fresh tokens: a new sign-in would not help. Only for work that can be sent twice as it was.
    pub(in crate::gateway) async fn with_user<T, F>(
        &self,
        actor: &Actor,
        work: impl Fn(ScanningService, Call) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let (service, call) = self.user(actor).await?;
        match work(service.clone(), call.clone()).await {
            Err(error) if error.kind == Kind::Unauthorized => match work(service, self.renewed(actor, &call).await?).await {
                Err(error) if error.kind == Kind::Unauthorized => Err(Error::Unusable(NOT_BELIEVED)),
                other => other.map_err(Error::from),
            },
            other => other.map_err(Error::from),
        }
    }

    /// Runs `work` once: its body streams through and is gone afterwards. The token is refreshed before it starts. If the
    /// service answers 401 all the same, the token is refreshed for the next try, which the sender has to make.
    pub(in crate::gateway) async fn with_user_once<T, F>(
        &self,
        actor: &Actor,
        work: impl FnOnce(ScanningService, Call) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let (service, call) = self.user(actor).await?;
        match work(service, call.clone()).await {
            Err(error) if error.kind == Kind::Unauthorized => {
                self.renewed(actor, &call).await?;
                Err(Error::Resend)
            }
            other => other.map_err(Error::from),
        }
    }

    /// Refreshes the actor's token if it is over or about to be, so that what is known of the actor is what the provider says now.
    pub(super) async fn vouched(&self, actor: &Actor) -> Result<(), Error> {
        let tenant = &actor.principal.tenant;
        Ok(self.tokens.vouch(tenant, &actor.login, self.refresher(tenant)?).await?)
    }

    /// The service and a call with a fresh user token.
    async fn user(&self, actor: &Actor) -> Result<(ScanningService, Call), Error> {
        let tenant = &actor.principal.tenant;
        let token = self.tokens.access(tenant, &actor.login, self.refresher(tenant)?).await?;
        Ok((self.directory.of(tenant)?.service.clone(), call_with(actor, token)))
    }

    /// The same call with another token than the one it was refused with.
    async fn renewed(&self, actor: &Actor, refused: &Call) -> Result<Call, Error> {
        let Credential::UserToken(used) = &refused.credential else { return Err(Error::SignIn) };
        let tenant = &actor.principal.tenant;
        let token = self.tokens.force(tenant, &actor.login, used, self.refresher(tenant)?).await?;
        Ok(call_with(actor, token))
    }

    /// The active server keys of a tenant, the one to use first; at most two.
    pub(in crate::gateway) async fn server_keys(&self, tenant: &TenantId) -> Result<Arc<Vec<(ServerKey, Secret)>>, Error> {
        Ok(self.vault.active(tenant).await?)
    }

    /// A server key is used for a call.
    pub(in crate::gateway) fn count_use(&self, tenant: &TenantId, id: &str, what: (&'static str, KeyUser<'_>)) {
        self.vault.count_use(tenant, id, what);
    }

    /// As [`Credentials::with_user`], for work that changes something: what was kept of these subjects ends with it, however
    /// it goes.
    pub(in crate::gateway) async fn changing<T, F>(
        &self,
        actor: &Actor,
        subjects: &'static [Subject],
        work: impl Fn(ScanningService, Call) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let changing = self.cache.changing(&actor.principal.tenant, subjects);
        let done = self.with_user(actor, work).await;
        changing.done(done.as_ref().is_err_and(Error::leaves_open)).await;
        done
    }

    /// A person's token that is good for now.
    pub(in crate::gateway) async fn token(&self, tenant: &TenantId, login: &LoginId) -> Result<Secret, Error> {
        Ok(self.tokens.access(tenant, login, self.refresher(tenant)?).await?)
    }

    /// Another token than the one that the service refused.
    pub(in crate::gateway) async fn other_token(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        refused: &Secret,
    ) -> Result<Secret, Error> {
        Ok(self.tokens.force(tenant, login, refused, self.refresher(tenant)?).await?)
    }

    fn refresher(&self, tenant: &TenantId) -> Result<Refresher, Error> {
        Ok(Refresher { tenant: tenant.clone(), provider: self.directory.of(tenant)?.identity.clone() })
    }

    /// Runs `work` as a public share may be asked: without a credential, or with the tenant's server keys where its settings say
    /// so. A service that refuses all of them is told from one that says of the code that it is wrong by the service's own number
    /// for it; where it gives none, the code is taken to be meant.
    pub(in crate::gateway) async fn with_public<T, F>(
        &self,
        tenant: &TenantId,
        (request_id, operation): (&str, &'static str),
        work: impl Fn(ScanningService, Call) -> F,
    ) -> Result<Opened<T>, Error>
    where
        F: Future<Output = Result<Opened<T>, UpstreamError>>,
    {
        let clients = self.directory.of(tenant)?;
        if clients.public_auth == PublicAuth::Sk {
            match self.with_server_key(tenant, (request_id, operation), &work).await {
                Ok(Some(opened)) => return Ok(opened),
                Ok(None) => {}
                Err(Error::Upstream(error)) if error.kind == Kind::Unauthorized => {
                    let about_the_key = error.code == Some(i64::from(codes::NO_TOKEN));
                    return if about_the_key { Err(Error::Unusable(KEYS_NOT_BELIEVED)) } else { Ok(Opened::WrongCode) };
                }
                Err(error) => return Err(error),
            }
        }
        let request_id = request_id.to_owned();
        let call = Call { credential: Credential::None, request_id, language: ReportLanguage::English };
        Ok(work(clients.service.clone(), call).await?)
    }

    /// Runs `work` for a recipient of a share with the tenant's server key; `None` when no key is active. If the service answers 401, which says that it did
    /// nothing, `work` runs once more with the other active key: that is how a key is replaced without a gap.
    pub(in crate::gateway) async fn with_server_key<T, F>(
        &self,
        tenant: &TenantId,
        (request_id, operation): (&str, &'static str),
        work: impl Fn(ScanningService, Call) -> F,
    ) -> Result<Option<T>, Error>
    where
        F: Future<Output = Result<T, UpstreamError>>,
    {
        let mut refused = None;
        for (about, key) in self.vault.active(tenant).await?.iter() {
            let (service, call) = self.with_key(tenant, request_id, key.clone())?;
            self.vault.count_use(tenant, &about.id, (operation, KeyUser::Recipients));
            match work(service, call).await {
                Err(error) if error.kind == Kind::Unauthorized => refused = Some(error),
                other => return Ok(Some(other?)),
            }
        }
        refused.map_or(Ok(None), |error| Err(error.into()))
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
