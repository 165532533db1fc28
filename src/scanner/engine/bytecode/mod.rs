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
mod room;
mod shape;

pub(super) use code::Code;
pub(super) use entries::{Entry, EntryKind};
pub(super) use paths::{Path, Paths, Step, Target};

/// Whether `bytes` can be read as a class.
pub(super) fn reads(mut bytes: Vec<u8>) -> bool {
    reader::read(&mut bytes, true).is_some()
}
