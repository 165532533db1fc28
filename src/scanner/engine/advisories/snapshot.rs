//! The file that keeps imported advisories: one header line, then one advisory a line, as JSON. Replaced as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::DatabaseError;
use super::model::Advisory;
use crate::platform::{private, random};

const FILE: &str = "advisories.jsonl";
const LOCK: &str = "import.lock";
const FORMAT: &str = "cardea-advisories/2";
/// Maven packages only, and without saying so; still read.
const MAVEN_FORMAT: &str = "cardea-advisories/1";
/// Said behind each source of such a snapshot.
const MAVEN_WORDS: &str = ", Maven packages only: import it again for npm, PyPI, crates.io and Go";

/// The first line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    format: String,
    /// RFC 3339.
    pub(super) written: String,
    /// What was imported, oldest first, each as one line of prose.
    pub(super) sources: Vec<String>,
    advisories: usize,
}

/// Imported advisories as they lie on disk.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) header: Header,
    pub(super) advisories: Vec<Advisory>,
}

/// Tells one state of the file from the next; `None` is no file.
pub(super) type Mark = Option<(SystemTime, u64)>;

/// The mark of what is in `folder` now.
pub(super) fn mark(folder: &Path) -> Result<Mark, DatabaseError> {
    let path = folder.join(FILE);
    match fs::metadata(&path) {
        Ok(facts) => Ok(Some((facts.modified().unwrap_or(SystemTime::UNIX_EPOCH), facts.len()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DatabaseError::Read(path, error)),
    }
}

/// Reads the snapshot of `folder`; without one it is empty.
pub(super) fn read(folder: &Path) -> Result<Snapshot, DatabaseError> {
    let path = folder.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Snapshot::default()),
        Err(error) => return Err(DatabaseError::Read(path, error)),
    };
    let mut lines = text.lines();
    let header = lines.next().and_then(|line| serde_json::from_str::<Header>(line).ok());
    let Some(mut header) = header else { return Err(DatabaseError::Damaged(path)) };
    match header.format.as_str() {
        FORMAT => {}
        MAVEN_FORMAT => header.sources.iter_mut().for_each(|source| source.push_str(MAVEN_WORDS)),
        other if other.starts_with("cardea-advisories/") => return Err(DatabaseError::Format(path)),
        _ => return Err(DatabaseError::Damaged(path)),
    }
    let advisories: Result<Vec<Advisory>, _> = lines.map(serde_json::from_str).collect();
    match advisories {
        Ok(advisories) if advisories.len() == header.advisories => Ok(Snapshot { header, advisories }),
        _ => Err(DatabaseError::Damaged(path)),
    }
}

/// Writes `snapshot` beside the old one and puts it in its place when all of it is on disk.
pub(super) fn write(folder: &Path, mut snapshot: Snapshot) -> Result<(), DatabaseError> {
    FORMAT.clone_into(&mut snapshot.header.format);
    snapshot.header.advisories = snapshot.advisories.len();
    let suffix = random::hex_id().map_err(|error| DatabaseError::Write(folder.to_owned(), io::Error::other(error)))?;
    let temporary = folder.join(format!("{FILE}.{suffix}.new"));
    let written = write_lines(&temporary, &snapshot).and_then(|()| fs::rename(&temporary, folder.join(FILE)));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(DatabaseError::Write(temporary, error));
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| DatabaseError::Write(folder.to_owned(), error))
}

fn write_lines(path: &Path, snapshot: &Snapshot) -> io::Result<()> {
    let mut out = BufWriter::new(private::create_new(path)?);
    serde_json::to_writer(&mut out, &snapshot.header)?;
    out.write_all(b"\n")?;
    for advisory in &snapshot.advisories {
        serde_json::to_writer(&mut out, advisory)?;
        out.write_all(b"\n")?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Waits until no other import runs, in this or another process, and holds them off until it is dropped.
#[derive(Debug)]
pub(super) struct ImportLock(#[expect(dead_code, reason = "dropping the open file gives the lock back")] File);

impl ImportLock {
    /// Creates `folder` when it is not there yet.
    pub(super) fn take(folder: &Path) -> Result<Self, DatabaseError> {
        let path: PathBuf = folder.join(LOCK);
        let open = || {
            private::folder(folder)?;
            let file = private::open(&path)?;
            file.lock()?;
            Ok(file)
        };
        open().map(Self).map_err(|error| DatabaseError::Write(path.clone(), error))
    }
}
