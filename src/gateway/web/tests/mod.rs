//! The portal's pages, driven through the real routes and middleware against a programmable scanning service on a socket.

mod bench;
mod chains;
mod components;
mod groups;
mod keys;
mod rig;
mod scan_bench;
mod scan_service;
mod scans;
mod share_page;
mod shares;
