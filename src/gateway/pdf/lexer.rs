//! The values of a PDF as pieces of its bytes, one at a time (ISO 32000-2, 7.2 and 7.3). Builds no tree: a value is looked into by
//! whoever needs what is in it.

/// How deep values may lie in each other.
const DEEPEST: usize = 64;

/// A place in bytes.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The next token: a bracket, a whole string, a name with its slash, a number or a word.
    pub(super) fn token(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        let rest = self.bytes.get(self.at..)?;
        let length = match rest {
            [] | [b')', ..] => return None,
            [b'<', b'<', ..] | [b'>', b'>', ..] => 2,
            [b'[' | b']' | b'{' | b'}', ..] => 1,
            [b'(', ..] => string(rest)?,
            [b'<', ..] => memchr::memchr(b'>', rest)? + 1,
            [b'/', name @ ..] => 1 + regular(name),
            _ => regular(rest),
        };
        let token = rest.get(..length).filter(|token| !token.is_empty())?;
        self.at += length;
        Some(token)
    }

    /// The next whole value; a reference is one.
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.token()?;
        let start = self.at - first.len();
        match first {
            b"<<" | b"[" => self.rest_of(first)?,
            b">>" | b"]" | b"{" | b"}" => return None,
            number if is_digits(number) => {
                let mut ahead = *self;
                if ahead.token().is_some_and(is_digits) && ahead.token() == Some(b"R") {
                    *self = ahead;
                }
            }
            _ => {}
        }
        self.bytes.get(start..self.at)
    }

    /// Past the bracket that closes the one that was read.
    fn rest_of(&mut self, first: &'a [u8]) -> Option<()> {
        let mut open = vec![first];
        while let Some(inner) = open.last().copied() {
            match (self.token()?, inner) {
                (bracket @ (b"<<" | b"["), _) if open.len() < DEEPEST => open.push(bracket),
                (b">>", b"<<") | (b"]", b"[") => {
                    open.pop();
                }
                (b"<<" | b"[" | b">>" | b"]", _) => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn skip_space(&mut self) {
        while let Some(rest) = self.bytes.get(self.at..) {
            match rest {
                [0 | 9 | 10 | 12 | 13 | 32, ..] => self.at += 1,
                [b'%', ..] => self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()),
                _ => return,
            }
        }
    }
}

/// How many bytes of a name, a number or a word come first.
fn regular(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| {
        matches!(byte, 0 | 9 | 10 | 12 | 13 | 32 | b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
    };
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

/// How many bytes the string has that comes first.
fn string(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        match bytes.get(at)? {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

fn is_digits(token: &[u8]) -> bool {
    !token.is_empty() && token.iter().all(u8::is_ascii_digit)
}

/// A dictionary: names without their slash, and values.
#[derive(Clone, Default)]
pub(super) struct Dict<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Dict<'a> {
    pub(super) fn read(value: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(value, 0);
        if cursor.token()? != b"<<" {
            return None;
        }
        let mut entries = Vec::new();
        loop {
            match cursor.token()? {
                b">>" => return Some(Self(entries)),
                [b'/', key @ ..] => entries.push((key, cursor.value()?)),
                _ => return None,
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|(key, _)| is_named(key, name)).map(|(_, value)| *value)
    }

    /// As it is written, without these entries and without what closes it.
    pub(super) fn without(&self, names: &[&str]) -> Vec<u8> {
        let mut out = b"<<".to_vec();
        for (key, value) in self.0.iter().filter(|(key, _)| !names.iter().any(|name| is_named(key, name))) {
            out.extend_from_slice(&[b" /", *key, b" ", *value].concat());
        }
        out
    }
}

/// Whether a name as it is written, maybe with `#6e` for `n`, is this one.
fn is_named(written: &[u8], name: &str) -> bool {
    let mut rest = written;
    for wanted in name.bytes() {
        let (byte, length) = match rest {
            [b'#', high, low, ..] => (hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low), 3),
            [byte, ..] => (Some(*byte), 1),
            [] => return false,
        };
        if byte != Some(wanted) {
            return false;
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    rest.is_empty()
}

fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

/// What is between the brackets of an array.
pub(super) fn inner(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"[")?.strip_suffix(b"]")
}

/// What is in an array, one after the other.
pub(super) fn items(value: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let mut cursor = Cursor::new(inner(value)?, 0);
    Some(std::iter::from_fn(move || cursor.value()))
}

/// The number of the object that a reference names.
pub(super) fn reference(value: &[u8]) -> Option<u32> {
    let mut cursor = Cursor::new(value, 0);
    let number = integer(cursor.token()?)?;
    cursor.token()?;
    (cursor.token()? == b"R").then_some(number)
}

/// A number that is not negative and fits.
pub(super) fn integer<N: std::str::FromStr>(value: &[u8]) -> Option<N> {
    std::str::from_utf8(value).ok().filter(|_| is_digits(value))?.parse().ok()
}

/// Any number that a place on a page can be.
pub(super) fn number(value: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (number.abs() < 1e7).then_some(number)
}

/// Whether a value is this name.
pub(super) fn is_name(value: &[u8], name: &str) -> bool {
    value.strip_prefix(b"/").is_some_and(|written| is_named(written, name))
}
