//! Checks id tokens: signature by the provider's published keys, issuer, audience, times, nonce. Only public-key algorithms.

use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::same;
use crate::platform::secret::Secret;

use super::super::reading;
use super::super::transport::{Repeat, Transport};
use super::IdentityError;
use super::discovery::Endpoints;

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
/// Clocks may differ by this much.
const LEEWAY_SECONDS: i64 = 60;
/// An unknown key id asks the provider at most this often.
const BETWEEN_FETCHES: Duration = Duration::from_mins(1);

/// What the token must say.
#[derive(Clone, Copy)]
pub(super) struct Expected<'e> {
    pub(super) endpoints: &'e Endpoints,
    pub(super) client_id: &'e str,
    /// None at a refresh, where there was no login page.
    pub(super) nonce: Option<&'e str>,
}

/// The provider's keys as last seen.
#[derive(Default)]
pub(super) struct Keys(Mutex<Known>);

#[derive(Default)]
struct Known {
    keys: Vec<Jwk>,
    fetched: Option<Timestamp>,
}

impl Keys {
    /// The claims of a good token.
    pub(super) async fn verify(
        &self,
        token: &Secret,
        expected: Expected<'_>,
        clock: &Clock,
        transport: &Transport,
    ) -> Result<Value, IdentityError> {
        let header = decode_header(token.expose()).map_err(|_| IdentityError::BadIdToken("its head cannot be read"))?;
        if !ALLOWED.contains(&header.alg) {
            return Err(IdentityError::BadIdToken("its algorithm is not allowed"));
        }
        let keys = self.candidates(header.kid.as_deref(), expected.endpoints, clock, transport).await?;
        let mut rules = Validation::new(header.alg);
        // Times are checked against our own clock below.
        rules.validate_exp = false;
        rules.validate_aud = true;
        rules.set_audience(&[expected.client_id]);
        rules.set_issuer(&[&expected.endpoints.issuer]);
        rules.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        let claims = keys
            .iter()
            .filter_map(|jwk| DecodingKey::from_jwk(jwk).ok())
            .find_map(|key| decode::<Value>(token.expose(), &key, &rules).ok())
            .ok_or(IdentityError::BadIdToken("its signature, issuer or audience is wrong"))?
            .claims;
        check(&claims, expected, clock.now().seconds())?;
        Ok(claims)
    }

    /// Keys that may have signed: the one of this id, or all when the token names none.
    async fn candidates(
        &self,
        kid: Option<&str>,
        endpoints: &Endpoints,
        clock: &Clock,
        transport: &Transport,
    ) -> Result<Vec<Jwk>, IdentityError> {
        let mut known = self.0.lock().await;
        let fitting = |keys: &[Jwk]| -> Vec<Jwk> {
            keys.iter().filter(|key| kid.is_none() || key.common.key_id.as_deref() == kid).cloned().collect()
        };
        let mut found = fitting(&known.keys);
        let may_fetch = known.fetched.is_none_or(|at| clock.now().since(at) >= BETWEEN_FETCHES);
        if found.is_empty() && may_fetch {
            let url = endpoints.keys.clone().ok_or(IdentityError::Misconfigured("the provider publishes no keys"))?;
            let answer = transport.call(transport.request(Method::GET, url), Repeat::Safe).await?;
            known.keys = published(&answer.body)?;
            known.fetched = Some(clock.now());
            found = fitting(&known.keys);
        }
        if found.is_empty() { Err(IdentityError::BadIdToken("its key is unknown")) } else { Ok(found) }
    }
}

/// Signing keys of a key set; keys of unknown kinds are passed over.
fn published(body: &[u8]) -> Result<Vec<Jwk>, IdentityError> {
    let set: Value = serde_json::from_slice(body).map_err(|_| IdentityError::Garbage("the key set is not JSON"))?;
    let keys = reading::objects(&set, &["keys"], |key| serde_json::from_value::<Jwk>(key.clone()).ok());
    Ok(keys.into_iter().filter(|key| key.common.public_key_use != Some(PublicKeyUse::Encryption)).collect())
}

fn check(claims: &Value, expected: Expected<'_>, now: i64) -> Result<(), IdentityError> {
    let bad = |why| Err(IdentityError::BadIdToken(why));
    let time = |name: &str| reading::integer(claims, &[name]);
    if time("exp").is_none_or(|exp| exp + LEEWAY_SECONDS <= now) {
        return bad("it is over");
    }
    if time("iat").is_some_and(|iat| iat - LEEWAY_SECONDS > now) || time("nbf").is_some_and(|nbf| nbf - LEEWAY_SECONDS > now) {
        return bad("it is from the future");
    }
    let party = claims.get("azp").and_then(Value::as_str);
    let many = claims.get("aud").and_then(Value::as_array).is_some_and(|all| all.len() > 1);
    if party.is_some_and(|party| party != expected.client_id) || (many && party.is_none()) {
        return bad("it was made for another client");
    }
    let Some(nonce) = expected.nonce else {
        return Ok(());
    };
    match claims.get("nonce").and_then(Value::as_str) {
        Some(found) if same(found.as_bytes(), nonce.as_bytes()) => Ok(()),
        _ => bad("its nonce is another"),
    }
}
