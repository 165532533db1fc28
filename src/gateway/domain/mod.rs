//! Values and pure rules of the gateway: no I/O, no framework.

pub(in crate::gateway) mod branding;
pub(in crate::gateway) mod network;
pub(in crate::gateway) mod tenant;
