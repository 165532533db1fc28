//! What is wrong with a configuration: every problem with its path, in words, with a hint. Never holds a secret's text.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted path of the option, e.g. `gateway.server.listen`; a file's name when the file itself is the problem.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub hint: String,
}

/// Everything that is wrong, in the order it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes one more problem.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem { path: path.into(), message: message.into(), hint: hint.into() });
    }

    /// A list of one.
    #[must_use]
    pub fn one(path: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut problems = Self::default();
        problems.add(path, message, hint);
        problems
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => out.write_str("the configuration has a problem:\n")?,
            many => writeln!(out, "the configuration has {many} problems:")?,
        }
        for problem in &self.0 {
            writeln!(out, "  {}: {}", problem.path, problem.message)?;
            if !problem.hint.is_empty() {
                writeln!(out, "      {}", problem.hint)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The known word nearest to `word`, when it is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().div_ceil(3);
    known.into_iter().map(|other| (edits(word, other), other)).filter(|(edits, _)| *edits <= most).min().map(|(_, other)| other)
}

/// Levenshtein distance in characters, one row at a time.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, from) in left.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut last = above + 1;
        next.push(last);
        for (pair, to) in row.windows(2).zip(&right) {
            let [diagonal, up] = pair else { continue };
            last = (last + 1).min(up + 1).min(diagonal + usize::from(from != *to));
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_is_recognised_and_a_foreign_one_is_not() {
        assert_eq!(nearest("lisen", ["listen", "workers"]), Some("listen"));
        assert_eq!(nearest("wrokers", ["listen", "workers"]), Some("workers"));
        assert_eq!(nearest("zebra", ["listen", "workers"]), None);
        assert_eq!((edits("", "abc"), edits("abc", ""), edits("kitten", "sitting")), (3, 3, 3));
    }
}
