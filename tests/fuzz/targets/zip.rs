//! Bytes as an archive, within small limits.
#![no_main]

use libfuzzer_sys::fuzz_target;

// Panics of the parser of classes are caught where it is called; only those that come out of there are findings.
fuzz_target!(init: drop(std::panic::take_hook()), |bytes: &[u8]| cardea::scanner::fuzzing::zip(bytes));
