//! The portal's pages, driven through the real routes and middleware against a programmable scanning service on a socket.

mod bench;
mod keys;
mod scan_bench;
mod scans;
mod share_page;
mod shares;
