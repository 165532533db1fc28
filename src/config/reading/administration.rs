//! Reads what administrators see and change, and who runs the platform.

use crate::config::checks;
use crate::config::gateway::{Administration, Operator, Subject};
use crate::config::section::Section;

pub(super) fn read(section: &mut Section<'_>) -> Administration {
    Administration {
        policy_versions: section.number("policy_versions", 0..=1000),
        policy_copy_ms: section.number("policy_copy_ms", 0..=1000),
        user_days: section.number("user_days", 1..=3660),
        probe_ms: section.number("probe_ms", 1..=60_000),
        probe_memory_ms: section.number("probe_memory_ms", 0..=600_000),
        key_notice_days: section.number("key_notice_days", 0..=366),
    }
}

pub(super) fn operator(section: &mut Section<'_>) -> Operator {
    Operator { subjects: section.series("subjects", subject) }
}

fn subject(section: &mut Section<'_>) -> Subject {
    Subject {
        tenant: section.text_or_empty("tenant"),
        issuer: section.checked("issuer", checks::WEB_ADDRESS, |text| checks::web_address(text).is_some()),
        subject: section.checked("subject", "the subject the identity provider gives this person", |text| !text.is_empty()),
    }
}
