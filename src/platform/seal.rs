//! Sealing of records at rest: AES-256-GCM-SIV (RFC 8452) in an envelope that names its key, so keys can be rotated.
//!
//! Envelope: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext with tag.
//! What a record belongs to (purpose, tenant, key of the record) goes into the associated data: a record that was
//! copied to another place does not open there.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::{digest, random};

const VERSION: u8 = 1;
const NONCE: usize = 12;

/// Why something could not be sealed or opened. Says nothing about the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The envelope is damaged, belongs elsewhere, or its key is not in the ring.
    #[error("a sealed record does not open here")]
    Closed,
    /// A key must be 32 bytes and its id 1 to 32 characters.
    #[error("a sealing key must be 32 bytes with an id of 1 to 32 characters")]
    BadKey,
    /// No randomness for a nonce.
    #[error("no randomness for a nonce")]
    NoRandomness,
}

/// Sealing keys, newest first: one of them seals, the first unless told otherwise; any of them opens.
pub struct Ring {
    keys: Vec<RingKey>,
    /// Place of the key that seals.
    sealing: AtomicUsize,
}

struct RingKey {
    id: String,
    material: Zeroizing<[u8; 32]>,
}

impl Ring {
    /// A ring of `(id, 32 bytes)`, newest first.
    ///
    /// # Errors
    /// [`SealError::BadKey`] when the ring is empty or a key or id has the wrong size.
    pub fn new(keys: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, SealError> {
        let keys = keys
            .into_iter()
            .map(|(id, bytes)| {
                let bytes = Zeroizing::new(bytes);
                let material: [u8; 32] = bytes.as_slice().try_into().map_err(|_| SealError::BadKey)?;
                if id.is_empty() || id.len() > 32 {
                    return Err(SealError::BadKey);
                }
                Ok(RingKey { id, material: Zeroizing::new(material) })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(SealError::BadKey) } else { Ok(Self { keys, sealing: AtomicUsize::new(0) }) }
    }

    /// Seals `plain` for `purpose` (e.g. `session`), bound to `context` (tenant and record key, joined by the caller).
    /// `extra` is mixed into the key, so that a holder of the ring alone cannot open it; empty when there is none.
    ///
    /// # Errors
    /// [`SealError::NoRandomness`], or [`SealError::BadKey`] when the cipher refuses.
    pub fn seal(&self, purpose: &str, context: &str, extra: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let key = self.keys.get(self.place()).ok_or(SealError::BadKey)?;
        let nonce: [u8; NONCE] = random::bytes().map_err(|_| SealError::NoRandomness)?;
        let mut body = plain.to_vec();
        cipher(key, purpose, extra)?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), associated(purpose, context), &mut body)
            .map_err(|_| SealError::BadKey)?;
        let mut out = Vec::with_capacity(2 + key.id.len() + NONCE + body.len());
        out.push(VERSION);
        out.push(u8::try_from(key.id.len()).map_err(|_| SealError::BadKey)?);
        out.extend_from_slice(key.id.as_bytes());
        out.extend_from_slice(&nonce);
        out.append(&mut body);
        Ok(out)
    }

    /// Opens what [`Ring::seal`] made with the same purpose, context and extra.
    ///
    /// # Errors
    /// [`SealError::Closed`] for anything that does not open.
    pub fn open(&self, purpose: &str, context: &str, extra: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (id, nonce, body) = split(sealed).ok_or(SealError::Closed)?;
        let key = self.keys.iter().find(|key| key.id.as_bytes() == id).ok_or(SealError::Closed)?;
        let mut plain = Zeroizing::new(body.to_vec());
        let length = cipher(key, purpose, extra)?
            .open_in_place(Nonce::assume_unique_for_key(nonce), associated(purpose, context), plain.as_mut_slice())
            .map_err(|_| SealError::Closed)?
            .len();
        plain.truncate(length);
        Ok(plain)
    }

