//! The command line: commands, their options, and the exit code each one ends with.

use std::process::ExitCode;

/// Reads the arguments and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
