//! What the fuzz targets in `tests/fuzz` call: each reads bytes that somebody may have crafted, and must come back.

use super::archive::{Source, ZipFile};
use super::budget::Budget;
use super::bytecode;
use super::finding::Watch;
use super::lock_files::{self, Kind};
use super::maven_project::{PomFile, resolve};
use super::metadata;
use super::walk::Walk;
use crate::config::scanner::{Archive, CallGraph, Sources};
use crate::platform::clock::Clock;

/// Small bounds, so that a run is short.
const SOURCES: Sources = Sources {
    upload_bytes: 1 << 20,
    analyses: 1,
    analyses_per_account: 1,
    waiting: 1,
    wait_seconds: 1,
    seconds: 30,
    memory_bytes: 1 << 30,
    pom_bytes: 1 << 20,
    lock_bytes: 1 << 20,
    poms: 10,
    xml_depth: 32,
    parents: 8,
    dependencies: 10_000,
    packages: 10_000,
    issues: 20_000,
};

/// Bounds of an archive, small likewise.
const ARCHIVE: Archive = Archive {
    depth: 4,
    entries: 10_000,
    inflated_bytes: 64 << 20,
    nested_bytes: 8 << 20,
    ratio: 200,
    ratio_from_bytes: 1 << 20,
    seconds: 10,
    sources: SOURCES,
    call_graph: CallGraph {
        class_bytes: 1 << 20,
        classes: 10_000,
        methods: 100_000,
        calls: 100_000,
        name_bytes: 8 << 20,
        steps: 1_000_000,
        targets: 8,
        subclasses: 200,
        chains: 50,
        chain_steps: 60,
    },
};

/// Walks `bytes` as an archive, classes and inner archives included.
pub fn zip(bytes: &[u8]) {
    let (clock, watch) = (Clock::system(), Watch::default());
    let names_class = |class: &str| class.ends_with("Unsafe");
    if let Ok(zip) = ZipFile::open(Source::memory(bytes.to_vec())) {
        let mut walk = Walk::new(&ARCHIVE, Budget::new(&clock, &watch, ARCHIVE.seconds), &watch, &names_class);
        let _ = walk.archive(&zip, "fuzz.jar".to_owned(), 0);
        let _ = walk.code.paths(&walk.budget).has_entries();
    }
}

/// Reads `bytes` as a class.
pub fn class(bytes: &[u8]) {
    let _ = bytecode::reads(bytes.to_vec());
}

/// Reads `bytes` as what archives say of themselves, and resolves them as poms that lie in each other; a zero byte begins
/// the next one.
pub fn pom(bytes: &[u8]) {
    let _ = metadata::pom_properties(bytes);
    let _ = metadata::pom_xml(bytes);
    let _ = metadata::Manifest::read(bytes);
    let file = |(at, content): (usize, &[u8])| PomFile { path: format!("{}pom.xml", "m/".repeat(at)), content: content.to_vec() };
    let _ = resolve(bytes.split(|byte| *byte == 0).enumerate().map(file).collect(), &SOURCES);
}

/// Reads the bytes behind the first one as the kind of lock file that the first one chooses.
pub fn lock_file(bytes: &[u8]) {
    if let Some((kind, content)) = bytes.split_first()
        && let Some(kind) = Kind::ALL.get(usize::from(*kind) % Kind::ALL.len())
    {
        let _ = lock_files::read(*kind, content);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_targets_take_any_bytes() {
        for bytes in [&b""[..], b"\x00", b"\x00<project/>\x00<project><artifactId>a</artifactId></project>", b"\x04[[package]]"] {
            super::pom(bytes);
            super::lock_file(bytes);
        }
    }
}
