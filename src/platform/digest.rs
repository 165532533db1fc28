//! Hashes and their text forms.

use aws_lc_rs::digest::{Context, SHA256, digest};
use aws_lc_rs::hmac;
use subtle::ConstantTimeEq as _;

/// SHA-256 of `data`, 32 bytes.
#[must_use]
pub fn sha256(data: &[u8]) -> [u8; 32] {
    to_array(digest(&SHA256, data).as_ref())
}

/// HMAC-SHA-256 of `data` under `key`, 32 bytes.
#[must_use]
pub fn keyed(key: &[u8], data: &[u8]) -> [u8; 32] {
    to_array(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref())
}

/// Lower-case hexadecimal text.
#[must_use]
pub fn hex(data: &[u8]) -> String {
    const DIGIT: fn(u8) -> u8 = |half| if half < 10 { b'0' + half } else { b'a' + half - 10 };
    let digits = data.iter().flat_map(|byte| [DIGIT(byte >> 4), DIGIT(byte & 0xf)]).collect();
    String::from_utf8(digits).unwrap_or_default()
}

/// Equality that takes the same time wherever the difference is. Lengths are not hidden.
#[must_use]
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

/// A SHA-256 that is fed while a stream passes by.
pub struct Running(Context);

impl Default for Running {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Running {
    /// Takes the next chunk.
    pub fn update(&mut self, chunk: &[u8]) {
        self.0.update(chunk);
    }

    /// The hash as 64 lower-case hexadecimal characters.
    #[must_use]
    pub fn finish(self) -> String {
        hex(self.0.finish().as_ref())
    }
}

fn to_array(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0_u8; 32];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}
