//! Who an access token belongs to. By GET, or by POST with any form beside the token.

use actix_web::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Value, json};

use super::super::provider::Provider;
use super::params::Params;

/// `GET` and `POST /oauth/userinfo`.
pub(super) async fn userinfo(request: HttpRequest, body: Bytes, provider: Data<Provider>) -> HttpResponse {
    let form = Params::form(request.headers(), &body);
    let header = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
    let (token, hint) = match (header, form.as_ref().and_then(|form| form.one("access_token"))) {
        (None, None) => return refused("Bearer realm=\"userinfo\""),
        (Some(header), _) => (bearer(header), "Bearer error=\"invalid_token\""),
        (None, Some(token)) => (Some(token), "Bearer error=\"invalid_token\""),
    };
    token.and_then(|token| claims(&provider, token)).map_or_else(|| refused(hint), |claims| HttpResponse::Ok().json(claims))
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn refused(challenge: &'static str) -> HttpResponse {
    HttpResponse::Unauthorized().insert_header((WWW_AUTHENTICATE, challenge)).json(json!({ "error": "invalid_token" }))
}

fn claims(provider: &Provider, token: &str) -> Option<Value> {
    let held = provider.held();
    let grant = held.records.bearer(token, provider.clock.now())?;
    let name = &grant.user;
    let user = provider.settings.users.get(name)?;
    Some(json!({
        "sub": name,
        "user_id": name,
        "email": user.email,
        "email_verified": true,
        "name": user.display_name,
        "organization": user.organization,
        "roles": user.roles,
        "auth_time": grant.signed_in.seconds(),
    }))
}
