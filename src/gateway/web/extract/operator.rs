//! Somebody who runs the platform. For everybody else there is nothing at the address, whatever they are in their company.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};

use super::signed_in::actor;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::WebError;

/// Who acts, with a sign-in that is good now.
pub(in crate::gateway) struct Operator(pub(in crate::gateway) Actor);

impl FromRequest for Operator {
    type Error = WebError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WebError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let actor = actor(request);
        let services = request.app_data::<Data<Services>>().cloned();
        Box::pin(async move {
            let (actor, services) =
                (actor?, services.ok_or_else(|| WebError::internal("the services are not known to the server"))?);
            if !services.administration.operators.has(&actor.principal) {
                return Err(WebError::not_found());
            }
            Ok(Self(services.authority.confirmed(actor).await?))
        })
    }
}
