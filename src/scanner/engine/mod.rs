//! The composition analysis: an artifact goes in, findings with evidence come out. No HTTP, no task states.

mod advisories;
pub(in crate::scanner) mod finding;

use std::path::Path;

pub(in crate::scanner) use advisories::{Advisories, AdvisoryDatabase};
pub use advisories::{DatabaseError, Status};
use finding::{Analysis, Watch};

use crate::config::scanner::Archive;
use crate::platform::clock::Clock;

/// Why an analysis gave nothing. Each is one plain sentence for the person who uploaded the artifact.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum AnalyzeError {
    /// Somebody asked it to stop.
    #[error("The analysis was stopped before it was done.")]
    Stopped,
    /// The bytes are no zip file.
    #[error("{0} is not a zip file. Upload a .jar, .war, .ear or .zip.")]
    NotAnArchive(String),
    /// It could not be read to the end of its directory.
    #[error("{0}")]
    Unreadable(String),
}

/// Analyses the file at `artifact`, which its owner calls `name`. Blocks: call it where blocking is fine.
///
/// # Errors
/// See [`AnalyzeError`]. What goes wrong inside the archive is no error but a note of the summary.
pub(in crate::scanner) fn analyze(
    artifact: &Path,
    name: &str,
    advisories: &Advisories,
    _limits: &Archive,
    _clock: &Clock,
    watch: &Watch,
) -> Result<Analysis, AnalyzeError> {
    if watch.is_stopped() {
        return Err(AnalyzeError::Stopped);
    }
    std::fs::File::open(artifact).map_err(|error| AnalyzeError::Unreadable(format!("{name} could not be read: {error}.")))?;
    let mut analysis = Analysis::default();
    analysis.summary.advisory_count = advisories.count();
    watch.set_progress(100);
    Ok(analysis)
}