    /// A 32-byte key for a keyed hash, derived from the newest ring key and `purpose`.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let material = self.keys.first().map(|key| key.material.as_slice()).unwrap_or_default();
        Zeroizing::new(digest::keyed(material, purpose.as_bytes()))
    }

    /// As [`Ring::derive`], for every key of the ring, newest first: for what must outlive a new key.
    pub fn derive_each<'r>(&'r self, purpose: &'r str) -> impl Iterator<Item = Zeroizing<[u8; 32]>> + 'r {
        self.keys.iter().map(move |key| Zeroizing::new(digest::keyed(key.material.as_slice(), purpose.as_bytes())))
    }

    /// Ids of the keys, newest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.id.as_str())
    }

    /// Id of the key that seals now.
    #[must_use]
    pub fn sealing(&self) -> &str {
        self.keys.get(self.place()).map_or("", |key| key.id.as_str())
    }

    /// Place of the key that seals now, in the order of [`Ring::ids`] and [`Ring::derive_each`].
    #[must_use]
    pub fn place(&self) -> usize {
        self.sealing.load(Ordering::Relaxed)
    }

    /// Seals with the key of this id from now on; an id that is not in the ring changes nothing.
    pub fn seal_with(&self, id: &str) {
        if let Some(place) = self.ids().position(|known| known == id) {
            self.sealing.store(place, Ordering::Relaxed);
        }
    }

    /// The same content under the key that seals now, when `sealed` was made with an older one; `plain` is what it opened to.
    #[must_use]
    pub fn renew(&self, purpose: &str, context: &str, extra: &[u8], (sealed, plain): (&[u8], &[u8])) -> Option<Vec<u8>> {
        let made = key_id(sealed)?;
        let place = self.ids().position(|known| known == made)?;
        if place <= self.place() {
            return None;
        }
        self.seal(purpose, context, extra, plain).ok()
    }
}

/// Id of the key that something was sealed with, from its first 46 bytes; `None` for anything that is not sealed.
#[must_use]
pub fn key_id(sealed: &[u8]) -> Option<&str> {
    let (id, ..) = split(sealed)?;
    std::str::from_utf8(id).ok().filter(|id| !id.is_empty() && id.len() <= 32)
}

fn cipher(key: &RingKey, purpose: &str, extra: &[u8]) -> Result<LessSafeKey, SealError> {
    let mut input = Zeroizing::new(Vec::with_capacity(purpose.len() + 1 + extra.len()));
    input.extend_from_slice(purpose.as_bytes());
    input.push(0);
    input.extend_from_slice(extra);
    let derived = Zeroizing::new(digest::keyed(key.material.as_slice(), &input));
    let unbound = UnboundKey::new(&AES_256_GCM_SIV, derived.as_slice()).map_err(|_| SealError::BadKey)?;
    Ok(LessSafeKey::new(unbound))
}

fn associated(purpose: &str, context: &str) -> Aad<Vec<u8>> {
    let mut data = Vec::with_capacity(purpose.len() + 1 + context.len());
    data.extend_from_slice(purpose.as_bytes());
    data.push(0);
    data.extend_from_slice(context.as_bytes());
    Aad::from(data)
}

