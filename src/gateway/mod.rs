//! The gateway: a company portal in front of the scanning service. All modules are private behind one facade; never
//! imports the reference scanner or the identity provider.

mod administration;
mod audit;
mod build;
mod cache;
mod description;
mod domain;
mod keyring;
mod ledger;
mod opening;
mod operations;
mod pdf;
mod people;
mod policies;
mod roster;
mod services;
mod session;
mod store;
mod trails;
mod upstream;
mod vault;
mod web;

use std::net::{SocketAddr, TcpListener};

use tokio::sync::oneshot;

use self::operations::MetricsPage;
pub use self::people::PeopleError;
use self::services::health::Health;
use self::services::pace::Breakers;
pub use self::trails::{EventFilter, TrailError, TrailList, TrailReport};
use crate::config::gateway::Gateway as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// What the fuzz targets in `tests/fuzz` call.
#[doc(hidden)]
pub mod fuzzing {
    pub use super::cache::fuzzing::cache_key;
    pub use super::domain::fuzzing::{headers, path};
    pub use super::pdf::fuzzing::pdf;
    pub use super::services::api::fuzzing::upload;
    pub use super::session::fuzzing::cookies;
}

/// The gateway.
pub struct Gateway;

/// A gateway that accepts requests. It ends with the [`Shutdown`] it was started with.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    operations: Option<SocketAddr>,
}

impl Running {
    /// Where it listens; names the port when the settings asked for any.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where operators ask, when that is on.
    #[must_use]
    pub const fn operations(&self) -> Option<SocketAddr> {
        self.operations
    }
}

/// Why the gateway could not start. Each is one plain sentence.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the gateway cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    #[error("the operations listener cannot start: {0}")]
    Operations(String),
    #[error("the gateway's settings cannot be used: {0}")]
    Settings(String),
    #[error("the gateway cannot use its store: {0}")]
    Store(String),
    /// The embedded store is open in another process.
    #[error("the gateway cannot use its store: {0}")]
    StoreInUse(String),
}

impl Gateway {
    /// Starts the gateway: opens its store, builds the clients of every tenant and listens. Redis, the scanning service
    /// and the identity providers may be down: nothing of them is needed to start. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(settings: Settings, clock: Clock, shutdown: &Shutdown) -> Result<Running, StartError> {
        let listen = |error| StartError::Listen(settings.server.listen, error);
        let listener = bind(settings.server.listen)?;
        let operations = settings.operations.listen.map(bind).transpose()?;
        let base = build::Base::new(&settings, &clock, shutdown)?;
        base.keyring().map_err(|error| StartError::Store(error.to_string()))?.follow(shutdown).await;
        // Before anything else of a tenant is in the store.
        base.begin_trails().await;
        base.reseal_trails();
        base.first_keys().await;
        base.policies.begin().await;
        let parts = base.parts()?;
        let watched = (parts.services.health.clone(), parts.api.pace.breakers.clone());
        let (working, done) = oneshot::channel::<()>();
        let operations = operations.map(|listener| operate(listener, watched, &clock, (shutdown, done))).transpose()?;
        let (server, address) = web::server::serve(listener, parts, &settings).map_err(listen)?;
        let handle = server.handle();
        let ended = shutdown.clone();
        shutdown.spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the gateway ended");
            }
            ended.begin();
            drop(working);
        });
        let ending = shutdown.clone();
        shutdown.spawn(async move {
            ending.begun().await;
            handle.stop(true).await;
        });
        Ok(Running { address, operations })
    }

    /// What stands under which sealing key, for people; looks at the whole store. A gateway on Redis may run meanwhile; an
    /// embedded store has to be free. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`StartError::Settings`] and [`StartError::Store`].
    pub async fn key_status(settings: &Settings, clock: &Clock) -> Result<String, StartError> {
        let shutdown = Shutdown::default();
        let counted = opening::key_counts(settings, clock, &shutdown).await;
        shutdown.begin();
        counted.map(|counts| counts.to_string())
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).map_err(|error| StartError::Listen(address, error))
}

/// Starts the operations listener. It ends after the portal's own, so that operators see the end up to its end: `done` is
/// closed then.
fn operate(
    listener: TcpListener,
    (health, breakers): (Health, Breakers),
    clock: &Clock,
    (shutdown, done): (&Shutdown, oneshot::Receiver<()>),
) -> Result<SocketAddr, StartError> {
    let page = MetricsPage::start(clock.now(), shutdown).map_err(|error| StartError::Operations(error.to_string()))?;
    shutdown.spawn(health.clone().watch());
    shutdown.spawn(breakers.watch(shutdown.clone()));
    let shown = web::operations::Operations { health, page };
    let started = web::operations::serve(listener, shown).map_err(|error| StartError::Operations(error.to_string()));
    let (server, address) = started?;
    let handle = server.handle();
    shutdown.spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "the operations listener ended");
        }
    });
    shutdown.spawn(async move {
        let _ = done.await;
        handle.stop(false).await;
    });
    Ok(address)
}
