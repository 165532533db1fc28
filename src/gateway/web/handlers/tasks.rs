//! Tasks: list, new scan, one task, stop, delete.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::contract::ids::{Sha256, TaskId};
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::services::tasks::{NewTask, PAGE, Problems};
use crate::gateway::services::uploads::Announced;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Path, SignedIn, UploadForm};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::task::TaskPage;
use crate::gateway::web::views::tasks::{DeletePage, List, NewPage, Typed, extent, project};

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

/// The form of a new scan.
pub(in crate::gateway) async fn new(page: Page, _: SignedIn, services: Data<Services>) -> Result<HttpResponse, WebError> {
    let chrome = page.chrome("New scan", "tasks");
    page.show(&NewPage::new(chrome, Typed::default(), Problems::default(), services.uploads.max_bytes()))
}

/// The whole form at once, as browsers send it without script: the file goes through, then the scan starts.
pub(in crate::gateway) async fn upload_and_create(
    page: Page,
    SignedIn(actor): SignedIn,
    form: UploadForm,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let (fields, file) = form.read_checked().await?;
    let mut typed = Typed {
        project: fields.get("project").to_owned(),
        sha256: fields.get("sha256").to_owned(),
        file_name: fields.get("file_name").to_owned(),
    };
    if let Some(file) = file {
        typed.file_name = file.name().raw().to_owned();
        let problems = Problems::of(&typed.project, fields.get("lang"), &typed.file_name);
        if !problems.is_empty() {
            file.discard().await;
            // The browser does not keep a chosen file over a page.
            return again(&page, &services, Typed { sha256: String::new(), ..typed }, problems);
        }
        let announced = Announced { name: file.name().clone(), ..Announced::default() };
        let stored = file.feed(|chunks| services.uploads.store(&actor, &announced, chunks)).await?;
        stored.as_str().clone_into(&mut typed.sha256);
    }
    start(&page, &services, &actor, typed, fields.get("lang")).await
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Created {
    #[serde(default)]
    project: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    sha256: String,
    #[serde(default)]
    file_name: String,
}

/// A scan of a file that is uploaded already.
pub(in crate::gateway) async fn create(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(form): Form<Created>,
) -> Result<HttpResponse, WebError> {
    let typed = Typed { project: form.project, sha256: form.sha256, file_name: form.file_name };
    start(&page, &services, &actor, typed, &form.lang).await
}

async fn start(page: &Page, services: &Services, actor: &Actor, typed: Typed, lang: &str) -> Result<HttpResponse, WebError> {
    let Ok(sha256) = typed.sha256.parse::<Sha256>() else {
        let problems = Problems { file: Some("Choose a file."), ..Problems::of(&typed.project, lang, &typed.file_name) };
        return again(page, services, Typed { sha256: String::new(), ..typed }, problems);
    };
    match NewTask::check(&typed.project, lang, &typed.file_name, sha256) {
        Ok(new) => Ok(see_other(&urls::task(&services.tasks.create(actor, &new).await?))),
        Err(problems) => again(page, services, typed, problems),
    }
}

/// The form once more, with what was typed and what is wrong with it.
fn again(page: &Page, services: &Services, typed: Typed, problems: Problems) -> Result<HttpResponse, WebError> {
    let chrome = page.chrome("Error: New scan", "tasks");
    let view = NewPage::new(chrome, typed, problems, services.uploads.max_bytes());
    page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &view)
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

#[derive(Deserialize)]
pub(in crate::gateway) struct Nothing {}

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
