//! Exploit chains of a task: search.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search::{self, Field, Kind, Row};
use crate::contract::chains::ExploitChain;
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;
use crate::scanner::store::Store;

/// `POST /tasks/{taskId}/exploit-chains/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task(&app, &caller, &path, &body, Store::chains).await
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
