//! The reference scanning service over sockets: what every operation does, and what it refuses.

mod bearers;
mod bills;
mod browsers;
mod chains;
mod components;
mod composition;
mod diagnostics;
mod files;
mod groups;
mod hostile;
mod large_lists;
mod logins;
mod opening;
mod ownership;
mod refusals;
mod reports;
mod results;
mod sandbox;
mod shares;
pub(crate) mod tasks;
