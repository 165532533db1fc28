//! Reads the settings of the log.

use crate::config::section::Section;
use crate::config::telemetry::Telemetry;
use crate::platform::telemetry::{Format, is_filter};

pub(in crate::config) fn read(section: &mut Section<'_>) -> Telemetry {
    Telemetry {
        filter: section.checked("filter", "a level such as info, or levels by module such as warn,cardea=debug", is_filter),
        format: section.choice("format", ("text", Format::Text), &[("json", Format::Json)]),
        buffer_ms: section.number("buffer_ms", 0..=10_000),
    }
}
