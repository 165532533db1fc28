//! What the fuzz targets in `tests/fuzz` call: each reads bytes that somebody may have crafted, and must come back.

use super::archive::{Source, ZipFile};
use super::bytecode;
use super::finding::Watch;
use super::metadata;
use super::walk::Walk;
use crate::config::scanner::Archive;
use crate::platform::clock::Clock;

/// Walks `bytes` as an archive, classes and inner archives included.
pub fn zip(bytes: &[u8], limits: &Archive) {
    let (clock, watch) = (Clock::system(), Watch::default());
    let names_class = |class: &str| class.ends_with("Unsafe");
    if let Ok(zip) = ZipFile::open(Source::memory(bytes.to_vec())) {
        let mut walk = Walk::new(limits, &clock, &watch, &names_class);
        let _ = walk.archive(&zip, "fuzz.jar".to_owned(), 0);
        let _ = walk.code.paths().has_entries();
    }
}

/// Reads `bytes` as a class.
pub fn class(bytes: &[u8]) {
    let _ = bytecode::reads(bytes.to_vec());
}

/// Reads `bytes` as `pom.properties`, `pom.xml` and manifest.
pub fn pom(bytes: &[u8]) {
    let _ = metadata::pom_properties(bytes);
    let _ = metadata::pom_xml(bytes);
    let _ = metadata::Manifest::read(bytes);
}
