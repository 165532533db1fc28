//! Reports as files.

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use actix_web::web::Data;
use futures_util::TryStreamExt as _;
use serde::Deserialize;

use crate::contract::ids::TaskId;
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::gateway::services::Services;
use crate::gateway::services::reports::Report;
use crate::gateway::session::{Portal, Tether};
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Path, Query, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::downloads::Downloads;
use crate::gateway::web::views::tasks::project;
use crate::platform::hostile::Hostile;

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    r#type: Option<String>,
    lang: Option<String>,
}

/// What there is to download.
pub(in crate::gateway) async fn offer(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(task): Path<TaskId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let (task, parts) = services.tasks.with_parts(&actor, &task).await?;
    let title = format!("Report of {}", project(&task, 80));
    page.show(&Downloads::new(page.chrome(title, "tasks"), &task, &parts))
}

/// The report of a task, streamed.
pub(in crate::gateway) async fn download(
    SignedIn(actor): SignedIn,
    portal: Portal,
    Path(task): Path<TaskId>,
    Query(wanted): Query<Wanted>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let form = ReportType::read(wanted.r#type.as_deref()).map_err(WebError::bad_request)?;
    let language = language(wanted.lang.as_deref())?;
    let report = services.reports.open(&actor, &task, form, language).await?;
    let tether = portal.tether().ok_or_else(|| WebError::sign_in(urls::LOGIN.to_owned()))?;
    Ok(attachment(report, &task, form, tether))
}

fn language(value: Option<&str>) -> Result<ReportLanguage, WebError> {
    match value {
        None | Some("" | "en") => Ok(ReportLanguage::English),
        Some("zh") => Ok(ReportLanguage::Chinese),
        Some(_) => Err(WebError::bad_request("Reports are written in English (en) or Chinese (zh).")),
    }
}

/// The media type is the one of the form that was asked for, never what the service says; a page in it runs nothing.
/// When the session ends first, the connection breaks, so that nobody takes half a report for one.
fn attachment(report: Report, task: &TaskId, form: ReportType, tether: Tether) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, form.media_type()))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file_name(&report, task, form))))
        .insert_header((CONTENT_SECURITY_POLICY, "sandbox"));
    if let Some(length) = report.length {
        answer.no_chunking(length);
    }
    let body = report.stream.map_err(Box::<dyn std::error::Error>::from);
    answer.streaming(Box::pin(tether.hold(body, |ending| Err(ending.words().into()))))
}

/// The name the service proposes, made safe, with the ending of the form; else one of the task.
fn file_name(report: &Report, task: &TaskId, form: ReportType) -> String {
    let ending = format!(".{}", form.extension());
    let ours = || format!("report_{}", Hostile::from(task.as_str()).filename());
    let named = report.filename.as_ref().map_or_else(ours, Hostile::filename);
    let stem = named.strip_suffix(&ending).unwrap_or(&named);
    format!("{stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(filename: Option<&str>) -> Report {
        Report {
            content_type: "application/pdf".into(),
            length: None,
            filename: filename.map(Hostile::from),
            stream: Box::pin(futures_util::stream::empty()),
        }
    }

    #[test]
    fn a_proposed_name_becomes_a_safe_one_with_the_right_ending() {
        let task: TaskId = "4f".parse().unwrap();
        let name = |proposed| file_name(&report(proposed), &task, ReportType::Pdf);
        assert_eq!(name(Some("report_4f.pdf")), "report_4f.pdf");
        assert_eq!(name(Some("../../x.exe")), "x.exe.pdf");
        assert_eq!(name(Some("a\"; filename=b.html")), "a___filename_b.html.pdf");
        assert_eq!(name(None), "report_4f.pdf");
        let sbom = |proposed, form| file_name(&report(proposed), &task, form);
        assert_eq!(sbom(Some("report_4f.cdx.json"), ReportType::CycloneDx), "report_4f.cdx.json");
        assert_eq!(sbom(Some("x.html"), ReportType::Spdx), "x.html.spdx.json");
        assert_eq!(sbom(None, ReportType::Spdx), "report_4f.spdx.json");
    }
}
