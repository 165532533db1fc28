//! Where a provider's endpoints are: built from `{auth_url}` (`seed`), or asked of the provider when first needed and kept for
//! a while (`oidc`, `strict`). Old endpoints stay in use while the provider does not answer.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use crate::config::gateway::{ClientAuth, Identity as Settings, Profile};
use crate::platform::clock::{Clock, Timestamp};

use super::super::transport::{Repeat, Transport};
use super::IdentityError;

/// After a failure nobody else asks for this long.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What is where.
#[derive(Debug)]
pub(super) struct Endpoints {
    /// As the provider writes it.
    pub(super) issuer: String,
    /// The other name of the issuer: where browsers reach it.
    alias: Option<String>,
    pub(super) authorize: Url,
    pub(super) token: Url,
    pub(super) userinfo: Option<Url>,
    pub(super) revocation: Option<Url>,
    pub(super) keys: Option<Url>,
    pub(super) end_session: Option<Url>,
    /// How the client shows who it is; never [`ClientAuth::Auto`].
    pub(super) client_auth: ClientAuth,
    /// The provider says that its callbacks carry `iss` (RFC 9207).
    pub(super) names_itself: bool,
}

impl Endpoints {
    /// Whether `iss` names this provider.
    pub(super) fn is_issuer(&self, iss: &str) -> bool {
        iss == self.issuer || self.alias.as_deref() == Some(iss)
    }
}

/// The endpoints once they are known. One caller asks; the others wait for its answer while nothing is known, and go on with what
/// is known otherwise.
#[derive(Default)]
pub(super) struct Discovery {
    known: RwLock<Known>,
    asking: Mutex<()>,
}

#[derive(Default)]
struct Known {
    endpoints: Option<Arc<Endpoints>>,
    /// When to ask again.
    next: Option<Timestamp>,
}

impl Discovery {
    pub(super) async fn endpoints(
        &self,
        settings: &Settings,
        clock: &Clock,
        transport: &Transport,
    ) -> Result<Arc<Endpoints>, IdentityError> {
        let _turn = match self.look(clock) {
            (known, false) => return known.ok_or(IdentityError::Unavailable),
            (None, true) => self.asking.lock().await,
            (Some(known), true) => {
                let Ok(turn) = self.asking.try_lock() else { return Ok(known) };
                turn
            }
        };
        // Somebody may have asked while this waited for its turn.
        if let (known, false) = self.look(clock) {
            return known.ok_or(IdentityError::Unavailable);
        }
        let fresh = match settings.profile {
            Profile::Seed => built(settings),
            Profile::Oidc | Profile::Strict => discovered(settings, transport).await,
        };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match fresh {
            Ok(fresh) => {
                known.next = Some(clock.now().after(Duration::from_secs(settings.limits.metadata_minutes * 60)));
                Ok(Arc::clone(known.endpoints.insert(Arc::new(fresh))))
            }
            Err(error) => {
                known.next = error.is_transient().then(|| clock.now().after(PAUSE));
                known.endpoints.clone().ok_or(error)
            }
        }
    }

    /// What is known, and whether it is time to ask.
    fn look(&self, clock: &Clock) -> (Option<Arc<Endpoints>>, bool) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.endpoints.clone(), known.next.is_none_or(|next| clock.now() >= next))
    }
}

fn base(address: &str) -> &str {
    address.trim_end_matches('/')
}

fn alias(settings: &Settings) -> Option<String> {
    Some(base(&settings.browser_auth_url).to_owned()).filter(|url| !url.is_empty())
}

/// The three fixed addresses of the interface (section 5).
fn built(settings: &Settings) -> Result<Endpoints, IdentityError> {
    let issuer = base(&settings.auth_url).to_owned();
    let alias = alias(settings);
    let at = |base: &str, path: &str| web(&format!("{base}{path}"), true);
    Ok(Endpoints {
        authorize: at(alias.as_deref().unwrap_or(&issuer), "/oauth/authorize")?,
        token: at(&issuer, "/oauth/token")?,
        userinfo: Some(at(&issuer, "/oauth/userinfo")?),
        revocation: configured(&settings.revocation_url)?,
        keys: None,
        end_session: configured(&settings.end_session_url)?,
        client_auth: client_auth(settings, &["client_secret_post".into()]),
        names_itself: false,
        issuer,
        alias,
    })
}

