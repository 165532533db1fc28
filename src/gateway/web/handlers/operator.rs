//! All tenants, for those who run the platform.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::gateway::services::Services;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Operator, Path};
use crate::gateway::web::page::Page;
use crate::gateway::web::views::operator::{List, Show};

pub(in crate::gateway) async fn list(
    page: Page,
    Operator(_): Operator,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let tenants = services.administration.operators.list().await;
    page.show(&List::new(page.chrome("All tenants", "operator"), &tenants))
}

pub(in crate::gateway) async fn show(
    page: Page,
    Operator(actor): Operator,
    services: Data<Services>,
    Path(tenant): Path<String>,
) -> Result<HttpResponse, WebError> {
    let (listed, policy) = services.administration.operators.one(&actor, &tenant, &page.context.network()).await?;
    page.show(&Show::new(page.chrome(listed.named.name.clone(), "operator"), &listed, &policy))
}
