//! Bytes as an archive, within small limits.
#![no_main]

use cardea::config::scanner::Archive;
use libfuzzer_sys::fuzz_target;

const LIMITS: Archive = Archive {
    depth: 4,
    entries: 10_000,
    inflated_bytes: 64 << 20,
    nested_bytes: 8 << 20,
    ratio: 200,
    ratio_from_bytes: 1 << 20,
    seconds: 10,
};

fuzz_target!(|bytes: &[u8]| cardea::scanner::fuzzing::zip(bytes, &LIMITS));
