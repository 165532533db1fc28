//! Findings of a task: the list, and one.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::contract::ids::{TaskId, VulId};
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::services::Services;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Path, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::findings::{FindingPage, List, extent, title};
use crate::gateway::web::views::tasks::project;

/// The list. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(task): Path<TaskId>,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = FindingFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))?;
    let list = services.findings.list(&actor, &task, &filter).await?;
    let extent = extent(&filter, &list);
    if extent.is_beyond() {
        return Ok(see_other(&urls::with_query(urls::findings(&task), &filter.query(extent.last()))));
    }
    let name = project(&list.task, 80);
    let title = if filter.page > 1 { format!("Findings of {name}, page {}", filter.page) } else { format!("Findings of {name}") };
    page.show(&List::new(page.chrome(title, "tasks"), &filter, &list))
}

/// One finding, with the way to its neighbours in the filtered list it was opened from.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path((task, vul)): Path<(TaskId, VulId)>,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = FindingFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))?;
    let opened = services.findings.open(&actor, &task, &vul, &filter).await?;
    let chrome = page.chrome(title(&opened.finding.row, 80), "tasks");
    page.show(&FindingPage::new(chrome, &filter, &opened))
}
