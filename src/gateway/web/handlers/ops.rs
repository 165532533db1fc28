//! Probes for load balancers and containers. They name no tenant and tell nothing about one.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::gateway::services::Services;

/// The process runs.
pub(in crate::gateway) async fn live() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("ok\n")
}

/// The process can serve: its store answers. The scanning service and the identity provider may be down.
pub(in crate::gateway) async fn ready(services: Data<Services>) -> HttpResponse {
    if services.health.is_ready().await {
        return HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("ready\n");
    }
    HttpResponse::ServiceUnavailable()
        .insert_header(("retry-after", "5"))
        .content_type("application/json")
        .body("{\"status\":\"the session store does not answer\"}\n")
}