fn split(sealed: &[u8]) -> Option<(&[u8], [u8; NONCE], &[u8])> {
    let (&version, rest) = sealed.split_first()?;
    let (&length, rest) = rest.split_first()?;
    if version != VERSION {
        return None;
    }
    let (id, rest) = rest.split_at_checked(usize::from(length))?;
    let (nonce, body) = rest.split_at_checked(NONCE)?;
    Some((id, nonce.try_into().ok()?, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(keys: &[(&str, u8)]) -> Ring {
        Ring::new(keys.iter().map(|(id, byte)| ((*id).to_owned(), vec![*byte; 32]))).unwrap()
    }

    #[test]
    fn a_record_opens_only_with_all_that_it_was_sealed_with() {
        let ring = ring(&[("k1", 1)]);
        let sealed = ring.seal("session", "acme/session/1", b"handle", b"content").unwrap();
        assert_eq!(ring.open("session", "acme/session/1", b"handle", &sealed).unwrap().as_slice(), b"content");
        let wrong = [
            ring.open("tokens", "acme/session/1", b"handle", &sealed),
            ring.open("session", "globex/session/1", b"handle", &sealed),
            ring.open("session", "acme/session/1", b"other", &sealed),
            ring.open("session", "acme/session/1", b"", &sealed),
        ];
        assert!(wrong.into_iter().all(|opened| opened == Err(SealError::Closed)));
        assert!(!sealed.windows(7).any(|window| window == b"content"));
        assert_ne!(sealed, ring.seal("session", "acme/session/1", b"handle", b"content").unwrap());
    }

    #[test]
    fn a_record_changed_in_any_byte_or_cut_anywhere_does_not_open() {
        let ring = ring(&[("k1", 1)]);
        let sealed = ring.seal("p", "c", b"", b"content").unwrap();
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(ring.open("p", "c", b"", &changed), Err(SealError::Closed), "byte {place}");
            assert_eq!(ring.open("p", "c", b"", &sealed[..place]), Err(SealError::Closed), "cut at {place}");
        }
    }

    #[test]
    fn a_ring_opens_what_its_older_keys_sealed_and_knows_that_they_are_older() {
        let (old, new, both) = (ring(&[("k1", 1)]), ring(&[("k2", 2)]), ring(&[("k2", 2), ("k1", 1)]));
        let sealed = old.seal("p", "c", b"", b"content").unwrap();
        assert_eq!(both.open("p", "c", b"", &sealed).unwrap().as_slice(), b"content");
        assert_eq!(new.open("p", "c", b"", &sealed), Err(SealError::Closed));
        let renewed = both.renew("p", "c", b"", (&sealed, b"content")).unwrap();
        assert_eq!((key_id(&sealed), key_id(&renewed)), (Some("k1"), Some("k2")));
        assert_eq!(new.open("p", "c", b"", &renewed).unwrap().as_slice(), b"content");
        assert_eq!(both.renew("p", "c", b"", (&renewed, b"content")), None);
        let derived: Vec<_> = both.derive_each("x").collect();
        assert_eq!(derived, [new.derive("x"), old.derive("x")]);
    }

    #[test]
    fn a_ring_seals_with_the_key_it_is_told_to_and_never_seals_anew_with_an_older_one() {
        let ring = ring(&[("k3", 3), ("k2", 2), ("k1", 1)]);
        let newest = ring.seal("p", "c", b"", b"content").unwrap();
        ring.seal_with("k2");
        ring.seal_with("unknown");
        assert_eq!((ring.sealing(), ring.place()), ("k2", 1));
        let sealed = ring.seal("p", "c", b"", b"content").unwrap();
        assert_eq!(key_id(&sealed), Some("k2"));
        assert_eq!(ring.renew("p", "c", b"", (&sealed, b"content")), None);
        assert_eq!(ring.renew("p", "c", b"", (&newest, b"content")), None);
        for none in [b"".as_slice(), b"ended", b"{\"number\":1,\"hash\":\"0123456789012345678901234567890123456789\"}", &[1; 13]]
        {
            assert_eq!(key_id(none), None);
        }
    }

    #[test]
    fn keys_and_ids_of_another_size_make_no_ring() {
        let sizes = [(String::new(), 32), ("k".repeat(33), 32), ("k1".to_owned(), 31), ("k1".to_owned(), 0)];
        for (id, size) in sizes {
            assert_eq!(Ring::new([(id, vec![1; size])]).err(), Some(SealError::BadKey));
        }
        assert_eq!(Ring::new([]).err(), Some(SealError::BadKey));
    }
}
