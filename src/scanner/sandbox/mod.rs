//! Runs the engine in a process of its own: what breaks the analysis breaks nothing else. The process gets one order on standard
//! input, an archive or poms, tells its progress and the outcome on standard output, has bounds on memory and time, and can
//! neither connect, nor write files, nor start programs. This side and the other stand in this room; nothing else knows how
//! they talk.

mod child;
mod isolation;
mod parent;

use std::path::PathBuf;

pub use child::serve;
pub(in crate::scanner) use parent::Sandbox;
use serde::{Deserialize, Serialize};

use super::engine::Job;
use super::engine::composition::Poms;
use crate::config::scanner::Archive;

/// The subcommand the process is started with (`cli`); not for people.
const COMMAND: &str = "analyze-archive";

/// What the process is asked to do.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    work: Work,
    /// Folder of the advisory database.
    advisories: PathBuf,
    limits: Archive,
    bounds: Bounds,
    /// Without isolation the process does not begin.
    is_isolation_required: bool,
}

/// The kinds of work.
#[derive(Debug, Serialize, Deserialize)]
enum Work {
    /// Answered with an analysis.
    Archive(Job),
    /// Answered with a zip, in base64.
    Poms(Poms),
}

/// What the process may use.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Bounds {
    memory_bytes: u64,
    /// Time the work may take.
    seconds: u64,
}

/// One line of what it says: `A` is the outcome it was asked for, `R` a refusal of the engine.
#[derive(Debug, Serialize, Deserialize)]
enum Line<A, R> {
    Progress(u8),
    Done(A),
    Refused(R),
    /// The process could not begin.
    Unfit(String),
}

/// Why no outcome came back.
#[derive(Debug)]
pub(in crate::scanner) enum Broken<R> {
    /// The engine said no.
    Refused(R),
    /// Nobody wants it any more.
    Stopped,
    /// It wanted more memory than it may have, in bytes.
    Memory(u64),
    /// It took longer than it may, in seconds.
    Time(u64),
    /// It broke down; the cause is logged.
    Crashed,
    /// It could not be started; the cause is logged.
    NotStarted,
}
