//! Drafts of new scans: begin, go on, delete, skip a step, names.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::domain::draft::{self, DraftId, Step};
use crate::gateway::services::artifacts::About;
use crate::gateway::services::error::Error;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::drafts::{List, Options, Typed};
use crate::platform::hostile::Hostile;

/// An error of a step, with the way back to it.
pub(super) fn at_step(id: &DraftId, step: Step) -> impl Fn(Error) -> WebError {
    let back = urls::step(id, step);
    move |error| {
        // A draft that is not there has no page to go back to.
        let gone = matches!(error, Error::NotFound);
        let error = WebError::from(error);
        if gone { error } else { error.back_to(back.clone()) }
    }
}

/// A row somebody takes out of a step, and the version of the draft it was seen in.
#[derive(Deserialize)]
pub(in crate::gateway) struct Removed {
    pub(super) v: String,
    pub(super) row: usize,
}

/// Where a new scan begins, with the person's drafts.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    show(&page, &services, &actor, StatusCode::OK, ("", "")).await
}

async fn show(
    page: &Page,
    services: &Services,
    actor: &Actor,
    status: StatusCode,
    (project, problem): (&str, &str),
) -> Result<HttpResponse, WebError> {
    let drafts = services.drafts.list(actor).await?;
    page.show_as(status, &List::new(page, &drafts, services.drafts.settings().days, project, problem))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Begun {
    #[serde(default)]
    project: String,
}

/// Begins a draft.
pub(in crate::gateway) async fn create(
    page: Page,
    SignedIn(actor): SignedIn,
    services: Data<Services>,
    Form(begun): Form<Begun>,
) -> Result<HttpResponse, WebError> {
    let project = match draft::project(&begun.project) {
        Ok(project) => project,
        Err(words) => return show(&page, &services, &actor, StatusCode::UNPROCESSABLE_ENTITY, (&begun.project, words)).await,
    };
    match services.drafts.create(&actor, project).await {
        Ok(id) => Ok(see_other(&urls::step(&id, Step::Artifact))),
        Err(Error::Conflict(words)) => show(&page, &services, &actor, StatusCode::CONFLICT, (&begun.project, &words)).await,
        Err(error) => Err(error.into()),
    }
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Nothing {}

/// Deletes a draft.
pub(in crate::gateway) async fn delete(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    services.drafts.delete(&actor, &id).await?;
    Ok(page.go_with_news(urls::TASKS_NEW, Flash::DraftDeleted))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Skipped {
    v: String,
    step: Step,
}

/// Leaves a step out and goes on.
pub(in crate::gateway) async fn skip(
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(skipped): Form<Skipped>,
) -> Result<HttpResponse, WebError> {
    services.drafts.skip(&actor, (&id, &skipped.v), skipped.step).await.map_err(at_step(&id, skipped.step))?;
    Ok(see_other(&urls::step(&id, skipped.step.next())))
}

/// The step of names.
pub(in crate::gateway) async fn options(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&Options::new(&page, &held, None))
}

/// Keeps the names. Fields of artifacts repeat in their order.
pub(in crate::gateway) async fn save_options(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let all = |name: &str| fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.clone()).collect::<Vec<_>>();
    let first = |name: &str| all(name).into_iter().next().unwrap_or_default();
    let (version, typed) = (first("v"), read(first("project"), all("service"), all("target")));
    match typed {
        Ok(named) => {
            services.artifacts.describe(&actor, (&id, &version), named).await.map_err(at_step(&id, Step::Options))?;
            Ok(see_other(&urls::step(&id, Step::Check)))
        }
        Err(typed) => {
            let held = services.drafts.get(&actor, &id).await?;
            page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &Options::new(&page, &held, Some(typed)))
        }
    }
}

/// All names checked, or all of them as typed with what is wrong.
fn read(project: String, services: Vec<String>, targets: Vec<String>) -> Result<(Hostile, Vec<About>), Typed> {
    let checked = draft::project(&project);
    let pairs: Vec<_> = services.into_iter().zip(targets).collect();
    let about: Vec<_> = pairs.iter().map(|(service, target)| About::read(service, target)).collect();
    match (checked, about.iter().all(Result::is_ok)) {
        (Ok(project), true) => Ok((project, about.into_iter().flatten().collect())),
        (checked, _) => {
            let artifacts = pairs.into_iter().zip(about);
            let artifacts = artifacts.map(|((service, target), about)| (service, target, about.err().unwrap_or_default()));
            Err(Typed { project, problem: checked.err(), artifacts: artifacts.collect() })
        }
    }
}
