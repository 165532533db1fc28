//! Where tests find what is not in the repository: the shared data beside it and the artifacts npm brought.

use std::path::{Path, PathBuf};

use super::advisories::AdvisoryDatabase;
use super::finding::{Analysis, Watch};
use super::{AnalyzeError, Job, NamedFile, analyze};
use crate::config::scanner::{Archive, CallGraph, Sources};
use crate::platform::clock::Clock;

/// The bounds of the default settings.
pub(super) const LIMITS: Archive = Archive {
    depth: 8,
    entries: 100_000,
    inflated_bytes: 4 << 30,
    nested_bytes: 300 << 20,
    ratio: 200,
    ratio_from_bytes: 10 << 20,
    seconds: 60,
    sources: SOURCES,
    call_graph: CALL_GRAPH,
};

/// The bounds of the default settings for poms and lock files.
pub(super) const SOURCES: Sources = Sources {
    upload_bytes: 32 << 20,
    analyses: 2,
    analyses_per_account: 2,
    waiting: 8,
    wait_seconds: 20,
    seconds: 30,
    memory_bytes: 1 << 30,
    pom_bytes: 2 << 20,
    lock_bytes: 32 << 20,
    poms: 5000,
    xml_depth: 64,
    parents: 32,
    dependencies: 2_000_000,
    packages: 200_000,
    issues: 20_000,
};

/// The bounds of the default settings for following calls.
pub(super) const CALL_GRAPH: CallGraph = CallGraph {
    class_bytes: 2 << 20,
    classes: 200_000,
    methods: 4_000_000,
    calls: 8_000_000,
    name_bytes: 256 << 20,
    steps: 20_000_000,
    targets: 8,
    subclasses: 2000,
    chains: 500,
    chain_steps: 60,
};

/// Where a file of the shared data would be: `../shared/data`, or where `CARDEA_SHARED_DATA` points.
#[expect(clippy::disallowed_methods, reason = "a test takes the place of its data from the environment")]
pub(super) fn shared_path(name: &str) -> PathBuf {
    std::env::var("CARDEA_SHARED_DATA")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from)
        .join(name)
}

/// A file of the shared data; says so and gives `None` when it is absent.
pub(super) fn shared(name: &str) -> Option<Vec<u8>> {
    let path = shared_path(name);
    let found = std::fs::read(&path).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {} is not there; set CARDEA_SHARED_DATA to the folder that has it", path.display());
    }
    found
}

/// All `.jar` files of an npm package of `tests/package.json`, in a fixed order.
#[expect(clippy::disallowed_methods, reason = "a test takes the place of its data from the environment")]
pub(super) fn jars(package: &str) -> Vec<PathBuf> {
    let modules = std::env::var("CARDEA_TEST_MODULES")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node_modules"), PathBuf::from);
    let folder = modules.join(package);
    assert!(folder.is_dir(), "{} is missing: run `npm ci --prefix tests` first", folder.display());
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jar"))
        .collect();
    found.sort();
    found
}

/// A database with nothing but the starter pack.
pub(super) fn starter() -> AdvisoryDatabase {
    AdvisoryDatabase::open(Path::new("/nowhere")).unwrap()
}

/// Analyses a file under its own name.
pub(super) fn scan(path: &Path, database: &AdvisoryDatabase) -> Result<Analysis, AnalyzeError> {
    scan_with(path, database, &LIMITS)
}

/// Analyses a file within other limits.
pub(super) fn scan_with(path: &Path, database: &AdvisoryDatabase, limits: &Archive) -> Result<Analysis, AnalyzeError> {
    let name = path.file_name().unwrap().to_string_lossy();
    let artifact = NamedFile { path: path.to_owned(), name: name.into_owned() };
    analyze(&Job { artifact, sources: Vec::new() }, &database.current(), limits, &Clock::system(), &Watch::default())
}
