//! What the fuzz target `upload` calls: forms that somebody may have crafted, in pieces as the network may cut them.

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};

use super::upload::{Cut, boundary, checked};
use crate::platform::digest::{hex, sha256};

const BOUNDARY: &str = "b0";
const FENCE: &[u8] = b"\r\n--b0";
const HEAD: &[u8] = b"--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n";
const TAIL: &[u8] = b"\r\n--b0--\r\n";
/// In crafted bytes 0x01 stands for that many, so that bounds of heads are reached.
const RUN: [u8; 5_000] = [b'x'; 5_000];
const MOST: usize = 24 << 10;

/// The first byte chooses how the rest is cut into pieces. The rest is read as a form, as the file in one, and as a media type.
///
/// # Panics
/// When it matters how the bytes are cut, when a file does not pass as it is, or when the end of a wrong one passes: those are
/// the findings.
pub fn upload(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let media = String::from_utf8_lossy(rest);
    if let Some(boundary) = boundary(&media) {
        assert!(media.contains(&boundary) && (1..=70).contains(&boundary.len()), "a boundary that is not there");
    }
    as_form(*choice, rest);
    as_file(*choice, rest);
}

fn as_form(choice: u8, bytes: &[u8]) {
    let mut form = Vec::with_capacity(bytes.len());
    for byte in bytes {
        form.extend_from_slice(if *byte == 1 { &RUN } else { std::slice::from_ref(byte) });
    }
    form.truncate(MOST);
    let form = Bytes::from(form);
    // No file hashes to that.
    let wrong = "0".repeat(64);
    // A long head that comes byte by byte is slow to read.
    let step = if form.len() > 4096 { 64 } else { 1 };
    let (exactly, verdict) = pass(&form, &wrong, |_| step);
    assert!(form.is_empty() || (exactly == form.len()) == verdict.is_none(), "ended early without a reason, or late with one");
    for (passed, other) in [pass(&form, &wrong, |_| usize::MAX), pass(&form, &wrong, |byte| usize::from(byte ^ choice) % 97 + 1)]
    {
        assert_eq!(other, verdict, "it matters how the bytes are cut");
        // A piece waits for the next one: the last byte that counts is at most two pieces behind what has passed.
        assert!(passed + 1 < exactly + 2 * step, "more passes in large pieces");
    }
}

fn as_file(choice: u8, content: &[u8]) {
    if memchr::memmem::find(content, FENCE).is_some() {
        return;
    }
    let form = Bytes::from([HEAD, content, TAIL].concat());
    let size = |byte| usize::from(byte ^ choice) % 97 + 1;
    assert_eq!(pass(&form, &hex(&sha256(content)), size), (form.len(), None), "the right file does not pass");
    let (passed, verdict) = pass(&form, &"0".repeat(64), size);
    assert_eq!(verdict, Some(Cut::Changed), "a wrong file passes");
    assert!(passed < HEAD.len() + content.len() + FENCE.len(), "the end of a wrong file passes");
}

/// How many bytes pass, and why no more; `size` gives the length of a piece from its first byte.
fn pass(form: &Bytes, sha256: &str, size: impl Fn(u8) -> usize) -> (usize, Option<Cut>) {
    let mut rest = form.clone();
    let mut pieces = Vec::new();
    while let Some(first) = rest.first() {
        let length = size(*first).min(rest.len());
        pieces.push(Ok(rest.split_to(length)));
    }
    let expected = Some((BOUNDARY.to_owned(), sha256.to_owned()));
    let passed = checked(futures_util::stream::iter(pieces), (u64::MAX, 16 << 10), expected, |_| {}).collect::<Vec<_>>();
    // All pieces are there: nothing has to be waited for.
    let passed = passed.now_or_never().unwrap_or_default();
    let bytes = passed.iter().flatten().map(Bytes::len).sum();
    (bytes, passed.into_iter().find_map(Result::err))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_form_is_a_finding(
            choice: u8,
            text in "((--b0)|(\r\n)|(\r\n--b0)|(content-disposition: form-data; name=\"file\"\r\n\r\n)|[-b0\r\n\t a\x01]){0,12}",
        ) {
            super::upload(&[&[choice][..], text.as_bytes()].concat());
        }
    }
}
