//! The reference scanning service behind one facade. Never imports the gateway or the identity provider.
//! Inside, arrows run web -> tasks, report -> engine, store -> contract, platform; `identity` stands beside and is the
//! only one that sends HTTP.

mod browser;
mod diagnostics;
mod dialer;
mod engine;
mod fetch;
mod identity;
mod ownership;
mod places;
mod report;
mod sandbox;
mod store;
mod tasks;
mod web;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[doc(hidden)]
pub use engine::fuzzing;
pub use engine::{
    DatabaseError as AdvisoryError, ImportError as AdvisoryImportError, ImportReport as AdvisoryImport,
    Skipped as SkippedAdvisories, Status as AdvisoryStatus,
};

pub use sandbox::serve as serve_analysis;

use crate::config::scanner::Scanner as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// The scanning service.
pub struct Scanner;

/// A service that accepts requests. It ends with the [`Shutdown`] it was started with.
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

/// Why the service could not start. Each is one plain sentence.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the scanning service cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    #[error("the scanning service cannot use its data folder: {0}")]
    Storage(String),
    #[error("the scanning service cannot read its advisories: {0}")]
    Advisories(#[from] AdvisoryError),
    #[error("the scanning service cannot prepare its connections: {0}")]
    Transport(String),
}

impl Scanner {
    /// Starts the service: listens, takes up tasks an earlier run left open, and serves until `shutdown` begins; then
    /// open requests are finished within the settings' time and running scans stop, to be taken up at the next start.
    ///
    /// Must be called inside a tokio runtime, which runs the queue; requests have threads of their own.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(mut settings: Settings, clock: Clock, shutdown: &Shutdown) -> Result<Running, StartError> {
        let wanted = settings.listen;
        let listen = |error| StartError::Listen(wanted, error);
        let listener = TcpListener::bind(wanted).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        if settings.public_url.is_empty() {
            settings.public_url = format!("http://{address}");
        }
        let identity = identity::Identity::new(&settings).map_err(|error| StartError::Transport(error.to_string()))?;
        let (folder, seal_key) = (settings.data.clone(), settings.seal_key.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let store = store::Store::open(&folder, seal_key.as_ref()).map_err(storage)?;
            let advisories = engine::AdvisoryDatabase::open(&advisories_folder(&folder))?;
            Ok::<_, StartError>((store, Arc::new(advisories)))
        });
        let (store, advisories) = opened.await.map_err(storage)??;
        let outward = outward(&settings, &store, &clock, shutdown).await?;
        let sandbox = sandbox::Sandbox::new(
            settings.analysis.clone(),
            settings.archive.clone(),
            advisories_folder(&settings.data),
            Arc::clone(&advisories),
            clock.clone(),
        );
        let work = (sandbox.clone(), settings.scan_workers);
        let tasks = tasks::Tasks::start(store.clone(), clock.clone(), work, advisories, shutdown).await.map_err(storage)?;
        let app = web::App::new(settings, clock, store, (tasks, sandbox), identity, outward)
            .map_err(|error| StartError::Transport(error.to_string()))?;
        let server = web::serve(app, listener).map_err(|error| StartError::Listen(address, error))?;
        let handle = server.handle();
        shutdown.spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the scanning service ended");
            }
        });
        let ending = shutdown.clone();
        shutdown.spawn(async move {
            ending.begun().await;
            handle.stop(true).await;
        });
        Ok(Running { address })
    }
}

/// What goes out over the guarded dialer.
async fn outward(
    settings: &Settings,
    store: &store::Store,
    clock: &Clock,
    shutdown: &Shutdown,
) -> Result<web::Outward, StartError> {
    let dialer = dialer::Dialer::new(&settings.outbound).map_err(StartError::Transport)?;
    let (roots, at) = (settings.outbound.extra_roots_file.clone(), clock.clone());
    let trust = tokio::task::spawn_blocking(move || fetch::Trust::new(roots.as_deref(), at)).await.map_err(storage)?;
    let browsers = browser::Browsers::start(settings.browser.clone(), &settings.data, clock.clone(), dialer.clone(), shutdown);
    let browsers = browsers.await.map_err(storage)?;
    let fetch = fetch::Fetch::new(dialer, trust.map_err(StartError::Transport)?);
    let diagnostics = diagnostics::Diagnostics::new(settings.diagnostics.clone(), fetch.clone(), clock.clone(), shutdown.clone());
    let ownership = ownership::Ownership::new(settings.ownership.clone(), fetch, store.clone(), clock.clone());
    Ok(web::Outward { browsers, diagnostics, ownership })
}

/// Imports advisories from `path` (OSV records as folder, zip or JSON; the advisory table as CSV) into the database below
/// the scanner's data folder. A running service takes them up by itself within seconds. Blocks.
///
/// # Errors
/// When `path` cannot be read or holds no advisory, or when the database cannot be written; it then stays as it was.
pub fn import_advisories(data: &Path, path: &Path, clock: &Clock) -> Result<AdvisoryImport, AdvisoryImportError> {
    engine::import(&advisories_folder(data), path, clock.now())
}

/// What the database below the scanner's data folder holds. Blocks.
///
/// # Errors
/// When it cannot be read.
pub fn advisory_status(data: &Path) -> Result<AdvisoryStatus, AdvisoryError> {
    engine::status(&advisories_folder(data))
}

fn advisories_folder(data: &Path) -> PathBuf {
    data.join("advisories")
}

fn storage(error: impl std::fmt::Display) -> StartError {
    StartError::Storage(error.to_string())
}
