//! Values and pure rules of the portal. No I/O, no framework, no clock of its own.

pub(in crate::gateway) mod branding;
pub(in crate::gateway) mod network;
pub(in crate::gateway) mod principal;
pub(in crate::gateway) mod return_to;
pub(in crate::gateway) mod role;
pub(in crate::gateway) mod server_key;
pub(in crate::gateway) mod tenant;
