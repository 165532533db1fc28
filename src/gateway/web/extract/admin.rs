//! An administrator of the tenant the request is for.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};

use super::signed_in::actor;
use crate::gateway::services::Actor;
use crate::gateway::web::error::WebError;

/// Who acts, being an administrator.
pub(in crate::gateway) struct Admin(pub(in crate::gateway) Actor);

impl FromRequest for Admin {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(actor(request).and_then(|actor| {
            if actor.principal.is_administrator() {
                return Ok(Self(actor));
            }
            Err(WebError::forbidden("Only administrators of your company can do this."))
        }))
    }
}
