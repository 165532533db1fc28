//! Bytes as a report in PDF.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::pdf(bytes));
