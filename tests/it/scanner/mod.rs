//! The reference scanning service over sockets: what every operation does, and what it refuses.

mod bearers;
mod files;
mod hostile;
mod refusals;
mod reports;
mod results;
mod sandbox;
mod shares;
mod tasks;
