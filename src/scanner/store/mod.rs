//! What the scanning service keeps: one embedded database file and the uploaded files beside it. Knows no HTTP, no
//! analysis and no page. Reads and writes block, so they run on blocking threads through [`Store::run`]; every change
//! is one durable transaction, and a decision that depends on what is stored is made inside it.

pub(in crate::scanner) mod files;
pub(in crate::scanner) mod groups;
mod layout;
pub(in crate::scanner) mod lists;
pub(in crate::scanner) mod ownership;
pub(in crate::scanner) mod query;
pub(in crate::scanner) mod results;
mod seal_key;
mod sessions;
pub(in crate::scanner) mod shares;
pub(in crate::scanner) mod tasks;
#[cfg(test)]
mod tests_lists;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, Key, ReadableTable, TableDefinition, WriteTransaction};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::results::VulRow;
use crate::platform::private;
use crate::platform::seal::{Ring, SealError};
use crate::platform::secret::Secret;

/// Values are JSON: records gain fields without a migration.
type Json = &'static [u8];

/// Uploaded files by account and hash.
const FILES: TableDefinition<'_, (&str, &str), Json> = TableDefinition::new("files");
/// Scan summaries by task id: apart from the task, which is read far more often.
const SUMMARIES: TableDefinition<'_, &str, Json> = TableDefinition::new("summaries");
/// Captured sessions by task id: sealed bytes, no JSON.
const SESSIONS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sessions");
/// Groups by account and id.
const GROUPS: TableDefinition<'_, (&str, &str), Json> = TableDefinition::new("groups");
/// Recent creates by keyed hash of who and what: the task or group they made and when, in milliseconds.
const CREATES: TableDefinition<'_, &str, (&str, i64)> = TableDefinition::new("creates");
/// Shares by id.
const SHARES: TableDefinition<'_, &str, Json> = TableDefinition::new("shares");
/// Share ids of an account.
const ACCOUNT_SHARES: TableDefinition<'_, (&str, &str), ()> = TableDefinition::new("account_shares");

/// Random contents for proofs of ownership by account.
const OWNERSHIP_CONTENTS: TableDefinition<'_, &str, Json> = TableDefinition::new("ownership_contents");
/// Proofs of ownership by account and place.
const OWNERSHIP_PROOFS: TableDefinition<'_, (&str, &str), Json> = TableDefinition::new("ownership_proofs");

/// Sorts behind every id.
const LAST: &str = "\u{10FFFF}";

/// Pages of the database kept in memory, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// Why something could not be read or kept. Not for the eyes of a caller.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum StoreError {
    #[error("database: {0}")]
    Database(#[from] redb::Error),
    #[error(
        "the database {path} cannot be opened: {cause}. If the file is damaged, put a copy of it back, or move it away: the \
         service then starts without tasks and shares", path = path.display()
    )]
    Unusable { path: PathBuf, cause: redb::Error },
    #[error(
        "the database {path} is in use by another process: end that one, or give this one a data folder of its own",
        path = .0.display()
    )]
    InUse(PathBuf),
    #[error(
        "{path} holds no sealing key of 32 bytes in base64: put the right one back, or remove it; what was sealed with it is \
         then lost", path = .0.display()
    )]
    SealKey(PathBuf),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("a stored record cannot be read: {0}")]
    Record(#[from] serde_json::Error),
    #[error("{path}: {cause}", path = path.display())]
    File { path: PathBuf, cause: std::io::Error },
    #[error("a storage thread ended early")]
    Thread,
}

impl StoreError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |cause| Self::File { path: path.to_owned(), cause }
    }
}

/// redb has an error type for each step; all of them are [`redb::Error`] in the end.
macro_rules! from_redb {
    ($($kind:ident),+) => {
        $(impl From<redb::$kind> for StoreError {
            fn from(error: redb::$kind) -> Self {
                Self::Database(error.into())
            }
        })+
    };
}
from_redb!(CommitError, DatabaseError, StorageError, TableError, TransactionError);

