//! Files of any size that are made while they are sent, and what they hash to.

use bytes::Bytes;
use cardea::platform::digest::Running;
use futures_util::stream;

pub(crate) const CHUNK: usize = 64 * 1024;

/// The chunk with this number: all differ, so that a lost or doubled one changes the hash.
pub(crate) fn chunk(number: usize) -> Bytes {
    let mut bytes = vec![0_u8; CHUNK];
    bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
    bytes.into()
}

/// A file of so many chunks.
pub(crate) fn file(chunks: usize) -> reqwest::Body {
    reqwest::Body::wrap_stream(stream::iter((0..chunks).map(|number| Ok::<_, std::io::Error>(chunk(number)))))
}

/// What it hashes to.
pub(crate) fn hash(chunks: usize) -> String {
    let mut hash = Running::default();
    (0..chunks).for_each(|number| hash.update(&chunk(number)));
    hash.finish()
}
