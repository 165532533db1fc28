//! A small identity provider for demo and tests: OAuth 2.0 authorization code flow with PKCE, refresh token rotation, userinfo,
//! revocation, and OpenID Connect on top. People, clients and lifetimes come from settings only.
//!
//! One facade, [`Idp`]; all rooms are private. `web` knows HTTP, `provider` what it holds together, `records` the rules of
//! grants and sessions, `state_file` the disk. Never imports the gateway or the scanning service.

mod attempts;
mod provider;
mod records;
mod signer;
mod state_file;
mod web;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use url::Url;

use crate::config::idp::Idp as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

use provider::Provider;

/// The identity provider.
pub struct Idp;

/// A provider that accepts requests until the process's shutdown begins.
#[derive(Clone, Debug)]
pub struct Running {
    address: SocketAddr,
    issuer: String,
}

impl Running {
    /// Where it listens; tells the port that was asked for as 0.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its name and base address, without a trailing slash.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }
}

/// Why the provider does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("the identity provider cannot listen on {address}: {reason}")]
    Listen { address: SocketAddr, reason: std::io::Error },
    /// The issuer is not a plain http or https address.
    #[error("the issuer must be an http or https address without a path")]
    Issuer,
    /// The state file cannot be read or written.
    #[error("the state file {} of the identity provider cannot be used: {reason}", path.display())]
    State { path: PathBuf, reason: String },
    /// No signing key could be made or read.
    #[error("there is no usable signing key for the identity provider")]
    Key,
}

impl Idp {
    /// Reads the state, binds the address and accepts requests. An issuer with port 0 gets the port that was bound.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(mut settings: Settings, clock: Clock, shutdown: &Shutdown) -> Result<Running, StartError> {
        let refused = |reason| StartError::Listen { address: settings.listen, reason };
        let listener = TcpListener::bind(settings.listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        settings.issuer = issuer(&settings.issuer, address).ok_or(StartError::Issuer)?;
        let issuer = settings.issuer.clone();
        let provider = Provider::open(settings, clock).await?;
        web::serve(listener, provider, shutdown).map_err(|reason| StartError::Listen { address, reason })?;
        Ok(Running { address, issuer })
    }
}

fn issuer(configured: &str, bound: SocketAddr) -> Option<String> {
    let mut url = Url::parse(configured).ok()?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty();
    if url.port() == Some(0) {
        url.set_port(Some(bound.port())).ok()?;
    }
    plain.then(|| url.as_str().trim_end_matches('/').to_owned())
}
