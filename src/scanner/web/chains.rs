//! Exploit chains of a task: search.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search::{self, Field, Kind, Row};
use super::tasks;
use crate::contract::chains::ExploitChain;
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;

/// `POST /tasks/{taskId}/exploit-chains/search`. A task that has not ended has none yet.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    let task = tasks::find(&app, &caller, &path).await?;
    let chains = app.store.run(move |store| store.chains(&task.id)).await.map_err(Failure::internal)?;
    Ok(HttpResponse::Ok().json(search::page(chains, &body)?))
}

impl Row for ExploitChain {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("vulId", Kind::Text),
        ("title", Kind::Text),
        ("category", Kind::Text),
        ("cweId", Kind::Text),
        ("severity", Kind::Severity),
    ];

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "vulId" => Field::Text(self.vul_id.as_str().into()),
            "title" => Field::Text(self.title.as_str().into()),
            "category" => Field::Text(self.category.as_str().into()),
            "cweId" => Field::Text(self.cwe_id.as_str().into()),
            "severity" => Field::Severity(self.severity),
            _ => return None,
        })
    }
}
