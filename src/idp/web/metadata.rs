//! What clients can find out by themselves: endpoints (OpenID Connect Discovery 1.0) and keys.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Data;
use serde_json::json;

use super::super::provider::Provider;

/// Scopes that mean something here; others are left out of a grant.
pub(super) const SCOPES: [&str; 3] = ["openid", "profile", "email"];

/// `GET /.well-known/openid-configuration`.
pub(super) async fn configuration(provider: Data<Provider>) -> HttpResponse {
    let issuer = &provider.settings.issuer;
    let body = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "userinfo_endpoint": format!("{issuer}/oauth/userinfo"),
        "revocation_endpoint": format!("{issuer}/oauth/revoke"),
        "end_session_endpoint": format!("{issuer}/oauth/end_session"),
        "jwks_uri": format!("{issuer}/oauth/jwks"),
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login"],
        "claims_supported": ["sub", "name", "email", "email_verified", "organization", "roles", "auth_time", "sid"],
        "authorization_response_iss_parameter_supported": true,
    });
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "public, max-age=300")).json(body)
}

/// `GET /oauth/jwks`.
pub(super) async fn keys(provider: Data<Provider>) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "public, max-age=300")).json(provider.signer.key_set())
}
