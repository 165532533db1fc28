//! What makes the programmable [`Provider`] an OpenID provider: discovery, published keys, id tokens, the end of its session, and
//! logout tokens, each as right or wrong as a test wants it.

use std::collections::BTreeMap;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use serde_json::{Value, json};

use super::provider::{Provider, json_answer};

/// The one event of logout tokens.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The OpenID side of a provider.
pub(crate) struct OpenId {
    issuer: String,
    key: EcdsaKeyPair,
    /// `sid` of id tokens made from now on.
    pub(crate) session: String,
    /// Changes an id token before it is signed: its head, then its claims.
    pub(crate) edit: fn(&mut Value, &mut Value),
    /// Changes the discovery document.
    pub(crate) document: fn(&mut Value),
    /// Whoever asks where its endpoints are gets no answer.
    pub(crate) is_silent: bool,
    /// How often the keys were asked for.
    pub(crate) key_fetches: usize,
    /// Queries with which browsers came to end their session.
    pub(crate) ended: Vec<BTreeMap<String, String>>,
    nonces: BTreeMap<String, String>,
    count: usize,
}

impl Provider {
    /// From now on it is an OpenID provider too.
    pub(crate) fn speak_openid(&self) {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        self.state().openid = Some(OpenId {
            issuer: self.issuer.clone(),
            key,
            session: "session-1".to_owned(),
            edit: |_, _| {},
            document: |_| {},
            is_silent: false,
            key_fetches: 0,
            ended: Vec::new(),
            nonces: BTreeMap::new(),
            count: 0,
        });
    }

    /// A logout token with `changes` to its claims (`null` leaves one out), of type `kind`.
    pub(crate) fn logout_token(&self, kind: Option<&str>, changes: &Value) -> String {
        let mut state = self.state();
        let openid = state.openid.as_mut().unwrap();
        openid.count += 1;
        let now = now();
        let mut claims = json!({
            "iss": openid.issuer, "aud": "portal", "iat": now, "exp": now + 120, "jti": format!("jti-{}", openid.count),
            "events": { EVENT: {} },
        });
        for (name, value) in changes.as_object().unwrap() {
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        let mut head = json!({ "alg": "ES256", "kid": "k1" });
        if let Some(kind) = kind {
            head["typ"] = json!(kind);
        }
        openid.sign(&head, &claims)
    }
}

impl OpenId {
    /// Remembers what a code was asked with.
    pub(super) fn asked(&mut self, code: &str, nonce: Option<&String>) {
        self.nonces.extend(nonce.map(|nonce| (code.to_owned(), nonce.clone())));
    }

    /// The id token of a grant: of a code, or of a refresh.
    pub(super) fn id_token(&self, subject: &Value, code: Option<&String>) -> String {
        let now = now();
        let mut claims = json!({
            "iss": self.issuer, "aud": "portal", "sub": subject, "iat": now, "exp": now + 300, "sid": self.session,
        });
        if let Some(nonce) = code.and_then(|code| self.nonces.get(code)) {
            claims["nonce"] = json!(nonce);
        }
        let mut head = json!({ "alg": "ES256", "kid": "k1", "typ": "JWT" });
        (self.edit)(&mut head, &mut claims);
        self.sign(&head, &claims)
    }

    /// What it says at addresses that only OpenID providers have.
    pub(super) fn answer(&mut self, path: &str, query: &BTreeMap<String, String>) -> Option<Response<Full<Bytes>>> {
        let at = |path: &str| format!("{}{path}", self.issuer);
        match path {
            "/.well-known/openid-configuration" => {
                let mut document = json!({
                    "issuer": self.issuer, "authorization_endpoint": at("/oauth/authorize"), "token_endpoint": at("/oauth/token"),
                    "userinfo_endpoint": at("/oauth/userinfo"), "revocation_endpoint": at("/oauth/revoke"),
                    "jwks_uri": at("/keys"), "end_session_endpoint": at("/end"),
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                });
                (self.document)(&mut document);
                Some(json_answer(200, &document))
            }
            "/keys" => {
                self.key_fetches += 1;
                let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
                let [x, y] = [x, y].map(|half| URL_SAFE_NO_PAD.encode(half));
                let key = json!({ "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k1", "x": x, "y": y });
                Some(json_answer(200, &json!({ "keys": [key] })))
            }
            "/end" => {
                self.ended.push(query.clone());
                let mut back = url::Url::parse(query.get("post_logout_redirect_uri")?).unwrap();
                back.query_pairs_mut().extend_pairs(query.get("state").map(|state| ("state", state)));
                Some(Response::builder().status(303).header("location", back.as_str()).body(Full::default()).unwrap())
            }
            _ => None,
        }
    }

    /// A signed token; one whose head says `none` has no signature.
    fn sign(&self, head: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(head), part(claims));
        if head["alg"] == "none" {
            return format!("{signed}.");
        }
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

/// Seconds since the epoch.
pub(crate) fn now() -> i64 {
    i64::try_from(jsonwebtoken::get_current_timestamp()).unwrap()
}
