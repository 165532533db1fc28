//! Settings of the log.

use crate::platform::telemetry::Format;

/// What is logged and how.
#[derive(Clone, Debug)]
pub struct Telemetry {
    /// Level, or levels by module: `info`, `warn,cardea=debug`.
    pub filter: String,
    pub format: Format,
    /// Lines for machines of level INFO and below are written together, at the latest after this long; 0 writes each at once.
    pub buffer_ms: u64,
}
