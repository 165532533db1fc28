//! `package-lock.json` and `npm-shrinkwrap.json`: version 1 nests dependencies, 2 and 3 list packages by their place.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BadLock, Locked};
use crate::scanner::engine::ecosystem::Ecosystem::Npm;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lock {
    lockfile_version: Option<u32>,
    #[serde(default)]
    packages: BTreeMap<String, Place>,
    #[serde(default)]
    dependencies: BTreeMap<String, Nested>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Only when it differs from the folder.
    name: Option<String>,
    version: Option<String>,
    resolved: Option<String>,
    #[serde(default)]
    link: bool,
    #[serde(default)]
    dev: bool,
}

#[derive(Deserialize)]
struct Nested {
    version: Option<String>,
    #[serde(default)]
    dev: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, Nested>,
}

pub(super) fn read(content: &[u8]) -> Result<Locked, BadLock> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let lock: Lock = serde_json::from_slice(content).map_err(|_| BadLock::Json)?;
    if lock.lockfile_version.is_none() && lock.packages.is_empty() && lock.dependencies.is_empty() {
        return Err(BadLock::Json);
    }
    let mut locked = Locked::default();
    if lock.packages.is_empty() {
        nested(&lock.dependencies, &mut locked);
    } else {
        lock.packages.iter().for_each(|(path, place)| listed(path, place, &mut locked));
    }
    Ok(locked)
}

/// Places outside of `node_modules` are the project itself and its workspaces.
fn listed(path: &str, place: &Place, locked: &mut Locked) {
    let Some((_, folder)) = path.rsplit_once("node_modules/") else { return };
    if place.link {
        return;
    }
    let is_from_registry = place.resolved.as_deref().is_none_or(|from| from.starts_with("http"));
    match place.version.as_deref().filter(|_| is_from_registry) {
        Some(version) => locked.add(Npm, place.name.as_deref().unwrap_or(folder), version, !place.dev),
        None => locked.unversioned += 1,
    }
}

/// The depth is bounded by what the JSON reader takes.
fn nested(dependencies: &BTreeMap<String, Nested>, locked: &mut Locked) {
    for (name, one) in dependencies {
        let version = one.version.as_deref().unwrap_or_default();
        // An alias: `npm:real-name@1.2.3`.
        let alias = version.strip_prefix("npm:").and_then(|alias| alias.rsplit_once('@'));
        let (name, version) = alias.unwrap_or((name, version));
        if version.contains(['/', ':']) {
            locked.unversioned += 1;
        } else {
            locked.add(Npm, name, version, !one.dev);
        }
        nested(&one.dependencies, locked);
    }
}
