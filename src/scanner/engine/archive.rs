//! Reads zip files that may be hostile, one entry at a time and without writing anything. Says nothing about what is in them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use rawzip::{
    CompressionMethod, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator,
};

/// How much is inflated between two looks at the limits.
const CHUNK: usize = 64 << 10;

/// A stretch of bytes in a file or in memory. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Source {
    bytes: Bytes,
    start: u64,
    length: u64,
}

#[derive(Clone, Debug)]
enum Bytes {
    File(Arc<FileReader>),
    Memory(Arc<Vec<u8>>),
}

impl Source {
    /// All of a file.
    pub(super) fn file(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { bytes: Bytes::File(Arc::new(FileReader::from(file))), start: 0, length })
    }

    /// All of a buffer.
    pub(super) fn memory(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, bytes: Bytes::Memory(Arc::new(bytes)), start: 0 }
    }

    /// The part from `start` to `end`, counted from this part's own start; `None` when it is not inside.
    fn part(&self, start: u64, end: u64) -> Option<Self> {
        let length = end.checked_sub(start)?;
        (end <= self.length).then(|| Self { bytes: self.bytes.clone(), start: self.start.saturating_add(start), length })
    }

    /// Whether it begins as a zip file does.
    pub(super) fn begins_like_zip(&self) -> bool {
        let mut start = [0_u8; 4];
        self.read_exact_at(&mut start, 0).is_ok() && matches!(start, [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6])
    }
}

impl ReaderAt for Source {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let (Some(into), Some(at)) = (buffer.get_mut(..length), self.start.checked_add(offset)) else { return Ok(0) };
        match &self.bytes {
            Bytes::File(file) => file.read_at(into, at),
            Bytes::Memory(bytes) => {
                let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                Read::read(&mut &from[..], into)
            }
        }
    }
}

/// A zip file whose directory was found.
#[derive(Debug)]
pub(super) struct ZipFile {
    source: Source,
    archive: ZipArchive<Source>,
    read: RefCell<Stretches>,
}

/// Stretches of packed bytes that were read, end by start.
#[derive(Debug, Default)]
struct Stretches(BTreeMap<u64, u64>);

impl Stretches {
    /// Adds a stretch; none when one of the others has a part of it.
    fn add(&mut self, (start, end): (u64, u64)) -> Result<(), EntryError> {
        if start >= end {
            return Ok(());
        }
        let before = self.0.range(..end).next_back();
        if before.is_some_and(|(_, other)| *other > start) {
            return Err(EntryError::Overlaps);
        }
        self.0.insert(start, end);
        Ok(())
    }
}

/// One entry of the directory. Nothing in it can be relied on.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// As it stands there; what is no UTF-8 is replaced.
    pub(super) name: String,
    pub(super) is_folder: bool,
    pub(super) is_encrypted: bool,
    /// Packed bytes by the word of the directory.
    pub(super) packed: u64,
    /// Inflated bytes by the word of the directory.
    pub(super) declared: u64,
    method: CompressionMethod,
    place: ZipArchiveEntryWayfinder,
}

impl Entry {
    /// Whether its bytes lie in the archive as they are.
    pub(super) fn is_stored(&self) -> bool {
        self.method == CompressionMethod::STORE
    }
}

/// Why an entry gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum EntryError {
    #[error("it is encrypted")]
    Encrypted,
    #[error("its compression method {0} is not supported")]
    Method(u16),
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Its bytes, or a part of them, were read as another entry's.
    #[error("its bytes belong to another entry too")]
    Overlaps,
    /// Whoever took the bytes wanted no more.
    #[error("it is {0}")]
    Refused(&'static str),
    /// Whoever took the bytes ends the whole reading.
    #[error("reading was ended")]
    Halted,
}

impl ZipFile {
    /// Finds the directory of `source`.
    pub(super) fn open(source: Source) -> Result<Self, rawzip::Error> {
        let length = source.length;
        let archive =
            ZipLocator::new().locate_in_reader(source.clone(), &mut Self::buffer(), length).map_err(|(_, error)| error)?;
        Ok(Self { source, archive, read: RefCell::default() })
    }

    /// Room for the directory's longest entry.
    pub(super) fn buffer() -> Vec<u8> {
        vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE]
    }

    /// How many entries the end of the directory speaks of.
    pub(super) fn declared_entries(&self) -> u64 {
        self.archive.entries_hint()
    }

    /// The entries in the order of the directory.
    pub(super) fn entries<'a>(&'a self, buffer: &'a mut [u8]) -> Entries<'a> {
        Entries(self.archive.entries(buffer))
    }

    /// The bytes of a stored entry, without copying them; its checksum is not looked at. Each entry can be read once.
    pub(super) fn stored(&self, entry: &Entry) -> Result<Source, EntryError> {
        if entry.is_encrypted {
            return Err(EntryError::Encrypted);
        }
        let found = self.archive.get_entry(entry.place).map_err(damaged)?;
        let (start, end) = found.compressed_data_range();
        self.read.borrow_mut().add((start, end))?;
        self.source.part(start, end).ok_or_else(|| EntryError::Damaged("it reaches beyond the end of the archive".to_owned()))
    }

    /// Hands the inflated bytes to `take`, chunk by chunk, and compares size and checksum at the end. Each entry can be read
    /// once.
    pub(super) fn inflate(&self, entry: &Entry, take: &mut dyn FnMut(&[u8]) -> Result<(), EntryError>) -> Result<(), EntryError> {
        if entry.is_encrypted {
            return Err(EntryError::Encrypted);
        }
        let found = self.archive.get_entry(entry.place).map_err(damaged)?;
        self.read.borrow_mut().add(found.compressed_data_range())?;
        match entry.method {
            CompressionMethod::STORE => pump(found.verifying_reader(found.reader()), take),
            CompressionMethod::DEFLATE => pump(found.verifying_reader(flate2::read::DeflateDecoder::new(found.reader())), take),
            other => Err(EntryError::Method(other.as_u16())),
        }
    }
}

/// Walks over the directory.
#[derive(Debug)]
pub(super) struct Entries<'a>(rawzip::ZipEntries<'a, 'a, Source>);

impl Entries<'_> {
    /// The next entry; after an error there is none.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, rawzip::Error> {
        Ok(self.0.next_entry()?.map(|record| Entry {
            name: String::from_utf8_lossy(record.file_path().as_bytes()).into_owned(),
            is_folder: record.is_dir(),
            is_encrypted: record.flags().is_encrypted(),
            packed: record.compressed_size_hint(),
            declared: record.uncompressed_size_hint(),
            method: record.compression_method(),
            place: record.wayfinder(),
        }))
    }
}

fn pump(mut from: impl Read, take: &mut dyn FnMut(&[u8]) -> Result<(), EntryError>) -> Result<(), EntryError> {
    let mut chunk = vec![0_u8; CHUNK];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => take(chunk.get(..length).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(EntryError::Damaged(error.to_string())),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err hands over")]
fn damaged(error: rawzip::Error) -> EntryError {
    EntryError::Damaged(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::Stretches;

    #[test]
    fn stretches_that_touch_are_apart_and_those_that_share_a_byte_are_not() {
        let mut read = Stretches::default();
        let mut add = |start, end| read.add((start, end)).is_ok();
        assert!(add(10, 20) && add(20, 30) && add(0, 10) && add(40, 50));
        for (start, end) in [(10, 20), (0, 1), (29, 31), (5, 45), (35, 41), (49, 60), (12, 13)] {
            assert!(!add(start, end), "{start} {end}");
        }
        assert!(add(30, 40) && add(15, 15));
    }
}
