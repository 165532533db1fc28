//! Drafts of new scans: begin, go on, delete, skip a step, names.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use super::steps::{At, Entry};
use crate::contract::ids::Sha256;
use crate::gateway::domain::draft::{self, DraftId, Step};
use crate::gateway::services::artifacts::{About, Names};
use crate::gateway::services::error::Error;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Nothing, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::drafts::{List, Typed, TypedName};

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
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(skipped): Form<Skipped>,
) -> Result<HttpResponse, WebError> {
    match services.drafts.skip(&actor, (&id, &skipped.v), skipped.step).await {
        Ok(()) => Ok(see_other(&urls::step(&id, skipped.step.next()))),
        Err(error) => {
            let at = At { page: &page, services: &services, actor: &actor, id: &id };
            at.refuse(error, Entry::none(skipped.step)).await
        }
    }
}

/// The step of names.
pub(in crate::gateway) async fn options(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::Options(None)).await
}

/// Keeps the names. Fields of artifacts repeat, each group of them led by the file it is about.
pub(in crate::gateway) async fn save_options(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<HttpResponse, WebError> {
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    let first = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()).unwrap_or_default();
    let (version, project) = (first("v"), first("project"));
    let (typed, checked) = read(project, &fields);
    let Some(named) = checked else {
        return at.mark(&version, Entry::Options(Some(typed))).await;
    };
    match services.artifacts.describe(&actor, (&id, &version), named).await {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Check))),
        Err(error) => at.refuse(error, Entry::Options(Some(typed))).await,
    }
}

/// Names as they were typed, with what is wrong with them; and as they are kept, when nothing is.
fn read(project: String, fields: &[(String, String)]) -> (Typed, Option<Names>) {
    let mut artifacts: Vec<TypedName> = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), artifacts.last_mut()) {
            ("file", _) => artifacts.push(TypedName { file: value.clone(), ..TypedName::default() }),
            ("service", Some(last)) => last.service.clone_from(value),
            ("target", Some(last)) => last.target.clone_from(value),
            _ => {}
        }
    }
    let (checked, mut about) = (draft::project(&project), Vec::new());
    for one in &mut artifacts {
        match (one.file.parse::<Sha256>(), About::read(&one.service, &one.target)) {
            (Ok(file), Ok(checked)) => about.push((file, checked)),
            (_, checked) => one.problems = checked.err().unwrap_or_default(),
        }
    }
    let typed = Typed { project, problem: checked.as_ref().err().copied(), artifacts };
    let named = checked.ok().filter(|_| about.len() == typed.artifacts.len()).map(|project| (project, about));
    (typed, named)
}
