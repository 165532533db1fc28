//! Where tests find what is not in the repository: the shared data beside it and the artifacts npm brought.

use std::path::{Path, PathBuf};

/// A file of the shared data (`../shared/data`, or where `CARDEA_SHARED_DATA` points); says so and gives `None` when it is absent.
#[expect(clippy::disallowed_methods, reason = "a test takes the place of its data from the environment")]
pub(super) fn shared(name: &str) -> Option<Vec<u8>> {
    let folder = std::env::var("CARDEA_SHARED_DATA")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    let found = std::fs::read(&path).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {} is not there; set CARDEA_SHARED_DATA to the folder that has it", path.display());
    }
    found
}
