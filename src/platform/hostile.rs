//! Text that an attacker may have written: every field of a scan result, file names, upstream error text.
//!
//! A [`Hostile`] cannot be printed by accident (no Display); each output has its own renderer. HTML escaping itself is
//! the template engine's work: the renderers here make control and direction characters visible before it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Untrusted text.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hostile(String);

impl std::fmt::Debug for Hostile {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Hostile({:?})", self.log())
    }
}

impl Hostile {
    /// Takes `text` as it came.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as it came, for comparing and for sending back to the service. Not for output.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to show: blanks only, and letters that look like nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.chars().all(|c| c.is_whitespace() || is_blank(c))
    }

    /// One line of prose: line breaks become blanks, invisible and direction-changing characters become visible tokens.
    #[must_use]
    pub fn text(&self) -> String {
        visible(&self.0, false)
    }

    /// Several lines: as [`Hostile::text`], but line breaks and tabs stay.
    #[must_use]
    pub fn code(&self) -> String {
        visible(&self.0, true)
    }

    /// At most `limit` characters of [`Hostile::text`], with an ellipsis when some were left out.
    #[must_use]
    pub fn short(&self, limit: usize) -> String {
        let all = self.text();
        if all.chars().count() <= limit {
            return all;
        }
        let mut out: String = all.chars().take(limit.saturating_sub(1)).collect();
        out.push('…');
        out
    }

    /// The address, if it is an absolute http or https one without user information; everything else is no link.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        let parsed = url::Url::parse(self.0.trim()).ok()?;
        let web = matches!(parsed.scheme(), "http" | "https");
        (web && parsed.username().is_empty() && parsed.password().is_none() && parsed.has_host()).then(|| parsed.to_string())
    }

    /// A name that is safe in a file system and in a header: letters, digits, dot, dash, underscore; never empty.
    #[must_use]
    pub fn filename(&self) -> String {
        let name: String = self
            .0
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' })
            .take(100)
            .collect();
        let name = name.trim_matches(['.', '_']).to_owned();
        if name.is_empty() { "file".to_owned() } else { name }
    }

    /// One log line of at most 300 characters.
    #[must_use]
    pub fn log(&self) -> String {
        self.short(300)
    }
}

impl From<&str> for Hostile {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Hostile {
    fn from(text: String) -> Self {
        Self(text)
    }
}

fn visible(text: &str, lines: bool) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '\n' | '\t' if lines => out.push(c),
            '\r' if lines => {}
            '\n' | '\r' | '\t' => out.push(' '),
            c if hidden(c) => {
                let _ = write!(out, "[U+{:04X}]", u32::from(c));
            }
            c => out.push(c),
        }
        out
    })
}

/// Letters and signs whose shape is empty: fillers of Hangul, and Braille without a dot.
const fn is_blank(c: char) -> bool {
    matches!(c, '\u{115F}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}')
}

/// Controls, direction overrides, zero-width and tag characters, and non-characters.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x00AD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF0..=0xFFFB
            | 0xFDD0..=0xFDEF | 0xE0000..=0xE0FFF)
        || u32::from(c) & 0xFFFE == 0xFFFE
}
