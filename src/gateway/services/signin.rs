//! Signing in by the code flow and signing out: begin, complete, end.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Actor;
use super::directory::Directory;
use super::error::Error;
use super::revocation::Revocations;
use super::users::Users;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::identity::Identity;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{
    Begun, By, Callback, Flow, FlowError, Flows, Learnt, LoginId, ProviderEntry, ProviderSessions, Sessions, TokenSet, Tokens,
};
use crate::gateway::store::{Key, Store};
use crate::gateway::upstream::identity::{IdentityError, SignIn as Ask, Tokens as IssuedTokens};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::sha256;
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::secret::Secret;

/// Paths below the portal's origin that are registered at the provider.
const CALLBACK: &str = "/auth/callback";
const SIGNED_OUT: &str = "/auth/signed-out";
/// Errors of a callback by which the provider says that the person did not get in (RFC 6749 4.1.2.1; OpenID Connect Core 3.1.2.6).
const REFUSALS: [&str; 5] =
    ["access_denied", "login_required", "interaction_required", "consent_required", "account_selection_required"];

/// The provider is asked again this often while others write down what it says of the same person.
const ASKS: usize = 4;

/// Sign-in and sign-out of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SignIn {
    pub(in crate::gateway) directory: Directory,
    pub(in crate::gateway) flows: Flows,
    pub(in crate::gateway) tokens: Tokens,
    pub(in crate::gateway) provider_sessions: ProviderSessions,
    pub(in crate::gateway) revocations: Revocations,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) audit: Audit,
    pub(in crate::gateway) users: Users,
    /// Lifetime of an access token when the provider does not tell.
    pub(in crate::gateway) default_lifetime: Duration,
    /// Sign-ins begun per network and minute.
    pub(in crate::gateway) per_minute: u64,
    /// How long a person counts as having shown who they are.
    pub(in crate::gateway) step_up: Duration,
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
    New { principal: Principal, login: LoginId, return_to: ReturnTo, proof: Proof },
    /// The same callback again: with a live session, go on to the target.
    Again(ReturnTo),
}

/// What a sign-in says of the person being there.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Proof {
    /// The provider was told to ask, whomever it knew.
    asked: bool,
    /// When the person showed who they are: as the provider says, else now where it was told to ask. A provider that knew the
    /// browser may have asked nobody, so a sign-in alone proves nothing.
    pub(in crate::gateway) at: Option<Timestamp>,
}

impl Proof {
    fn of(asked: bool, asked_at: Option<i64>, now: Timestamp) -> Self {
        let told = asked_at.map(|seconds| Timestamp(seconds.saturating_mul(1000)).min(now));
        Self { asked, at: told.or(asked.then_some(now)) }
    }
}

/// A sign-in that came to nothing, and where it was to lead as far as that is known.
#[derive(Debug)]
pub(in crate::gateway) struct Failed {
    pub(in crate::gateway) why: SignInError,
    pub(in crate::gateway) return_to: Option<ReturnTo>,
}

/// Why a sign-in did not work, as far as a user can do something about it.
#[derive(Debug, thiserror::Error)]
pub(in crate::gateway) enum SignInError {
    /// Unknown, expired, used, or begun in another browser.
    #[error("the sign-in is not known here")]
    Stale,
    /// Begun on the host of another tenant. The person is told no more than for [`Self::Stale`].
    #[error("the sign-in was begun for another tenant")]
    OtherTenant,
    /// The answer does not come from the tenant's provider (RFC 9207).
    #[error("the answer comes from another provider")]
    NotOurs,
    /// The provider says that the user did not agree or is not allowed.
    #[error("the provider refused")]
    Refused,
    /// The provider knows the person, but none of their roles may use the portal.
    #[error("no role of the person may use the portal")]
    NotAdmitted,
    /// An administrator of the company has disabled the person.
    #[error("the person is disabled")]
    Disabled,
    /// The provider is down or slow.
    #[error("the provider is not available")]
    ProviderDown,
    /// Portal and provider are not set up for each other: an administrator has to act.
    #[error("{0}")]
    Misconfigured(IdentityError),
    /// The answer of the provider cannot be believed.
    #[error("{0}")]
    Unbelievable(IdentityError),
    #[error(transparent)]
    Other(#[from] Error),
}

impl SignInError {
    /// The reason in a word, for the audit trail and for metrics.
    pub(in crate::gateway) const fn reason(&self) -> &'static str {
        match self {
            Self::Stale | Self::OtherTenant => "unknown_or_used",
            Self::NotOurs => "wrong_issuer",
            Self::Refused => "refused_by_provider",
            Self::NotAdmitted => "no_fitting_role",
            Self::Disabled => "disabled",
            Self::ProviderDown => "provider_down",
            Self::Misconfigured(_) => "not_set_up",
            Self::Unbelievable(IdentityError::BadIdToken(_)) => "bad_id_token",
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
        let begun = self.flows.begin(place.tenant, place.binding, (return_to, again)).await.map_err(Error::from)?;
        let challenge = URL_SAFE_NO_PAD.encode(sha256(begun.verifier.expose().as_bytes()));
        let ask = Ask {
            state: begun.state.expose(),
            challenge: &challenge,
            nonce: begun.nonce.expose(),
            redirect_uri: &redirect_uri(place.origin),
            again,
            max_age: self.step_up,
        };
        let address = provider.authorize_url(ask).await.map_err(provider_error)?;
        Ok((address, begun))
    }