fn configured(address: &str) -> Result<Option<Url>, IdentityError> {
    if address.is_empty() { Ok(None) } else { web(address, true).map(Some) }
}

/// What the settings say, else what the provider offers: the secret in the form before HTTP Basic, and a signed assertion where
/// it takes no secret at all.
fn client_auth(settings: &Settings, offered: &[Value]) -> ClientAuth {
    let offers = |method: &str| offered.iter().any(|known| known == method);
    match settings.client_auth {
        ClientAuth::Auto if offers("client_secret_post") => ClientAuth::Post,
        ClientAuth::Auto if settings.client_key.is_some() && !offers("client_secret_basic") => ClientAuth::PrivateKey,
        ClientAuth::Auto => ClientAuth::Basic,
        said => said,
    }
}

async fn discovered(settings: &Settings, transport: &Transport) -> Result<Endpoints, IdentityError> {
    let issuer = base(&settings.auth_url);
    let alias = alias(settings);
    let url = web(&format!("{issuer}/.well-known/openid-configuration"), true)?;
    let plain = url.scheme() == "http";
    let answer = transport.call(transport.request(Method::GET, url), Repeat::Safe).await?;
    let told: Value =
        serde_json::from_slice(&answer.body).map_err(|_| IdentityError::Garbage("the discovery document is not JSON"))?;
    let name = told.get("issuer").and_then(Value::as_str).unwrap_or_default();
    if base(name) != issuer && Some(base(name)) != alias.as_deref() {
        return Err(IdentityError::Misconfigured("its discovery document names another issuer"));
    }
    let at = |key: &str| told.get(key).and_then(Value::as_str).map(|url| web(url, plain)).transpose();
    let needed = |found: Option<Url>| found.ok_or(IdentityError::Garbage("the discovery document lacks an endpoint"));
    // Where browsers are sent, they reach the provider under its other name.
    let for_browsers = |url: Url| match (&alias, url.as_str().strip_prefix(issuer)) {
        (Some(alias), Some(rest)) => web(&format!("{alias}{rest}"), true),
        _ => Ok(url),
    };
    let authorize = for_browsers(needed(at("authorization_endpoint")?)?)?;
    let end_session = match configured(&settings.end_session_url)? {
        Some(url) => Some(url),
        None => at("end_session_endpoint")?.map(for_browsers).transpose()?,
    };
    // A document that does not tell means HTTP Basic (OpenID Connect Discovery 1.0, section 3).
    let methods = told.get("token_endpoint_auth_methods_supported").and_then(Value::as_array).cloned();
    let methods = methods.unwrap_or_else(|| vec!["client_secret_basic".into()]);
    Ok(Endpoints {
        issuer: name.to_owned(),
        authorize,
        token: needed(at("token_endpoint")?)?,
        userinfo: at("userinfo_endpoint")?,
        revocation: configured(&settings.revocation_url)?.or(at("revocation_endpoint")?),
        keys: Some(needed(at("jwks_uri")?)?),
        end_session,
        client_auth: client_auth(settings, &methods),
        names_itself: told.get("authorization_response_iss_parameter_supported") == Some(&Value::Bool(true)),
        alias,
    })
}

/// An address with a host. Without TLS only where the provider itself is reached so.
fn web(text: &str, plain: bool) -> Result<Url, IdentityError> {
    let url = Url::parse(text).map_err(|_| IdentityError::Misconfigured("an address of the provider cannot be read"))?;
    let allowed = url.scheme() == "https" || (plain && url.scheme() == "http");
    if allowed && url.has_host() { Ok(url) } else { Err(IdentityError::Misconfigured("an address of the provider is not https")) }
}
