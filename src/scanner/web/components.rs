//! Components of a task: search. An addition to the interface.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search::{self, Field, Kind, Row};
use crate::contract::components::ComponentRow;
use crate::contract::results::Severity;
use crate::contract::tasks::Search;
use crate::scanner::identity::Caller;
use crate::scanner::store::Store;

/// `POST /tasks/{taskId}/components/search`.
pub(super) async fn search(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<Search>,
) -> Result<HttpResponse, Failure> {
    search::of_task(&app, &caller, &path, &body, Store::components).await
}

/// The most severe band that has a finding.
fn severity(row: &ComponentRow) -> Option<Severity> {
    let counts = &row.counts;
    let bands = [counts.critical_count, counts.high_count, counts.medium_count, counts.low_count];
    Severity::ALL.into_iter().zip(bands).find(|(_, count)| *count > 0).map(|(severity, _)| severity)
}

impl Row for ComponentRow {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("name", Kind::Text),
        ("version", Kind::Text),
        ("ecosystem", Kind::Text),
        ("path", Kind::Text),
        ("severity", Kind::Severity),
    ];

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "name" => Field::Text(self.component.name.as_str().into()),
            "version" => Field::Text(self.component.version.as_str().into()),
            "ecosystem" => Field::Text(self.ecosystem.as_str().into()),
            "path" => Field::Text(self.component.path.as_str().into()),
            "severity" => Field::Severity(severity(self)?),
            _ => return None,
        })
    }
}
