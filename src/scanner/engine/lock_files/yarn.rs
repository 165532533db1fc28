//! `yarn.lock`: blocks of indented lines below the specifiers they satisfy. Version 1 has a form of its own, later ones are
//! YAML of the same look.

use super::{BadLock, Locked};
use crate::scanner::engine::ecosystem::Ecosystem::Npm;

pub(super) fn read(text: &str) -> Result<Locked, BadLock> {
    let is_later = text.lines().any(|line| line.starts_with("__metadata:"));
    if !is_later && !text.contains("yarn lockfile v1") {
        return Err(BadLock::Text);
    }
    let mut locked = Locked::default();
    let mut block = Block::default();
    for line in text.lines() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            std::mem::take(&mut block).close(&mut locked);
            block.name = name(line);
        } else if let Some(value) = value(line, "version") {
            value.clone_into(&mut block.version);
        } else if let Some(value) = value(line, "resolution") {
            block.name = value.split_once("@npm:").map(|(name, _)| name.to_owned());
        } else if let Some(value) = value(line, "resolved") {
            block.is_foreign = !value.starts_with("http");
        }
    }
    block.close(&mut locked);
    Ok(locked)
}

#[derive(Default)]
struct Block {
    name: Option<String>,
    version: String,
    is_foreign: bool,
}

impl Block {
    /// Without a version it was no package: the head of the file, or nothing at all.
    fn close(self, locked: &mut Locked) {
        if self.version.is_empty() {
            return;
        }
        match self.name.filter(|_| !self.is_foreign) {
            Some(name) => locked.add(Npm, &name, &self.version, true),
            None => locked.unversioned += 1,
        }
    }
}

/// The package that a line of specifiers is about: `"@scope/a@^1", "@scope/a@^2":`; an alias names the real one.
fn name(line: &str) -> Option<String> {
    let first = line.trim_end_matches(':').split(", ").next()?.trim_matches('"');
    if first.starts_with("__metadata") {
        return None;
    }
    let split = |text: &str| {
        let at = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at)?;
        let (name, rest) = text.split_at_checked(at)?;
        Some((name.to_owned(), rest.trim_start_matches('@').to_owned()))
    };
    let (own, wanted) = split(first)?;
    match wanted.strip_prefix("npm:") {
        Some(alias) => split(alias).map(|(real, _)| real).or(Some(own)),
        None if wanted.contains(['/', ':', '#']) => None,
        None => Some(own),
    }
}

/// `  version "1.2.3"` and `  version: 1.2.3`, at the first level only.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let inner = line.strip_prefix("  ")?;
    let rest = inner.strip_prefix(key)?;
    let value = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '))?;
    Some(value.trim().trim_matches('"'))
}
