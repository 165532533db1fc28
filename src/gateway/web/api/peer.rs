//! Whether a caller is still there. The server goes on with a request whose caller has left until it writes; the scanning
//! service is to learn of it sooner.

use std::any::Any;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream as Connection;
use tokio::time::sleep;

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(400);

/// A second handle to a caller's connection, kept with it.
struct Peer(TcpStream);

/// Keeps a handle for the requests of a new connection.
pub(in crate::gateway::web) fn remember(connection: &dyn Any, data: &mut Extensions) {
    let handle = connection.downcast_ref::<Connection>().and_then(|stream| stream.as_fd().try_clone_to_owned().ok());
    if let Some(handle) = handle {
        data.insert(Peer(handle.into()));
    }
}

/// Resolves when the caller has closed its side of the connection.
pub(super) async fn gone(request: &HttpRequest) {
    loop {
        sleep(EVERY).await;
        let Some(Peer(stream)) = request.conn_data::<Peer>() else { continue };
        match stream.peek(&mut [0; 1]) {
            // What is there already is the body, or the next request.
            Ok(1..) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Ok(0) | Err(_) => return,
        }
    }
}
