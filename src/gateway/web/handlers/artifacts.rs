//! Files of a draft: add with an upload, remove. A form brings its file along, or the hash of one that the page's script has
//! sent before.

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::drafts::Removed;
use super::steps::{At, Entry};
use crate::gateway::domain::draft::{self, DraftId, SourceKind, Step};
use crate::gateway::services::Services;
use crate::gateway::services::artifacts::{About, File, Problems, TWICE, holds};
use crate::gateway::services::error::Error;
use crate::gateway::services::uploads::Announced;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Fields, Form, Path, SignedIn, UploadFile, UploadForm};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::artifacts::Typed;
use crate::platform::hostile::Hostile;

/// The step with the files to scan.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::none(Step::Artifact)).await
}

/// Adds a file to scan.
pub(in crate::gateway) async fn add(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    form: UploadForm,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let (fields, file) = form.read_checked().await?;
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    let (version, mut typed) = (fields.get("v"), typed(&fields, file.as_ref()));
    let about = About::read(&typed.service, &typed.target);
    typed.problems = about.clone().err().unwrap_or_default();
    typed.problems.file = draft::artifact_name(&typed.file_name).err();
    let added = match (received(&at, (Step::Artifact, version), file, &mut typed).await, about) {
        (Ok(Some(file)), Ok(about)) => services.artifacts.add(&actor, (&id, version), file, about).await,
        (Ok(_), _) => return at.mark(version, Entry::Artifact(typed)).await,
        (Err(error), _) => Err(error),
    };
    match added {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Artifact))),
        Err(error) => at.refuse(error, Entry::Artifact(typed)).await,
    }
}

fn typed(fields: &Fields, file: Option<&UploadFile>) -> Typed {
    let sent = file.map(|file| file.name().raw().to_owned());
    Typed {
        service: fields.get("service").to_owned(),
        target: fields.get("target").to_owned(),
        kind: fields.get("kind").to_owned(),
        sha256: if sent.is_some() { String::new() } else { fields.get("sha256").to_owned() },
        file_name: sent.unwrap_or_else(|| fields.get("file_name").to_owned()),
        problems: Problems::default(),
    }
}

/// Takes the file of a form whose fields are in order, for a draft that is as the form has it and has room; without one,
/// `typed` says what is missing. A file that was sent stands in `typed` as a hash from then on.
async fn received(
    at: &At<'_>,
    (step, version): (Step, &str),
    file: Option<UploadFile>,
    typed: &mut Typed,
) -> Result<Option<File>, Error> {
    let ready = at.services.artifacts.ready(at.actor, (at.id, version), step).await;
    if file.as_ref().is_some_and(UploadFile::is_empty) {
        typed.problems.file = Some(draft::EMPTY_FILE);
    }
    let name = Hostile::from(typed.file_name.as_str());
    match file {
        Some(file) if ready.is_err() || !typed.problems.is_empty() => file.discard().await,
        Some(file) => {
            let announced = Announced { name: name.clone(), ..Announced::default() };
            let stored = file.feed(|chunks| at.services.uploads.store(at.actor, &announced, chunks)).await?;
            stored.as_str().clone_into(&mut typed.sha256);
        }
        None => {}
    }
    let draft = ready?;
    match typed.sha256.parse() {
        Ok(sha256) if draft::is_of_nothing(&sha256) => typed.problems.file = Some(draft::EMPTY_FILE),
        Ok(sha256) if holds(&draft, step, &sha256) => typed.problems.file = Some(TWICE),
        Ok(sha256) if typed.problems.is_empty() => return Ok(Some(File { sha256, name })),
        Ok(_) => return Ok(None),
        Err(_) if typed.problems.file.is_none() => typed.problems.file = Some("Choose a file."),
        Err(_) => {}
    }
    typed.sha256.clear();
    Ok(None)
}

/// Takes a file out.
pub(in crate::gateway) async fn remove(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(removed): Form<Removed>,
) -> Result<HttpResponse, WebError> {
    match services.artifacts.remove(&actor, (&id, &removed.v), removed.row).await {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Artifact))),
        Err(error) => {
            let at = At { page: &page, services: &services, actor: &actor, id: &id };
            at.refuse(error, Entry::none(Step::Artifact)).await
        }
    }
}

/// The step with source code.
pub(in crate::gateway) async fn sources(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::none(Step::Source)).await
}

/// Adds source code.
pub(in crate::gateway) async fn add_source(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    form: UploadForm,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let (fields, file) = form.read_checked().await?;
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    let (version, mut typed) = (fields.get("v"), typed(&fields, file.as_ref()));
    typed.problems.file = draft::source_name(&typed.file_name).err();
    let kind = SourceKind::read(&typed.kind).unwrap_or(SourceKind::Backend);
    let added = match received(&at, (Step::Source, version), file, &mut typed).await {
        Ok(Some(file)) => services.artifacts.add_source(&actor, (&id, version), file, kind).await,
        Ok(None) => return at.mark(version, Entry::Source(typed)).await,
        Err(error) => Err(error),
    };
    match added {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Source))),
        Err(error) => at.refuse(error, Entry::Source(typed)).await,
    }
}

/// Takes source code out.
pub(in crate::gateway) async fn remove_source(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(removed): Form<Removed>,
) -> Result<HttpResponse, WebError> {
    match services.artifacts.remove_source(&actor, (&id, &removed.v), removed.row).await {
        Ok(()) => Ok(see_other(&urls::step(&id, Step::Source))),
        Err(error) => {
            let at = At { page: &page, services: &services, actor: &actor, id: &id };
            at.refuse(error, Entry::none(Step::Source)).await
        }
    }
}
