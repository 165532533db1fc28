//! Bytes as two bodies of a search, and as a kept answer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::cache_key(bytes));
