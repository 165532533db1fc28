//! The token endpoint, with the `oauth2` crate over our one transport, and revocation, which that crate refuses without TLS
//! even on loopback. Answers are read tolerantly (WIRE 2.1, 18 #21); nothing of them gets into an error.

use std::time::Duration;

use futures_util::future::BoxFuture;
use oauth2::basic::BasicTokenType;
use oauth2::basic::{BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse};
use oauth2::{
    AccessToken, AsyncHttpClient, AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, EndpointNotSet, EndpointSet,
    HttpRequest, HttpResponse, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope, StandardRevocableToken,
    TokenResponse, TokenUrl,
};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use url::Url;

use crate::config::gateway::{ClientAuth, Identity as Settings};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

use super::super::error::UpstreamError;
use super::super::transport::{Repeat, Transport};
use super::discovery::Endpoints;
use super::{IdentityError, Tokens};

/// RFC 7523, section 2.2.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

type Client = oauth2::Client<
    BasicErrorResponse,
    Answer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// A token answer: only the access token is needed. The token types of the crate do not print their content.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    access_token: AccessToken,
    #[serde(default = "bearer", deserialize_with = "token_type")]
    token_type: BasicTokenType,
    #[serde(default, deserialize_with = "seconds")]
    expires_in: Option<u64>,
    #[serde(default)]
    refresh_token: Option<RefreshToken>,
    #[serde(default)]
    id_token: Option<AccessToken>,
}

impl TokenResponse for Answer {
    type TokenType = BasicTokenType;

    fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    fn token_type(&self) -> &BasicTokenType {
        &self.token_type
    }

    fn expires_in(&self) -> Option<Duration> {
        self.expires_in.map(Duration::from_secs)
    }

    fn refresh_token(&self) -> Option<&RefreshToken> {
        self.refresh_token.as_ref()
    }

    fn scopes(&self) -> Option<&Vec<Scope>> {
        None
    }
}

const fn bearer() -> BasicTokenType {
    BasicTokenType::Bearer
}

fn token_type<'de, D: Deserializer<'de>>(from: D) -> Result<BasicTokenType, D::Error> {
    let word = Option::<String>::deserialize(from)?.unwrap_or_default();
    let bearer = word.is_empty() || word.eq_ignore_ascii_case("bearer");
    Ok(if bearer { BasicTokenType::Bearer } else { BasicTokenType::Extension(word) })
}

/// A number, a number as text, or something that tells nothing.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(number: f64) -> Option<u64> {
    (0.0..9.0e15).contains(&number).then_some(number as u64)
}

/// The `oauth2` crate's way to our transport.
struct Wire<'t>(&'t Transport);

impl<'c> AsyncHttpClient<'c> for Wire<'_> {
    type Error = UpstreamError;
    type Future = BoxFuture<'c, Result<HttpResponse, UpstreamError>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(send(self.0, request))
    }
}

/// One request to the token endpoint, or to the one that takes tokens back, with what it needs.
pub(super) struct TokenRequest<'t> {
    pub(super) settings: &'t Settings,
    pub(super) endpoints: &'t Endpoints,
    pub(super) transport: &'t Transport,
    /// Signed for this request alone, where the client has a key instead of a secret.
    pub(super) assertion: Option<Secret>,
}

/// Which token is to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    Refresh,
    Access,
}

