//! An administrator who showed lately who they are: for what an open browser alone must not be enough for.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};

use super::Admin;
use crate::gateway::services::{Actor, Services};
use crate::gateway::session::Portal;
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;

/// Who acts, being an administrator now, and having shown the identity provider who they are within
/// `gateway.session.step_up_minutes`. Everybody else is asked to sign in once more, on a page that leads back. A change that
/// was held back is written down; looking at a form is not.
pub(in crate::gateway) struct RecentAdmin(pub(in crate::gateway) Actor);

impl FromRequest for RecentAdmin {
    type Error = WebError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WebError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (admin, request) = (Admin::from_request(request, payload), request.clone());
        Box::pin(async move {
            let Admin(actor) = admin.await?;
            let portal = Portal::of(&request);
            if portal.proved_until().is_some() {
                return Ok(Self(actor));
            }
            if !request.method().is_safe()
                && let Some(services) = request.app_data::<Data<Services>>()
            {
                services.authority.held_back(&actor, &Context::of(&request).network());
            }
            Err(WebError::step_up(portal.step_up().unwrap_or_default()))
        })
    }
}
