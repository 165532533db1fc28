//! Exploit chains of a task: search.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search;
use crate::contract::chains::ExploitChain;
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;

/// `POST /tasks/{taskId}/exploit-chains/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task::<ExploitChain>(&app, &caller, &path, &body).await
}
