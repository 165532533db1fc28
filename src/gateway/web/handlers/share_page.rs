//! What people without an account see: the door of a share and what is behind it. The door is the same for every id.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RETRY_AFTER};
use actix_web::web::Data;
use serde::Deserialize;

use crate::contract::ids::{ShareId, VulId};
use crate::contract::reports::ReportType;
use crate::gateway::services::Services;
use crate::gateway::services::reports::Report;
use crate::gateway::services::share_page::{Content, Entry, ReportFor};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{AtDoor, OpenForm, Path, Query, ShareVisitor, grant_cookie};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::share_page::{Closed, Door, DoorWords, SharedChain, SharedFinding, View};
use crate::platform::hostile::Hostile;

/// The door. Asks nobody anything.
pub(in crate::gateway) async fn door(page: Page, _door: AtDoor) -> Result<HttpResponse, WebError> {
    page.show(&Door::new(&page, DoorWords::Welcome))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Typed {
    code: Option<String>,
}

/// A typed code, or the button for shares without one.
pub(in crate::gateway) async fn open(
    page: Page,
    door: AtDoor,
    services: Data<Services>,
    OpenForm(form): OpenForm<Typed>,
) -> Result<HttpResponse, WebError> {
    let entry = match form.code.as_deref() {
        Some(code) if code.trim().is_empty() => {
            return page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &Door::new(&page, DoorWords::Empty));
        }
        Some(code) => services.share_pages.open_with_code(&door.place, code).await?,
        None => services.share_pages.open_without_code(&door.place).await?,
    };
    match entry {
        Entry::Granted(handle, lifetime) => {
            let mut answer = see_other(&urls::share_view(&door.place.share));
            let cookie = grant_cookie(&page.site, &door.place.share, Some(&handle), lifetime);
            answer.add_cookie(&cookie).map_err(|error| WebError::internal(error.to_string()))?;
            Ok(answer)
        }
        Entry::Refused => page.show_as(StatusCode::FORBIDDEN, &Door::new(&page, DoorWords::Refused)),
        Entry::Wait(seconds) => {
            let mut answer = page.show_as(StatusCode::TOO_MANY_REQUESTS, &Door::new(&page, DoorWords::Wait(seconds)))?;
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
            Ok(answer)
        }
    }
}

/// What was shared.
pub(in crate::gateway) async fn view(
    page: Page,
    ShareVisitor(visit): ShareVisitor,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    match services.share_pages.content(&visit).await? {
        Content::Here(share) => page.show(&View::new(&page, &visit.place.share, &share)),
        Content::Over => over(&page),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct OneFinding {
    share: ShareId,
    vul: VulId,
}

/// One finding of it.
pub(in crate::gateway) async fn finding(
    page: Page,
    ShareVisitor(visit): ShareVisitor,
    Path(of): Path<OneFinding>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    match services.share_pages.finding_in_chains(&visit, &of.vul).await? {
        Content::Here((finding, chains)) => page.show(&SharedFinding::new(&page, &of.share, &finding, &chains)),
        Content::Over => over(&page),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct OneChain {
    share: ShareId,
    chain: VulId,
}

/// One exploit chain of it.
pub(in crate::gateway) async fn chain(
    page: Page,
    ShareVisitor(visit): ShareVisitor,
    Path(of): Path<OneChain>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    match services.share_pages.chain(&visit, &of.chain).await? {
        Content::Here((chain, findings)) => page.show(&SharedChain::new(&page, &of.share, &chain, &findings)),
        Content::Over => over(&page),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    r#type: Option<String>,
}

/// The report, always as a file.
pub(in crate::gateway) async fn report(
    page: Page,
    ShareVisitor(visit): ShareVisitor,
    Query(wanted): Query<Wanted>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let form = ReportType::read(wanted.r#type.as_deref()).map_err(WebError::bad_request)?;
    if !matches!(form, ReportType::Pdf | ReportType::Html) {
        // An inventory of everything inside is more than the findings that were shared.
        return Err(WebError::not_found());
    }
    match services.share_pages.report(&visit, form).await? {
        Content::Here(ReportFor::Stream(report, project)) => Ok(attachment(report, &project, form)),
        Content::Here(ReportFor::NoKey) => {
            page.show_as(StatusCode::SERVICE_UNAVAILABLE, &Closed::no_key(&page, &visit.place.share))
        }
        Content::Over => over(&page),
    }
}

/// "I am done": the grant ends here and now.
pub(in crate::gateway) async fn close(page: Page, door: AtDoor, services: Data<Services>) -> Result<HttpResponse, WebError> {
    if let Some(handle) = &door.handle {
        services.share_pages.close(&door.place, handle).await?;
    }
    let mut answer = page.show(&Closed::done(&page))?;
    let spent = grant_cookie(&page.site, &door.place.share, None, std::time::Duration::ZERO);
    answer.add_cookie(&spent).map_err(|error| WebError::internal(error.to_string()))?;
    Ok(answer)
}

fn over(page: &Page) -> Result<HttpResponse, WebError> {
    page.show_as(StatusCode::NOT_FOUND, &Closed::over(page))
}

/// The type is the one that was asked for, never what the service says; a page in it runs nothing.
fn attachment(report: Report, project: &Hostile, form: ReportType) -> HttpResponse {
    let name = format!("report_{}.{}", project.filename(), form.extension());
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, form.media_type()))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .insert_header((CONTENT_SECURITY_POLICY, "sandbox"));
    if let Some(length) = report.length {
        answer.no_chunking(length);
    }
    answer.streaming(report.stream)
}
