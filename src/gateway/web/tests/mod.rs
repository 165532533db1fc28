//! The portal's own routes over sockets, against a scanning service that does as it is told.

mod scan_bench;
mod scan_service;
mod scans;
