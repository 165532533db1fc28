//! Reads the settings of kept answers.

use crate::config::cache::{Cache, CacheLife};
use crate::config::section::Section;

pub(super) fn read(section: &mut Section<'_>) -> Cache {
    Cache {
        memory_bytes: section.number("memory_bytes", 0..=1_099_511_627_776),
        answer_bytes: section.number("answer_bytes", 1024..=1_073_741_824),
        store_from_ms: section.number("store_from_ms", 1000..=86_400_000),
        store_answer_bytes: section.number("store_answer_bytes", 0..=16_777_216),
        store_wait_ms: section.number("store_wait_ms", 1..=10_000),
        rest_ms: section.number("rest_ms", 0..=60_000),
        task_running: section.table("task_running", life),
        task_ended: section.table("task_ended", life),
        list: section.table("list", life),
        poll: section.table("poll", life),
        constant: section.table("constant", life),
    }
}

fn life(section: &mut Section<'_>) -> CacheLife {
    CacheLife {
        fresh_ms: section.number("fresh_ms", 0..=604_800_000),
        meanwhile_ms: section.number("meanwhile_ms", 0..=604_800_000),
        in_trouble_ms: section.number("in_trouble_ms", 0..=604_800_000),
    }
}
