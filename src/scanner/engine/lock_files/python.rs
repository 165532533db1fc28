//! What Python builds lock: `poetry.lock` and `uv.lock`, `Pipfile.lock`, and the pinned lines of `requirements.txt`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{BadLock, Locked};
use crate::scanner::engine::ecosystem::Ecosystem::PyPi;

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Entry>,
    version: Option<toml::Value>,
    metadata: Option<toml::Value>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: Option<String>,
    source: Option<toml::Table>,
    /// Of older poetry files: `main` or `dev`.
    category: Option<String>,
    /// Of newer ones.
    groups: Option<Vec<String>>,
}

/// `poetry.lock` and `uv.lock`.
pub(super) fn locked(text: &str) -> Result<Locked, BadLock> {
    let lock: Lock = toml::from_str(text).map_err(|_| BadLock::Toml)?;
    if lock.package.is_empty() && lock.version.is_none() && lock.metadata.is_none() {
        return Err(BadLock::Toml);
    }
    let mut locked = Locked::default();
    for entry in lock.package {
        let source = entry.source.as_ref();
        let has = |key: &str| source.is_some_and(|source| source.contains_key(key));
        // The project itself and its workspace, as uv lists them.
        if ["virtual", "editable"].into_iter().any(has) {
            continue;
        }
        let kind = source.and_then(|source| source.get("type")).and_then(toml::Value::as_str);
        let is_foreign =
            ["git", "url", "path", "directory"].into_iter().any(|word| kind == Some(word) || (kind.is_none() && has(word)));
        let of_main = |groups: &Vec<String>| groups.is_empty() || groups.iter().any(|group| group == "main");
        let is_runtime = entry.category.as_deref() != Some("dev") && entry.groups.as_ref().is_none_or(of_main);
        match entry.version.filter(|_| !is_foreign) {
            Some(version) => locked.add(PyPi, &entry.name, &version, is_runtime),
            None => locked.unversioned += 1,
        }
    }
    Ok(locked)
}

/// `Pipfile.lock`.
pub(super) fn pipfile(content: &[u8]) -> Result<Locked, BadLock> {
    let lock: BTreeMap<String, Value> = serde_json::from_slice(content).map_err(|_| BadLock::Json)?;
    if !lock.contains_key("_meta") && !lock.contains_key("default") {
        return Err(BadLock::Json);
    }
    let mut locked = Locked::default();
    for (section, is_runtime) in [("default", true), ("develop", false)] {
        for (name, entry) in lock.get(section).and_then(Value::as_object).into_iter().flatten() {
            match entry.get("version").and_then(Value::as_str).and_then(|version| version.strip_prefix("==")) {
                Some(version) => locked.add(PyPi, name, version.trim_start_matches('='), is_runtime),
                None => locked.unversioned += 1,
            }
        }
    }
    Ok(locked)
}

/// `requirements.txt`: lines such as `name[extra]==1.2.3 ; marker`. All others are counted.
pub(super) fn requirements(text: &str) -> Locked {
    let mut locked = Locked::default();
    let mut open = String::new();
    for line in text.lines() {
        let part = line.trim();
        if let Some(part) = part.strip_suffix('\\') {
            open.push_str(part);
            open.push(' ');
            continue;
        }
        open.push_str(part);
        requirement(&std::mem::take(&mut open), &mut locked);
    }
    requirement(&open, &mut locked);
    locked
}

fn requirement(line: &str, locked: &mut Locked) {
    let plain = if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() };
    let plain = plain.split(';').next().unwrap_or_default();
    let plain = plain.split(" --").next().unwrap_or_default().trim();
    // Options, further files and constraints are no requirements of their own.
    if plain.is_empty() || (plain.starts_with('-') && !plain.starts_with("-e")) {
        return;
    }
    let pinned = plain.split_once("==").filter(|(_, version)| !version.contains([',', '*']));
    match pinned {
        Some((name, version)) => {
            let name = name.split('[').next().unwrap_or_default().trim();
            locked.add(PyPi, name, version.trim_start_matches('=').trim(), true);
        }
        None => locked.unversioned += 1,
    }
}