impl TokenRequest<'_> {
    /// Turns `(code, verifier, redirect_uri)` into tokens.
    pub(super) async fn exchange(self, code: &Secret, verifier: &Secret, redirect_uri: &str) -> Result<Tokens, IdentityError> {
        let redirect = RedirectUrl::new(redirect_uri.to_owned())
            .map_err(|_| IdentityError::Misconfigured("the redirect address cannot be read"))?;
        let client = self.client().set_redirect_uri(redirect);
        let request = client
            .exchange_code(AuthorizationCode::new(code.expose().to_owned()))
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.expose().to_owned()));
        let request = self.proof().into_iter().fold(request, |request, (name, value)| request.add_extra_param(name, value));
        read(request.request_async(&Wire(self.transport)).await)
    }

    /// Turns a refresh token into tokens.
    pub(super) async fn refresh(self, refresh_token: &Secret) -> Result<Tokens, IdentityError> {
        let token = RefreshToken::new(refresh_token.expose().to_owned());
        let client = self.client();
        let request = client.exchange_refresh_token(&token);
        let request = self.proof().into_iter().fold(request, |request, (name, value)| request.add_extra_param(name, value));
        read(request.request_async(&Wire(self.transport)).await)
    }

    /// RFC 7009. An unknown token is a success there, so every success is. False when there is no such endpoint.
    pub(super) async fn revoke(self, token: &Secret, hint: Hint) -> Result<bool, IdentityError> {
        let Some(url) = &self.endpoints.revocation else {
            return Ok(false);
        };
        let hint = if hint == Hint::Refresh { "refresh_token" } else { "access_token" };
        let (id, secret) = (self.settings.client_id.as_str(), self.settings.client_secret.expose());
        let mut form = vec![("token", token.expose()), ("token_type_hint", hint)];
        let mut request = self.transport.request(Method::POST, url.clone());
        let proof = self.proof();
        match self.endpoints.client_auth {
            ClientAuth::Basic => {
                let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                request = request.basic_auth(encoded(id), Some(encoded(secret)));
            }
            ClientAuth::PrivateKey => {
                form.push(("client_id", id));
                form.extend(proof.iter().map(|(name, value)| (*name, value.as_str())));
            }
            ClientAuth::Post | ClientAuth::Auto => form.extend([("client_id", id), ("client_secret", secret)]),
        }
        let answer = self.transport.answer(request.form(&form), Repeat::Never).await?;
        if answer.status.is_success() {
            return Ok(true);
        }
        if answer.status == StatusCode::UNAUTHORIZED {
            return Err(IdentityError::InvalidClient);
        }
        Err(UpstreamError::answer(answer.status, &answer.headers, &answer.body).into())
    }

    fn client(&self) -> Client {
        let auth = if self.endpoints.client_auth == ClientAuth::Basic { AuthType::BasicAuth } else { AuthType::RequestBody };
        let client = oauth2::Client::new(ClientId::new(self.settings.client_id.clone()))
            .set_auth_type(auth)
            .set_auth_uri(AuthUrl::from_url(self.endpoints.authorize.clone()))
            .set_token_uri(TokenUrl::from_url(self.endpoints.token.clone()));
        if self.endpoints.client_auth == ClientAuth::PrivateKey {
            return client;
        }
        client.set_client_secret(ClientSecret::new(self.settings.client_secret.expose().to_owned()))
    }

    /// The assertion as fields of the form.
    fn proof(&self) -> Vec<(&'static str, String)> {
        let fields = |assertion: &Secret| {
            vec![("client_assertion_type", ASSERTION_TYPE.to_owned()), ("client_assertion", assertion.expose().to_owned())]
        };
        self.assertion.as_ref().map(fields).unwrap_or_default()
    }
}

/// The crate's way to the network. It takes any success for 200, does not look at the content type (the JSON is what counts),
/// and makes an error of a 200 that holds one.
async fn send(transport: &Transport, request: HttpRequest) -> Result<HttpResponse, UpstreamError> {
    let (parts, body) = request.into_parts();
    let url = Url::parse(&parts.uri.to_string())
        .map_err(|_| UpstreamError::ours("the address of the token endpoint cannot be read"))?;
    let request = transport.request(parts.method, url).headers(parts.headers).body(body);
    let answer = transport.answer(request, Repeat::Never).await?;
    if answer.status.is_server_error() || answer.status.is_redirection() || answer.status == StatusCode::TOO_MANY_REQUESTS {
        return Err(UpstreamError::answer(answer.status, &answer.headers, &answer.body));
    }
    let mut response = HttpResponse::new(answer.body.to_vec());
    *response.status_mut() = match answer.status {
        status if !status.is_success() => status,
        _ if holds_error(&answer.body) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    };
    response.headers_mut().remove(CONTENT_TYPE);
    Ok(response)
}

fn holds_error(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body)
        .is_ok_and(|value| value.get("access_token").is_none() && value.get("error").is_some_and(Value::is_string))
}

type Failure = RequestTokenError<UpstreamError, BasicErrorResponse>;

fn read(answer: Result<Answer, Failure>) -> Result<Tokens, IdentityError> {
    let answer = answer.map_err(|error| match error {
        RequestTokenError::ServerResponse(told) => match told.error() {
            BasicErrorResponseType::InvalidGrant => IdentityError::InvalidGrant,
            BasicErrorResponseType::InvalidClient | BasicErrorResponseType::UnauthorizedClient => IdentityError::InvalidClient,
            other => IdentityError::Refused(Hostile::from(other.as_ref())),
        },
        RequestTokenError::Request(error) => error.into(),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => IdentityError::Garbage("the token answer"),
    })?;
    if answer.token_type != BasicTokenType::Bearer {
        return Err(IdentityError::Garbage("the token is not a bearer token"));
    }
    let kept = |text: &str| Some(Secret::new(text)).filter(|_| !text.is_empty());
    Ok(Tokens {
        access: kept(answer.access_token.secret()).ok_or(IdentityError::Garbage("the access token is empty"))?,
        refresh: answer.refresh_token.as_ref().and_then(|token| kept(token.secret())),
        id_token: answer.id_token.as_ref().and_then(|token| kept(token.secret())),
        expires_in: TokenResponse::expires_in(&answer),
    })
}
