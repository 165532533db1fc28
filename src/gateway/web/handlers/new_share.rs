//! A new share: the form, what recipients would see, and the page that shows link and code once.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use url::form_urlencoded;

use crate::contract::ids::{TaskId, VulId};
use crate::contract::reports::ReportLanguage;
use crate::gateway::services::error::Error;
use crate::gateway::services::shares::{Chosen, NewShare, Offer, Outcome, Typed, WantedCode};
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Form, Path, SignedIn};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::new_share::{Choices, NewPage, Refusal};
use crate::gateway::web::views::share_made::{AlreadyMade, Created};
use crate::gateway::web::views::share_preview::{self, Preview};
use crate::platform::hostile::Hostile;

/// A form or the query of an address, as far as it is filled in.
struct Filled {
    task: TaskId,
    /// All that were chosen on the way here.
    findings: Vec<VulId>,
    choices: Choices,
    own_code: String,
    once: String,
    hides: bool,
    /// Where what was typed is kept, in the address of a preview.
    typed: String,
    /// It comes from a list in which findings can be chosen.
    chooses: bool,
}

const NONE_CHOSEN: &str = "No finding was chosen. You can share all of the task here, or go back and choose some.";

impl Filled {
    /// Findings come once for each that was chosen.
    fn read(fields: impl IntoIterator<Item = (String, String)>) -> Result<Self, WebError> {
        let mut task = None;
        let mut filled = Self {
            task: "none".parse().map_err(|_| WebError::not_found())?,
            findings: Vec::new(),
            choices: Choices {
                what: String::new(),
                code: "made".to_owned(),
                last_day: String::new(),
                views: String::new(),
                hides_evidence: false,
                note: String::new(),
                language: ReportLanguage::English,
            },
            own_code: String::new(),
            once: String::new(),
            hides: false,
            typed: String::new(),
            chooses: false,
        };
        for (name, value) in fields {
            match name.as_str() {
                "task" => task = urls::read(&value).parse().ok(),
                "vul" => {
                    let vul = urls::read(&value).parse().map_err(|_| WebError::not_found())?;
                    if !filled.findings.contains(&vul) {
                        filled.findings.push(vul);
                    }
                }
                "what" => filled.choices.what = value,
                "code" => filled.choices.code = value,
                "own_code" => filled.own_code = value,
                "last_day" => filled.choices.last_day = value,
                "views" => filled.choices.views = value,
                "hide" => filled.choices.hides_evidence = !value.is_empty(),
                "note" => filled.choices.note = value,
                "language" => filled.choices.language = ReportLanguage::read(Some(&value)),
                "once" => filled.once = value,
                "typed" => filled.typed = value,
                "chosen" => filled.chooses = true,
                _ => {}
            }
        }
        filled.task = task.ok_or_else(WebError::not_found)?;
        filled.hides = filled.choices.hides_evidence;
        Ok(filled)
    }

    fn of_query(request: &HttpRequest) -> Result<Self, WebError> {
        Self::read(form_urlencoded::parse(request.query_string().as_bytes()).into_owned())
    }

    /// Those that are to be shared; none in it for everything. `None` where nothing was chosen.
    fn chosen(&self) -> Option<Vec<VulId>> {
        match self.choices.what.as_str() {
            "report" => Some(Vec::new()),
            "findings" if !self.findings.is_empty() => Some(self.findings.clone()),
            _ => None,
        }
    }

    /// What is looked at.
    fn looked_at(&self) -> Chosen {
        let findings = if self.choices.what == "report" { Vec::new() } else { self.findings.clone() };
        Chosen { task: self.task.clone(), findings, hides_evidence: self.hides }
    }

    fn typed(&self) -> Typed {
        Typed { last_day: self.choices.last_day.clone(), views: self.choices.views.clone(), note: self.note() }
    }

    fn note(&self) -> Hostile {
        Hostile::new(self.choices.note.replace("\r\n", "\n"))
    }

