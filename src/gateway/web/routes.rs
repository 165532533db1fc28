//! Binds addresses to handlers: one function a feature. Whatever is not here is 404.

use actix_web::web::{self, ServiceConfig};

use super::handlers::{assets, ops, signin};
use super::urls;

/// All routes of the portal.
pub(in crate::gateway) fn all(config: &mut ServiceConfig) {
    operations(config);
    sign_in(config);
}

fn operations(config: &mut ServiceConfig) {
    config
        .route(urls::LIVEZ, web::get().to(ops::live))
        .route(urls::HEALTHZ, web::get().to(ops::live))
        .route(urls::READYZ, web::get().to(ops::ready))
        .route(urls::ASSET, web::get().to(assets::show));
}

fn sign_in(config: &mut ServiceConfig) {
    config
        .route(urls::LOGIN, web::get().to(signin::begin))
        .route(urls::CALLBACK, web::get().to(signin::complete))
        .route(urls::LOGOUT, web::post().to(signin::sign_out))
        .route(urls::SIGNED_OUT, web::get().to(signin::signed_out));
}
