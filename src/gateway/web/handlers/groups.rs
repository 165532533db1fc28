//! Groups of tasks: one, stopping all of it, deleting all of it.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::domain::group::GroupId;
use crate::gateway::services::Services;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Form, Nothing, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::groups::{DeletePage, GroupPage};

/// One group.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<GroupId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let group = services.groups.show(&actor, &id).await?;
    page.show(&GroupPage::new(page.chrome("Group of tasks", "tasks"), &group))
}

/// Stops every scan of it that has not ended.
pub(in crate::gateway) async fn terminate(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<GroupId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let stopped = services.groups.stop(&actor, &id).await?;
    let news = match (stopped.told, stopped.failed) {
        (_, 1..) => Flash::GroupPartlyTerminated,
        (0, 0) => Flash::GroupHadEnded,
        _ => Flash::GroupTerminated,
    };
    Ok(page.go_with_news(&urls::group(&id), news))
}

/// Asks before deleting.
pub(in crate::gateway) async fn ask_delete(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<GroupId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let group = services.groups.show(&actor, &id).await?;
    page.show(&DeletePage::new(page.chrome("Delete this group?", "tasks"), &group))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Confirmed {
    /// How many tasks were shown when it was asked.
    tasks: usize,
}

/// Deletes all of its tasks, or none.
pub(in crate::gateway) async fn delete(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<GroupId>,
    services: Data<Services>,
    Form(confirmed): Form<Confirmed>,
) -> Result<HttpResponse, WebError> {
    services.groups.delete(&actor, &id, confirmed.tasks).await?;
    Ok(page.go_with_news(urls::TASKS, Flash::GroupDeleted))
}
