//! Which client asks: credentials in the form or by HTTP Basic, never both (RFC 6749 2.3.1). And the errors of section 5.2.

use actix_web::http::header::{AUTHORIZATION, HeaderMap, PRAGMA, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, http::StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::super::provider::Provider;
use super::params::{Params, Repeated};

/// An error of the protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct OauthError {
    code: &'static str,
    description: &'static str,
    status: StatusCode,
}

impl OauthError {
    pub(super) const fn new(code: &'static str, description: &'static str) -> Self {
        Self { code, description, status: StatusCode::BAD_REQUEST }
    }

    pub(super) const fn invalid_request(description: &'static str) -> Self {
        Self::new("invalid_request", description)
    }

    pub(super) const fn invalid_grant() -> Self {
        Self::new("invalid_grant", "the code or token is unknown, used, expired, or was given to another client")
    }

    pub(super) const fn unavailable() -> Self {
        Self { code: "server_error", description: "please try again", status: StatusCode::SERVICE_UNAVAILABLE }
    }

    const fn invalid_client() -> Self {
        Self { code: "invalid_client", description: "unknown client or wrong secret", status: StatusCode::UNAUTHORIZED }
    }

    /// As JSON.
    pub(super) fn answer(self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.status);
        answer.insert_header((PRAGMA, "no-cache"));
        if self.status == StatusCode::UNAUTHORIZED {
            answer.insert_header((WWW_AUTHENTICATE, "Basic realm=\"clients\""));
        }
        answer.json(json!({ "error": self.code, "error_description": self.description }))
    }
}

impl From<Repeated> for OauthError {
    fn from(_: Repeated) -> Self {
        Self::invalid_request("a parameter is there more than once")
    }
}

/// The id of the client that proved itself.
pub(super) fn client(provider: &Provider, headers: &HeaderMap, params: &Params) -> Result<String, OauthError> {
    let posted = (params.get("client_id")?, params.get("client_secret")?);
    let (id, secret) = match (headers.get(AUTHORIZATION), posted) {
        (Some(_), (_, Some(_))) => return Err(OauthError::invalid_request("the client shows its secret in two ways")),
        (Some(header), (posted, None)) => {
            let basic = header.to_str().ok().and_then(basic).ok_or(OauthError::invalid_client())?;
            if posted.is_some_and(|posted| posted != basic.0) {
                return Err(OauthError::invalid_request("the client names itself in two ways"));
            }
            basic
        }
        (None, (Some(id), Some(secret))) => (id.to_owned(), secret.to_owned()),
        (None, _) => return Err(OauthError::invalid_client()),
    };
    provider.client(&id, &secret).map(|_| id).ok_or(OauthError::invalid_client())
}

/// Id and secret, each form-encoded inside the base64.
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    let plain = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
    };
    Some((plain(id)?, plain(secret)?))
}
