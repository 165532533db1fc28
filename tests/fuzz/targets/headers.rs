//! Bytes as headers of a request or an answer, one a line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::headers(bytes));
