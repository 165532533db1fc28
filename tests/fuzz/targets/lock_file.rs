//! Bytes as a lock file, of a kind the first byte chooses.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::scanner::fuzzing::lock_file(bytes));
