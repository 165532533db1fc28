//! The token endpoint (RFC 6749 3.2) and revocation (RFC 7009).

use actix_web::http::header::PRAGMA;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::platform::digest::sha256;

use super::super::provider::Provider;
use super::super::records::{Issued, Refusal};
use super::client_auth::{OauthError, client};
use super::params::Params;

/// `POST /oauth/token`. An extra `scope` is not looked at.
pub(super) async fn token(request: HttpRequest, body: Bytes, provider: Data<Provider>) -> HttpResponse {
    match answer(&request, &body, &provider).await {
        Ok(tokens) => HttpResponse::Ok().insert_header((PRAGMA, "no-cache")).json(tokens),
        Err(error) => error.answer(),
    }
}

async fn answer(request: &HttpRequest, body: &[u8], provider: &Provider) -> Result<Value, OauthError> {
    let params = Params::form(request.headers(), body).ok_or(OauthError::invalid_request("the body is no form"))?;
    let client = client(provider, request.headers(), &params)?;
    match params.get("grant_type")? {
        Some("authorization_code") => exchange(provider, &client, &params).await,
        Some("refresh_token") => refresh(provider, &client, &params).await,
        Some(_) => Err(OauthError::new("unsupported_grant_type", "only authorization_code and refresh_token are offered")),
        None => Err(OauthError::invalid_request("grant_type is missing")),
    }
}

async fn exchange(provider: &Provider, client: &str, params: &Params) -> Result<Value, OauthError> {
    let code = params.get("code")?.ok_or(OauthError::invalid_request("code is missing"))?;
    let redirect_uri = params.get("redirect_uri")?.ok_or(OauthError::invalid_request("redirect_uri is missing"))?;
    let challenge = params.get("code_verifier")?.map(|verifier| URL_SAFE_NO_PAD.encode(sha256(verifier.as_bytes())));
    let lives = provider.lifetimes();
    let issued = provider
        .change(|held, now| held.records.exchange((client, code), redirect_uri, challenge.as_deref(), now, lives))
        .await
        .map_err(|_| OauthError::unavailable())?;
    tokens(provider, issued, true)
}

async fn refresh(provider: &Provider, client: &str, params: &Params) -> Result<Value, OauthError> {
    let token = params.get("refresh_token")?.ok_or(OauthError::invalid_request("refresh_token is missing"))?;
    let lives = provider.lifetimes();
    let issued =
        provider.change(|held, now| held.refresh(client, token, now, lives)).await.map_err(|_| OauthError::unavailable())?;
    tokens(provider, issued, false)
}

fn tokens(provider: &Provider, issued: Result<Issued, Refusal>, with_nonce: bool) -> Result<Value, OauthError> {
    let issued = issued.map_err(|refusal| match refusal {
        Refusal::Unavailable => OauthError::unavailable(),
        Refusal::NotGood | Refusal::Replayed | Refusal::JustUsed => OauthError::invalid_grant(),
    })?;
    let mut answer = json!({
        "access_token": issued.access.expose(),
        "token_type": "Bearer",
        "expires_in": provider.settings.access_token_seconds,
        "refresh_token": issued.refresh.expose(),
        "scope": issued.grant.scope,
    });
    if let (Some(token), Value::Object(map)) = (provider.id_token(&issued.grant, with_nonce), &mut answer) {
        map.insert("id_token".to_owned(), Value::from(token));
    }
    Ok(answer)
}

/// `POST /oauth/revoke`. An unknown token is a success.
pub(super) async fn revoke(request: HttpRequest, body: Bytes, provider: Data<Provider>) -> HttpResponse {
    let ended = async {
        let params = Params::form(request.headers(), &body).ok_or(OauthError::invalid_request("the body is no form"))?;
        let client = client(&provider, request.headers(), &params)?;
        let token = params.get("token")?.ok_or(OauthError::invalid_request("token is missing"))?;
        provider.change(|held, _| held.records.revoke(&client, token)).await.map_err(|_| OauthError::unavailable())
    };
    match ended.await {
        Ok(()) => HttpResponse::Ok().finish(),
        Err(error) => error.answer(),
    }
}
