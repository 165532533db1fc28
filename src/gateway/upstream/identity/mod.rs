//! Identity providers: where they are ([`discovery`]), their token endpoint ([`tokens`]), what their tokens say ([`id_token`])
//! and who that is ([`claims`]). One provider object per tenant; it may be built while the provider is down.

mod claims;
mod discovery;
mod id_token;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::config::gateway::{Identity as Settings, Profile};
use crate::gateway::domain::identity::Identity;
use crate::platform::clock::Clock;
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

use super::credential::Credential;
use super::error::{Kind, UpstreamError};
use super::transport::{Repeat, Transport};

use discovery::{Discovery, Endpoints};
use id_token::Keys;

/// No answer of an identity provider is larger.
const MAX_ANSWER: usize = 256 * 1024;

/// Why something with the provider did not work. Never holds a token, a code or what the provider wrote but its error code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdentityError {
    /// The code or refresh token is used, expired or revoked. The only error that may end a session.
    #[error("the provider no longer takes this code or refresh token")]
    InvalidGrant,
    /// Client id or secret are wrong: an administrator has to act.
    #[error("the provider does not know this client")]
    InvalidClient,
    /// Another error of RFC 6749, by its code.
    #[error("the provider refused: {}", .0.log())]
    Refused(Hostile),
    /// Userinfo does not believe the access token.
    #[error("the provider does not believe the access token")]
    Unauthorized,
    /// Not reached, cut, 5xx or 429.
    #[error("the provider is not available")]
    Unavailable,
    #[error("the provider did not answer in time")]
    Timeout,
    #[error("the provider's answer cannot be used: {0}")]
    Garbage(&'static str),
    /// `iss` of the callback or of discovery is another one (RFC 9207).
    #[error("the answer comes from another issuer")]
    WrongIssuer,
    /// No id token and no userinfo.
    #[error("the provider has no userinfo and gave no id token")]
    NothingTold,
    /// The id token speaks of somebody else than userinfo.
    #[error("the id token speaks of another person than userinfo")]
    OtherPerson,
    #[error("the id token is not good: {0}")]
    BadIdToken(&'static str),
    #[error("the provider's settings cannot be used: {0}")]
    Misconfigured(&'static str),
}

impl IdentityError {
    /// Whether the same may work a little later. Such an error never ends a session.
    pub(crate) const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable | Self::Timeout | Self::Garbage(_))
    }
}

impl From<UpstreamError> for IdentityError {
    fn from(error: UpstreamError) -> Self {
        match error.kind {
            Kind::Unavailable | Kind::TooMany { .. } => Self::Unavailable,
            Kind::Timeout => Self::Timeout,
            Kind::Unauthorized => Self::Unauthorized,
            _ => Self::Garbage("neither what was asked for nor an error of the protocol"),
        }
    }
}

/// What a token endpoint gave.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub access: Secret,
    /// None: the session ends with the access token, or the old refresh token stays good.
    pub refresh: Option<Secret>,
    pub id_token: Option<Secret>,
    /// None when the provider does not tell.
    pub expires_in: Option<Duration>,
}

/// What is asked of the provider's login page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignIn<'s> {
    pub state: &'s str,
    /// S256 of the verifier in base64url.
    pub challenge: &'s str,
    pub nonce: &'s str,
    pub redirect_uri: &'s str,
    /// `prompt=login`: ask even if there is a session at the provider.
    pub again: bool,
}

/// The identity provider of one tenant. Cheap to clone.
#[derive(Clone)]
pub(crate) struct IdentityProvider(Arc<Inner>);

struct Inner {
    settings: Settings,
    clock: Clock,
    transport: Transport,
    discovery: Discovery,
    keys: Keys,
}

impl IdentityProvider {
    /// A client of the provider `settings` describe. Asks nothing yet.
    pub(crate) fn new(settings: Settings, clock: Clock, transport: Transport) -> Self {
        let transport = transport.with_max_answer(MAX_ANSWER);
        Self(Arc::new(Inner { settings, clock, transport, discovery: Discovery::default(), keys: Keys::default() }))
    }

    async fn endpoints(&self) -> Result<Arc<Endpoints>, IdentityError> {
        self.0.discovery.endpoints(&self.0.settings, &self.0.clock, &self.0.transport).await
    }

