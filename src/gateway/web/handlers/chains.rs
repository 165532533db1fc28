//! Exploit chains of a task: the list, and one.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::contract::ids::{TaskId, VulId};
use crate::gateway::services::Services;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Paging, Path, Query, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::chains::{ChainPage, List, extent, title};
use crate::gateway::web::views::components::paged;
use crate::gateway::web::views::pager::Extent;
use crate::gateway::web::views::tasks::project;

/// The list. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(task): Path<TaskId>,
    Query(paging): Query<Paging>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let number = paging.number();
    let found = services.chains.list(&actor, &task, number).await?;
    if let Some(last) = extent(&found, number).filter(|extent| extent.is_beyond()).map(Extent::last) {
        return Ok(see_other(&urls::page(urls::chains(&task), last)));
    }
    let title = paged(format!("Exploit chains of {}", project(&found.task, 80)), number);
    page.show(&List::new(page.chrome(title, "tasks"), number, &found))
}

/// One chain.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path((task, chain)): Path<(TaskId, VulId)>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let opened = services.chains.open(&actor, &task, &chain).await?;
    let chrome = page.chrome(title(&opened.chain, 80), "tasks");
    page.show(&ChainPage::new(chrome, &opened))
}
