//! The last step: look at everything once more, then start.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use super::steps::{At, Entry};
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::services::Services;
use crate::gateway::services::error::Error;
use crate::gateway::services::launch::Outcome;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::launch::Confirmed;
use crate::gateway::web::views::notice::Notice;

/// The step.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    At { page: &page, services: &services, actor: &actor, id: &id }.show(Entry::none(Step::Check)).await
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Sent {
    v: String,
    /// Checked: the target is no production system.
    #[serde(default)]
    sure: String,
}

/// Starts the scans.
pub(in crate::gateway) async fn start(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
    Form(sent): Form<Sent>,
) -> Result<HttpResponse, WebError> {
    let at = At { page: &page, services: &services, actor: &actor, id: &id };
    let held = services.drafts.get(&actor, &id).await?;
    let confirmed = Confirmed { sure: !sent.sure.is_empty(), missing: false };
    if !held.draft.targets().is_empty() && !confirmed.sure {
        return at.mark(&sent.v, Entry::Check(Confirmed { missing: true, ..confirmed })).await;
    }
    match services.launch.start(&actor, (&id, &sent.v)).await {
        Ok(Outcome::Started { group: Some(group), .. }) => Ok(page.go_with_news(&urls::group(&group), Flash::ScansStarted)),
        Ok(Outcome::Started { first, group: None }) => Ok(see_other(&urls::task(&first))),
        Ok(Outcome::Partly) => Ok(see_other(&urls::step(&id, Step::Check))),
        Ok(Outcome::OwnershipMissing) => Ok(see_other(&format!("{}?missing=1", urls::step(&id, Step::Ownership)))),
        Ok(Outcome::Refused(words)) => {
            let notice = Notice::not_started(format!("The scanning service refused the scan: {}", words.short(300)));
            at.tell((StatusCode::UNPROCESSABLE_ENTITY, Some(notice)), Entry::Check(confirmed)).await
        }
        // What the person confirmed was another draft than the one the page shows now.
        Err(error @ Error::Stale(_)) => at.refuse(error, Entry::none(Step::Check)).await,
        Err(error) => at.refuse(error, Entry::Check(confirmed)).await,
    }
}
