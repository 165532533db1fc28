//! Uploads that pass: counted, and their file hashed where the caller said what it hashes to. Of a file that is another one
//! the end is never sent, so that the service keeps nothing of it.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::platform::digest::Running;

/// Why an upload was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum Cut {
    #[error("the upload is larger than allowed")]
    TooLarge,
    #[error("the file is not the one that was announced")]
    Changed,
    #[error("the body is no multipart form that can be read")]
    Unreadable,
    /// The sender went away or was silent for too long.
    #[error("the sender stopped")]
    Stopped,
}

/// Headers of one part, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;

/// Passes chunks on unchanged. `most` bytes at most; with `expected`, the boundary after a file that hashes to something
/// else is not passed on and the stream ends with [`Cut::Changed`].
pub(in crate::gateway) fn checked<S>(
    body: S,
    most: u64,
    expected: Option<(String, String)>,
    cut: impl Fn(Cut) + 'static,
) -> impl Stream<Item = Result<Bytes, Cut>>
where
    S: Stream<Item = Result<Bytes, Cut>> + 'static,
{
    let form = expected.map(|(boundary, sha256)| Form::new(&boundary, &sha256));
    let state = Some((Box::pin(body), most, form, cut));
    futures_util::stream::unfold(state, |state| async move {
        let (mut body, left, mut form, cut) = state?;
        let piece = match body.next().await? {
            Ok(chunk) => match left.checked_sub(chunk.len() as u64) {
                None => Err(Cut::TooLarge),
                Some(left) => form.as_mut().map_or(Ok(()), |form| form.read(&chunk)).map(|()| (chunk, left)),
            },
            Err(stopped) => Err(stopped),
        };
        Some(match piece {
            Ok((chunk, left)) => (Ok(chunk), Some((body, left, form, cut))),
            Err(reason) => {
                cut(reason);
                (Err(reason), None)
            }
        })
    })
}

/// Finds the file in a multipart form (RFC 2046, 5.1.1) as it passes.
struct Form {
    /// `CRLF -- boundary`.
    fence: Vec<u8>,
    expected: String,
    at: At,
    /// Bytes that may be the beginning of a fence, or a part's headers.
    carry: Vec<u8>,
    hash: Option<Running>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Inside something that is no file: the preamble, another field.
    Other,
    /// Behind a fence: a line break or the end of the form follows.
    Fence,
    Head,
    File,
    /// Behind the last fence.
    End,
}

impl Form {
    fn new(boundary: &str, expected: &str) -> Self {
        let fence = format!("\r\n--{boundary}").into_bytes();
        // The first fence stands at the very beginning, without the line break before it.
        Self { fence, expected: expected.to_ascii_lowercase(), at: At::Other, carry: b"\r\n".to_vec(), hash: None }
    }

    fn read(&mut self, chunk: &[u8]) -> Result<(), Cut> {
        let mut data = std::mem::take(&mut self.carry);
        data.extend_from_slice(chunk);
        let mut rest = data.as_slice();
        while let Some(behind) = self.step(rest)? {
            rest = behind;
        }
        Ok(())
    }

    /// One step in `data`; what is behind it, or `None` when more has to come, which begins with `carry`.
    fn step<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        match self.at {
            At::End => Ok(None),
            At::Other | At::File => Ok(self.content(data)?),
            At::Fence => match data {
                [b'\r', b'\n', behind @ ..] => {
                    self.at = At::Head;
                    Ok(Some(behind))
                }
                [b'-', b'-', ..] => {
                    self.at = At::End;
                    Ok(None)
                }
                // Padding before the line break.
                [b' ' | b'\t', behind @ ..] => Ok(Some(behind)),
                [] | [b'\r' | b'-'] => Ok(self.wait(data)),
                _ => Err(Cut::Unreadable),
            },
            At::Head => self.head(data),
        }
    }

    fn head<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        // Without any header the blank line stands first.
        let found = if data.starts_with(b"\r\n") { Some((0, 2)) } else { find(data, b"\r\n\r\n").map(|end| (end, end + 4)) };
        // The same for a head that comes at once and one that comes byte by byte.
        let Some((end, behind)) = found.filter(|(_, behind)| *behind <= LONGEST_HEAD) else {
            return if data.len() >= LONGEST_HEAD { Err(Cut::Unreadable) } else { Ok(self.wait(data)) };
        };
        let head = String::from_utf8_lossy(data.get(..end).unwrap_or_default()).to_ascii_lowercase();
        let is_file = head.lines().any(|line| {
            line.starts_with("content-disposition:")
                && line.split(';').any(|part| matches!(part.trim(), "name=\"file\"" | "name=file"))
        });
        self.hash = is_file.then(Running::default);
        self.at = if is_file { At::File } else { At::Other };
        Ok(data.get(behind..))
    }

    fn content<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        if let Some(at) = find(data, &self.fence) {
            self.hash(data.get(..at).unwrap_or_default());
            if self.at == At::File && self.hash.take().is_some_and(|hash| hash.finish() != self.expected) {
                return Err(Cut::Changed);
            }
            self.at = At::Fence;
            return Ok(data.get(at + self.fence.len()..));
        }
        let keep = (1..self.fence.len()).rev().find(|length| data.ends_with(self.fence.get(..*length).unwrap_or_default()));
        let (sure, unsure) = data.split_at(data.len() - keep.unwrap_or(0));
        self.hash(sure);
        Ok(self.wait(unsure))
    }

    fn hash(&mut self, bytes: &[u8]) {
        if let (At::File, Some(hash)) = (self.at, &mut self.hash) {
            hash.update(bytes);
        }
    }

    fn wait<'d>(&mut self, data: &[u8]) -> Option<&'d [u8]> {
        self.carry = data.to_vec();
        None
    }
}

