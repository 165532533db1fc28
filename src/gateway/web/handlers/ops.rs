//! Probes for load balancers and containers, and what operators measure. They name no tenant and tell nothing about one. The
//! portal's own listener says only whether; what, and the metrics, are told on the operations listener.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::json;

use crate::gateway::operations::MetricsPage;
use crate::gateway::services::Services;
use crate::gateway::services::health::Health;

/// The text format of Prometheus.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The process runs.
pub(in crate::gateway) async fn live() -> HttpResponse {
    plain("ok\n")
}

/// The process can serve: its store answers. The scanning service and the identity provider may be down.
pub(in crate::gateway) async fn ready(services: Data<Services>) -> HttpResponse {
    if services.health.report().await.is_ready() {
        return plain("ready\n");
    }
    HttpResponse::ServiceUnavailable()
        .insert_header(("retry-after", "5"))
        .content_type("application/json")
        .body("{\"status\":\"not_ready\"}\n")
}

/// As [`ready`], with what is not as it should be.
pub(in crate::gateway) async fn state(health: Data<Health>) -> HttpResponse {
    let report = health.report().await;
    let mut degraded = Vec::new();
    if !report.store {
        degraded.push("the session store does not answer");
    }
    if report.ending {
        degraded.push("the process is ending: it finishes what is running");
    }
    if report.audit_waiting > 0 {
        degraded.push("audit events wait for the session store");
    }
    let status = match (report.is_ready(), degraded.is_empty()) {
        (true, true) => "ready",
        (true, false) => "degraded",
        (false, _) => "not_ready",
    };
    let told = json!({ "status": status, "degraded": degraded, "audit_waiting": report.audit_waiting });
    let mut answer = if report.is_ready() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    answer.content_type("application/json").body(format!("{told}\n"))
}

/// Everything that is measured.
pub(in crate::gateway) async fn metrics(page: Data<MetricsPage>) -> HttpResponse {
    HttpResponse::Ok().content_type(EXPOSITION).body(page.text())
}

fn plain(text: &'static str) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(text)
}
