//! `go.mod` with its replacements, and `go.sum` where there is nothing better.

use std::collections::{BTreeMap, HashMap};

use super::Locked;
use crate::scanner::engine::ecosystem::Ecosystem::Go;
use crate::scanner::engine::version_order::Version;

/// Path and version.
type Module = (String, String);

/// `go.mod`. Since Go 1.17 it lists what others bring too.
pub(super) fn module(text: &str) -> Locked {
    let mut required: BTreeMap<String, String> = BTreeMap::new();
    let mut replaced: HashMap<(String, Option<String>), Option<Module>> = HashMap::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line == ")" {
            block = None;
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '`'])).collect();
        let (verb, words) = match (&block, words.split_first()) {
            (_, None) => continue,
            (Some(verb), _) => (verb.as_str(), words.as_slice()),
            (None, Some((verb, ["("]))) => {
                block = Some((*verb).to_owned());
                continue;
            }
            (None, Some((verb, rest))) => (*verb, rest),
        };
        match (verb, words) {
            ("require", [module, version]) => drop(required.insert((*module).to_owned(), (*version).to_owned())),
            ("replace", [old, "=>", new @ ..]) => drop(replaced.insert(((*old).to_owned(), None), replacement(new))),
            ("replace", [old, version, "=>", new @ ..]) => {
                replaced.insert(((*old).to_owned(), Some((*version).to_owned())), replacement(new));
            }
            _ => {}
        }
    }
    let mut locked = Locked::default();
    for (module, version) in required {
        let exact = replaced.get(&(module.clone(), Some(version.clone())));
        match exact.or_else(|| replaced.get(&(module.clone(), None))) {
            None => locked.add(Go, &module, &version, true),
            Some(Some((module, version))) => locked.add(Go, module, version, true),
            // A folder beside it.
            Some(None) => locked.unversioned += 1,
        }
    }
    locked
}

fn replacement(new: &[&str]) -> Option<Module> {
    match new {
        [module, version] => Some(((*module).to_owned(), (*version).to_owned())),
        _ => None,
    }
}

/// `go.sum`: the highest version of each module whose content is in it. The build may take a lower one.
pub(super) fn sums(text: &str) -> Locked {
    let mut highest: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [module, version, _] = words[..] else { continue };
        if version.ends_with("/go.mod") {
            continue;
        }
        let is_higher = |known: &&str| Version::parse(Go, version) > Version::parse(Go, known);
        if highest.get(module).is_none_or(is_higher) {
            highest.insert(module, version);
        }
    }
    let mut locked = Locked::default();
    for (module, version) in highest {
        locked.add(Go, module, version, true);
    }
    locked
}
