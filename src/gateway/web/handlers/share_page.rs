//! What people without an account see: the doors of a share and what is behind them. A door is the same for every id.

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;

use crate::contract::ids::VulId;
use crate::contract::reports::ReportType;
use crate::gateway::domain::share::Spot;
use crate::gateway::services::Services;
use crate::gateway::services::share_page::{Content, Download, Entrance, ReportFor, Unmarked};
use crate::gateway::web::attachment::attachment;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{AtDoor, OpenForm, Path, Query, ShareVisitor, grant_cookie};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::share_door::{Closed, Door, DoorWords};
use crate::gateway::web::views::share_page::{About, SharedChain, SharedFinding, View};

/// What "I am done" takes out of the browser beside the grant. Not cookies: a colleague who looks at a share is signed in on
/// the same origin and stays so.
const CLEARED: &str = "\"cache\", \"storage\"";
/// Seconds after which asking for a PDF again makes sense when there was no place.
const SOON: u64 = 10;
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

/// The door. Asks nobody anything.
pub(in crate::gateway) async fn door(page: Page, door: AtDoor, request: HttpRequest) -> Result<HttpResponse, WebError> {
    let words = if request.query_string() == urls::AGAIN { DoorWords::Again } else { DoorWords::Welcome };
    page.show(&Door::new(&page, door.place.spot.doorway, words))
}

/// The methods of a door, again of any.
pub(in crate::gateway) async fn options() -> HttpResponse {
    HttpResponse::NoContent().insert_header((ALLOW, "GET, HEAD, POST, OPTIONS")).finish()
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Typed {
    #[serde(default)]
    code: String,
}

/// A typed code.
pub(in crate::gateway) async fn open_with_code(
    page: Page,
    door: AtDoor,
    services: Data<Services>,
    OpenForm(form): OpenForm<Typed>,
) -> Result<HttpResponse, WebError> {
    let entrance = services.share_pages.open_with_code(&door.place, &form.code).await?;
    entered(&page, &door, entrance)
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Decided {
    #[serde(default)]
    wanted: String,
}

/// A person's decision. Whatever sends forms by itself leaves a box as it found it.
pub(in crate::gateway) async fn open_without_code(
    page: Page,
    door: AtDoor,
    services: Data<Services>,
    OpenForm(form): OpenForm<Decided>,
) -> Result<HttpResponse, WebError> {
    let entrance = match form.wanted.as_str() {
        "yes" => services.share_pages.open_without_code(&door.place).await?,
        _ => Entrance::NoCode,
    };
    entered(&page, &door, entrance)
}

fn entered(page: &Page, door: &AtDoor, entrance: Entrance) -> Result<HttpResponse, WebError> {
    let spot = &door.place.spot;
    let told = |status, words| page.show_as(status, &Door::new(page, spot.doorway, words));
    match entrance {
        Entrance::Granted(handle, lifetime) => {
            let mut answer = see_other(&urls::share_view(spot));
            let cookie = grant_cookie(&page.site, spot, Some(&handle), lifetime);
            answer.add_cookie(&cookie).map_err(|error| WebError::internal(error.to_string()))?;
            Ok(answer)
        }
        Entrance::NoCode => told(StatusCode::UNPROCESSABLE_ENTITY, DoorWords::Empty),
        Entrance::Refused => told(StatusCode::FORBIDDEN, DoorWords::Refused),
        Entrance::Over(state) => told(StatusCode::FORBIDDEN, DoorWords::Over(state)),
        Entrance::Wait(seconds) | Entrance::Busy(seconds) => {
            let is_busy = matches!(entrance, Entrance::Busy(_));
            let words = if is_busy { DoorWords::Busy(seconds) } else { DoorWords::Wait(seconds) };
            let mut answer = told(StatusCode::TOO_MANY_REQUESTS, words)?;
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
        Content::Here(share) => page.show(&View::new(&page, &visit.place.spot, &About::of(&visit), &share)),
        Content::Over => over(&page),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct OneFinding {
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
        Content::Here((finding, chains)) => {
            page.show(&SharedFinding::new(&page, &visit.place.spot, &About::of(&visit), (&finding, &chains)))
        }
        Content::Over => over(&page),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct OneChain {
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
        Content::Here((chain, findings)) => {
            page.show(&SharedChain::new(&page, &visit.place.spot, &About::of(&visit), (&chain, &findings)))
        }
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
        Content::Here(ReportFor::Stream(report)) => Ok(as_file(report, form)),
        Content::Here(ReportFor::NoKey) => {
            page.show_as(StatusCode::SERVICE_UNAVAILABLE, &Closed::no_key(&page, &visit.place.spot))
        }
        Content::Here(ReportFor::Unmarked(why)) => unmarked(&page, &visit.place.spot, why),
        Content::Over => over(&page),
    }
}

fn unmarked(page: &Page, spot: &Spot, why: Unmarked) -> Result<HttpResponse, WebError> {
    let status = if why == Unmarked::Busy { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::BAD_GATEWAY };
    let mut answer = page.show_as(status, &Closed::unmarked(page, spot, why))?;
    if why == Unmarked::Busy {
        answer.headers_mut().insert(RETRY_AFTER, SOON.into());
    }
    Ok(answer)
}

/// "I am done": the grant ends here and now.
pub(in crate::gateway) async fn close(page: Page, door: AtDoor, services: Data<Services>) -> Result<HttpResponse, WebError> {
    if let Some(handle) = &door.handle {
        services.share_pages.close(&door.place, handle).await?;
    }
    let mut answer = page.show(&Closed::done(&page, door.place.spot.doorway))?;
    answer.headers_mut().insert(CLEAR_SITE_DATA, actix_web::http::header::HeaderValue::from_static(CLEARED));
    let spent = grant_cookie(&page.site, &door.place.spot, None, std::time::Duration::ZERO);
    answer.add_cookie(&spent).map_err(|error| WebError::internal(error.to_string()))?;
    Ok(answer)
}

fn over(page: &Page) -> Result<HttpResponse, WebError> {
    page.show_as(StatusCode::NOT_FOUND, &Closed::over(page))
}

/// The type is the one that was asked for, never what the service says; a page in it runs nothing. The name says which share
/// the file came through.
fn as_file(report: Download, form: ReportType) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    // Short enough that the end of the name is never cut.
    let name = format!("report_{}_share-{}.{}", report.project.short(50), report.share, form.extension());
    answer
        .insert_header((CONTENT_TYPE, form.media_type()))
        .insert_header((CONTENT_DISPOSITION, attachment(&name)))
        .insert_header((CONTENT_SECURITY_POLICY, "sandbox"));
    if let Some(length) = report.length {
        answer.no_chunking(length);
    }
    answer.streaming(report.body)
}
