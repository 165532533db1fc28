//! How each section is read from the merged tree: bounds, forms and what has to fit together. One file per section, named
//! as the section's own.

mod administration;
mod api;
mod cache;
pub(super) mod gateway;
pub(super) mod idp;
pub(super) mod scanner;
mod shares;
mod store;
pub(super) mod telemetry;
