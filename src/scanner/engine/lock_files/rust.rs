//! `Cargo.lock`: packages of crates.io; those of other registries, repositories and the workspace have no version there.

use serde::Deserialize;

use super::{BadLock, Locked};
use crate::scanner::engine::ecosystem::Ecosystem::CratesIo;

const REGISTRIES: [&str; 2] = ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

#[derive(Deserialize)]
struct Lock {
    package: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    source: Option<String>,
}

pub(super) fn read(text: &str) -> Result<Locked, BadLock> {
    let lock: Lock = toml::from_str(text).map_err(|_| BadLock::Toml)?;
    let mut locked = Locked::default();
    for entry in lock.package {
        match entry.source {
            Some(source) if REGISTRIES.contains(&source.as_str()) => locked.add(CratesIo, &entry.name, &entry.version, true),
            Some(_) => locked.unversioned += 1,
            // The workspace's own.
            None => {}
        }
    }
    Ok(locked)
}
