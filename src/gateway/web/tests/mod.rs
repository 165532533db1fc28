//! The portal's pages, driven through the real routes and middleware against a programmable scanning service on a socket.

mod accounts;
mod administration;
mod api_keys;
mod audit;
mod bench;
mod chains;
mod components;
mod deeds;
mod diagnostics;
mod draft_forms;
mod drafts;
mod groups;
mod keys;
mod launch;
mod outage;
mod ownership;
mod rig;
mod scan_bench;
mod scan_service;
mod scans;
mod share_page;
mod share_pdf;
mod share_standing;
mod shares;
mod step_up;
