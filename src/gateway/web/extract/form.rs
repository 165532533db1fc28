//! URL-encoded forms with their token already checked.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::signed_in::check;
use crate::gateway::web::error::WebError;

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, WebError>>>>;

/// A form of a signed-in page. Its `csrf` field was the session's.
pub(in crate::gateway) struct Form<T>(pub(in crate::gateway) T);

/// A form of a page without a session: the origin of the request was checked by the middleware, there is no token.
pub(in crate::gateway) struct OpenForm<T>(pub(in crate::gateway) T);

/// A form with its token and nothing else: a button.
#[derive(Deserialize)]
pub(in crate::gateway) struct Nothing {}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    csrf: String,
}

fn body(request: &HttpRequest, payload: &mut Payload) -> Pending<Bytes> {
    let media = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.is_empty() && !media.starts_with("application/x-www-form-urlencoded") {
        return Box::pin(async { Err(WebError::bad_request("The form was sent in a way that is not understood here.")) });
    }
    let reading = Bytes::from_request(request, payload);
    Box::pin(
        async move { reading.await.map_err(|_| WebError::too_large("The form is larger than allowed, or its sending was cut.")) },
    )
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebError> {
    serde_urlencoded::from_bytes(body).map_err(|_| WebError::bad_request("A field of the form is missing or cannot be read."))
}

impl<T: DeserializeOwned + 'static> FromRequest for Form<T> {
    type Error = WebError;
    type Future = Pending<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload);
        let request = request.clone();
        Box::pin(async move {
            let body = body.await?;
            check(&request, &read::<Token>(&body)?.csrf)?;
            read(&body).map(Self)
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for OpenForm<T> {
    type Error = WebError;
    type Future = Pending<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = body(request, payload);
        Box::pin(async move { read(&body.await?).map(Self) })
    }
}
