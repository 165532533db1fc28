//! The cache as its callers see it, on both backends.

use crate::config::gateway::{Cache as Settings, CacheLife};

/// The settings as they are compiled in.
pub(in crate::gateway) fn settings() -> Settings {
    let life = |fresh_ms, meanwhile_ms, in_trouble_ms| CacheLife { fresh_ms, meanwhile_ms, in_trouble_ms };
    Settings {
        memory_bytes: 1 << 26,
        answer_bytes: 1 << 20,
        store_from_ms: 60_000,
        store_answer_bytes: 1 << 18,
        store_wait_ms: 10_000,
        rest_ms: 1000,
        task_running: life(1000, 0, 30_000),
        task_ended: life(300_000, 60_000, 3_600_000),
        list: life(2000, 3000, 60_000),
        poll: life(500, 0, 0),
        constant: life(3_600_000, 3_600_000, 86_400_000),
    }
}
