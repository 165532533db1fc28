//! The pages of sharing and server keys, driven through the real routes and middleware against a programmable scanning
//! service on a socket.

mod bench;
mod keys;
mod share_page;
mod shares;
