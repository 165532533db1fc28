//! The reference scanning service over sockets: what every operation does, and what it refuses.

mod bearers;
mod chains;
mod files;
mod refusals;
mod reports;
mod results;
mod shares;
mod tasks;
