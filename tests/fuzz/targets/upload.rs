//! Bytes as a form, cut into pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::upload(bytes));
