//! Runs the engine in a process of its own: an archive that breaks the analysis breaks nothing else. The process gets one
//! order on standard input, tells its progress and the outcome on standard output, has bounds on memory and time, and can
//! neither connect, nor write files, nor start programs. This side and the other stand in this room; nothing else knows how
//! they talk.

mod child;
mod isolation;
mod parent;

use std::path::PathBuf;

pub use child::serve;
pub(in crate::scanner) use parent::Sandbox;
use serde::{Deserialize, Serialize};

use super::engine::finding::Analysis;
use super::engine::{AnalyzeError, Job};
use crate::config::scanner::Archive;

/// The subcommand the process is started with (`cli`); not for people.
const COMMAND: &str = "analyze-archive";

/// What the process is asked to do.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    job: Job,
    /// Folder of the advisory database.
    advisories: PathBuf,
    limits: Archive,
    memory_bytes: u64,
    /// Without isolation the process does not begin.
    is_isolation_required: bool,
}

/// One line of what it says.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    Progress(u8),
    Done(Box<Analysis>),
    Refused(AnalyzeError),
    /// The process could not begin.
    Unfit(String),
}

/// Why no analysis came back.
#[derive(Debug)]
pub(in crate::scanner) enum Broken {
    /// The engine said no.
    Refused(AnalyzeError),
    /// It wanted more memory than it may have, in bytes.
    Memory(u64),
    /// It took longer than it may.
    Time,
    /// It broke down; the cause is logged.
    Crashed,
    /// It could not be started; the cause is logged.
    NotStarted,
}
