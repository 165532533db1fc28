//! Proof of control over the target's domain.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Data;
use serde::Deserialize;

use super::drafts::at_step;
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::domain::ownership::Verdict;
use crate::gateway::services::error::Error;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Form, Path, Query, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::ownership::{Looked, Show};

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
    again(&page, &services, (&actor, &id), (StatusCode::OK, reason.missing == 1), Looked::default()).await
}

async fn again(
    page: &Page,
    services: &Services,
    (actor, id): (&Actor, &DraftId),
    (status, is_missing): (StatusCode, bool),
    mut looked: Looked,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(actor, id).await?;
    let challenge = if held.draft.targets().is_empty() {
        None
    } else {
        match services.ownership.challenge(actor, &held).await {
            Ok(challenge) => Some(challenge),
            Err(error) => {
                looked.trouble = trouble(error)?;
                None
            }
        }
    };
    page.show_as(status, &Show::new(page, &held, challenge.as_ref(), looked, is_missing))
}

/// Words for a service that did not do its part; other errors have pages of their own.
fn trouble(error: Error) -> Result<String, WebError> {
    let is_theirs = matches!(error, Error::Upstream(_) | Error::Unusable(_));
    let refused = WebError::from(error);
    if is_theirs && refused.sign_in.is_none() { Ok(refused.words.into()) } else { Err(refused) }
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
    let looked = match services.ownership.verify(&actor, &id, &place.origin).await {
        Ok(Verdict::Verified) => return Ok(page.go_with_news(&urls::step(&id, Step::Ownership), Flash::OwnershipVerified)),
        Ok(Verdict::NotYet(words)) => Looked { not_yet: Some(words), ..Looked::default() },
        Err(error @ Error::Invalid(_)) => return Err(at_step(&id, Step::Ownership)(error)),
        Err(error) => Looked { trouble: trouble(error)?, ..Looked::default() },
    };
    again(&page, &services, (&actor, &id), (StatusCode::UNPROCESSABLE_ENTITY, false), looked).await
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
