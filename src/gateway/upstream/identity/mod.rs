//! Identity providers: where they are ([`discovery`]), their token endpoint ([`tokens`], [`assertion`]), what they signed
//! ([`keys`]), what their tokens say ([`id_token`], [`logout_token`]) and who that is ([`claims`]). One provider object per
//! tenant; it may be built while the provider is down.

mod assertion;
mod claims;
mod discovery;
mod id_token;
mod keys;
mod logout_token;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::config::gateway::{ClientAuth, Identity as Settings, Profile};
use crate::gateway::domain::identity::Identity;
use crate::platform::clock::Clock;
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

use super::credential::Credential;
use super::error::{Kind, UpstreamError};
use super::presence::Presence;
use super::transport::{Repeat, Transport};

use assertion::ClientKey;
use discovery::{Discovery, Endpoints};
use keys::{Keys, Source};
pub(crate) use logout_token::LoggedOut;
pub(crate) use tokens::Hint;
use tokens::TokenRequest;

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
    #[error("the logout token is not good: {0}")]
    BadLogoutToken(&'static str),
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
    /// `prompt=login`: ask even if there is a session at the provider, and with OpenID Connect tell when that was (`max_age`).
    pub again: bool,
    /// How old that may be.
    pub max_age: Duration,
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
    /// The client's own.
    key: Option<ClientKey>,
}

impl IdentityProvider {
    /// A client of the provider `settings` describe. Asks nothing yet.
    ///
    /// # Errors
    /// [`IdentityError::Misconfigured`] when the client's key cannot be used.
    pub(crate) fn new(settings: Settings, clock: Clock, transport: Transport) -> Result<Self, IdentityError> {
        let transport = transport.with_max_answer(MAX_ANSWER);
        let key = settings.client_key.as_ref().map(|pem| ClientKey::read(pem, &settings.client_key_id)).transpose()?;
        let (discovery, keys) = (Discovery::default(), Keys::default());
        Ok(Self(Arc::new(Inner { settings, clock, transport, discovery, keys, key })))
    }

