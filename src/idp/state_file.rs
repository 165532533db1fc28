//! The file that keeps what the provider holds: read once, replaced as a whole, readable by its owner only.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::StartError;
use super::records::Records;
use crate::platform::private;

/// Where state goes. Clones write to the same file, one at a time, never an older state over a newer one.
#[derive(Clone)]
pub(super) struct StateFile {
    path: PathBuf,
    written: Arc<Mutex<u64>>,
}

impl StateFile {
    /// The state in the file at `path`; none when there is no file yet.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Option<Records>), StartError> {
        let problem = |reason: String| StartError::State { path: path.clone(), reason };
        let records = match std::fs::read(&path) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|_| problem("it is damaged".to_owned()))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(problem(error.to_string())),
        };
        Ok((Self { path, written: Arc::default() }, records))
    }

    /// Replaces the content; does nothing when a newer `version` is there already.
    pub(super) fn write(&self, version: u64, content: &[u8]) -> std::io::Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written >= version {
            return Ok(());
        }
        private::write(&self.path, content)?;
        *written = version;
        Ok(())
    }
}