    /// Takes up a callback: the state is used up first, so that whatever happens it cannot be used again. One that cannot be
    /// read is like one that nobody began. How it ended is written down.
    pub(in crate::gateway) async fn complete(&self, place: Place<'_>, answer: Option<Answer>) -> Result<Completed, Failed> {
        let (tenant, network, request_id) = (place.tenant, place.network, place.request_id);
        let outcome = self.take_up(place, answer).await;
        let (word, event) = match &outcome {
            Ok(Completed::New { principal, login, proof, .. }) => {
                let detail = if proof.asked { "asked" } else { "" };
                ("signed_in", Some(Event::new(Deed::SignIn, detail).by(&principal.key(), &login.public())))
            }
            Ok(Completed::Again(_)) => ("again", None),
            Err(Failed { why: why @ SignInError::OtherTenant, .. }) => {
                metrics::counter!("cardea_tenant_mismatch_total").increment(1);
                (why.reason(), Some(Event::new(Deed::TenantMismatch, "callback")))
            }
            Err(failed) => (failed.why.reason(), Some(Event::new(Deed::SignInRefused, failed.why.reason()))),
        };
        metrics::counter!("cardea_callback_total", "outcome" => word).increment(1);
        if let Some(event) = event {
            self.audit.record(tenant, event.from(network, request_id));
        }
        outcome
    }

    async fn take_up(&self, place: Place<'_>, answer: Option<Answer>) -> Result<Completed, Failed> {
        let unknown = |why: SignInError| Failed { why, return_to: None };
        let answer = answer.ok_or_else(|| unknown(SignInError::Stale))?;
        let flow = match self.flows.finish(place.tenant, &answer.state, place.binding).await {
            Ok(Callback::First(flow)) => flow,
            Ok(Callback::Again(return_to)) => return Ok(Completed::Again(return_to)),
            Err(FlowError::Unknown | FlowError::OtherBrowser) => return Err(unknown(SignInError::Stale)),
            Err(FlowError::OtherTenant) => return Err(unknown(SignInError::OtherTenant)),
            Err(FlowError::Unavailable(error)) => return Err(unknown(Error::from(error).into())),
        };
        let return_to = flow.return_to.clone();
        self.exchange(&place, flow, answer).await.map_err(|why| Failed { why, return_to: Some(return_to) })
    }

    /// From an answer to a flow of ours to a session. Who the answer is from is asked before what it says (RFC 9207 2.4).
    async fn exchange(&self, place: &Place<'_>, flow: Flow, answer: Answer) -> Result<Completed, SignInError> {
        let provider = &self.directory.of(place.tenant)?.identity;
        provider.check_callback(answer.iss.as_deref()).await.map_err(provider_error)?;
        let code = match (answer.code, answer.error) {
            (Some(code), None) if !code.expose().is_empty() => code,
            (_, Some(error)) => return Err(callback_error(&error)),
            _ => return Err(SignInError::Unbelievable(IdentityError::Garbage("the callback has neither code nor error"))),
        };
        let tokens = provider.exchange(&code, &flow.verifier, &redirect_uri(place.origin)).await.map_err(provider_error)?;
        let login = LoginId::new().map_err(|error| Error::Internal(error.to_string()))?;
        let (principal, identity) = match self.introduce(place, &tokens, &flow.nonce, &login).await {
            Ok(introduced) => introduced,
            Err(error) => {
                // Nobody will use these tokens.
                self.revocations.take_back(provider.clone(), tokens.refresh, tokens.access);
                return Err(error);
            }
        };
        let now = self.clock.now();
        let set = TokenSet {
            access: tokens.access,
            refresh: tokens.refresh,
            id_token: tokens.id_token,
            issued_at: now,
            expires_at: now.after(tokens.expires_in.unwrap_or(self.default_lifetime)),
        };
        self.tokens.store(&login, &principal, &set).await.map_err(Error::from)?;
        if let Some(origin) = &identity.origin {
            let entered = self.provider_sessions.enter(place.tenant, &login, (&identity.issuer, origin)).await;
            if entered.map_err(Error::from)? == ProviderEntry::Ended {
                return Err(SignInError::Stale);
            }
        }
        let proof = Proof::of(flow.asks, identity.asked_at, now);
        Ok(Completed::New { principal, login, return_to: flow.return_to, proof })
    }

