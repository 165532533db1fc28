//! Uploaded files: a record for each account and hash, and the bytes on disk. Bytes arrive in chunks through a bounded
//! channel to one blocking thread that hashes and writes them; whatever is not kept is removed.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{FILES, Store, StoreError, encode, record};
use crate::contract::ids::Sha256;
use crate::platform::clock::Timestamp;
use crate::platform::{digest, private, random};

/// Chunks between the connection and the disk; beyond it the sender waits.
const CHUNKS_ON_THE_WAY: usize = 16;

/// What is known about an uploaded file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct FileRecord {
    pub(in crate::scanner) sha256: Sha256,
    pub(in crate::scanner) name: String,
    pub(in crate::scanner) size: u64,
    pub(in crate::scanner) created_at: Timestamp,
}

/// A file on its way in. Dropping it before [`Incoming::finish`] leaves nothing behind.
pub(in crate::scanner) struct Incoming {
    chunks: mpsc::Sender<Option<Bytes>>,
    writer: JoinHandle<Result<Option<Received>, StoreError>>,
}

/// A file that arrived in full and is not kept yet. Dropping it removes it.
pub(in crate::scanner) struct Received {
    pub(in crate::scanner) sha256: Sha256,
    pub(in crate::scanner) size: u64,
    file: Unkept,
}

impl Received {
    /// Where its bytes are until it is dropped or kept.
    pub(in crate::scanner) fn path(&self) -> &Path {
        &self.file.0
    }
}

impl Incoming {
    /// Takes the next chunk; waits while the disk is behind.
    pub(in crate::scanner) async fn write(&self, chunk: Bytes) -> Result<(), StoreError> {
        self.chunks.send(Some(chunk)).await.map_err(|_| StoreError::Thread)
    }

    /// Ends the file: all bytes are on the disk when this returns.
    pub(in crate::scanner) async fn finish(self) -> Result<Received, StoreError> {
        // A failed send means the writer ended early; its own outcome says why.
        let _ = self.chunks.send(None).await;
        self.writer.await.map_err(|_| StoreError::Thread)??.ok_or(StoreError::Thread)
    }
}

impl Store {
    /// Starts to take in a file.
    pub(in crate::scanner) fn receive(&self) -> Result<Incoming, StoreError> {
        let name = random::hex_id().map_err(|_| StoreError::Thread)?;
        let file = Unkept(self.0.incoming.join(name));
        let (chunks, waiting) = mpsc::channel(CHUNKS_ON_THE_WAY);
        let writer = tokio::task::spawn_blocking(move || write_all(file, waiting));
        Ok(Incoming { chunks, writer })
    }

    /// Keeps `received` for `account` under `name`. A file the account already has keeps its record unless `replace`.
    pub(in crate::scanner) fn keep_file(
        &self,
        account: &str,
        received: Received,
        name: String,
        replace: bool,
        now: Timestamp,
    ) -> Result<FileRecord, StoreError> {
        let Received { sha256, size, file } = received;
        if !replace && let Some(known) = self.file(account, &sha256)? {
            return Ok(known);
        }
        file.keep_at(&self.file_path(account, &sha256))?;
        let record = FileRecord { sha256, name, size, created_at: now };
        self.write(|transaction| {
            let mut table = transaction.open_table(FILES)?;
            table.insert((account, record.sha256.as_str()), encode(&record)?.as_slice())?;
            Ok(())
        })?;
        Ok(record)
    }

    /// The record of a file, if the account uploaded it.
    pub(in crate::scanner) fn file(&self, account: &str, sha256: &Sha256) -> Result<Option<FileRecord>, StoreError> {
        record(&self.reading()?.open_table(FILES)?, (account, sha256.as_str()))
    }

    /// Where the bytes of a kept file are. The folder is a hash, so that no account name can lead elsewhere.
    pub(in crate::scanner) fn file_path(&self, account: &str, sha256: &Sha256) -> PathBuf {
        let mut folder = digest::hex(&digest::sha256(account.as_bytes()));
        folder.truncate(32);
        self.0.files.join(folder).join(sha256.as_str())
    }
}

fn write_all(file: Unkept, mut chunks: mpsc::Receiver<Option<Bytes>>) -> Result<Option<Received>, StoreError> {
    let mut out = private::create_new(&file.0).map_err(StoreError::file(&file.0))?;
    let mut hash = digest::Running::default();
    let mut size = 0_u64;
    loop {
        match chunks.blocking_recv() {
            Some(Some(chunk)) => {
                hash.update(&chunk);
                out.write_all(&chunk).map_err(StoreError::file(&file.0))?;
                size = size.saturating_add(chunk.len() as u64);
            }
            Some(None) => break,
            // The sender is gone without an end: the upload was given up.
            None => return Ok(None),
        }
    }
    out.sync_all().map_err(StoreError::file(&file.0))?;
    let sha256 = hash.finish().parse().map_err(|_| StoreError::Thread)?;
    Ok(Some(Received { sha256, size, file }))
}

/// A file that is removed when nobody kept it.
struct Unkept(PathBuf);

impl Unkept {
    fn keep_at(self, target: &Path) -> Result<(), StoreError> {
        let folder = target.parent().unwrap_or(target);
        private::folder(folder).map_err(StoreError::file(folder))?;
        std::fs::rename(&self.0, target).map_err(StoreError::file(target))?;
        // The new name itself must survive a power cut as well.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::file(folder))
    }
}

impl Drop for Unkept {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove, and what cannot be removed now is removed at the next start.
        let _ = std::fs::remove_file(&self.0);
    }
}
