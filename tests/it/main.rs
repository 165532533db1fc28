//! The one integration binary: everything through public facades and sockets.

mod idp;
