//! Findings of a task: search, one, statistics.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search;
use super::tasks;
use crate::contract::ids::VulId;
use crate::contract::results::{Reachability, Stat, StatDetail, VulRow};
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;

/// `POST /tasks/{taskId}/results/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task::<VulRow>(&app, &caller, &path, &body).await
}

/// `GET /tasks/{taskId}/results/{vulId}`.
pub(super) async fn get(app: web::Data<App>, caller: Caller, path: web::Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (task, vul) = path.into_inner();
    let task = tasks::find(&app, &caller, &task).await?;
    let vul: VulId = vul.parse().map_err(|_| Failure::not_found("finding"))?;
    let found = app.store.run(move |store| store.finding(&task.id, &vul)).await.map_err(Failure::internal)?;
    found.map(|finding| HttpResponse::Ok().json(finding)).ok_or_else(|| Failure::not_found("finding"))
}

/// `POST /tasks/{taskId}/results/stat`. Takes no body and tolerates one.
pub(super) async fn stat(app: web::Data<App>, caller: Caller, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let task = tasks::find(&app, &caller, &path).await?;
    let (counts, mut groups) = (task.stat.clone(), BTreeMap::new());
    let counted = |row: &VulRow| row.reachability != Some(Reachability::NotPresent);
    let rows = app.store.run(move |store| store.finding_rows(&task.id)).await.map_err(Failure::internal)?;
    for row in rows.into_iter().filter(counted) {
        *groups.entry((row.severity, row.category, row.cwe_id)).or_insert(0_u64) += 1;
    }
    let detail = groups.into_iter().map(|((severity, category, cwe_id), count)| StatDetail { category, cwe_id, severity, count });
    Ok(HttpResponse::Ok().json(Stat { counts, detail: detail.collect() }))
}
