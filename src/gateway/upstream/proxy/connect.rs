//! Opens connections: TCP, TLS where the address says so, and HTTP/1.1 on top, driven by a task of this thread.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::early::Early;
use super::pool::Sender;
use super::target::Target;

/// How TLS is spoken: the system's roots, or the compiled-in ones where it has none.
pub(super) fn tls() -> Result<Arc<ClientConfig>, rustls::Error> {
    let config = ClientConfig::with_platform_verifier().or_else(|_| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
        Ok::<_, rustls::Error>(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
    })?;
    Ok(Arc::new(config))
}

/// A connection that is ready for its first request. `early`: how long an answer before the end of a body may take to be read.
pub(super) async fn connect(target: &Target, tls: &Arc<ClientConfig>, early: Duration) -> io::Result<Sender> {
    let stream = TcpStream::connect((target.host(), target.port())).await?;
    stream.set_nodelay(true)?;
    if !target.is_tls() {
        return handshake(TokioIo::new(stream), early).await;
    }
    let name = ServerName::try_from(target.host().to_owned()).map_err(io::Error::other)?;
    let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?;
    handshake(TokioIo::new(stream), early).await
}

async fn handshake<T>(io: T, early: Duration) -> io::Result<Sender>
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
{
    let (sender, connection) = http1::Builder::new().handshake(Early::new(io, early)).await.map_err(io::Error::other)?;
    // Ends with its sender: nothing outlives the worker's requests.
    tokio::task::spawn_local(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to the scanning service ended");
        }
    });
    Ok(sender)
}
