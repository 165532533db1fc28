//! The one way to standard output and standard error for people and scripts. The log goes its own way (`telemetry`).

use std::io::{self, Write as _};

/// Writes a line to standard output. A reader that has gone is no error: there is nobody to tell.
pub fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
}

/// Writes a line to standard error, as [`print()`] does.
pub fn complain(text: &str) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
}
