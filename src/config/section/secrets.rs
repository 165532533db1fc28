//! Reads secrets of a section: inline or from a file, never both. What is kept for showing is blotted out.

use std::path::{Path, PathBuf};

use super::Section;
use crate::config::layers::variable;
use crate::platform::secret::Secret;

/// Stands where a secret was.
const BLOTTED: &str = "[secret]";

impl Section<'_> {
    /// A secret that has to be there: under its own name, or in the file that `NAME_file` names.
    pub(in crate::config) fn secret(&mut self, key: &str) -> Secret {
        let before = self.problems.iter().count();
        let secret = self.optional_secret(key);
        if secret.is_none() && self.problems.iter().count() == before {
            let hint =
                format!("set it, or `{key}_file` to the path of a file that holds it; {} works too", variable(&self.at(key)));
            self.problem(key, "is missing", hint);
        }
        secret.unwrap_or_else(|| Secret::new(""))
    }

    /// A secret that may be left out.
    pub(in crate::config) fn optional_secret(&mut self, key: &str) -> Option<Secret> {
        let file_key = format!("{key}_file");
        let inline = self.optional_text(key).filter(|text| !text.is_empty());
        let file = self.optional_path(&file_key);
        if inline.is_some() {
            self.keep(key, BLOTTED);
        }
        match (inline, file) {
            (Some(_), Some(_)) => {
                self.both(key, &file_key);
                None
            }
            (Some(text), None) => Some(Secret::new(text)),
            (None, Some(path)) => self.read_secret(&file_key, &path),
            (None, None) => None,
        }
    }

    /// Several secrets: a list of them, or a list of files that hold one each.
    pub(in crate::config) fn secrets(&mut self, key: &str, file_key: &str) -> Vec<Secret> {
        let inline = if self.given.contains_key(key) { self.list(key) } else { self.none(key) };
        let files = if self.given.contains_key(file_key) { self.list(file_key) } else { self.none(file_key) };
        if !inline.is_empty() {
            self.keep(key, vec![BLOTTED; inline.len()]);
        }
        match (inline.is_empty(), files.is_empty()) {
            (false, false) => self.both(key, file_key),
            (false, true) => return inline.into_iter().map(Secret::new).collect(),
            (true, _) => {}
        }
        files.iter().filter_map(|path| self.read_secret(file_key, &PathBuf::from(path))).collect()
    }

    fn none(&mut self, key: &str) -> Vec<String> {
        self.asked.push(key.to_owned());
        Vec::new()
    }

    fn read_secret(&mut self, key: &str, path: &Path) -> Option<Secret> {
        match std::fs::read_to_string(path) {
            Ok(text) if !text.trim_end_matches(['\r', '\n']).is_empty() => {
                return Some(Secret::new(text.trim_end_matches(['\r', '\n'])));
            }
            Ok(_) => {
                self.problem(key, format!("the file {} is empty", path.display()), "it should hold the secret and nothing else");
            }
            Err(error) => {
                let hint = "the file has to be readable for the user this runs as, and hold text";
                self.problem(key, format!("the file {} cannot be read: {error}", path.display()), hint);
            }
        }
        None
    }

    fn both(&mut self, key: &str, file_key: &str) {
        let message = format!("is set, and so is `{file_key}`");
        self.problem(key, message, "keep one of the two; an empty value unsets one that a lower layer sets");
    }
}
