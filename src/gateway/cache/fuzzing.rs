//! What the fuzz target `cache_key` calls: bytes that somebody may have crafted, and must come back.

use std::time::Duration;

use serde_json::Value;

use super::canonical::canonical;
use super::record;
use crate::platform::clock::Timestamp;

/// Two bodies, parted by a byte of zero. They may be one question only when they say the same. Read as records, too.
///
/// # Panics
/// When two bodies that say different things have one form: that is the finding.
pub fn cache_key(bytes: &[u8]) {
    let mut bodies = bytes.splitn(2, |byte| *byte == 0);
    let (left, right) = (bodies.next().unwrap_or_default(), bodies.next().unwrap_or_default());
    if let Some(form) = canonical(left)
        && canonical(right) == Some(form)
        // Numbers that no float holds are no values to the library; their form is their text.
        && let Ok(value) = serde_json::from_slice::<Value>(left)
    {
        assert!(serde_json::from_slice::<Value>(right).is_ok_and(|other| other == value), "one form, two meanings");
    }
    for record in [bytes, right] {
        let epoch = record.get(1..9).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
        drop(record::read(record, epoch, Duration::from_secs(1), Timestamp(0)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_are_a_finding(text in "[\\[\\]{}:,\"\\\\ue0-2aA.+\u{0} -]{0,40}") {
            super::cache_key(text.as_bytes());
        }
    }
}
