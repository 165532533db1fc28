//! Brings advisories from files into the database: OSV folders, zips and JSON (also gzipped), and the advisory table (CSV).
//!
//! What a file is, its content decides, not its name. Nothing is downloaded.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::merge::Collection;
use super::osv::{self, Reading, Record};
use super::snapshot::{self, ImportLock, Snapshot};
use super::{DatabaseError, Status, starter_and, table};
use crate::platform::clock::Timestamp;
use crate::scanner::engine::archive::{EntryError, Source, ZipFile};

/// One file may hold this many bytes when inflated: more than all Maven records together.
const MAX_FILE: u64 = 1 << 30;
/// One record of a zip.
const MAX_RECORD: u64 = 32 << 20;
/// Sources that a snapshot remembers.
const MAX_SOURCES: usize = 50;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Records (OSV) or rows (table) that were read.
    pub read: u64,
    /// Of these, how many are in the database now.
    pub imported: u64,
    /// Records that were taken back by their source and that the database no longer follows.
    pub withdrawn: u64,
    /// Why others were left out, how many, and one example.
    pub skipped: Vec<Skipped>,
    /// The database afterwards.
    pub status: Status,
}

/// One reason for leaving records out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub reason: String,
    pub count: u64,
    pub example: String,
}

/// Why nothing was imported; the database is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{0} could not be read: {1}.")]
    Read(PathBuf, io::Error),
    #[error("{0} holds no advisories. Give a folder or zip of OSV records, an OSV JSON file, or the advisory table as CSV.")]
    Nothing(PathBuf),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl fmt::Display for ImportReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { read, imported, withdrawn, .. } = self;
        writeln!(out, "{read} records read, {imported} imported, {withdrawn} withdrawn by their source")?;
        for Skipped { reason, count, example } in &self.skipped {
            writeln!(out, "{count} left out: {reason} (for example {example})")?;
        }
        write!(out, "The database now holds {}", self.status)
    }
}

/// Imports `path` into the database of `folder` (`<data>/advisories`), on top of what is there.
///
/// # Errors
/// When `path` or the database cannot be read or written, or when `path` holds no advisory.
pub(in crate::scanner) fn import(folder: &Path, path: &Path, now: Timestamp) -> Result<ImportReport, ImportError> {
    let mut intake = Intake::default();
    intake.path(path).map_err(|error| ImportError::Read(path.to_owned(), error))?;
    let usable = |reading: &Reading| !matches!(reading, Reading::Skipped(_));
    if !intake.readings.iter().any(usable) {
        return Err(ImportError::Nothing(path.to_owned()));
    }
    let _lock = ImportLock::take(folder)?;
    let old = snapshot::read(folder)?;
    let mut report = ImportReport { read: intake.read, skipped: intake.skipped, ..ImportReport::default() };
    let mut all = Collection::default();
    old.advisories.into_iter().for_each(|advisory| all.add(advisory));
    for reading in intake.readings {
        match reading {
            Reading::Withdrawn(id) => {
                all.withdraw(&id);
                report.withdrawn += 1;
            }
            Reading::Advisory(advisory) => all.add(advisory),
            Reading::Skipped(_) => {}
        }
    }
    let left_out = report.skipped.iter().map(|one| one.count).sum::<u64>().saturating_add(report.withdrawn);
    report.imported = report.read.saturating_sub(left_out);
    let mut header = old.header;
    header.written = now.rfc3339();
    header.sources.push(format!("{} on {}", shown(path), now.rfc3339().get(..10).unwrap_or_default()));
    let surplus = header.sources.len().saturating_sub(MAX_SOURCES);
    header.sources.drain(..surplus);
    let new = Snapshot { header, advisories: all.into_list() };
    report.status = starter_and(&new)?.status();
    snapshot::write(folder, new)?;
    Ok(report)
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Whether a file of this name may be a record, plain or gzipped.
fn is_json_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
    plain.rsplit_once('.').is_some_and(|(_, ending)| ending == "json")
}

