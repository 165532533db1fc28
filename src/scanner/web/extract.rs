//! What handlers ask for: who calls, and a JSON body. Both refuse with an ErrorResponse.

use std::pin::Pin;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, web};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use super::App;
use super::error::Failure;
use crate::platform::secret::Secret;
use crate::scanner::identity::{Caller, Refusal};

/// The largest JSON body, in bytes. Captured sessions of a create are the longest thing anybody sends.
const BODY_LIMIT: usize = 4 << 20;
/// A body that moves no byte for this long is given up.
const BODY_IDLE: Duration = Duration::from_secs(30);

type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

impl FromRequest for Caller {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let bearer = bearer(request);
        let app = request.app_data::<web::Data<App>>().cloned();
        Box::pin(async move {
            let app = app.ok_or_else(|| Failure::internal("the application has no state"))?;
            let bearer = bearer.ok_or_else(Failure::unauthorized)?;
            app.identity.caller(&bearer).await.map_err(|refusal| match refusal {
                Refusal::Unknown => Failure::unauthorized(),
                Refusal::NoAccount => Failure::forbidden("This sign-in belongs to no account of the service."),
                Refusal::Unavailable => Failure::identity_unavailable(),
            })
        })
    }
}

/// The credential of `Authorization: Bearer …`, scheme in any case.
fn bearer(request: &HttpRequest) -> Option<Secret> {
    let (scheme, token) = request.headers().get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| Secret::new(token))
}

/// A JSON body of any declared content type; an empty one reads as `{}`.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned + 'static> FromRequest for Body<T> {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(_: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let mut payload = payload.take();
        Box::pin(async move {
            let mut body = BytesMut::new();
            loop {
                let next = tokio::time::timeout(BODY_IDLE, payload.next()).await;
                let chunk = match next.map_err(|_| Failure::bad("The body stopped arriving. Send it again."))? {
                    None => break,
                    Some(chunk) => chunk.map_err(|_| Failure::bad("The body did not arrive in full. Send it again."))?,
                };
                if body.len() + chunk.len() > BODY_LIMIT {
                    return Err(Failure::too_large(BODY_LIMIT as u64));
                }
                body.extend_from_slice(&chunk);
            }
            let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
            // serde also reads structs from lists; the interface only knows objects.
            if text.trim_ascii_start().first() != Some(&b'{') {
                return Err(Failure::bad("The JSON body must be an object."));
            }
            serde_json::from_slice(text).map(Self).map_err(|error| Failure::bad(format!("The JSON body is not right: {error}.")))
        })
    }
}
