//! The reference scanning service over sockets: what every operation does, and what it refuses.

mod bearers;
mod bills;
mod components;
mod composition;
mod files;
mod refusals;
mod reports;
mod results;
mod shares;
mod tasks;
