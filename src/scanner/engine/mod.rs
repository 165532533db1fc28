//! The composition analysis: an artifact goes in, findings with evidence come out. No HTTP, no task states.

pub(in crate::scanner) mod finding;
