//! Bytes as a method and the path of an API call.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::path(bytes));
