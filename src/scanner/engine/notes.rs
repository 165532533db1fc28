//! Notes for people about what could not be read: bounded, so that a hostile archive cannot flood them.

/// Further notes are only counted.
const MAX_NOTES: usize = 50;
const MAX_NAME: usize = 160;

/// Sentences in the order they came.
#[derive(Debug, Default)]
pub(super) struct Notes {
    lines: Vec<String>,
    more: u64,
}

impl Notes {
    /// Keeps `note`, once.
    pub(super) fn add(&mut self, note: String) {
        if self.lines.contains(&note) {
            return;
        }
        if self.lines.len() < MAX_NOTES {
            self.lines.push(note);
        } else {
            self.more += 1;
        }
    }

    /// All of them, and how many there was no room for.
    pub(super) fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("{} further notes of this kind were left out.", self.more));
        }
        self.lines
    }
}

/// A name from an archive, cut to what fits in a sentence. The end matters most: it names the file.
pub(super) fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= MAX_NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(MAX_NAME / 3).collect();
    let tail: String = name.chars().skip(length - MAX_NAME / 3 * 2).collect();
    format!("{head}…{tail}")
}
