//! The scanning service over HTTP: routes, who may call, bodies in and out. Decides nothing about analysis or storage;
//! the only room of the scanner that knows actix-web.

mod admission;
mod bootstrap;
mod browsers;
mod caching;
mod chains;
mod codes;
mod components;
mod composition;
mod diagnostics;
mod domains;
mod error;
mod extract;
mod files;
mod guard;
mod logins;
mod public_shares;
mod reports;
mod results;
mod routes;
mod search;
mod shares;
mod task_groups;
mod tasks;

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::{HttpServer, middleware, web};

use super::browser::Browsers;
use super::diagnostics::Diagnostics;
use super::identity::Identity;
use super::ownership::Ownership;
use super::places::Places;
use super::report::Reports;
use super::sandbox::Sandbox;
use super::store::Store;
use super::tasks::Tasks;
use crate::config::scanner::Scanner as Settings;
use crate::platform::clock::Clock;

/// What goes out over the guarded dialer.
pub(super) struct Outward {
    pub(super) browsers: Browsers,
    pub(super) diagnostics: Diagnostics,
    pub(super) ownership: Ownership,
}

/// What handlers work with.
pub(super) struct App {
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    pub(super) store: Store,
    pub(super) tasks: Tasks,
    pub(super) identity: Identity,
    pub(super) reports: Reports,
    pub(super) diagnostics: Diagnostics,
    pub(super) ownership: Ownership,
    pub(super) browsers: Browsers,
    pub(super) browser_place: browsers::Place,
    sandbox: Sandbox,
    /// Places of composition analyses.
    analyses: Places,
    codes: codes::Codes,
}

impl App {
    pub(super) fn new(
        settings: Settings,
        clock: Clock,
        store: Store,
        (tasks, sandbox): (Tasks, Sandbox),
        identity: Identity,
        outward: Outward,
    ) -> Result<Self, codes::CodeError> {
        let browser_place = browsers::Place::new(settings.public_url.clone(), &settings.browser.parents);
        let codes = codes::Codes::new(&settings.shares, clock.clone())?;
        let Outward { browsers, diagnostics, ownership } = outward;
        let analyses = Places::new(composition::limits(&settings.archive.sources));
        Ok(Self {
            sandbox,
            analyses,
            settings,
            clock,
            store,
            tasks,
            identity,
            reports: Reports::default(),
            browsers,
            browser_place,
            diagnostics,
            ownership,
            codes,
        })
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
            .wrap(middleware::DefaultHeaders::new().add(("X-Content-Type-Options", "nosniff")))
            .wrap(middleware::from_fn(caching::no_store_but_for_reads))
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
