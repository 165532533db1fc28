//! Pages as plain data for the templates: no I/O, no decisions beyond what to show. The only room that knows askama.

/// What every page is: it renders itself.
pub(in crate::gateway) use askama::Template as View;

pub(in crate::gateway) mod accounts;
pub(in crate::gateway) mod admin;
pub(in crate::gateway) mod all_shares;
pub(in crate::gateway) mod api_key;
pub(in crate::gateway) mod api_keys;
pub(in crate::gateway) mod artifacts;
pub(in crate::gateway) mod audit;
pub(in crate::gateway) mod audit_file;
pub(in crate::gateway) mod chain_body;
pub(in crate::gateway) mod chains;
pub(in crate::gateway) mod chart;
pub(in crate::gateway) mod components;
mod day_chart;
pub(in crate::gateway) mod description;
pub(in crate::gateway) mod diagnostics;
pub(in crate::gateway) mod downloads;
pub(in crate::gateway) mod drafts;
pub(in crate::gateway) mod errors;
pub(in crate::gateway) mod finding_body;
pub(in crate::gateway) mod findings;
pub(in crate::gateway) mod groups;
pub(in crate::gateway) mod home;
pub(in crate::gateway) mod keys;
pub(in crate::gateway) mod launch;
pub(in crate::gateway) mod layout;
pub(in crate::gateway) mod new_share;
pub(in crate::gateway) mod notice;
pub(in crate::gateway) mod one_share;
pub(in crate::gateway) mod operator;
pub(in crate::gateway) mod ownership;
pub(in crate::gateway) mod pager;
pub(in crate::gateway) mod policies;
pub(in crate::gateway) mod qr;
pub(in crate::gateway) mod sessions;
pub(in crate::gateway) mod settings;
pub(in crate::gateway) mod share_door;
pub(in crate::gateway) mod share_made;
pub(in crate::gateway) mod share_page;
pub(in crate::gateway) mod share_preview;
pub(in crate::gateway) mod shares;
pub(in crate::gateway) mod signin;
pub(in crate::gateway) mod task;
pub(in crate::gateway) mod task_tabs;
pub(in crate::gateway) mod tasks;
pub(in crate::gateway) mod users;
pub(in crate::gateway) mod words;

#[cfg(test)]
mod tests;
