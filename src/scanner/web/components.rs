//! Components of a task: search. An addition to the interface.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search;
use crate::contract::components::ComponentRow;
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;

/// `POST /tasks/{taskId}/components/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task::<ComponentRow>(&app, &caller, &path, &body).await
}
