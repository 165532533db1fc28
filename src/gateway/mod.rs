//! The gateway: a company portal in front of the scanning service. All modules are private behind one facade; never
//! imports the reference scanner or the identity provider.

mod audit;
mod build;
mod domain;
mod keyring;
mod services;
mod session;
mod store;
mod upstream;
mod vault;
mod web;

use std::net::{SocketAddr, TcpListener};

use crate::config::gateway::Gateway as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// The gateway.
pub struct Gateway;

/// A gateway that accepts requests. It ends with the [`Shutdown`] it was started with.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
}

impl Running {
    /// Where it listens; names the port when the settings asked for any.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Why the gateway could not start. Each is one plain sentence.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the gateway cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    #[error("the gateway's settings cannot be used: {0}")]
    Settings(String),
    #[error("the gateway cannot use its store: {0}")]
    Store(String),
}

impl Gateway {
    /// Starts the gateway: opens its store, builds the clients of every tenant and listens. Redis, the scanning service
    /// and the identity providers may be down: nothing of them is needed to start. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(settings: Settings, clock: Clock, shutdown: &Shutdown) -> Result<Running, StartError> {
        let listen = |error| StartError::Listen(settings.server.listen, error);
        let listener = TcpListener::bind(settings.server.listen).map_err(listen)?;
        let base = build::Base::new(&settings, &clock, shutdown)?;
        base.keyring().map_err(|error| StartError::Store(error.to_string()))?.follow(shutdown).await;
        base.first_keys().await;
        let parts = base.parts()?;
        let (server, address) = web::server::serve(listener, parts, &settings).map_err(listen)?;
        let handle = server.handle();
        let ended = shutdown.clone();
        shutdown.spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the gateway ended");
            }
            ended.begin();
        });
        let ending = shutdown.clone();
        shutdown.spawn(async move {
            ending.begun().await;
            handle.stop(true).await;
        });
        Ok(Running { address })
    }

    /// What stands under which sealing key, for people; looks at the whole store. A gateway on Redis may run meanwhile; an
    /// embedded store has to be free. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`StartError::Settings`] and [`StartError::Store`].
    pub async fn key_status(settings: &Settings, clock: &Clock) -> Result<String, StartError> {
        let shutdown = Shutdown::default();
        let counted = build::key_counts(settings, clock, &shutdown).await;
        shutdown.begin();
        counted.map(|counts| counts.to_string())
    }
}
