//! The key that signs id tokens (ES256) and the form in which it is published.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// Signs and checks what was signed here.
pub(super) struct Signer {
    key: EncodingKey,
    public: Jwk,
    kid: String,
}

impl Signer {
    /// A new private key in PKCS #8.
    pub(super) fn generate() -> Option<Zeroizing<Vec<u8>>> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).ok()?;
        Some(Zeroizing::new(pair.to_pkcs8v1().ok()?.as_ref().to_vec()))
    }

    /// A signer with the key [`Signer::generate`] made.
    pub(super) fn new(pkcs8: &[u8]) -> Option<Self> {
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).ok()?;
        let key = EncodingKey::from_ec_der(pkcs8);
        let mut public = Jwk::from_encoding_key(&key, Algorithm::ES256).ok()?;
        let kid = public.thumbprint(ThumbprintHash::SHA256).ok()?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Some(Self { key, public, kid })
    }

    /// The published key set.
    pub(super) fn key_set(&self) -> Value {
        json!({ "keys": [self.public] })
    }

    /// A signed token.
    pub(super) fn sign(&self, claims: &Value) -> Option<String> {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(self.kid.clone());
        encode(&header, claims, &self.key).ok()
    }

    /// The claims of a token that was signed here, whatever its age: it serves as a hint only.
    pub(super) fn read(&self, token: &str) -> Option<Value> {
        let mut rules = Validation::new(Algorithm::ES256);
        rules.validate_exp = false;
        rules.validate_aud = false;
        rules.required_spec_claims.clear();
        decode(token, &DecodingKey::from_jwk(&self.public).ok()?, &rules).ok().map(|token| token.claims)
    }
}
