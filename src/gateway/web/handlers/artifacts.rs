//! Files of a draft: add with an upload, remove. A form brings its file along, or the hash of one that the page's script has
//! sent before.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;

use super::drafts::{Removed, at_step};
use crate::gateway::domain::draft::{self, DraftId, SourceKind, Step};
use crate::gateway::services::artifacts::{About, File, Problems};
use crate::gateway::services::drafts::Held;
use crate::gateway::services::error::Error;
use crate::gateway::services::uploads::Announced;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Fields, Form, Path, SignedIn, UploadFile, UploadForm};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::gateway::web::views::artifacts::{List, Sources, Typed};
use crate::platform::hostile::Hostile;

/// The step with the files to scan.
pub(in crate::gateway) async fn list(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&view(&page, &services, &held, &Typed::default()))
}

fn view(page: &Page, services: &Services, held: &Held, typed: &Typed) -> List {
    List::new(page, held, typed, (services.uploads.max_bytes(), services.drafts.settings().files))
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
    let (held, file) = current(&services, &actor, (&id, fields.get("v")), Step::Artifact, file).await?;
    let mut typed = typed(&fields, file.as_ref());
    let about = About::read(&typed.service, &typed.target);
    typed.problems = about.clone().err().unwrap_or_default();
    typed.problems.file = draft::artifact_name(&typed.file_name).err();
    let Some(file) = received(&services, &actor, file, &mut typed).await? else {
        return page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &view(&page, &services, &held, &typed));
    };
    let about = about.map_err(|_| WebError::internal("a problem was not told"))?;
    services.artifacts.add(&actor, (&id, &held.version), file, about).await.map_err(at_step(&id, Step::Artifact))?;
    Ok(see_other(&urls::step(&id, Step::Artifact)))
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

/// The draft a form was made from; one that has changed since is told before its file is taken.
async fn current(
    services: &Services,
    actor: &Actor,
    (id, version): (&DraftId, &str),
    step: Step,
    file: Option<UploadFile>,
) -> Result<(Held, Option<UploadFile>), WebError> {
    let refused = match services.drafts.get(actor, id).await {
        Ok(held) if held.version == version => return Ok((held, file)),
        Ok(_) => Error::Stale,
        Err(error) => error,
    };
    if let Some(file) = file {
        file.discard().await;
    }
    Err(at_step(id, step)(refused))
}

/// Takes the file of a form whose fields are in order; without one, `typed` says what is missing.
async fn received(
    services: &Services,
    actor: &Actor,
    file: Option<UploadFile>,
    typed: &mut Typed,
) -> Result<Option<File>, WebError> {
    let name = Hostile::from(typed.file_name.as_str());
    match file {
        Some(file) if !typed.problems.is_empty() => {
            file.discard().await;
            // The browser does not keep a chosen file over a page.
            typed.sha256.clear();
            Ok(None)
        }
        Some(file) => {
            let announced = Announced { name: name.clone(), ..Announced::default() };
            let sha256 = file.feed(|chunks| services.uploads.store(actor, &announced, chunks)).await?;
            Ok(Some(File { sha256, name }))
        }
        None => match typed.sha256.parse() {
            Ok(sha256) if typed.problems.is_empty() => Ok(Some(File { sha256, name })),
            Ok(_) => Ok(None),
            Err(_) => {
                typed.problems.file = Some("Choose a file.");
                typed.sha256.clear();
                Ok(None)
            }
        },
    }
}

/// Takes a file out.
pub(in crate::gateway) async fn remove(
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(removed): Form<Removed>,
) -> Result<HttpResponse, WebError> {
    services.artifacts.remove(&actor, (&id, &removed.v), removed.row).await.map_err(at_step(&id, Step::Artifact))?;
    Ok(see_other(&urls::step(&id, Step::Artifact)))
}

/// The step with source code.
pub(in crate::gateway) async fn sources(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    page.show(&Sources::new(&page, &held, &Typed::default(), services.uploads.max_bytes()))
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
    let (held, file) = current(&services, &actor, (&id, fields.get("v")), Step::Source, file).await?;
    let mut typed = typed(&fields, file.as_ref());
    typed.problems.file = draft::source_name(&typed.file_name).err();
    let kind = SourceKind::read(&typed.kind).unwrap_or(SourceKind::Backend);
    let Some(file) = received(&services, &actor, file, &mut typed).await? else {
        let view = Sources::new(&page, &held, &typed, services.uploads.max_bytes());
        return page.show_as(StatusCode::UNPROCESSABLE_ENTITY, &view);
    };
    services.artifacts.add_source(&actor, (&id, &held.version), file, kind).await.map_err(at_step(&id, Step::Source))?;
    Ok(see_other(&urls::step(&id, Step::Source)))
}

/// Takes source code out.
pub(in crate::gateway) async fn remove_source(
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(removed): Form<Removed>,
) -> Result<HttpResponse, WebError> {
    services.artifacts.remove_source(&actor, (&id, &removed.v), removed.row).await.map_err(at_step(&id, Step::Source))?;
    Ok(see_other(&urls::step(&id, Step::Source)))
}
