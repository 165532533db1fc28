//! The server: middleware in order, state for handlers, limits of connections.

use std::net::{SocketAddr, TcpListener};

use actix_web::App;
use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PayloadConfig};

use super::api::{self, ApiParts};
pub(in crate::gateway) use super::middleware::csrf::Guard;
pub(in crate::gateway) use super::middleware::request::Callers;
use super::middleware::{csrf, error_page, handle, head, headers, request, tenant};
use super::site::Sites;
use super::{listener, routes};
use crate::config::gateway::{Gateway, Limits};
use crate::gateway::description::Bounds;
use crate::gateway::services::Services;
use crate::gateway::services::api::{Api, ProxySettings};
use crate::gateway::session::Sessions;

/// What every worker gets a copy of.
#[derive(Clone)]
pub(in crate::gateway) struct Parts {
    pub(in crate::gateway) services: Services,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) sites: Sites,
    pub(in crate::gateway) callers: Callers,
    pub(in crate::gateway) limits: Limits,
    pub(in crate::gateway) guard: Guard,
    pub(in crate::gateway) api: Api,
    pub(in crate::gateway) proxy: ProxySettings,
}

/// A server on `listener`, not yet awaited, and its address. The caller handles signals.
pub(in crate::gateway) fn serve(
    listener: TcpListener,
    parts: Parts,
    settings: &Gateway,
) -> std::io::Result<(Server, SocketAddr)> {
    let form_bytes = parts.limits.form_bytes;
    let bounds = settings.server.connection;
    let told = Bounds {
        json_bytes: parts.limits.json_bytes,
        upload_bytes: parts.limits.upload_bytes,
        uri_bytes: bounds.uri_bytes,
        head_bytes: bounds.head_bytes,
        head_fields: bounds.head_fields,
    };
    let factory = move || {
        let Parts { services, sessions, sites, callers, limits, guard, api, proxy } = parts.clone();
        let calls = ApiParts {
            api,
            api_keys: services.api_keys.clone(),
            bearers: services.bearers.clone(),
            proxy,
            sessions: sessions.clone(),
            sites: sites.clone(),
            callers: callers.clone(),
            limits: limits.clone(),
            connection: bounds,
            guard: guard.clone(),
        };
        // The last wrapped runs first: see `middleware`.
        let portal = web::scope("")
            .app_data(PayloadConfig::new(form_bytes))
            .app_data(Data::new(services))
            .app_data(Data::new(sessions.clone()))
            .app_data(Data::new(limits))
            .app_data(Data::new(told))
            .configure(routes::all)
            .wrap(from_fn(error_page::note_reader))
            .wrap(from_fn(handle::handle))
            .wrap(sessions.layer())
            .wrap(from_fn(move |request, next| csrf::csrf(guard.clone(), request, next)))
            .wrap(from_fn(move |request, next| tenant::tenant(sites.clone(), request, next)))
            .wrap(from_fn(move |request, next| head::head(bounds, request, next)))
            .wrap(from_fn(error_page::error_page))
            .wrap(from_fn(headers::headers))
            .wrap(from_fn(move |request, next| request::request(callers.clone(), request, next)));
        App::new().configure(api::routes(calls)).service(portal)
    };
    listener::serve(listener, &settings.server, factory)
}
