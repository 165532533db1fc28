//! What the fuzz target `pdf` calls: reports that a service may have crafted.

use super::at_foot;

const WORDS: &str = "Given out by Ann through share 0a1b2c3d.";

/// Bytes as a report.
///
/// # Panics
/// When a report that was given its line cannot be read any more: that is the finding.
pub fn pdf(bytes: &[u8]) {
    let Ok(appendix) = at_foot(bytes, WORDS) else { return };
    let whole = [bytes, &*appendix].concat();
    assert!(at_foot(&whole, WORDS).is_ok(), "what was written cannot be read");
}
