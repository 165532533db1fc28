//! Bytes as a class file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::scanner::fuzzing::class(bytes));
