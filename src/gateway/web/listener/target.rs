//! A `#` in a request line (RFC 9112, 3.2: it has no place there). The library takes it for the beginning of a fragment and drops
//! the rest without a word, where others in front of us may have read on. Seen here, where bytes are read, it becomes a character
//! that is refused.

/// Makes a path one that can be read in two ways.
const IN_A_PATH: u8 = b'\\';
/// No query has it.
const IN_A_QUERY: u8 = b'<';

/// Where in a request line the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Target {
    /// Before it: line breaks may stand there.
    #[default]
    Before,
    Method,
    Path,
    Query,
    /// Behind it, or in something that is none.
    Behind,
}

impl Target {
    /// Goes through bytes as they come; changes those that would be dropped, or ones before them.
    pub(super) fn read(&mut self, bytes: &mut [u8]) {
        let mut last = None;
        for at in 0..bytes.len() {
            let Some(byte) = bytes.get(at).copied() else { return };
            *self = match (*self, byte) {
                (Self::Before, b'\r' | b'\n') => Self::Before,
                (Self::Before | Self::Method, b'A'..=b'Z') => Self::Method,
                (Self::Method, b' ') => Self::Path,
                (Self::Path | Self::Query, 0..=b' ') | (Self::Before | Self::Method, _) => Self::Behind,
                (Self::Path, b'?') => Self::Query,
                (Self::Path, byte) => {
                    if byte == b'#' {
                        set(bytes, at, IN_A_PATH);
                    }
                    last = Some(at);
                    Self::Path
                }
                (Self::Query, b'#') => {
                    // A path that is refused has an answer in words; it may have gone on before.
                    match last {
                        Some(path) => set(bytes, path, IN_A_PATH),
                        None => set(bytes, at, IN_A_QUERY),
                    }
                    Self::Query
                }
                (Self::Query, _) => Self::Query,
                (Self::Behind, _) => return,
            };
        }
    }
}

fn set(bytes: &mut [u8], at: usize, byte: u8) {
    if let Some(place) = bytes.get_mut(at) {
        *place = byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> String {
        let mut target = Target::default();
        let read = |piece: &&str| {
            let mut bytes = piece.as_bytes().to_vec();
            target.read(&mut bytes);
            String::from_utf8(bytes).unwrap()
        };
        pieces.iter().map(read).collect()
    }

    #[test]
    fn a_number_sign_in_a_request_line_is_made_one_that_is_refused_and_elsewhere_it_stays() {
        let rest = " HTTP/1.1\r\nx: #\r\n\r\n#";
        for (pieces, became) in [
            (&["GET /a/b", rest][..], "GET /a/b"),
            (&["GET /a#/../b", rest], "GET /a\\/../b"),
            (&["\r\nGET /a/b?c=d#e", rest], "\r\nGET /a/\\?c=d#e"),
            (&["G", "ET /a", "#b#", rest], "GET /a\\b\\"),
            (&["GET /a?", "b#c", rest], "GET /a?b<c"),
            (&["x: /a#b", rest], "x: /a#b"),
            (&["x: y", " /a#b", rest], "x: y /a#b"),
        ] {
            assert_eq!(read(pieces), format!("{became}{rest}"));
        }
    }
}
