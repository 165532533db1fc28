//! The vault on both backends.
