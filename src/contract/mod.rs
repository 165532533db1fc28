//! The scanning service's interface as types, paths and limits. Plain data with serde, and schemas of it with utoipa: no
//! I/O, no framework. The reference service writes these types; the gateway sends the requests and reads answers tolerantly.

pub mod bootstrap;
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
pub mod searches;
pub mod shares;
pub mod tasks;
