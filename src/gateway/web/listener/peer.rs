//! Whether a caller is still there. The server goes on with a request whose caller has left until it writes; the scanning
//! service is to learn of it sooner.

use std::io::ErrorKind;
use std::net;
use std::os::fd::AsFd as _;

use tokio::net::TcpStream;

/// A second handle to a caller's connection, kept with it.
pub(in crate::gateway::web) struct Peer(net::TcpStream);

impl Peer {
    pub(super) fn of(connection: &TcpStream) -> Option<Self> {
        connection.as_fd().try_clone_to_owned().ok().map(|handle| Self(handle.into()))
    }

    /// Whether the caller has closed its side.
    pub(in crate::gateway::web) fn is_gone(&self) -> bool {
        match self.0.peek(&mut [0; 1]) {
            Ok(read) => read == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
}
