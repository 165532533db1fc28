//! Sessions, flows and tokens on both backends.
