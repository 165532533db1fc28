//! Report downloads. A report exists once its task has succeeded.

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;

use super::App;
use super::error::Failure;
use super::tasks;
use crate::contract::reports::{LANGUAGE_HEADER, ReportLanguage, ReportType};
use crate::contract::tasks::TaskStatus;
use crate::scanner::identity::Caller;
use crate::scanner::report::{Content, ReportError};

#[derive(Deserialize)]
pub(super) struct ReportQuery {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// `GET /tasks/{taskId}/report` (v2).
pub(super) async fn get(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    query: Result<web::Query<ReportQuery>, actix_web::Error>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let query = query.map_err(|_| Failure::bad("The query is not right: type may stand there once."))?;
    let kind = ReportType::read(query.kind.as_deref()).map_err(|words| Failure::bad(format!("{words}.")))?;
    let language = request.headers().get(LANGUAGE_HEADER).and_then(|value| value.to_str().ok());
    let content = content(&app, &caller, &path, ReportLanguage::read(language)).await?;
    let file_name = format!("report_{}.{}", content.task_id, kind.extension());
    let mut answer = HttpResponse::Ok();
    answer.insert_header((CONTENT_TYPE, kind.media_type()));
    answer.insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{file_name}\"")));
    match kind {
        ReportType::Html => {
            answer.insert_header((CONTENT_SECURITY_POLICY, app.reports.policy()));
            Ok(answer.streaming(app.reports.html(content)))
        }
        ReportType::CycloneDx | ReportType::Spdx => {
            let shared = app.clone();
            let written =
                tokio::task::spawn_blocking(move || shared.reports.bill(kind, &content)).await.map_err(Failure::internal)?;
            let bill = written.ok_or_else(|| Failure::internal("a bill of materials could not be written"))?;
            Ok(answer.body(bill))
        }
        ReportType::Pdf => match app.reports.pdf(content).await {
            Ok(pdf) => Ok(answer.body(pdf)),
            Err(ReportError::NotOffered) => Err(Failure::bad("This service was built without PDF reports. Ask for type=html.")),
            Err(error) => Err(Failure::internal(error)),
        },
    }
}

async fn content(app: &App, caller: &Caller, id: &str, language: ReportLanguage) -> Result<Content, Failure> {
    let task = tasks::find(app, caller, id).await?;
    if task.status != TaskStatus::Success {
        let status = task.status.as_str();
        return Err(Failure::bad(format!("There is a report once the scan has succeeded. This task is {status}.")));
    }
    let id = task.id.clone();
    let loaded =
        app.store.run(move |store| Ok((store.summary(&id)?, store.findings(&id)?, store.components(&id)?, store.chains(&id)?)));
    let (summary, findings, components, chains) = loaded.await.map_err(Failure::internal)?;
    Ok(Content {
        task_id: task.id,
        project_name: task.project_name,
        lang: task.lang,
        status: task.status,
        artifact_name: task.file_name,
        artifact_sha256: task.artifact,
        created_by: task.created_by,
        created_at: task.created_at,
        ended_at: task.ended_at.unwrap_or(task.updated_at),
        stat: task.stat,
        summary: summary.unwrap_or_default(),
        findings,
        components,
        chains,
        language,
    })
}
