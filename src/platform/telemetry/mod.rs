//! The log: one subscriber per process, text for people or JSON for machines, on standard error. Whoever logs decides what
//! is logged; secrets cannot be, their type does not print. A panic is logged once, here.

mod buffer;
mod line;

use std::panic;
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use self::buffer::Buffer;
use self::line::{Fields, Line};
use super::panics;

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Whether `text` is a level or a list of levels by module, as [`start`] takes it.
#[must_use]
pub fn is_filter(text: &str) -> bool {
    !text.trim().is_empty() && EnvFilter::try_new(text).is_ok()
}

/// Lines that wait to be written, where they do.
static WAITING: OnceLock<Buffer> = OnceLock::new();

/// Starts logging for the whole process. A second call changes nothing: the first one's log goes on. Lines for machines of level
/// INFO and below may wait for `wait`, so [`flush`] belongs at the end of the process.
pub fn start(filter: &str, format: Format, wait: Duration) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match (format, (format == Format::Json).then(|| Buffer::new(wait)).flatten()) {
        (Format::Text, _) => log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        (Format::Json, None) => log.event_format(Line).fmt_fields(Fields).try_init(),
        (Format::Json, Some(buffer)) => {
            let started = log.event_format(Line).fmt_fields(Fields).with_writer(buffer.clone()).try_init();
            if started.is_ok() {
                let _ = WAITING.set(buffer);
            }
            started
        }
    };
    if started.is_ok() {
        panic::set_hook(Box::new(|info| {
            if panics::is_caught() {
                return;
            }
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let said = info.payload().downcast_ref::<&str>().copied();
            let said = said.or_else(|| info.payload().downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            tracing::error!(place, said, "a part of the program ended unexpectedly");
        }));
    }
}

/// Writes the lines that wait.
pub fn flush() {
    if let Some(waiting) = WAITING.get() {
        waiting.flush();
    }
}
