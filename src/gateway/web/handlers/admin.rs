//! The first page of administration.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::gateway::services::Services;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::Admin;
use crate::gateway::web::page::Page;
use crate::gateway::web::views::admin::Overview;

pub(in crate::gateway) async fn show(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let administration = &services.administration;
    let shown = administration.overview.show(&actor).await;
    let runs_platform = administration.operators.has(&actor.principal);
    page.show(&Overview::new(page.chrome("Administration", "admin"), &shown, runs_platform))
}
