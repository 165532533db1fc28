//! My shares: the list, a new one, the page that shows its link and code once, the end of one.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use crate::contract::ids::{TaskId, VulId};
use crate::gateway::services::error::Error;
use crate::gateway::services::shares::{NewShare, Outcome, WantedCode};
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Form, Nothing, Paging, Path, Query, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::shares::{AlreadyMade, Choices, Created, List, NewPage};

pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Query(paging): Query<Paging>,
) -> Result<HttpResponse, WebError> {
    let number = paging.number();
    let shares = services.shares.list(&actor, number - 1).await?;
    page.show(&List::new(&page, number, &shares))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Subject {
    task: TaskId,
    vul: Option<VulId>,
}

pub(in crate::gateway) async fn new(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Query(subject): Query<Subject>,
) -> Result<HttpResponse, WebError> {
    let preview = services.shares.preview(&actor, &subject.task, subject.vul.as_ref()).await?;
    let choices = Choices::usual(subject.vul.is_some(), &preview.days);
    page.show(&NewPage::new(&page, &preview, choices, String::new()))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Filled {
    task: TaskId,
    vul: Option<VulId>,
    /// `finding` or `report`.
    what: String,
    /// `made`, `own` or `none`.
    code: String,
    #[serde(default)]
    own_code: String,
    last_day: String,
    once: String,
}

/// The answer to the form itself shows link and code: nothing keeps them, and loading it again makes no second share.
pub(in crate::gateway) async fn create(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(filled): Form<Filled>,
) -> Result<HttpResponse, WebError> {
    let vul = filled.vul.clone().filter(|_| filled.what == "finding");
    let code = match filled.code.as_str() {
        "none" => WantedCode::None,
        "own" => WantedCode::Chosen(filled.own_code.clone()),
        _ => WantedCode::Made,
    };
    let wanted = NewShare { task: filled.task.clone(), vul, code, last_day: filled.last_day.clone(), once: filled.once.clone() };
    if filled.what == "finding" && wanted.vul.is_none() {
        return again(&page, &services, &actor, filled, "Choose what to share.".to_owned()).await;
    }
    match services.shares.create(&actor, &wanted).await {
        Ok(Outcome::New(link)) => page.show(&Created::new(&page, &link)),
        Ok(Outcome::AlreadyMade) => page.show(&AlreadyMade::new(&page, &wanted.task, wanted.vul.as_ref())),
        Err(Error::Invalid(words)) => again(&page, &services, &actor, filled, words).await,
        Err(error) => Err(error.into()),
    }
}

/// The form once more with what is to be changed; a chosen code is not sent back.
async fn again(page: &Page, services: &Services, actor: &Actor, filled: Filled, words: String) -> Result<HttpResponse, WebError> {
    let preview = services.shares.preview(actor, &filled.task, filled.vul.as_ref()).await?;
    let choices = Choices { what: filled.what, code: filled.code, last_day: filled.last_day };
    page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &NewPage::new(page, &preview, choices, words))
}

pub(in crate::gateway) async fn end(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Path(handle): Path<String>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.shares.end(&actor, &handle).await?;
    Ok(page.go_with_news(urls::SHARES, Flash::ShareEnded))
}
