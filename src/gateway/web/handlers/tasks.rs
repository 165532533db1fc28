//! Tasks: list, one task, stop, delete.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::contract::ids::TaskId;
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::services::Services;
use crate::gateway::services::tasks::PAGE;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Nothing, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::task::TaskPage;
use crate::gateway::web::views::tasks::{DeletePage, List, extent, project};

/// The list. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = TaskFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))?;
    let listed = services.tasks.list(&actor, &filter, PAGE).await?;
    let extent = extent(&filter, &listed);
    if extent.is_beyond() {
        return Ok(see_other(&urls::tasks(&filter.query(extent.last()))));
    }
    let title = if filter.page > 1 { format!("Tasks, page {}", filter.page) } else { "Tasks".to_owned() };
    page.show(&List::new(page.chrome(title, "tasks"), &filter, &listed))
}

/// One task.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<TaskId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let overview = services.tasks.overview(&actor, &id).await?;
    page.show(&TaskPage::new(page.chrome(project(&overview.task, 80), "tasks"), &overview))
}

/// Stops a scan.
pub(in crate::gateway) async fn terminate(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<TaskId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.tasks.terminate(&actor, &id).await?;
    Ok(page.go_with_news(&urls::task(&id), Flash::TaskTerminated))
}

/// Asks before deleting.
pub(in crate::gateway) async fn ask_delete(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<TaskId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let task = services.tasks.get(&actor, &id).await?;
    page.show(&DeletePage::new(page.chrome("Delete this task?", "tasks"), &task))
}

/// Deletes a task with all that hangs on it.
pub(in crate::gateway) async fn delete(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<TaskId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.tasks.delete(&actor, &id).await?;
    Ok(page.go_with_news(urls::TASKS, Flash::TaskDeleted))
}
