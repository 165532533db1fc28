//! Where a user goes after signing in: a path of this portal, and nothing that a browser could read as another place.

use serde::{Deserialize, Serialize};

/// A local absolute path with an optional query, e.g. `/tasks/4f?tab=findings`. Holds only what [`ReturnTo::parse`] let through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(in crate::gateway) struct ReturnTo(String);

/// The text is no local path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a path of this portal")]
pub(in crate::gateway) struct NotLocal;

/// The longest target that is kept, in bytes.
const LONGEST: usize = 2048;

impl ReturnTo {
    /// The first page.
    pub(in crate::gateway) fn home() -> Self {
        Self("/".to_owned())
    }

    /// Reads a target. Only printable ASCII that a URL may hold, starting with one slash; no empty, `.` or `..` segment,
    /// no backslash, no fragment, and no percent-encoded character in the path except those of a name (encoded slashes,
    /// dots, controls, percent signs and a byte above ASCII are refused: they could be decoded on the way into something else).
    pub(in crate::gateway) fn parse(text: &str) -> Option<Self> {
        let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
        let rest = path.strip_prefix('/')?;
        let fine = text.len() <= LONGEST
            && path.bytes().all(in_path)
            && (rest.is_empty() || rest.split('/').all(segment))
            && query.is_none_or(|query| query.bytes().all(in_query) && escapes(query, |byte| byte >= b' ' && byte != 0x7f));
        fine.then(|| Self(text.to_owned()))
    }

    /// The path without the query.
    pub(in crate::gateway) fn path(&self) -> &str {
        self.0.split_once('?').map_or(self.as_str(), |(path, _)| path)
    }

    /// The whole target.
    pub(in crate::gateway) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether one of `patterns` is this path. A pattern is a path whose `{name}` segments stand for any one segment,
    /// e.g. `/tasks/{task}/findings`: the portal passes the pages it would show after a sign-in.
    pub(in crate::gateway) fn allowed(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| {
            let mut have = self.path().split('/');
            let mut want = pattern.split('/');
            loop {
                match (have.next(), want.next()) {
                    (None, None) => return true,
                    (Some(have), Some(want)) if have == want => {}
                    (Some(have), Some(want)) if want.starts_with('{') && want.ends_with('}') && !have.is_empty() => {}
                    _ => return false,
                }
            }
        })
    }

    /// The target of `text` when it is local and one of `patterns`, else the first page.
    pub(in crate::gateway) fn choose(text: Option<&str>, patterns: &[&str]) -> Self {
        text.and_then(Self::parse).filter(|target| target.allowed(patterns)).unwrap_or_else(Self::home)
    }
}

impl TryFrom<String> for ReturnTo {
    type Error = NotLocal;

    fn try_from(text: String) -> Result<Self, NotLocal> {
        Self::parse(&text).ok_or(NotLocal)
    }
}

impl From<ReturnTo> for String {
    fn from(target: ReturnTo) -> Self {
        target.0
    }
}

const fn in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~' | b'%' | b'+' | b',' | b'=')
}

const fn in_query(byte: u8) -> bool {
    in_path(byte) || matches!(byte, b'&' | b':' | b'@' | b'!' | b'$' | b'*' | b'(' | b')' | b'?')
}

fn segment(segment: &str) -> bool {
    let dots = segment.bytes().all(|byte| byte == b'.');
    !dots && escapes(segment, |byte| matches!(byte, b' ' | b'+' | b',' | b'=' | b'-' | b'_' | b'~' | b'(' | b')' | b'&' | b'@'))
}

/// Whether every percent sign starts a complete escape whose byte `allow`s.
fn escapes(text: &str, allow: impl Fn(u8) -> bool) -> bool {
    let mut pieces = text.split('%');
    pieces.next();
    pieces.all(|piece| {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).is_some_and(&allow)
    })
}

#[cfg(test)]
#[path = "return_to_tests.rs"]
mod tests;
