//! Values and pure rules of the portal. No I/O, no framework, no clock of its own. What the service told is kept here in
//! the form pages need, with every text marked as untrusted and the answer itself kept beside it (`raw`).

pub(in crate::gateway) mod branding;
pub(crate) mod browser;
pub(crate) mod chain;
pub(crate) mod diagnosis;
pub(crate) mod finding;
pub(crate) mod identity;
pub(in crate::gateway) mod masking;
pub(in crate::gateway) mod network;
pub(crate) mod ownership;
pub(crate) mod page;
pub(in crate::gateway) mod principal;
pub(in crate::gateway) mod return_to;
pub(in crate::gateway) mod role;
pub(in crate::gateway) mod server_key;
pub(crate) mod share;
pub(crate) mod task;
pub(in crate::gateway) mod tenant;
