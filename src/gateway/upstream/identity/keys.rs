//! The provider's published keys, and whether one of them signed a token for this client. Only public-key algorithms.
//!
//! Keys are read when first needed and again after a while, so that one the provider took back is not believed for ever. A
//! token whose key is unknown makes them be read again, at most once in the pause of the settings: anybody can send such a
//! token. One caller reads; those whose key is known do not wait for it.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::config::gateway::IdentityLimits;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;

use super::super::reading;
use super::super::transport::{Repeat, Transport};
use super::IdentityError;
use super::discovery::{Endpoints, PAUSE};

const ALLOWED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// A token that the provider signed for this client. Its times are not looked at yet.
pub(super) struct Signed {
    /// `typ` of its head.
    pub(super) kind: Option<String>,
    pub(super) claims: Value,
}

/// Which error a token gives, by what it was meant to be.
type Refusal = fn(&'static str) -> IdentityError;

/// Whom and what to ask for keys.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) endpoints: &'s Endpoints,
    pub(super) limits: &'s IdentityLimits,
    pub(super) clock: &'s Clock,
    pub(super) transport: &'s Transport,
}

/// The provider's keys as last seen.
#[derive(Default)]
pub(super) struct Keys {
    known: RwLock<Known>,
    asking: Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Vec<Jwk>,
    /// When they were read.
    read: Option<Timestamp>,
    /// Nobody asks before.
    next: Option<Timestamp>,
}

impl Keys {
    /// The content of a token, when the provider's key, its issuer and its audience are right.
    pub(super) async fn open(
        &self,
        token: &Secret,
        client_id: &str,
        source: Source<'_>,
        refuse: Refusal,
    ) -> Result<Signed, IdentityError> {
        let header = decode_header(token.expose()).map_err(|_| refuse("its head cannot be read"))?;
        if !ALLOWED.contains(&header.alg) {
            return Err(refuse("its algorithm is not allowed"));
        }
        let keys = self.candidates(header.kid.as_deref(), source).await?;
        if keys.is_empty() {
            return Err(refuse("its key is unknown"));
        }
        let mut rules = Validation::new(header.alg);
        // Times are checked against our own clock, where the kinds of tokens differ.
        rules.validate_exp = false;
        rules.validate_aud = true;
        rules.set_audience(&[client_id]);
        rules.set_issuer(&[&source.endpoints.issuer]);
        rules.set_required_spec_claims(&["iss", "aud"]);
        let claims = keys
            .iter()
            .filter_map(|jwk| DecodingKey::from_jwk(jwk).ok())
            .find_map(|key| decode::<Value>(token.expose(), &key, &rules).ok())
            .ok_or_else(|| refuse("its signature, issuer or audience is wrong"))?
            .claims;
        Ok(Signed { kind: header.typ, claims })
    }

    /// Keys that may have signed: the one of this id, or all when the token names none.
    async fn candidates(&self, kid: Option<&str>, source: Source<'_>) -> Result<Vec<Jwk>, IdentityError> {
        let kept = Duration::from_secs(source.limits.metadata_minutes * 60);
        let (found, is_young) = self.look(kid, source.clock, kept);
        if !found.is_empty() && is_young {
            return Ok(found);
        }
        let _turn = if found.is_empty() {
            self.asking.lock().await
        } else {
            let Ok(turn) = self.asking.try_lock() else { return Ok(found) };
            turn
        };
        // Somebody may have asked while this waited for its turn.
        let (found, is_young) = self.look(kid, source.clock, kept);
        if (!found.is_empty() && is_young) || self.is_resting(source.clock) {
            return Ok(found);
        }
        match fetch(source).await {
            Ok(keys) => {
                let now = source.clock.now();
                let next = Some(now.after(Duration::from_secs(source.limits.key_fetch_seconds)));
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known { keys, read: Some(now), next };
                Ok(self.look(kid, source.clock, kept).0)
            }
            Err(error) => {
                self.known.write().unwrap_or_else(PoisonError::into_inner).next = Some(source.clock.now().after(PAUSE));
                if found.is_empty() { Err(error) } else { Ok(found) }
            }
        }
    }

    fn look(&self, kid: Option<&str>, clock: &Clock, kept: Duration) -> (Vec<Jwk>, bool) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let fits = |key: &&Jwk| kid.is_none() || key.common.key_id.as_deref() == kid;
        let is_young = known.read.is_some_and(|at| clock.now().since(at) < kept);
        (known.keys.iter().filter(fits).cloned().collect(), is_young)
    }

    fn is_resting(&self, clock: &Clock) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.next.is_some_and(|next| clock.now() < next)
    }
}

async fn fetch(source: Source<'_>) -> Result<Vec<Jwk>, IdentityError> {
    let url = source.endpoints.keys.clone().ok_or(IdentityError::Misconfigured("the provider publishes no keys"))?;
    let answer = source.transport.call(source.transport.request(Method::GET, url), Repeat::Safe).await?;
    published(&answer.body)
}

/// Signing keys of a key set; keys of unknown kinds are passed over.
fn published(body: &[u8]) -> Result<Vec<Jwk>, IdentityError> {
    let set: Option<Value> = serde_json::from_slice(body).ok().filter(|set: &Value| set.get("keys").is_some_and(Value::is_array));
    let set = set.ok_or(IdentityError::Garbage("the key set is none"))?;
    let keys = reading::objects(&set, &["keys"], |key| serde_json::from_value::<Jwk>(key.clone()).ok());
    Ok(keys.into_iter().filter(|key| key.common.public_key_use != Some(PublicKeyUse::Encryption)).collect())
}

/// A time of a token in seconds since the epoch. Fractions are cut; what is beyond any clock is as far as one can count.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a fraction saturates, which is what is wanted")]
pub(super) fn time(claims: &Value, name: &str) -> Option<i64> {
    let number = claims.get(name)?.as_number()?;
    number.as_i64().or_else(|| number.as_f64().filter(|at| at.is_finite()).map(|at| at as i64))
}
