//! The reference scanning service behind one facade. Never imports the gateway or the identity provider.

mod engine;

use std::path::Path;

pub use engine::{
    DatabaseError as AdvisoryError, ImportError as AdvisoryImportError, ImportReport as AdvisoryImport,
    Skipped as SkippedAdvisories, Status as AdvisoryStatus,
};

use crate::platform::clock::Clock;

/// Imports advisories from `path` into the database below the scanner's data folder. A running service takes them up by itself.
///
/// # Errors
/// When `path` cannot be read or holds no advisory, or when the database cannot be written; it then stays as it was.
pub fn import_advisories(data: &Path, path: &Path, clock: &Clock) -> Result<AdvisoryImport, AdvisoryImportError> {
    engine::import(&advisories_folder(data), path, clock.now())
}

/// What the database below the scanner's data folder holds.
///
/// # Errors
/// When it cannot be read.
pub fn advisory_status(data: &Path) -> Result<AdvisoryStatus, AdvisoryError> {
    engine::status(&advisories_folder(data))
}

/// Where the advisories lie in the scanner's data folder.
fn advisories_folder(data: &Path) -> std::path::PathBuf {
    data.join("advisories")
}