fn find(data: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(data, wanted)
}

/// The boundary that a `Content-Type` names. `None` also where the service could read another one: two of them, or one with
/// characters that boundaries do not have (RFC 2046, 5.1.1), a semicolon in quotes for one.
pub(in crate::gateway) fn boundary(content_type: &str) -> Option<String> {
    let (media, rest) = content_type.split_once(';')?;
    if !media.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut all = rest.split(';').filter_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim())
    });
    let (value, None) = (all.next()?, all.next()) else { return None };
    let value = value.strip_prefix('"').map_or(Some(value), |rest| rest.strip_suffix('"'))?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    ((1..=70).contains(&value.len()) && value.bytes().all(allowed) && !value.ends_with(' ')).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::digest::{hex, sha256};

    fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, content) in parts {
            out.extend_from_slice(
                format!("--b0\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n").as_bytes(),
            );
            out.extend_from_slice(content);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"--b0--\r\n");
        out
    }

    async fn pass(bytes: &[u8], piece: usize, sha256: &str) -> (Vec<u8>, Option<Cut>) {
        let chunks: Vec<_> = bytes.chunks(piece).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let expected = Some(("b0".to_owned(), sha256.to_owned()));
        let all: Vec<_> = checked(futures_util::stream::iter(chunks), 1 << 20, expected, |_| {}).collect().await;
        let mut out = Vec::new();
        for piece in &all {
            match piece {
                Ok(chunk) => out.extend_from_slice(chunk),
                Err(cut) => return (out, Some(*cut)),
            }
        }
        (out, None)
    }

    #[tokio::test]
    async fn bytes_pass_unchanged_and_a_wrong_file_never_ends_however_it_is_cut_into_pieces() {
        let file = b"one\r\n--b\r\n\r\n--b1 two \0\xff\r\n-".as_slice();
        for parts in [&[("file", file)][..], &[("note", b"x"), ("file", file), ("more", b"")], &[("file", b"")]] {
            let bytes = form(parts);
            let content = parts.iter().find(|(name, _)| *name == "file").unwrap().1;
            let right = hex(&sha256(content));
            for piece in 1..bytes.len() {
                assert_eq!(pass(&bytes, piece, &right.to_uppercase()).await, (bytes.clone(), None), "{piece}");
                let (passed, cut) = pass(&bytes, piece, &"0".repeat(64)).await;
                assert_eq!(cut, Some(Cut::Changed), "{piece}");
                assert!(find(&passed, b"--b0--").is_none());
                let start = find(&bytes, b"name=\"file\"").unwrap();
                let behind = find(&bytes[start..], b"\r\n--b0").unwrap() + start + 6;
                assert!(passed.len() < behind, "the fence behind the file was not sent whole");
            }
        }
    }

    #[tokio::test]
    async fn what_is_too_large_or_no_form_is_cut() {
        let chunks = (0..3).map(|_| Ok(Bytes::from_static(b"12345")));
        let all: Vec<_> = checked(futures_util::stream::iter(chunks), 12, None, |_| {}).collect().await;
        assert_eq!(all.len(), 3);
        assert_eq!(all[2], Err(Cut::TooLarge));
        assert_eq!(pass(b"--b0garbage", 4, "x").await.1, Some(Cut::Unreadable));
        let endless = [b"--b0\r\n".as_slice(), &[b'x'; LONGEST_HEAD + 64]].concat();
        assert_eq!(pass(&endless, 1000, "x").await.1, Some(Cut::Unreadable));
    }

    #[test]
    fn boundaries_are_read_quoted_or_not() {
        assert_eq!(boundary("multipart/form-data; boundary=abc").as_deref(), Some("abc"));
        assert_eq!(boundary("Multipart/Form-Data; charset=x; Boundary=\"a b\"").as_deref(), Some("a b"));
        for bad in ["multipart/form-data", "multipart/mixed; boundary=a", "multipart/form-data; boundary=", "application/json"] {
            assert_eq!(boundary(bad), None, "{bad}");
        }
        for two_readings in [
            "boundary=a; boundary=b",
            "boundary=\"a;b\"",
            "charset=\"; boundary=a\"; boundary=b",
            "boundary=\"a",
            "boundary=a\"",
            "boundary=\"a\\b\"",
            "boundary=\"a \"",
        ] {
            assert_eq!(boundary(&format!("multipart/form-data; {two_readings}")), None, "{two_readings}");
        }
    }
}
