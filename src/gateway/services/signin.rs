//! Signing in by the code flow and signing out: begin, complete, refresh, end.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Actor;
use super::directory::Directory;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::identity::Identity;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{
    Begun, Callback, CheckError, Flow, FlowError, Flows, LoginId, Refresh, RefreshError, Refreshed, TokenSet, Tokens,
};
use crate::gateway::store::{Key, Store};
use crate::gateway::upstream::identity::{IdentityError, IdentityProvider, SignIn as Ask, Tokens as IssuedTokens};
use crate::platform::clock::Clock;
use crate::platform::digest::sha256;
use crate::platform::secret::Secret;

/// Path of the callback below the portal's origin; registered at the provider.
const CALLBACK: &str = "/auth/callback";

/// Sign-in and sign-out of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SignIn {
    pub(in crate::gateway) directory: Directory,
    pub(in crate::gateway) flows: Flows,
    pub(in crate::gateway) tokens: Tokens,
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) audit: Audit,
    /// Lifetime of an access token when the provider does not tell.
    pub(in crate::gateway) default_lifetime: Duration,
    /// Sign-ins begun per network and minute.
    pub(in crate::gateway) per_minute: u64,
}

/// Whose sign-in it is and from where.
pub(in crate::gateway) struct Place<'a> {
    pub(in crate::gateway) tenant: &'a TenantId,
    /// Scheme and host as the browser sees them.
    pub(in crate::gateway) origin: &'a str,
    /// The caller's network, for limits.
    pub(in crate::gateway) network: &'a str,
    /// Value of the cookie that binds sign-ins to this browser.
    pub(in crate::gateway) binding: Option<&'a str>,
    pub(in crate::gateway) request_id: &'a str,
}

/// What the browser brought back from the provider.
pub(in crate::gateway) struct Answer {
    pub(in crate::gateway) state: String,
    pub(in crate::gateway) code: Option<Secret>,
    pub(in crate::gateway) error: Option<String>,
    pub(in crate::gateway) iss: Option<String>,
}

/// How a callback ended.
pub(in crate::gateway) enum Completed {
    /// A session may start; its tokens are stored under `login`.
    New { principal: Principal, login: LoginId, return_to: ReturnTo },
    /// The same callback again: with a live session, go on to the target.
    Again(ReturnTo),
}

/// Why a sign-in did not work, as far as a user can do something about it.
#[derive(Debug, thiserror::Error)]
pub(in crate::gateway) enum SignInError {
    /// Unknown, expired, or begun in another browser.
    #[error("the sign-in is not known here")]
    Stale,
    /// The provider says that the user did not agree or is not allowed.
    #[error("the provider refused")]
    Refused,
    /// The provider is down or slow.
    #[error("the provider is not available")]
    ProviderDown,
    /// The answer of the provider cannot be believed. For the log.
    #[error("{0}")]
    Unbelievable(String),
    #[error(transparent)]
    Other(#[from] Error),
}

impl SignInError {
    /// The reason in a word, for the audit trail.
    const fn reason(&self) -> &'static str {
        match self {
            Self::Stale => "unknown_or_used",
            Self::Refused => "refused_by_provider",
            Self::ProviderDown => "provider_down",
            Self::Unbelievable(_) => "answer_not_believed",
            Self::Other(_) => "trouble",
        }
    }
}

impl SignIn {
    /// Where to send the browser, and what binds the sign-in to it. `again`: the provider shall ask even whom it knows.
    pub(in crate::gateway) async fn begin(
        &self,
        place: Place<'_>,
        return_to: ReturnTo,
        again: bool,
    ) -> Result<(String, Begun), SignInError> {
        let provider = &self.directory.of(place.tenant)?.identity;
        let counter = Key::new(place.tenant, "sign-ins", place.network);
        let count = self.store.count(&counter, Duration::from_mins(1)).await.map_err(Error::from)?;
        if count.value > self.per_minute {
            return Err(Error::Busy { retry_after: count.resets_in.as_secs().max(1) }.into());
        }
        let begun = self.flows.begin(place.tenant, place.binding, return_to).await.map_err(Error::from)?;
        let challenge = URL_SAFE_NO_PAD.encode(sha256(begun.verifier.expose().as_bytes()));
        let ask = Ask {
            state: begun.state.expose(),
            challenge: &challenge,
            nonce: begun.nonce.expose(),
            redirect_uri: &redirect_uri(place.origin),
            again,
        };
        let address = provider.authorize_url(ask).await.map_err(provider_error)?;
        Ok((address, begun))
    }

