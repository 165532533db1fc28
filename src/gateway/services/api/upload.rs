//! Uploads that pass: counted, and their file hashed where the caller said what it hashes to. Of a file that is another one
//! the end is never sent, so that the service keeps nothing of it. Where it is hashed, the form must be one that nobody can read in
//! two ways (`part`): otherwise the service could take other bytes for the file than those that were hashed.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use super::part::{Part, read};
use crate::platform::digest::Running;

/// Why an upload was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum Cut {
    #[error("the upload is larger than allowed")]
    TooLarge,
    #[error("the file is not the one that was announced")]
    Changed,
    /// Or one that could be read in two ways, has not one file, or no end.
    #[error("the body is no multipart form that can be read")]
    Unreadable,
    /// What the call hangs on ended; words for its caller.
    #[error("the session or the key of the sender ended")]
    Ended(&'static str),
    /// The sender went away or was silent for too long.
    #[error("the sender stopped")]
    Stopped,
}

/// Passes chunks on unchanged. `most` bytes at most, `head` of the headers of one part; with `expected`, the boundary after a file that hashes to something
/// else is not passed on and the stream ends with [`Cut::Changed`]. Each chunk then waits for the next one, so that the last
/// passes only when it ends a form that is whole.
pub(in crate::gateway) fn checked<S>(
    body: S,
    (most, head): (u64, usize),
    expected: Option<(String, String)>,
    cut: impl Fn(Cut) + 'static,
) -> impl Stream<Item = Result<Bytes, Cut>>
where
    S: Stream<Item = Result<Bytes, Cut>> + 'static,
{
    let form = expected.map(|(boundary, sha256)| Form::new((&boundary, head), &sha256));
    let state = Some((Box::pin(body), Passing { left: most, form, held: None }, cut));
    futures_util::stream::unfold(state, |state| async move {
        let (mut body, mut passing, cut) = state?;
        loop {
            let Some(piece) = body.next().await else {
                let last = passing.end().inspect_err(|reason| cut(*reason)).transpose()?;
                return Some((last, None));
            };
            match piece.and_then(|chunk| passing.pass(chunk)) {
                Ok(None) => {}
                Ok(Some(chunk)) => return Some((Ok(chunk), Some((body, passing, cut)))),
                Err(reason) => {
                    cut(reason);
                    return Some((Err(reason), None));
                }
            }
        }
    })
}

/// A body on its way.
struct Passing {
    /// Bytes that may still come.
    left: u64,
    form: Option<Form>,
    /// What was read and waits for more.
    held: Option<Bytes>,
}

impl Passing {
    /// What passes when `chunk` has come.
    fn pass(&mut self, chunk: Bytes) -> Result<Option<Bytes>, Cut> {
        self.left = self.left.checked_sub(chunk.len() as u64).ok_or(Cut::TooLarge)?;
        let Some(form) = &mut self.form else { return Ok(Some(chunk)) };
        form.read(&chunk)?;
        Ok(self.held.replace(chunk))
    }

    /// What passes when all has come.
    fn end(&mut self) -> Result<Option<Bytes>, Cut> {
        if self.form.as_ref().is_some_and(|form| !form.is_whole()) {
            return Err(Cut::Unreadable);
        }
        Ok(self.held.take())
    }
}

/// Finds the file in a multipart form (RFC 2046, 5.1.1) as it passes.
struct Form {
    /// `CRLF -- boundary`.
    fence: Vec<u8>,
    /// Bytes that the headers of one part may have.
    longest_head: usize,
    expected: String,
    at: At,
    /// A file was there: there may be no other.
    had_file: bool,
    /// Bytes that may be the beginning of a fence, or a part's headers.
    carry: Vec<u8>,
    hash: Option<Running>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// At the very beginning, where a fence has to stand.
    Start,
    /// Inside another field.
    Other,
    /// Behind a fence: a line break or the end of the form follows.
    Fence,
    Head,
    File,
    /// Behind the last fence.
    End,
}

impl Form {
    fn new((boundary, longest_head): (&str, usize), expected: &str) -> Self {
        let fence = format!("\r\n--{boundary}").into_bytes();
        // The first fence stands at the very beginning, without the line break before it.
        let (carry, expected) = (b"\r\n".to_vec(), expected.to_ascii_lowercase());
        Self { fence, longest_head, expected, at: At::Start, had_file: false, carry, hash: None }
    }

