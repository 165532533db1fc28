//! Bytes as `Cookie` headers, one a line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::gateway::fuzzing::cookies(bytes));
