//! Shares of the company: the list, one of them, what becomes of it.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;
use url::form_urlencoded;

use crate::gateway::domain::share_entry::Mark;
use crate::gateway::domain::share_filter::{ShareFilter, Shown};
use crate::gateway::services::error::Error;
use crate::gateway::services::shares::{Ended, Outcome, WantedCode};
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Nothing, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::new_share::Refusal;
use crate::gateway::web::views::one_share::SharePage;
use crate::gateway::web::views::share_made::{AlreadyMade, Created};
use crate::gateway::web::views::shares::{AskEnd, ElsewherePage, List, SheetPage, extent};

/// The list. A page beyond the end leads to the last one.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = ShareFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))?;
    let beyond = |extent: crate::gateway::web::views::pager::Extent| {
        extent.is_beyond().then(|| see_other(&urls::shares(&filter.query(extent.last()))))
    };
    if filter.shown == Some(Shown::Elsewhere) {
        let found = services.shares.elsewhere(&actor, filter.page).await?;
        return beyond(extent(filter, &found)).map_or_else(|| page.show(&ElsewherePage::new(&page, filter, &found)), Ok);
    }
    let found = services.shares.list(&actor, &filter).await?;
    beyond(extent(filter, &found)).map_or_else(|| page.show(&List::new(&page, filter, &found)), Ok)
}

fn marked(text: &str) -> Result<Mark, WebError> {
    Mark::parse(text).ok_or_else(WebError::not_found)
}

/// One share, for its maker and for administrators.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(mark): Path<String>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let share = services.shares.one(&actor, &marked(&mark)?).await?;
    page.show(&SharePage::new(&page, &share, Refusal::default(), false))
}

/// The page once more with what is to be changed, where that is what went wrong.
async fn again(page: &Page, services: &Services, (actor, mark): (&Actor, &Mark), error: Error) -> Result<HttpResponse, WebError> {
    let (status, words) = match error {
        Error::Invalid(words) => (StatusCode::UNPROCESSABLE_ENTITY, words),
        Error::Conflict(words) => (StatusCode::CONFLICT, words),
        other => return Err(other.into()),
    };
    let share = services.shares.one(actor, mark).await?;
    page.show_as(status, &SharePage::new(page, &share, Refusal::because(&words), false))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Extension {
    last_day: String,
}

pub(in crate::gateway) async fn extend(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(mark): Path<String>,
    services: Data<Services>,
    Form(wanted): Form<Extension>,
) -> Result<HttpResponse, WebError> {
    let mark = marked(&mark)?;
    match services.shares.extend(&actor, &mark, &wanted.last_day).await {
        Ok(()) => Ok(page.go_with_news(&urls::share(&mark), Flash::ShareExtended)),
        Err(error) => again(&page, &services, (&actor, &mark), error).await,
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct CodeForm {
    /// `made` or `own`.
    #[serde(default)]
    code: String,
    #[serde(default)]
    own_code: String,
    #[serde(default)]
    once: String,
}

/// The answer to the form itself shows the code: nothing keeps it, and sending the form again sets no other.
pub(in crate::gateway) async fn new_code(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(mark): Path<String>,
    services: Data<Services>,
    Form(form): Form<CodeForm>,
) -> Result<HttpResponse, WebError> {
    let mark = marked(&mark)?;
    let has_own = form.code == "own";
    let wanted = match form.code.as_str() {
        "own" => WantedCode::Chosen(form.own_code),
        "made" => WantedCode::Made,
        _ => WantedCode::None,
    };
    match services.shares.new_code(&actor, &mark, &wanted, &form.once).await {
        Ok(Ok(Outcome::New(link))) => page.show(&Created::with_new_code(&page, &link)),
        Ok(Err(problems)) => {
            let share = services.shares.one(&actor, &mark).await?;
            let again = SharePage::new(&page, &share, Refusal::of(problems), has_own);
            page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &again)
        }
        Ok(Ok(Outcome::AlreadyMade)) => page.show(&AlreadyMade::of_code(&page, urls::share(&mark))),
        Err(error) => again(&page, &services, (&actor, &mark), error).await,
    }
}

pub(in crate::gateway) async fn end(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(mark): Path<String>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    let mark = marked(&mark)?;
    Ok(match services.shares.end(&actor, &mark).await? {
        Ended::Everywhere => page.go_with_news(urls::SHARES, Flash::ShareEnded),
        Ended::HereOnly => page.go_with_news(&urls::share(&mark), Flash::ShareEndedHere),
    })
}

/// Asks before several are ended.
pub(in crate::gateway) async fn ask_end_several(
    page: Page,
    SignedIn(actor): SignedIn,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let pairs: Vec<_> = form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect();
    let marks = marks(&pairs)?;
    if marks.is_empty() {
        return Ok(page.go_with_news(&list_before(&pairs), Flash::NoShareChosen));
    }
    let seen = services.shares.endable(&actor, &marks).await?;
    page.show(&AskEnd::new(&page, &seen))
}

/// The answer says of each what became of it. Sent again, it says that they had been ended before.
pub(in crate::gateway) async fn end_several(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let marks = marks(&fields)?;
    if marks.is_empty() {
        return Ok(page.go_with_news(&list_before(&fields), Flash::NoShareChosen));
    }
    let sheet = services.shares.end_several(&actor, &marks).await?;
    page.show(&SheetPage::new(&page, &sheet))
}

/// The list a form was on, as it says itself: that of the shares, or that of all of them.
fn list_before(fields: &[(String, String)]) -> String {
    let of_all = fields.iter().any(|(name, value)| name == "from" && value == "all");
    let (list, kept) =
        if of_all { (urls::ALL_SHARES, ["show", "maker", "page"]) } else { (urls::SHARES, ["state", "own", "page"]) };
    let fields = fields.iter().filter(|(name, value)| kept.contains(&name.as_str()) && !value.is_empty());
    let query: Vec<String> = fields.map(|(name, value)| urls::pair(name, value)).collect();
    urls::with_query(list.to_owned(), &query.join("&"))
}

/// The shares that are named, each once.
fn marks(fields: &[(String, String)]) -> Result<Vec<Mark>, WebError> {
    let mut marks = Vec::new();
    for (_, value) in fields.iter().filter(|(name, _)| name == "share") {
        let mark = marked(value)?;
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    Ok(marks)
}