    /// Whether it has its one file and its end.
    fn is_whole(&self) -> bool {
        self.had_file && self.at == At::End
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
            At::End => self.behind(data),
            At::Start => self.start(data),
            At::Other => self.field(data),
            At::File => self.content(data),
            At::Fence => match data {
                [b'\r', b'\n', behind @ ..] => {
                    self.at = At::Head;
                    Ok(Some(behind))
                }
                [b'-', b'-', behind @ ..] => {
                    self.at = At::End;
                    Ok(Some(behind))
                }
                // Padding before the line break.
                [b' ' | b'\t', behind @ ..] => Ok(Some(behind)),
                [] | [b'\r' | b'-'] => Ok(self.wait(data)),
                _ => Err(Cut::Unreadable),
            },
            At::Head => self.head(data),
        }
    }

    /// Behind the last fence there is nothing but blanks and line breaks: others could find parts in it.
    fn behind<'d>(&mut self, data: &[u8]) -> Result<Option<&'d [u8]>, Cut> {
        let is_nothing = data.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        if is_nothing { Ok(self.wait(&[])) } else { Err(Cut::Unreadable) }
    }

    fn head<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        // Without any header the blank line stands first.
        let found = if data.starts_with(b"\r\n") { Some((0, 2)) } else { find(data, b"\r\n\r\n").map(|end| (end, end + 4)) };
        // The same for a head that comes at once and one that comes byte by byte.
        let Some((end, behind)) = found.filter(|(_, behind)| *behind <= self.longest_head) else {
            return if data.len() >= self.longest_head { Err(Cut::Unreadable) } else { Ok(self.wait(data)) };
        };
        match read(data.get(..end).unwrap_or_default()) {
            Some(Part::File) if !self.had_file => {
                (self.at, self.had_file, self.hash) = (At::File, true, Some(Running::default()));
            }
            Some(Part::Other) => self.at = At::Other,
            Some(Part::File) | None => return Err(Cut::Unreadable),
        }
        Ok(data.get(behind..))
    }

    /// Before the first fence there is nothing: others could find parts in it.
    fn start<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        match data.strip_prefix(self.fence.as_slice()) {
            Some(behind) => {
                self.at = At::Fence;
                Ok(Some(behind))
            }
            None if self.fence.starts_with(data) => Ok(self.wait(data)),
            None => Err(Cut::Unreadable),
        }
    }

    /// A field holds no fence behind other line breaks than ours, which others could read as one.
    fn field<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        let (line_break, fence) = self.fence.split_at(2);
        let Some(at) = find(data, fence) else {
            let (_, unsure) = data.split_at(data.len().saturating_sub(self.fence.len() - 1));
            return Ok(self.wait(unsure));
        };
        if !data.get(..at).is_some_and(|before| before.ends_with(line_break)) {
            return Err(Cut::Unreadable);
        }
        self.at = At::Fence;
        Ok(data.get(at + fence.len()..))
    }

    fn content<'d>(&mut self, data: &'d [u8]) -> Result<Option<&'d [u8]>, Cut> {
        if let Some(at) = find(data, &self.fence) {
            self.hash(data.get(..at).unwrap_or_default());
            if self.hash.take().is_some_and(|hash| hash.finish() != self.expected) {
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
        if let Some(hash) = &mut self.hash {
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

    const LONGEST_HEAD: usize = 16 * 1024;

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
        let all: Vec<_> = checked(futures_util::stream::iter(chunks), (1 << 20, LONGEST_HEAD), expected, |_| {}).collect().await;
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
        let all: Vec<_> = checked(futures_util::stream::iter(chunks), (12, LONGEST_HEAD), None, |_| {}).collect().await;
        assert_eq!(all.len(), 3);
        assert_eq!(all[2], Err(Cut::TooLarge));
        assert_eq!(pass(b"--b0garbage", 4, "x").await.1, Some(Cut::Unreadable));
        let ended = form(&[("file", b"bytes")]);
        for behind in [&b"junk"[..], b"\r\n--b0\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nother\r\n--b0--\r\n"] {
            let bytes = [ended.as_slice(), behind].concat();
            for piece in [1, 7, bytes.len()] {
                assert_eq!(
                    pass(&bytes, piece, &hex(&sha256(b"bytes"))).await.1,
                    Some(Cut::Unreadable),
                    "something behind the end"
                );
            }
        }
        let (file, right) = (b"bytes".as_slice(), hex(&sha256(b"bytes")));
        let good = form(&[("note", b"--b"), ("file", file)]);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let head = "Content-Disposition: form-data; name=\"file\"\r\n\r\n";
        for bad in [
            String::new(),
            text(&form(&[("note", b"x")])),
            text(&form(&[("file", file), ("FILE", b"other")])),
            text(good.strip_suffix(b"--\r\n").unwrap()),
            text(good.strip_suffix(b"\r\n--b0--\r\n").unwrap()),
            format!("\r\n{}", text(&good)),
            format!("--b0\n{head}evil\r\n{}", text(&good)),
            text(&form(&[("note", format!("x\n--b0\n{head}evil").as_bytes()), ("file", file)])),
            text(&good).replacen("name=\"note\"", "name = \"file\"", 1),
        ] {
            for piece in [1, 7, 1000] {
                let (passed, cut) = pass(bad.as_bytes(), piece, &right).await;
                assert_eq!(cut, Some(Cut::Unreadable), "{bad}");
                assert!(bad.is_empty() || passed.len() < bad.len(), "{bad}");
            }
        }
        assert_eq!(pass(&good, 7, &right).await, (good.clone(), None));
        let endless = [b"--b0\r\n".as_slice(), &vec![b'x'; LONGEST_HEAD + 64]].concat();
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
