//! JSON that our own script sends, and says that it sends, read up to a limit. What is wrong with it is told without its content.

use std::future::{Ready, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::config::gateway::Limits;
use crate::gateway::web::error::WebError;
use crate::gateway::web::middleware::csrf::{Foreign, is_json};

/// A body that was not read yet.
pub(in crate::gateway) struct JsonBody {
    payload: Payload,
    idle: Duration,
}

impl FromRequest for JsonBody {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let Some(limits) = request.app_data::<Data<Limits>>() else {
            return ready(Err(WebError::internal("the limits are not known to the server")));
        };
        if !is_json(request.headers()) {
            request.extensions_mut().insert(Foreign("media_type"));
            return ready(Err(WebError::unsupported_media_type("Only JSON is taken here. Nothing was saved.")));
        }
        ready(Ok(Self { payload: payload.take(), idle: Duration::from_secs(limits.body_idle_seconds) }))
    }
}

impl JsonBody {
    /// Reads it, up to `most` bytes.
    pub(in crate::gateway) async fn read<T: DeserializeOwned>(mut self, most: usize) -> Result<T, WebError> {
        let mut body = Zeroizing::new(Vec::new());
        loop {
            let next = timeout(self.idle, self.payload.next()).await;
            match next.map_err(|_| WebError::bad_request("The sending stopped before it was whole. Nothing was saved."))? {
                None => break,
                Some(Err(_)) => return Err(WebError::bad_request("The sending was cut. Nothing was saved.")),
                Some(Ok(chunk)) if body.len() + chunk.len() > most => {
                    return Err(WebError::too_large(format!(
                        "More than {} kB are not taken here. Nothing was saved.",
                        most / 1024
                    )));
                }
                Some(Ok(chunk)) => body.extend_from_slice(&chunk),
            }
        }
        serde_json::from_slice(&body).map_err(|_| WebError::bad_request("What was sent cannot be read. Nothing was saved."))
    }
}