    /// Whether the provider answers: its discovery document, or its userinfo for nobody where it has none.
    pub(crate) async fn presence(&self) -> Presence {
        let Inner { settings, transport, .. } = &*self.0;
        let path = if settings.profile == Profile::Seed { "/oauth/userinfo" } else { "/.well-known/openid-configuration" };
        let address = format!("{}{path}", settings.auth_url.trim_end_matches('/'));
        let Ok(url) = Url::parse(&address) else { return Presence::Away };
        Presence::of(&transport.answer(transport.request(Method::GET, url), Repeat::Never).await)
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
            if self.0.settings.profile != Profile::Seed {
                query.append_pair("max_age", &ask.max_age.as_secs().to_string());
            }
        }
        drop(query);
        Ok(url.into())
    }

    /// Checks `iss` of a callback (RFC 9207): if it is there it must be right, and it must be there for `strict` and where the
    /// provider says that it always is.
    pub(crate) async fn check_callback(&self, iss: Option<&str>) -> Result<(), IdentityError> {
        let endpoints = self.endpoints().await?;
        let fine = match iss {
            Some(iss) => endpoints.is_issuer(iss),
            None => self.0.settings.profile != Profile::Strict && !endpoints.names_itself,
        };
        if fine { Ok(()) } else { Err(IdentityError::WrongIssuer) }
    }

    /// Turns a code into tokens. Never repeated: a code is good once.
    pub(crate) async fn exchange(&self, code: &Secret, verifier: &Secret, redirect_uri: &str) -> Result<Tokens, IdentityError> {
        let endpoints = self.endpoints().await?;
        self.request(&endpoints)?.exchange(code, verifier, redirect_uri).await
    }

    /// Turns a refresh token into new tokens. Never repeated: a rotated token may be good once.
    pub(crate) async fn refresh(&self, refresh_token: &Secret) -> Result<Tokens, IdentityError> {
        let endpoints = self.endpoints().await?;
        self.request(&endpoints)?.refresh(refresh_token).await
    }

    /// Takes a token back (RFC 7009); with a refresh token goes its grant. False when the provider has no such endpoint.
    pub(crate) async fn revoke(&self, token: &Secret, hint: Hint) -> Result<bool, IdentityError> {
        let endpoints = self.endpoints().await?;
        self.request(&endpoints)?.revoke(token, hint).await
    }

    /// A request to the token endpoint, with a new assertion where the client has a key.
    fn request<'t>(&'t self, endpoints: &'t Endpoints) -> Result<TokenRequest<'t>, IdentityError> {
        let Inner { settings, transport, clock, key, .. } = &*self.0;
        let assertion = match (endpoints.client_auth, key) {
            (ClientAuth::PrivateKey, Some(key)) => {
                let said = settings.client_assertion_audience.as_str();
                let usual = if endpoints.keys.is_some() { &endpoints.issuer } else { endpoints.token.as_str() };
                let audience = if said.is_empty() { usual } else { said };
                Some(key.assertion(&settings.client_id, audience, clock.now().seconds())?)
            }
            (ClientAuth::PrivateKey, None) => return Err(IdentityError::Misconfigured("there is no client key")),
            _ => None,
        };
        Ok(TokenRequest { settings, endpoints, transport, assertion })
    }

    /// Where the browser goes to end its session at the provider (OpenID Connect RP-Initiated Logout 1.0), to come `back_to` us
    /// with `state`. None when the provider has no such page, or when the settings keep signing out to this side.
    pub(crate) async fn end_session_url(&self, hint: Option<&Secret>, back_to: &str, state: &str) -> Option<String> {
        let settings = &self.0.settings;
        let mut url = self.endpoints().await.ok()?.end_session.clone().filter(|_| settings.sign_out_at_provider)?;
        if let Some(token) = hint {
            url.query_pairs_mut().append_pair("id_token_hint", token.expose());
        }
        url.query_pairs_mut()
            .append_pair("client_id", &settings.client_id)
            .append_pair("post_logout_redirect_uri", back_to)
            .append_pair("state", state);
        Some(url.into())
    }

    /// How long a sign-out may wait for [`IdentityProvider::end_session_url`].
    pub(crate) fn sign_out_wait(&self) -> Duration {
        Duration::from_millis(self.0.settings.limits.sign_out_wait_ms)
    }

    /// How often taking a token back is tried.
    pub(crate) fn revocation_tries(&self) -> u32 {
        self.0.settings.limits.revocation_tries
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
        let client_id = self.0.settings.client_id.as_str();
        let signed = self.0.keys.open(token, client_id, self.source(&endpoints), IdentityError::BadIdToken).await?;
        id_token::check(signed, id_token::Expected { client_id, nonce, now: self.0.clock.now().seconds(), leeway: self.leeway() })
    }

    /// Checks a logout token of the provider's back channel and tells whose sessions end. Whether it was used before is for
    /// the caller to find out, who has to remember its id for [`IdentityProvider::logout_token_memory`].
    pub(crate) async fn verify_logout_token(&self, token: &Secret) -> Result<LoggedOut, IdentityError> {
        let settings = &self.0.settings;
        if settings.profile == Profile::Seed {
            return Err(IdentityError::Misconfigured("the profile \"seed\" knows no keys of its provider"));
        }
        let endpoints = self.endpoints().await?;
        let source = self.source(&endpoints);
        let signed = self.0.keys.open(token, &settings.client_id, source, IdentityError::BadLogoutToken).await?;
        let expected = logout_token::Expected {
            issuer: &endpoints.issuer,
            now: self.0.clock.now().seconds(),
            leeway: self.leeway(),
            lifetime: i64::try_from(settings.limits.logout_token_seconds).unwrap_or(i64::MAX),
            strict: settings.profile == Profile::Strict,
        };
        logout_token::check(&signed, expected)
    }

    /// After this time no logout token that is good now is good any more, whatever the clocks say.
    pub(crate) fn logout_token_memory(&self) -> Duration {
        let limits = &self.0.settings.limits;
        Duration::from_secs(limits.logout_token_seconds + 2 * limits.clock_leeway_seconds + 1)
    }

    fn leeway(&self) -> i64 {
        i64::try_from(self.0.settings.limits.clock_leeway_seconds).unwrap_or(i64::MAX)
    }

    fn source<'s>(&'s self, endpoints: &'s Endpoints) -> Source<'s> {
        let Inner { settings, clock, transport, .. } = &*self.0;
        Source { endpoints, limits: &settings.limits, clock, transport }
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
