//! The scanning service over HTTP: routes, who may call, bodies in and out. Decides nothing about analysis or storage;
//! the only room of the scanner that knows actix-web.

mod bootstrap;
mod chains;
mod codes;
mod error;
mod extract;
mod files;
mod guard;
mod public_shares;
mod reports;
mod results;
mod routes;
mod search;
mod shares;
mod tasks;

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::{HttpServer, middleware, web};

use super::identity::Identity;
use super::report::Reports;
use super::store::Store;
use super::tasks::Tasks;
use crate::config::scanner::Scanner as Settings;
use crate::platform::clock::Clock;

/// What handlers work with.
pub(super) struct App {
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    pub(super) store: Store,
    pub(super) tasks: Tasks,
    pub(super) identity: Identity,
    pub(super) reports: Reports,
    codes: codes::Codes,
}

impl App {
    pub(super) fn new(
        settings: Settings,
        clock: Clock,
        store: Store,
        tasks: Tasks,
        identity: Identity,
    ) -> Result<Self, codes::CodeError> {
        let codes = codes::Codes::new(&settings.shares, clock.clone())?;
        Ok(Self { settings, clock, store, tasks, identity, reports: Reports::default(), codes })
    }
}

/// Serves `app` on `listener` until the server's handle stops it.
pub(super) fn serve(app: App, listener: TcpListener) -> std::io::Result<Server> {
    let workers = app.settings.workers;
    let shutdown_seconds = app.settings.shutdown_seconds;
    let legacy = app.settings.legacy_prefix;
    let app = web::Data::new(app);
    let mut server = HttpServer::new(move || {
        actix_web::App::new()
            .app_data(app.clone())
            .wrap(middleware::DefaultHeaders::new().add(("Cache-Control", "no-store")).add(("X-Content-Type-Options", "nosniff")))
            .wrap(middleware::from_fn(guard::no_panic_gets_out))
            .configure(|to| routes::all(to, legacy))
    })
    .tcp_nodelay(true)
    .disable_signals()
    .shutdown_timeout(shutdown_seconds);
    if workers > 0 {
        server = server.workers(workers);
    }
    Ok(server.listen(listener)?.run())
}