/// Everything read from the files, before the database is touched.
#[derive(Debug, Default)]
struct Intake {
    readings: Vec<Reading>,
    read: u64,
    skipped: Vec<Skipped>,
}

impl Intake {
    fn path(&mut self, path: &Path) -> io::Result<()> {
        if fs::metadata(path)?.is_dir() {
            return self.folder(path);
        }
        let mut start = [0_u8; 4];
        let length = File::open(path)?.read(&mut start)?;
        match start.get(..length) {
            Some([b'P', b'K', ..]) => self.zip(path),
            Some([0x1f, 0x8b, ..]) => {
                let mut content = Vec::new();
                flate2::read::MultiGzDecoder::new(File::open(path)?).take(MAX_FILE).read_to_end(&mut content)?;
                self.content(&content, &shown(path));
                Ok(())
            }
            _ => {
                let mut content = Vec::new();
                File::open(path)?.take(MAX_FILE).read_to_end(&mut content)?;
                self.content(&content, &shown(path));
                Ok(())
            }
        }
    }

    /// All `.json` and `.json.gz` files below, in a fixed order; links are not followed.
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let kind = entry.file_type()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                self.folder(&entry.path())?;
            } else if kind.is_file()
                && is_json_name(&name)
                && let Err(error) = self.path(&entry.path())
            {
                self.read += 1;
                self.skip("the file could not be read", format!("{name}: {error}"));
            }
        }
        Ok(())
    }

    fn zip(&mut self, path: &Path) -> io::Result<()> {
        let zip = ZipFile::open(Source::file(File::open(path)?)?).map_err(io::Error::other)?;
        let mut buffer = ZipFile::buffer();
        let mut entries = zip.entries(&mut buffer);
        loop {
            let entry = match entries.next() {
                Ok(Some(entry)) => entry,
                Ok(None) => return Ok(()),
                Err(error) => return Err(io::Error::other(error)),
            };
            if !is_json_name(&entry.name) {
                continue;
            }
            let mut content = Vec::new();
            let outcome = zip.inflate(&entry, &mut |chunk| {
                content.extend_from_slice(chunk);
                if content.len() as u64 > MAX_RECORD { Err(EntryError::Refused("larger than a record can be")) } else { Ok(()) }
            });
            match outcome {
                Ok(()) => self.content(&content, &entry.name),
                Err(error) => {
                    self.read += 1;
                    self.skip("the entry could not be read", format!("{}: {error}", entry.name));
                }
            }
        }
    }

    /// JSON (one record or a list of records) or a table.
    fn content(&mut self, content: &[u8], name: &str) {
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => self.record(serde_json::from_slice(text), name),
            Some(b'[') => match serde_json::from_slice::<Vec<serde_json::Value>>(text) {
                Ok(list) => list.into_iter().for_each(|one| self.record(serde_json::from_value(one), name)),
                Err(error) => self.record(Err(error), name),
            },
            Some(_) => self.table(text),
            None => {}
        }
    }

    fn record(&mut self, record: serde_json::Result<Record>, name: &str) {
        self.read += 1;
        match record.map(osv::read) {
            Ok(Reading::Skipped(reason)) => self.skip(reason, name.to_owned()),
            Ok(reading) => self.readings.push(reading),
            Err(error) => self.skip("not an OSV record", format!("{name}: {error}")),
        }
    }

    /// Text without a single usable row is no table, and nothing was read.
    fn table(&mut self, text: &[u8]) {
        let rows = table::read(text);
        if rows.advisories.is_empty() {
            return;
        }
        self.read += rows.read;
        rows.skipped.into_iter().for_each(|(reason, example)| self.skip(reason, example));
        self.readings.extend(rows.advisories.into_iter().map(Reading::Advisory));
    }

    fn skip(&mut self, reason: &str, example: String) {
        match self.skipped.iter_mut().find(|one| one.reason == reason) {
            Some(known) => known.count += 1,
            None => self.skipped.push(Skipped { reason: reason.to_owned(), count: 1, example }),
        }
    }
}
