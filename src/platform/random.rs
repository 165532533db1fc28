//! The one way to randomness: the operating system's generator, as bytes or as text that fits a URL.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::digest::hex;

/// `N` random bytes.
///
/// # Errors
/// When the operating system has no randomness to give, which ends whatever needed it.
#[expect(clippy::disallowed_methods, reason = "this is the wrapper the ban points to")]
pub fn bytes<const N: usize>() -> Result<[u8; N], Unavailable> {
    let mut out = [0_u8; N];
    getrandom::fill(&mut out).map_err(|_| Unavailable)?;
    Ok(out)
}

/// 256 random bits as 43 URL-safe characters: handles, states, verifiers.
///
/// # Errors
/// See [`bytes()`].
pub fn token() -> Result<String, Unavailable> {
    Ok(URL_SAFE_NO_PAD.encode(bytes::<32>()?))
}

/// 128 random bits as 22 URL-safe characters: identifiers that need not be secret.
///
/// # Errors
/// See [`bytes()`].
pub fn id() -> Result<String, Unavailable> {
    Ok(URL_SAFE_NO_PAD.encode(bytes::<16>()?))
}

/// 128 random bits as 32 lower-case hexadecimal characters: task and request ids.
///
/// # Errors
/// See [`bytes()`].
pub fn hex_id() -> Result<String, Unavailable> {
    POOL.with_borrow_mut(|pool| {
        if pool.len() < ID {
            pool.clear();
            pool.extend_from_slice(&bytes::<{ 64 * ID }>()?);
        }
        let id = pool.split_off(pool.len().saturating_sub(ID));
        Ok(hex(&id))
    })
}

/// Bytes of an id.
const ID: usize = 16;

thread_local! {
    /// Random bytes that were drawn ahead, for ids only: there is one for every request, and asking the system each time costs
    /// more than the id. Each byte is used once.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// `count` random characters of `0-9A-Za-z`, each as likely as any other: 5.95 bits each.
///
/// # Errors
/// See [`bytes()`].
pub fn letters(count: usize) -> Result<String, Unavailable> {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = String::with_capacity(count);
    while out.len() < count {
        // A byte above the last whole round of 62 would make the first letters likelier.
        let fair = bytes::<32>()?.into_iter().filter(|byte| *byte < 248);
        let letters = fair.filter_map(|byte| LETTERS.get(usize::from(byte % 62)).map(|letter| char::from(*letter)));
        out.extend(letters.take(count - out.len()));
    }
    Ok(out)
}

/// The operating system gave no randomness.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system gave no randomness")]
pub struct Unavailable;
