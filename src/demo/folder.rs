//! The demo's data folder: made for its owner only, used by one demo at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::DemoError;
use crate::platform::private;

/// An opened data folder. Its lock is let go when this is dropped, also when the process dies.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder when it is not there and takes its lock.
    ///
    /// # Errors
    /// [`DemoError::FolderBusy`] when another demo has it, [`DemoError::Folder`] when it cannot be used.
    pub(super) fn open(path: &Path) -> Result<Self, DemoError> {
        let refused = |error: std::io::Error| DemoError::Folder { path: path.to_owned(), reason: error.to_string() };
        private::folder(path).map_err(refused)?;
        let path = fs::canonicalize(path).map_err(refused)?;
        let lock = private::open(&path.join("lock")).map_err(refused)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DemoError::FolderBusy(path)),
            Err(TryLockError::Error(error)) => Err(refused(error)),
        }
    }

    /// Where it is, from the root.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in it, as text for settings.
    pub(super) fn inside(&self, name: &str) -> Result<String, DemoError> {
        let path = self.path.join(name);
        path.to_str().map(str::to_owned).ok_or_else(|| self.refused("its path is not plain text (UTF-8)"))
    }

    /// What a file in it holds; `None` when there is no such file.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DemoError> {
        match fs::read(self.path.join(name)) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(format!("{name} cannot be read: {error}"))),
        }
    }

    /// Writes a file in it, for its owner only.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), DemoError> {
        let written = private::write(&self.path.join(name), content.as_bytes());
        written.map_err(|error| self.refused(format!("{name} cannot be written: {error}")))
    }

    fn refused(&self, reason: impl Into<String>) -> DemoError {
        DemoError::Folder { path: self.path.clone(), reason: reason.into() }
    }
}
