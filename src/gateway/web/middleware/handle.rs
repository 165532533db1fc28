//! Gives a session a new handle when its user's role changed since it got the one it has (OWASP ASVS 5.0 7.2.4). Runs inside of
//! the sessions' own middleware, which does the work when the request ends.

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;

use crate::gateway::session::Portal;

pub(in crate::gateway) async fn handle(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    Portal::of(request.request()).outgrow();
    next.call(request).await
}
