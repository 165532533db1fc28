//! Extract, one service call, then a view or a redirect. Nothing else is decided here.

pub(in crate::gateway) mod accounts;
pub(in crate::gateway) mod api_keys;
pub(in crate::gateway) mod artifacts;
pub(in crate::gateway) mod assets;
pub(in crate::gateway) mod audit;
pub(in crate::gateway) mod backchannel;
pub(in crate::gateway) mod chains;
pub(in crate::gateway) mod components;
pub(in crate::gateway) mod description;
pub(in crate::gateway) mod diagnostics;
pub(in crate::gateway) mod drafts;
pub(in crate::gateway) mod findings;
pub(in crate::gateway) mod groups;
pub(in crate::gateway) mod home;
pub(in crate::gateway) mod keys;
pub(in crate::gateway) mod launch;
pub(in crate::gateway) mod live;
pub(in crate::gateway) mod ops;
pub(in crate::gateway) mod ownership;
pub(in crate::gateway) mod reports;
pub(in crate::gateway) mod sessions;
pub(in crate::gateway) mod share_page;
pub(in crate::gateway) mod shares;
pub(in crate::gateway) mod signin;
mod steps;
pub(in crate::gateway) mod tasks;
pub(in crate::gateway) mod uploads;