/// The service's storage. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Store(Arc<Inner>);

struct Inner {
    database: Database,
    /// Seals what must not lie open in the database.
    ring: Ring,
    /// Kept files, in one folder for each account.
    files: PathBuf,
    /// Uploads on their way; emptied at every start.
    incoming: PathBuf,
}

impl Store {
    /// Opens the storage below `folder`, makes what is missing, and removes uploads that an earlier run left unfinished.
    /// Without a `seal_key` one is made and kept in the folder.
    pub(in crate::scanner) fn open(folder: &Path, seal_key: Option<&Secret>) -> Result<Self, StoreError> {
        private::folder(folder).map_err(StoreError::file(folder))?;
        let (files, incoming) = (folder.join("files"), folder.join("incoming"));
        match std::fs::remove_dir_all(&incoming) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(&incoming)(error)),
            _ => {}
        }
        for path in [&files, &incoming] {
            private::folder(path).map_err(StoreError::file(path))?;
        }
        let path = folder.join("scanner.redb");
        // Made here to give it its mode; the library opens it by name, which also locks it.
        private::open(&path).map_err(StoreError::file(&path))?;
        let database = Database::builder().set_cache_size(CACHE_BYTES).create(&path).map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => StoreError::InUse(path.clone()),
            error => StoreError::Unusable { path: path.clone(), cause: error.into() },
        })?;
        let ring = seal_key::ring(folder, seal_key)?;
        let store = Self(Arc::new(Inner { database, ring, files, incoming }));
        let tables = store.write(|transaction| {
            transaction.open_table(FILES)?;
            transaction.open_table(SUMMARIES)?;
            transaction.open_table(CREATES)?;
            transaction.open_table(SHARES)?;
            transaction.open_table(ACCOUNT_SHARES)?;
            transaction.open_table(OWNERSHIP_CONTENTS)?;
            transaction.open_table(OWNERSHIP_PROOFS)?;
            transaction.open_table(SESSIONS)?;
            transaction.open_table(GROUPS)?;
            transaction.open_table(lists::SIZES)?;
            lists::make::<tasks::TaskRecord>(transaction)?;
            lists::make::<VulRow>(transaction)?;
            lists::make::<ComponentRow>(transaction)?;
            lists::make::<ExploitChain>(transaction)?;
            layout::bring_up(transaction)
        });
        match tables {
            Err(StoreError::Database(cause)) => Err(StoreError::Unusable { path, cause }),
            outcome => outcome.map(|()| store),
        }
    }

    /// Runs `work` on a blocking thread.
    pub(in crate::scanner) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    {
        let store = self.clone();
        tokio::task::spawn_blocking(move || work(&store)).await.map_err(|_| StoreError::Thread)?
    }

    fn reading(&self) -> Result<redb::ReadTransaction, StoreError> {
        use redb::ReadableDatabase as _;
        Ok(self.0.database.begin_read()?)
    }

    /// One durable transaction: kept when `work` succeeds, forgotten when it fails.
    fn write<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let transaction = self.0.database.begin_write()?;
        let outcome = work(&transaction)?;
        transaction.commit()?;
        Ok(outcome)
    }
}

fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    Ok(serde_json::to_vec(record)?)
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    Ok(serde_json::from_slice(bytes)?)
}

/// The record at `key`.
fn record<K, T>(table: &impl ReadableTable<K, Json>, key: K::SelfType<'_>) -> Result<Option<T>, StoreError>
where
    K: Key + 'static,
    T: DeserializeOwned,
{
    table.get(key)?.map(|guard| decode(guard.value())).transpose()
}

/// All records whose key starts with `first`, in key order.
fn records<T: DeserializeOwned>(
    table: &impl ReadableTable<(&'static str, &'static str), Json>,
    first: &str,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    for entry in table.range((first, "")..)? {
        let (key, value) = entry?;
        if key.value().0 != first {
            break;
        }
        all.push(decode(value.value())?);
    }
    Ok(all)
}