    /// Who the tokens belong to. What the provider says counts in all sessions of that person: changed claims go there, and who
    /// may not come in any more has none left.
    async fn introduce(
        &self,
        place: &Place<'_>,
        tokens: &IssuedTokens,
        nonce: &Secret,
        login: &LoginId,
    ) -> Result<(Principal, Identity), SignInError> {
        let (tenant, provider) = (place.tenant, &self.directory.of(place.tenant)?.identity);
        let ask = async || provider.identify(tokens, Some(nonce.expose())).await.map_err(provider_error);
        let mut identity = ask().await?;
        for _ in 0..ASKS {
            let user = principal(tenant, &identity);
            let before = self.sessions.known(tenant, &user.key()).await.map_err(Error::from)?;
            if before.is_something() && !before.is(&user) {
                // Asked again after that was read, so that nothing newer is written over.
                identity = ask().await?;
            }
            let now = principal(tenant, &identity);
            if !identity.is_admitted {
                self.sessions.end_user(tenant, &now.key(), Ending::OtherUser, &By::default()).await.map_err(Error::from)?;
                return Err(SignInError::NotAdmitted);
            }
            if now.key() != user.key() {
                continue;
            }
            // After `before` was read: who is disabled meanwhile is found here or in what is learnt.
            if !self.users.enter(&now).await? {
                return Err(SignInError::Disabled);
            }
            let learnt = self.sessions.learn(&before, &now, &now).await.map_err(Error::from)?;
            if learnt == Learnt::Role {
                let event = Event::new(Deed::RoleChanged, now.role.name()).by(&now.key(), &login.public());
                self.audit.record(tenant, event.from(place.network, place.request_id));
            }
            if learnt != Learnt::Overtaken {
                return Ok((now, identity));
            }
        }
        Err(Error::Unavailable { retry_after: 5 }.into())
    }

    /// What a sign-out needs beside the end of the session at the edge, with which the token record goes: the grant is taken back
    /// at the provider in the background. Gives the address where the browser also ends its session there, and the `state` it
    /// comes back with; none where the provider has no such page or does not answer now.
    pub(in crate::gateway) async fn sign_out(
        &self,
        actor: &Actor,
        origin: &str,
        (network, request_id): (&str, &str),
    ) -> Option<(String, String)> {
        let tenant = &actor.principal.tenant;
        let onward = self.leave_provider(actor, origin).await;
        let kind = if onward.is_some() { "here_and_at_provider" } else { "here" };
        let event = Event::new(Deed::SignOut, kind).by(&actor.principal.key(), &actor.login.public());
        self.audit.record(tenant, event.from(network, request_id));
        onward
    }

    async fn leave_provider(&self, actor: &Actor, origin: &str) -> Option<(String, String)> {
        let tenant = &actor.principal.tenant;
        let provider = &self.directory.of(tenant).ok()?.identity;
        let set = self.tokens.current(tenant, &actor.login).await.ok().flatten();
        let hint = set.as_ref().and_then(|set| set.id_token.clone());
        if let Some(set) = set {
            self.revocations.take_back(provider.clone(), set.refresh, set.access);
        }
        let (back_to, state) = (format!("{origin}{SIGNED_OUT}"), random::token().ok()?);
        let address = provider.end_session_url(hint.as_ref(), &back_to, &state);
        let address = tokio::time::timeout(provider.sign_out_wait(), address).await.ok().flatten()?;
        Some((address, state))
    }
}

fn redirect_uri(origin: &str) -> String {
    format!("{origin}{CALLBACK}")
}

/// Who the provider says it is, in a tenant.
pub(super) fn principal(tenant: &TenantId, identity: &Identity) -> Principal {
    Principal {
        tenant: tenant.clone(),
        issuer: identity.issuer.clone(),
        subject: identity.subject.clone(),
        name: identity.name.clone(),
        email: identity.email.clone(),
        role: if identity.is_administrator { Role::Administrator } else { Role::Member },
    }
}

/// What an error code of a callback means for the person. The code is text from outside.
fn callback_error(code: &str) -> SignInError {
    match code {
        code if REFUSALS.contains(&code) => SignInError::Refused,
        "temporarily_unavailable" | "server_error" => SignInError::ProviderDown,
        other => SignInError::Misconfigured(IdentityError::Refused(Hostile::new(other))),
    }
}

fn provider_error(error: IdentityError) -> SignInError {
    match error {
        IdentityError::Unavailable | IdentityError::Timeout => SignInError::ProviderDown,
        IdentityError::InvalidGrant => SignInError::Stale,
        IdentityError::WrongIssuer => SignInError::NotOurs,
        IdentityError::InvalidClient | IdentityError::Misconfigured(_) | IdentityError::Refused(_) => {
            SignInError::Misconfigured(error)
        }
        other => SignInError::Unbelievable(other),
    }
}
