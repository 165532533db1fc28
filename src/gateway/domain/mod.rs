//! Values and pure rules of the portal. No I/O and no framework: what the service told is kept here in the form pages need,
//! with every text marked as untrusted and the answer itself kept beside it (`raw`).
#![cfg_attr(not(test), expect(dead_code, reason = "values are read whole; pages come to show them feature by feature"))]

pub(crate) mod browser;
pub(crate) mod chain;
pub(crate) mod diagnosis;
pub(crate) mod finding;
pub(crate) mod identity;
pub(crate) mod ownership;
pub(crate) mod page;
pub(crate) mod share;
pub(crate) mod task;
