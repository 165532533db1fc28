//! Who a bearer is: a server key of the settings, or an access token that the identity provider's userinfo vouches for.
//! The only place of the scanning service that sends HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use reqwest::{Client, Response, StatusCode, redirect};
use serde_json::Value;

use crate::config::scanner::Scanner as Settings;
use crate::platform::digest;
use crate::platform::secret::Secret;

/// A whole look-up, connection included.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// The largest userinfo answer that is read, in bytes.
const ANSWER_LIMIT: usize = 64 << 10;
/// How long a refused bearer is refused without another look-up.
const REFUSED_FOR: Duration = Duration::from_secs(5);
/// Bearers remembered at most, known and refused each.
const REMEMBERED: u64 = 10_000;
/// The longest account and user name taken over from userinfo, in characters.
const LONGEST_NAME: usize = 200;

/// Somebody who may call: objects belong to the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scanner) struct Caller {
    pub(in crate::scanner) account: String,
    /// The user's name; the account itself for a server key.
    pub(in crate::scanner) name: String,
}

/// Why a bearer is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scanner) enum Refusal {
    /// Neither a server key nor a token the identity provider knows.
    Unknown,
    /// A valid sign-in that belongs to no account.
    NoAccount,
    /// The identity provider gave no usable answer.
    Unavailable,
}

/// Cheap to clone; clones share what is remembered.
#[derive(Clone)]
pub(in crate::scanner) struct Identity(Arc<Inner>);

struct Inner {
    /// Account by hash of the server key.
    server_keys: HashMap<[u8; 32], String>,
    lookup: Option<Lookup>,
    known: Cache<[u8; 32], Caller>,
    refused: Cache<[u8; 32], Refusal>,
}

struct Lookup {
    client: Client,
    url: String,
    account_claim: String,
}

impl Identity {
    /// # Errors
    /// When the HTTP client cannot be made.
    pub(in crate::scanner) fn new(settings: &Settings) -> Result<Self, reqwest::Error> {
        let server_keys = settings
            .accounts
            .iter()
            .flat_map(|(id, account)| {
                account.server_keys.iter().map(move |key| (digest::sha256(key.expose().as_bytes()), id.clone()))
            })
            .collect();
        let lookup = if settings.userinfo_url.is_empty() {
            None
        } else {
            Some(Lookup { client: client()?, url: settings.userinfo_url.clone(), account_claim: settings.account_claim.clone() })
        };
        let believed = Duration::from_secs(settings.bearer_cache_seconds);
        let known = Cache::builder().max_capacity(REMEMBERED).time_to_live(believed).build();
        let refused = Cache::builder().max_capacity(REMEMBERED).time_to_live(REFUSED_FOR).build();
        Ok(Self(Arc::new(Inner { server_keys, lookup, known, refused })))
    }

    /// Who `bearer` is. The same bearer is looked up once however many requests ask at the same time.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub(in crate::scanner) async fn caller(&self, bearer: &Secret) -> Result<Caller, Refusal> {
        let key = digest::sha256(bearer.expose().as_bytes());
        if let Some(account) = self.0.server_keys.get(&key) {
            return Ok(Caller { account: account.clone(), name: account.clone() });
        }
        let Some(lookup) = &self.0.lookup else { return Err(Refusal::Unknown) };
        if let Some(refusal) = self.0.refused.get(&key).await {
            return Err(refusal);
        }
        let found = self.0.known.try_get_with(key, lookup.ask(bearer)).await.map_err(|refusal| (*refusal).clone());
        if let Err(refusal @ (Refusal::Unknown | Refusal::NoAccount)) = &found {
            self.0.refused.insert(key, refusal.clone()).await;
        }
        found
    }
}

impl Lookup {
    async fn ask(&self, bearer: &Secret) -> Result<Caller, Refusal> {
        let answer = self.client.get(&self.url).bearer_auth(bearer.expose()).send().await.map_err(|error| unavailable(&error))?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST => return Err(Refusal::Unknown),
            status => return Err(unavailable(&format!("userinfo answered {status}"))),
        }
        let claims: Value = serde_json::from_slice(&limited(answer).await?).map_err(|_| unavailable(&"userinfo is no JSON"))?;
        if !claims.is_object() {
            return Err(unavailable(&"userinfo is no JSON object"));
        }
        let account = name_at(&claims, &self.account_claim).ok_or(Refusal::NoAccount)?;
        let name = ["name", "preferred_username", "username", "email", "sub", "user_id"]
            .iter()
            .find_map(|claim| name_at(&claims, claim));
        Ok(Caller { name: name.unwrap_or_else(|| account.clone()), account })
    }
}

/// Reads the body up to [`ANSWER_LIMIT`].
async fn limited(mut answer: Response) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| unavailable(&error))? {
        if body.len() + chunk.len() > ANSWER_LIMIT {
            return Err(unavailable(&"userinfo is too long"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The text at a dotted path, if it is one that can stand in a key and on a page.
fn name_at(claims: &Value, path: &str) -> Option<String> {
    let text = path.split('.').try_fold(claims, |at, part| at.get(part))?.as_str()?.trim();
    let fits = (1..=LONGEST_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

fn unavailable(why: &dyn std::fmt::Display) -> Refusal {
    tracing::warn!(%why, "a bearer could not be looked up");
    Refusal::Unavailable
}

#[expect(clippy::disallowed_methods, reason = "the one transport of this room")]
fn client() -> Result<Client, reqwest::Error> {
    let plain = || Client::builder().timeout(LOOKUP_LIMIT).connect_timeout(CONNECT_LIMIT).redirect(redirect::Policy::none());
    // A system without certificates of its own still has those compiled in.
    plain().build().or_else(|_| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| reqwest::Certificate::from_der(der).ok());
        plain().tls_certs_only(roots).build()
    })
}
