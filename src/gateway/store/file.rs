//! The embedded file as the library has it: opened, read, written and closed here only. The library checks what it reads
//! with assertions, so a damaged file can make it give up anywhere; here that becomes an error like any other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase as _};

use super::entries::{DAMAGED, ENTRIES, Entries, failed};
use super::{OpenError, Unavailable};
use crate::platform::clock::Timestamp;
use crate::platform::{panics, private};

/// Memory for pages of the file.
const PAGES: usize = 32 * 1024 * 1024;

/// An open file.
pub(super) struct File {
    /// There until it is closed.
    database: Option<Database>,
    /// The library gave up: its locks and caches are in an unknown state, so it is not called again.
    is_damaged: AtomicBool,
}

impl File {
    /// Opens or creates the file. One that is cut or damaged is reported, and left as it is.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let name = path.display().to_string();
        let refused = |error: std::io::Error| OpenError::Refused(name.clone(), error.to_string());
        if let Some(folder) = path.parent() {
            private::folder(folder).map_err(refused)?;
        }
        // Created here only to give it its mode; the library opens it by name, which also locks it.
        private::open(path).map_err(refused)?;
        let open = || {
            let database = Database::builder().set_cache_size(PAGES).create(path)?;
            let transaction = database.begin_write().map_err(redb::Error::from)?;
            Entries::open(&transaction, Timestamp(0)).map_err(|_| redb::Error::Corrupted(String::new()))?;
            transaction.commit().map_err(redb::Error::from)?;
            Ok::<_, redb::Error>(database)
        };
        match panics::caught(open) {
            Some(Ok(database)) => Ok(Self { database: Some(database), is_damaged: AtomicBool::new(false) }),
            Some(Err(redb::Error::DatabaseAlreadyOpen)) => Err(OpenError::InUse(name)),
            Some(Err(redb::Error::Io(error)))
                if error.kind() != std::io::ErrorKind::InvalidData && error.kind() != std::io::ErrorKind::UnexpectedEof =>
            {
                Err(OpenError::Refused(name, error.to_string()))
            }
            Some(Err(_)) | None => Err(OpenError::Damaged(name)),
        }
    }

    /// Reads the entries as they stand now.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&ReadOnlyTable<&'static str, &'static [u8]>) -> Result<T, Unavailable>,
    ) -> Result<T, Unavailable> {
        self.call(|database| {
            let transaction = database.begin_read().map_err(failed)?;
            work(&transaction.open_table(ENTRIES).map_err(failed)?)
        })
    }

    /// Changes entries in one transaction, which counts as the instant `now`; on the disk at once if `durable`.
    pub(super) fn write(
        &self,
        (durable, now): (bool, Timestamp),
        work: impl FnOnce(&mut Entries<'_>) -> Result<(), Unavailable>,
    ) -> Result<(), Unavailable> {
        self.call(|database| {
            let mut transaction = database.begin_write().map_err(failed)?;
            transaction.set_durability(if durable { Durability::Immediate } else { Durability::None }).map_err(failed)?;
            {
                let mut entries = Entries::open(&transaction, now)?;
                work(&mut entries)?;
            }
            transaction.commit().map_err(failed)
        })
    }

    /// Why it takes no more work.
    pub(super) fn closed(&self) -> Unavailable {
        Unavailable(if self.is_damaged.load(Ordering::Acquire) { DAMAGED } else { "it is closed" }.to_owned())
    }

    fn call<T>(&self, work: impl FnOnce(&Database) -> Result<T, Unavailable>) -> Result<T, Unavailable> {
        let database = self.database.as_ref().filter(|_| !self.is_damaged.load(Ordering::Acquire));
        let database = database.ok_or_else(|| self.closed())?;
        panics::caught(|| work(database)).unwrap_or_else(|| {
            self.is_damaged.store(true, Ordering::Release);
            Err(self.closed())
        })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let Some(database) = self.database.take() else { return };
        if self.is_damaged.load(Ordering::Acquire) {
            // Closing would write. The system unlocks the file when the process ends.
            std::mem::forget(database);
        } else {
            let _ = panics::caught(|| drop(database));
        }
    }
}
