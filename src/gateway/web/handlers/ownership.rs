//! Proof of control over the target's domain.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Data;
use serde::Deserialize;

use super::steps::{At, Entry};
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::domain::ownership::Verdict;
use crate::gateway::services::Services;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Form, Path, Query, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::ownership::Looked;

#[derive(Deserialize)]
pub(in crate::gateway) struct Reason {
    /// The service refused to start without proof.
    #[serde(default)]
    missing: u8,
}

/// The step.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    Query(reason): Query<Reason>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let looked = Looked { is_missing: reason.missing == 1, ..Looked::default() };
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::Ownership(looked)).await
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Place {
    /// Origin of a target.
    origin: String,
}

/// Has the content looked for.
pub(in crate::gateway) async fn verify(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(place): Form<Place>,
) -> Result<HttpResponse, WebError> {
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    match services.ownership.verify(&actor, &id, &place.origin).await {
        Ok(Verdict::Verified) => Ok(page.go_with_news(&urls::step(&id, Step::Ownership), Flash::OwnershipVerified)),
        Ok(Verdict::NotYet(words)) => {
            let looked = Looked { not_yet: Some(words), ..Looked::default() };
            at.tell((StatusCode::UNPROCESSABLE_ENTITY, None), Entry::Ownership(looked)).await
        }
        Err(error) => at.refuse(error, Entry::Ownership(Looked::default())).await,
    }
}

/// The file to host.
pub(in crate::gateway) async fn file(
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    let challenge = services.ownership.challenge(&actor, &held).await?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/plain; charset=utf-8"))
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"hash.txt\""))
        .body(challenge.content.raw().to_owned()))
}
