//! The client's own key: signs the assertions by which the portal shows the provider that it is itself (`private_key_jwt`,
//! OpenID Connect Core section 9; RFC 7523). Knows nothing of requests.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use crate::platform::random;
use crate::platform::secret::Secret;

use super::IdentityError;

/// An assertion is good for this long; it is sent at once.
const LIFETIME_SECONDS: i64 = 60;

/// A private key with the algorithm that fits it.
pub(super) struct ClientKey {
    key: Key,
    algorithm: &'static str,
    /// `kid`; empty for none.
    id: String,
}

enum Key {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl ClientKey {
    /// Reads a PKCS #8 key in PEM: EC P-256 (ES256) or P-384 (ES384), Ed25519 (EdDSA), RSA of at least 2048 bits (RS256).
    pub(super) fn read(pem: &Secret, id: &str) -> Result<Self, IdentityError> {
        let unusable = IdentityError::Misconfigured("the client key is no PKCS #8 key of a usable kind");
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.expose().as_bytes()).map_err(|_| unusable.clone())?;
        let der = der.secret_pkcs8_der();
        let ecdsa = |curve, algorithm| Some((Key::Ecdsa(EcdsaKeyPair::from_pkcs8(curve, der).ok()?), algorithm));
        let found = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING, "ES256")
            .or_else(|| ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING, "ES384"))
            .or_else(|| Some((Key::Ed25519(Ed25519KeyPair::from_pkcs8(der).ok()?), "EdDSA")))
            .or_else(|| Some((Key::Rsa(RsaKeyPair::from_pkcs8(der).ok()?), "RS256")));
        let (key, algorithm) = found.ok_or(unusable)?;
        Ok(Self { key, algorithm, id: id.to_owned() })
    }

    /// A new assertion of `client_id` for `audience`, made at `now` (seconds).
    pub(super) fn assertion(&self, client_id: &str, audience: &str, now: i64) -> Result<Secret, IdentityError> {
        let id = random::id().map_err(|_| IdentityError::Misconfigured("there is no randomness"))?;
        let mut head = json!({ "alg": self.algorithm, "typ": "JWT" });
        if let (Some(fields), false) = (head.as_object_mut(), self.id.is_empty()) {
            fields.insert("kid".to_owned(), json!(self.id));
        }
        let claims = json!({
            "iss": client_id, "sub": client_id, "aud": audience, "jti": id, "iat": now, "exp": now.saturating_add(LIFETIME_SECONDS),
        });
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&head), part(&claims));
        let signature = self.sign(signed.as_bytes()).ok_or(IdentityError::Misconfigured("the client key does not sign"))?;
        Ok(Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }

    fn sign(&self, text: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Ecdsa(key) => key.sign(&random, text).ok().map(|signature| signature.as_ref().to_vec()),
            Key::Ed25519(key) => key.try_sign(text).ok().map(|signature| signature.as_ref().to_vec()),
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).ok().map(|()| signature)
            }
        }
    }
}
