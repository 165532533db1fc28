//! One HTTP exchange over a connection that the dialer has judged, with TLS that tells what is wrong with a certificate.
//! Follows nothing, keeps no connection, sends no cookie and no credential.

mod certificate;
mod http;
mod tls;

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

pub(in crate::scanner) use certificate::{Certificate, Problem};
pub(in crate::scanner) use http::{Answer, HttpFault, Limits};
pub(in crate::scanner) use hyper::Method;
pub(in crate::scanner) use tls::{Handshake, TlsFault, Trust};

use super::dialer::{Checked, ConnectFault, DialError, Dialer};

/// Something that HTTP can be spoken over.
pub(in crate::scanner) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A connection, with TLS where the address asks for it.
pub(in crate::scanner) type Channel = Box<dyn Duplex>;

/// Why there is no answer, in words for people.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum Fault {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("the server {0}")]
    Connect(ConnectFault),
    #[error(transparent)]
    Tls(#[from] TlsFault),
    #[error("its certificate is not valid: {}", listed(.0))]
    Certificate(Vec<Problem>),
    #[error(transparent)]
    Http(#[from] HttpFault),
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The client. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Fetch(Arc<Inner>);

struct Inner {
    dialer: Dialer,
    trust: Trust,
}

impl Fetch {
    pub(in crate::scanner) fn new(dialer: Dialer, trust: Trust) -> Self {
        Self(Arc::new(Inner { dialer, trust }))
    }

    /// The way out it uses.
    pub(in crate::scanner) fn dialer(&self) -> &Dialer {
        &self.0.dialer
    }

    /// TLS with the host of `url` over a connection to a judged address.
    pub(in crate::scanner) async fn shake_hands(&self, url: &Url, to: Checked) -> Result<Handshake, Fault> {
        let stream = self.0.dialer.open(to).await.map_err(Fault::Connect)?;
        Ok(self.0.trust.shake_hands(url, stream).await?)
    }

    /// Connects to a judged address as the scheme of `url` says; a certificate that is not valid is a fault.
    pub(in crate::scanner) async fn connect(&self, url: &Url, to: Checked) -> Result<Channel, Fault> {
        if url.scheme() != "https" {
            return Ok(Box::new(self.0.dialer.open(to).await.map_err(Fault::Connect)?));
        }
        match self.shake_hands(url, to).await? {
            Handshake { channel: Some(channel), .. } => Ok(channel),
            Handshake { problems, .. } => Err(Fault::Certificate(problems)),
        }
    }

    /// Asks over a new connection to a judged address.
    pub(in crate::scanner) async fn ask(&self, method: Method, url: &Url, to: Checked, limits: Limits) -> Result<Answer, Fault> {
        let channel = self.connect(url, to).await?;
        Ok(http::exchange(channel, method, url, limits).await?)
    }

    /// Looks up, judges, and asks the first address that can be connected to.
    pub(in crate::scanner) async fn get(&self, url: &Url, limits: Limits) -> Result<Answer, Fault> {
        let host = url.host_str().ok_or(DialError::Host)?;
        let port = url.port_or_known_default().ok_or(DialError::Host)?;
        let (_, checked) = self.0.dialer.find(host, port).await?;
        let mut faults = Vec::new();
        for to in checked {
            match self.connect(url, to).await {
                Ok(channel) => return Ok(http::exchange(channel, Method::GET, url, limits).await?),
                Err(Fault::Connect(fault)) => faults.push((to.address(), fault)),
                Err(fault) => return Err(fault),
            }
        }
        Err(DialError::Unreached(faults).into())
    }
}
