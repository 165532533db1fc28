//! Components of a task: the list, and the plan of upgrades.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::contract::ids::TaskId;
use crate::gateway::domain::component_filter::ComponentFilter;
use crate::gateway::services::Services;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Paging, Path, Query, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::components::{List, Plan, extent, paged};
use crate::gateway::web::views::pager::Extent;
use crate::gateway::web::views::tasks::project;

/// The list. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(task): Path<TaskId>,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = ComponentFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))?;
    let found = services.components.list(&actor, &task, &filter).await?;
    if let Some(last) = extent(&found, filter.page).filter(|extent| extent.is_beyond()).map(Extent::last) {
        return Ok(see_other(&urls::with_query(urls::components(&task), &filter.query(last))));
    }
    let title = paged(format!("Components of {}", project(&found.task, 80)), filter.page);
    page.show(&List::new(page.chrome(title, "tasks"), &filter, &found))
}

/// The plan. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn upgrades(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(task): Path<TaskId>,
    Query(paging): Query<Paging>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let number = paging.number();
    let found = services.components.plan(&actor, &task, number).await?;
    if let Some(last) = extent(&found, number).filter(|extent| extent.is_beyond()).map(Extent::last) {
        return Ok(see_other(&urls::page(urls::upgrades(&task), last)));
    }
    let title = paged(format!("Upgrade plan of {}", project(&found.task, 80)), number);
    page.show(&Plan::new(page.chrome(title, "tasks"), number, &found))
}
