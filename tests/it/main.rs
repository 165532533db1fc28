//! The one integration binary: everything through public facades and sockets.

// A world behind a gateway is a deep future.
#![recursion_limit = "256"]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly"
)]

mod architecture;
mod browser;
mod commands;
mod contract;
mod fuzz_targets;
mod gateway;
mod idp;
mod journey;
mod scanner;
mod support;
