//! The scanning service's interface as types, paths and limits. Plain data with serde and nothing else: no I/O, no
//! framework. The reference service writes these types; the gateway sends the requests and reads answers tolerantly.

pub mod browsers;
pub mod chains;
pub mod components;
pub mod composition;
pub mod diagnostics;
pub mod domains;
pub mod error;
pub mod files;
pub mod ids;
pub mod limits;
pub mod paths;
pub mod reports;
pub mod results;
pub mod shares;
pub mod tasks;
