//! Classes and calls of an artifact: each class is read once while the walk is at it, reduced to names and calls, and dropped.
//! From entry points calls are followed to vulnerable code. Nothing is executed; nothing here decides what a flaw is.

mod annotations;
mod code;
mod entries;
mod graph;
mod hidden;
mod names;
mod paths;
mod reader;

pub(super) use code::Code;
pub(super) use entries::{Entry, EntryKind};
pub(super) use paths::{Paths, Step, Target};

/// Bounds of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Bytes of one class file.
    pub(super) class_bytes: u64,
    /// Classes of all archives.
    pub(super) classes: usize,
    /// Calls of all classes.
    pub(super) calls: usize,
    /// Calls followed in the search.
    pub(super) steps: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { class_bytes: 2 << 20, classes: 200_000, calls: 8_000_000, steps: 20_000_000 }
    }
}

/// Whether `bytes` can be read as a class.
pub(super) fn reads(mut bytes: Vec<u8>) -> bool {
    reader::read(&mut bytes, true).is_some()
}
