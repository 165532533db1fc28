//! Bytes as metadata of a component.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cardea::scanner::fuzzing::pom(bytes));
