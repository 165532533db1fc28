//! Extract, one service call, then a view or a redirect. Nothing else is decided here.

pub(in crate::gateway) mod assets;
pub(in crate::gateway) mod ops;
pub(in crate::gateway) mod signin;
