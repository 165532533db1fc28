//! Puts a line at the foot of every page of a PDF. Knows nothing of shares and keeps nothing.
//!
//! What it gives is appended to the file, which stays as it is (an incremental update, ISO 32000-2, 7.5.6): the pages' own content is
//! neither read nor written anew. Of the file it reads where objects are, and the tree of its pages, as pieces of its bytes: memory
//! does not grow with what is in it, and how much it looks at is bounded. A file that is not as the standard says is refused, never
//! repaired: whatever was guessed, another reader could guess otherwise and show a page without the line.

mod file;
pub(in crate::gateway) mod fuzzing;
mod lexer;
mod pages;
#[cfg(test)]
mod tests;
mod text;
mod update;

use self::file::File;

/// Why a PDF has no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum Refusal {
    #[error("it is encrypted")]
    Encrypted,
    /// Cut, damaged, no PDF at all, or made to cost more than it is worth.
    #[error("it cannot be read")]
    Unreadable,
}

/// What has to follow `pdf` so that these words are at the foot of each of its pages. Of the words remains what WinAnsi, the letters of
/// western Europe, can show.
pub(in crate::gateway) fn at_foot(pdf: &[u8], words: &str) -> Result<Vec<u8>, Refusal> {
    let mut file = File::open(pdf)?;
    let update = pages::with_line(&mut file, &text::latin(words)).ok_or(Refusal::Unreadable)?;
    Ok(update.appendix(&file))
}
