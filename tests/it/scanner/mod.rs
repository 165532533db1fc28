//! The reference scanning service over sockets: what every operation does, and what it refuses.

mod bearers;
mod diagnostics;
mod files;
mod ownership;
mod refusals;
mod reports;
mod results;
mod shares;
mod tasks;
