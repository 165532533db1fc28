//! Values and pure rules of the gateway: no I/O, no framework, no clock of its own.

pub(in crate::gateway) mod account;
pub(in crate::gateway) mod branding;
pub(in crate::gateway) mod browser;
pub(in crate::gateway) mod chain;
pub(in crate::gateway) mod component;
pub(in crate::gateway) mod component_filter;
pub(in crate::gateway) mod diagnosis;
pub(in crate::gateway) mod draft;
pub(in crate::gateway) mod extraction_code;
pub(in crate::gateway) mod filter;
pub(in crate::gateway) mod finding;
pub(in crate::gateway) mod finding_filter;
pub(in crate::gateway) mod group;
pub(in crate::gateway) mod identity;
pub(in crate::gateway) mod masking;
pub(in crate::gateway) mod network;
pub(in crate::gateway) mod ownership;
pub(in crate::gateway) mod page;
pub(in crate::gateway) mod principal;
pub(in crate::gateway) mod return_to;
pub(in crate::gateway) mod role;
pub(in crate::gateway) mod server_key;
pub(in crate::gateway) mod share;
pub(in crate::gateway) mod task;
pub(in crate::gateway) mod tenant;
pub(in crate::gateway) mod upgrade;