    /// Takes up a callback: the state is used up first, so that whatever happens it cannot be used again.
    /// How it ended is written down.
    pub(in crate::gateway) async fn complete(&self, place: Place<'_>, answer: Answer) -> Result<Completed, SignInError> {
        let (tenant, network, request_id) = (place.tenant, place.network, place.request_id);
        let outcome = self.take_up(place, answer).await;
        let event = match &outcome {
            Ok(Completed::New { principal, login, .. }) => Event::new(Deed::SignIn, "").by(&principal.key(), &login.public()),
            Ok(Completed::Again(_)) => return outcome,
            Err(error) => Event::new(Deed::SignInRefused, error.reason()),
        };
        self.audit.record(tenant, event.from(network, request_id));
        outcome
    }

    async fn take_up(&self, place: Place<'_>, answer: Answer) -> Result<Completed, SignInError> {
        let flow = match self.flows.finish(place.tenant, &answer.state, place.binding).await {
            Ok(Callback::First(flow)) => flow,
            Ok(Callback::Again(return_to)) => return Ok(Completed::Again(return_to)),
            Err(FlowError::Unknown | FlowError::OtherBrowser) => return Err(SignInError::Stale),
            Err(FlowError::OtherTenant) => {
                metrics::counter!("cardea_tenant_mismatch_total").increment(1);
                let event = Event::new(Deed::TenantMismatch, "callback").from(place.network, place.request_id);
                self.audit.record(place.tenant, event);
                return Err(SignInError::Stale);
            }
            Err(FlowError::Unavailable(error)) => return Err(Error::from(error).into()),
        };
        let provider = &self.directory.of(place.tenant)?.identity;
        provider.check_callback(answer.iss.as_deref()).await.map_err(provider_error)?;
        let Some(code) = answer.code.filter(|_| answer.error.is_none()) else {
            return Err(SignInError::Refused);
        };
        self.exchange(&place, provider, flow, &code).await
    }

    async fn exchange(
        &self,
        place: &Place<'_>,
        provider: &IdentityProvider,
        flow: Flow,
        code: &Secret,
    ) -> Result<Completed, SignInError> {
        let tokens = provider.exchange(code, &flow.verifier, &redirect_uri(place.origin)).await.map_err(provider_error)?;
        let identity = provider.identify(&tokens, Some(flow.nonce.expose())).await.map_err(provider_error)?;
        let principal = principal(place.tenant, identity);
        let login = LoginId::new().map_err(|error| Error::Internal(error.to_string()))?;
        let now = self.clock.now();
        let set = TokenSet {
            access: tokens.access,
            refresh: tokens.refresh,
            id_token: tokens.id_token,
            issued_at: now,
            expires_at: now.after(tokens.expires_in.unwrap_or(self.default_lifetime)),
        };
        self.tokens.store(&login, &principal, &set).await.map_err(Error::from)?;
        Ok(Completed::New { principal, login, return_to: flow.return_to })
    }

    /// Revokes the refresh token at the provider when it can; never fails and never holds the sign-out up for long.
    /// The session itself ends at the edge, the token record with it.
    pub(in crate::gateway) async fn sign_out(&self, actor: &Actor) {
        let tenant = &actor.principal.tenant;
        let refresh = self.tokens.current(tenant, &actor.login).await.ok().flatten().and_then(|set| set.refresh);
        let (Some(token), Ok(clients)) = (refresh, self.directory.of(tenant)) else { return };
        let revoked = tokio::time::timeout(Duration::from_secs(3), clients.identity.revoke(&token)).await;
        if !matches!(revoked, Ok(Ok(_))) {
            tracing::warn!(%tenant, "the refresh token could not be revoked at the provider");
        }
    }
}

fn redirect_uri(origin: &str) -> String {
    format!("{origin}{CALLBACK}")
}

fn principal(tenant: &TenantId, identity: Identity) -> Principal {
    Principal {
        tenant: tenant.clone(),
        issuer: identity.issuer,
        subject: identity.subject,
        name: identity.name,
        email: identity.email,
        role: if identity.is_administrator { Role::Administrator } else { Role::Member },
    }
}

fn provider_error(error: IdentityError) -> SignInError {
    match error {
        IdentityError::Unavailable | IdentityError::Timeout => SignInError::ProviderDown,
        IdentityError::InvalidGrant => SignInError::Stale,
        other => SignInError::Unbelievable(other.to_string()),
    }
}

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
            Ok(identity) => Ok(Some(principal(&self.tenant, identity))),
            Err(IdentityError::NothingTold) => Ok(None),
            Err(IdentityError::OtherPerson) => Err(CheckError::NotTheirs),
            Err(error) => {
                tracing::warn!(tenant = %self.tenant, %error, "it is not known yet whose refreshed tokens are");
                Err(CheckError::Trouble)
            }
        }
    }

    async fn revoke(&self, token: Secret) {
        if let Err(error) = self.provider.revoke(&token).await {
            tracing::warn!(tenant = %self.tenant, %error, "a refresh token that nobody uses could not be revoked");
        }
    }
}
