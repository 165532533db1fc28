//! Settings of the log.

use crate::platform::telemetry::Format;

/// What is logged and how.
#[derive(Clone, Debug)]
pub struct Telemetry {
    /// Level, or levels by module: `info`, `warn,cardea=debug`.
    pub filter: String,
    pub format: Format,
}
