//! Findings of a task: search, one, statistics.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search::{self, Field, Kind, Row};
use super::tasks;
use crate::contract::ids::VulId;
use crate::contract::results::{Reachability, Stat, StatDetail, VulRow};
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;
use crate::scanner::store::Store;

/// `POST /tasks/{taskId}/results/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task(&app, &caller, &path, &body, Store::finding_rows).await
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

impl Row for VulRow {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("vulId", Kind::Text),
        ("title", Kind::Text),
        ("category", Kind::Text),
        ("cweId", Kind::Text),
        ("cveId", Kind::Text),
        ("component", Kind::Text),
        ("severity", Kind::Severity),
    ];

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "vulId" => Field::Text(self.vul_id.as_str().into()),
            "title" => Field::Text(self.title.as_str().into()),
            "category" => Field::Text(self.category.as_str().into()),
            "cweId" => Field::Text(self.cwe_id.as_str().into()),
            "cveId" => Field::Text(self.cve_ids.first().map(String::as_str).unwrap_or_default().into()),
            "component" => Field::Text(self.component.name.as_str().into()),
            "severity" => Field::Severity(self.severity),
            _ => return None,
        })
    }
}
