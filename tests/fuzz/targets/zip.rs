//! Bytes as an archive, within small limits.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::scanner::fuzzing::zip(bytes));
