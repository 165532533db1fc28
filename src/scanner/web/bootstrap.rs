//! What needs no credential and no data: health, and the key of the front-end bootstrap.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::App;
use super::error::Failure;
use crate::contract::bootstrap::PublishableKey;

/// Answers while the service accepts requests.
pub(super) async fn health() -> HttpResponse {
    HttpResponse::Ok().json(json!({"status": "ok"}))
}

/// The key a front end starts its sign-in with; meant for browsers, so no secret.
pub(super) async fn publishable_key(app: web::Data<App>) -> Result<HttpResponse, Failure> {
    let key = &app.settings.publishable_key;
    if key.is_empty() {
        return Err(Failure::not_found("key: none is configured"));
    }
    Ok(HttpResponse::Ok().json(PublishableKey { publishable_key: key.clone() }))
}