    /// Where the browser goes to sign in.
    pub(crate) async fn authorize_url(&self, ask: SignIn<'_>) -> Result<String, IdentityError> {
        let mut url = self.endpoints().await?.authorize.clone();
        let scope = self.0.settings.scopes.join(" ");
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.0.settings.client_id)
            .append_pair("redirect_uri", ask.redirect_uri)
            .append_pair("scope", &scope)
            .append_pair("state", ask.state)
            .append_pair("code_challenge", ask.challenge)
            .append_pair("code_challenge_method", "S256");
        if self.asks_openid() {
            query.append_pair("nonce", ask.nonce);
        }
        if ask.again {
            query.append_pair("prompt", "login");
        }
        drop(query);
        Ok(url.into())
    }

    /// Checks `iss` of a callback (RFC 9207): if it is there it must be right, and for `strict` it must be there.
    pub(crate) async fn check_callback(&self, iss: Option<&str>) -> Result<(), IdentityError> {
        match iss {
            Some(iss) if self.endpoints().await?.is_issuer(iss) => Ok(()),
            None if self.0.settings.profile != Profile::Strict => Ok(()),
            _ => Err(IdentityError::WrongIssuer),
        }
    }

    /// Turns a code into tokens. Never repeated: a code is good once.
    pub(crate) async fn exchange(&self, code: &Secret, verifier: &Secret, redirect_uri: &str) -> Result<Tokens, IdentityError> {
        let endpoints = self.endpoints().await?;
        tokens::exchange(&self.0.settings, &endpoints, &self.0.transport, (code, verifier, redirect_uri)).await
    }

    /// Turns a refresh token into new tokens. Never repeated: a rotated token may be good once.
    pub(crate) async fn refresh(&self, refresh_token: &Secret) -> Result<Tokens, IdentityError> {
        let endpoints = self.endpoints().await?;
        tokens::refresh(&self.0.settings, &endpoints, &self.0.transport, refresh_token).await
    }

    /// Ends a grant (RFC 7009). False when the provider has no such endpoint.
    pub(crate) async fn revoke(&self, refresh_token: &Secret) -> Result<bool, IdentityError> {
        let endpoints = self.endpoints().await?;
        tokens::revoke(&self.0.settings, &endpoints, &self.0.transport, refresh_token).await
    }

    /// Where the browser may go to end its session at the provider, if the provider tells.
    pub(crate) async fn end_session_url(&self, back_to: &str) -> Option<String> {
        let mut url = self.endpoints().await.ok()?.end_session.clone()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.0.settings.client_id)
            .append_pair("post_logout_redirect_uri", back_to);
        Some(url.into())
    }

    /// Who the tokens belong to. Checks the id token for `oidc` and `strict` (with `nonce` when there was a login page), asks
    /// userinfo, and makes sure that both speak of the same person.
    pub(crate) async fn identify(&self, tokens: &Tokens, nonce: Option<&str>) -> Result<Identity, IdentityError> {
        let endpoints = self.endpoints().await?;
        let proven = self.proven(&endpoints, tokens, nonce).await?;
        let told = match (&endpoints.userinfo, &proven) {
            (None, Some(_)) => None,
            (None, None) => return Err(IdentityError::NothingTold),
            (Some(url), _) => Some(self.userinfo_at(url, &tokens.access).await?),
        };
        if let (Some(Value::String(proven)), Some(Value::String(told))) =
            (proven.as_ref().and_then(|claims| claims.get("sub")), told.as_ref().and_then(|claims| claims.get("sub")))
            && proven != told
        {
            return Err(IdentityError::OtherPerson);
        }
        claims::identity(&self.0.settings, &endpoints.issuer, proven.as_ref(), told)
    }

    /// The claims of userinfo for this access token.
    pub(crate) async fn userinfo(&self, access_token: &Secret) -> Result<Value, IdentityError> {
        let endpoints = self.endpoints().await?;
        let url = endpoints.userinfo.as_ref().ok_or(IdentityError::Misconfigured("the provider has no userinfo"))?;
        self.userinfo_at(url, access_token).await
    }

    /// Checks an id token and gives its claims.
    pub(crate) async fn verify_id_token(&self, token: &Secret, nonce: Option<&str>) -> Result<Value, IdentityError> {
        let endpoints = self.endpoints().await?;
        let expected = id_token::Expected { endpoints: &endpoints, client_id: &self.0.settings.client_id, nonce };
        self.0.keys.verify(token, expected, &self.0.clock, &self.0.transport).await
    }

    fn asks_openid(&self) -> bool {
        self.0.settings.scopes.iter().any(|scope| scope == "openid")
    }

    async fn proven(&self, endpoints: &Endpoints, tokens: &Tokens, nonce: Option<&str>) -> Result<Option<Value>, IdentityError> {
        if endpoints.keys.is_none() {
            return Ok(None);
        }
        match &tokens.id_token {
            Some(token) => self.verify_id_token(token, nonce).await.map(Some),
            // At a refresh an id token is optional; after a login page it is what was asked for.
            None if nonce.is_some() && self.asks_openid() => Err(IdentityError::BadIdToken("there is none")),
            None => Ok(None),
        }
    }

    /// GET first; POST with a form where the provider wants that.
    async fn userinfo_at(&self, url: &Url, access_token: &Secret) -> Result<Value, IdentityError> {
        let mut headers = reqwest::header::HeaderMap::new();
        Credential::UserToken(access_token.clone()).write(&mut headers)?;
        let get = self.0.transport.request(Method::GET, url.clone()).headers(headers.clone());
        let mut answer = self.0.transport.answer(get, Repeat::Safe).await?;
        if matches!(answer.status.as_u16(), 404 | 405) {
            let scope = self.0.settings.scopes.join(" ");
            let post = self.0.transport.request(Method::POST, url.clone()).headers(headers).form(&[("scope", scope)]);
            answer = self.0.transport.answer(post, Repeat::Safe).await?;
        }
        if !answer.status.is_success() {
            return Err(UpstreamError::answer(answer.status, &answer.headers, &answer.body).into());
        }
        let claims: Option<Value> = serde_json::from_slice(&answer.body).ok().filter(Value::is_object);
        claims.ok_or(IdentityError::Garbage("userinfo is no JSON object"))
    }
}
