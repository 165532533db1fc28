//! The provider's HTTP side: routes, headers every answer carries, and one file for each endpoint.

mod authorize;
mod client_auth;
mod end_session;
mod metadata;
mod pages;
mod params;
mod token;
mod userinfo;

use std::net::TcpListener;
use std::time::Duration;

use actix_web::http::header;
use actix_web::middleware::DefaultHeaders;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};

use crate::platform::shutdown::Shutdown;

use super::provider::Provider;

/// No request of the protocol is larger.
const MAX_BODY: usize = 64 * 1024;
const SESSION_COOKIE: &str = "cardea_idp";
const STYLE: &str = include_str!("../../../templates/idp/style.css");

/// Accepts requests until the shutdown begins.
pub(super) fn serve(listener: TcpListener, provider: Provider, shutdown: &Shutdown) -> std::io::Result<()> {
    let provider = web::Data::new(provider);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::clone(&provider))
            .app_data(web::PayloadConfig::new(MAX_BODY))
            .wrap(
                DefaultHeaders::new()
                    .add((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
                    .add((header::REFERRER_POLICY, "no-referrer"))
                    .add((header::CACHE_CONTROL, "no-store")),
            )
            .configure(routes)
    })
    .workers(1)
    .disable_signals()
    .shutdown_timeout(5)
    .client_request_timeout(Duration::from_secs(10))
    .listen(listener)?
    .run();
    let handle = server.handle();
    let end = shutdown.clone();
    shutdown.spawn(async move {
        end.begun().await;
        handle.stop(true).await;
    });
    shutdown.spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "the identity provider has stopped");
        }
    });
    Ok(())
}

fn routes(routes: &mut web::ServiceConfig) {
    routes
        .service(web::resource("/oauth/authorize").route(web::get().to(authorize::ask)).route(web::post().to(authorize::sign_in)))
        .service(web::resource("/oauth/token").route(web::post().to(token::token)))
        .service(web::resource("/oauth/revoke").route(web::post().to(token::revoke)))
        .service(
            web::resource("/oauth/userinfo").route(web::get().to(userinfo::userinfo)).route(web::post().to(userinfo::userinfo)),
        )
        .service(
            web::resource("/oauth/end_session")
                .route(web::get().to(end_session::ask))
                .route(web::post().to(end_session::confirm)),
        )
        .route("/oauth/jwks", web::get().to(metadata::keys))
        .route("/.well-known/openid-configuration", web::get().to(metadata::configuration))
        .route("/healthz", web::get().to(health))
        .route("/style.css", web::get().to(style))
        .default_service(web::to(nothing_here));
}

async fn health() -> HttpResponse {
    HttpResponse::Ok().body("ok")
}

async fn style() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .content_type("text/css; charset=utf-8")
        .body(STYLE)
}

async fn nothing_here() -> HttpResponse {
    pages::Notice::new("There is nothing here", "The address you followed does not lead to a page of this sign-in service.")
        .answer(actix_web::http::StatusCode::NOT_FOUND)
}

/// Content of the session cookie.
fn session_cookie(request: &HttpRequest) -> Option<String> {
    request.cookie(SESSION_COOKIE).map(|cookie| cookie.value().to_owned())
}
