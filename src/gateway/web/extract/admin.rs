//! An administrator of the tenant the request is for.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};

use super::signed_in::actor;
use crate::gateway::services::{Actor, Services};
use crate::gateway::session::Portal;
use crate::gateway::web::error::WebError;

/// Who acts, being an administrator now, not only when the session began ([`Authority`](crate::gateway::services::authority)).
/// What is found out about the person on the way goes into the session of this request.
pub(in crate::gateway) struct Admin(pub(in crate::gateway) Actor);

impl FromRequest for Admin {
    type Error = WebError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WebError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (actor, portal) = (actor(request), Portal::of(request));
        let services = request.app_data::<Data<Services>>().cloned();
        Box::pin(async move {
            let services = services.ok_or_else(|| WebError::internal("the services are not known to the server"))?;
            let actor = services.authority.confirmed(actor?).await?;
            portal.update(actor.principal.clone());
            if actor.principal.is_administrator() {
                return Ok(Self(actor));
            }
            Err(WebError::forbidden("Only administrators of your company can do this."))
        })
    }
}