    fn wanted(&self) -> NewShare {
        NewShare {
            task: self.task.clone(),
            findings: self.chosen(),
            code: match self.choices.code.as_str() {
                "none" => WantedCode::None,
                "own" => WantedCode::Chosen(self.own_code.clone()),
                _ => WantedCode::Made,
            },
            last_day: self.choices.last_day.clone(),
            views: self.choices.views.clone(),
            hides_evidence: self.hides,
            note: self.note(),
            language: self.choices.language,
            once: self.once.clone(),
        }
    }
}

pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filled = Filled::of_query(&request)?;
    let offer = services.shares.offer(&actor, &filled.task, &filled.findings).await?;
    let choices = Choices::usual(&offer);
    let problem = if filled.chooses && filled.findings.is_empty() { NONE_CHOSEN } else { "" };
    page.show(&NewPage::new(&page, &offer, choices, Refusal::because(problem)))
}

/// The answer to the form itself shows link and code: nothing keeps them, and loading it again makes no second share.
pub(in crate::gateway) async fn create(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let filled = Filled::read(fields)?;
    match services.shares.create(&actor, &filled.wanted()).await {
        Ok(Ok(Outcome::New(link))) => page.show(&Created::new(&page, &link)),
        Ok(Ok(Outcome::AlreadyMade)) => page.show(&AlreadyMade::new(&page, &filled.task, &filled.chosen().unwrap_or_default())),
        Ok(Err(problems)) => again(&page, &services, &actor, filled, Refusal::of(problems)).await,
        Err(Error::Invalid(words)) => again(&page, &services, &actor, filled, Refusal::because(&words)).await,
        Err(error) => Err(error.into()),
    }
}

/// The form once more with what is to be changed; a chosen code is not sent back.
async fn again(
    page: &Page,
    services: &Services,
    actor: &Actor,
    filled: Filled,
    refusal: Refusal,
) -> Result<HttpResponse, WebError> {
    let offer: Offer = services.shares.offer(actor, &filled.task, &filled.findings).await?;
    page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &NewPage::new(page, &offer, filled.choices, refusal))
}

/// The preview that an address stands for: it names what was typed into the form, and holds nothing of it.
async fn preview_at(request: &HttpRequest, services: &Services, actor: &Actor) -> Result<Preview, WebError> {
    let filled = Filled::of_query(request)?;
    let typed = if filled.typed.is_empty() {
        Typed { last_day: String::new(), views: String::new(), note: Hostile::new("") }
    } else {
        services.shares.kept_typed(actor, &filled.typed).await?
    };
    let chosen = filled.looked_at();
    let terms = services.shares.terms(actor, &chosen, &typed).await?;
    Ok(Preview { chosen, terms, typed: filled.typed })
}

async fn previewed(page: &Page, services: &Services, actor: &Actor, preview: &Preview) -> Result<HttpResponse, WebError> {
    let share = services.shares.preview(actor, &preview.chosen, &preview.terms).await?;
    page.show(&share_preview::view(page, preview, &share))
}

/// What recipients would see, from an address.
pub(in crate::gateway) async fn preview(
    page: Page,
    SignedIn(actor): SignedIn,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    previewed(&page, &services, &actor, &preview_at(&request, &services, &actor).await?).await
}

/// The same with all that the form holds now; the pages it leads to know that, too.
pub(in crate::gateway) async fn preview_form(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let filled = Filled::read(fields)?;
    let (chosen, typed) = (filled.looked_at(), filled.typed());
    let terms = services.shares.terms(&actor, &chosen, &typed).await?;
    let typed = services.shares.keep_typed(&actor, &typed).await?;
    previewed(&page, &services, &actor, &Preview { chosen, terms, typed }).await
}

pub(in crate::gateway) async fn preview_finding(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(vul): Path<VulId>,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let preview = preview_at(&request, &services, &actor).await?;
    let (finding, chains) = services.shares.preview_finding(&actor, (&preview.chosen, &preview.terms), &vul).await?;
    page.show(&share_preview::finding(&page, &preview, (&finding, &chains)))
}

pub(in crate::gateway) async fn preview_chain(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(chain): Path<VulId>,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let preview = preview_at(&request, &services, &actor).await?;
    let shown = services.shares.preview_chain(&actor, (&preview.chosen, &preview.terms), &chain).await?;
    page.show(&share_preview::chain(&page, &preview, &shown))
}
