//! The last step: look at everything once more, then start.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use serde::Deserialize;

use super::drafts::at_step;
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::services::launch::Outcome;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Form, Path, SignedIn};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::launch::Check;

/// The step.
pub(in crate::gateway) async fn show(
    page: Page,
    SignedIn(actor): SignedIn,
    Path(id): Path<DraftId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    again(&page, &services, (&actor, &id), StatusCode::OK, (String::new(), false)).await
}

async fn again(
    page: &Page,
    services: &Services,
    (actor, id): (&Actor, &DraftId),
    status: StatusCode,
    (problem, sure_problem): (String, bool),
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(actor, id).await?;
    let look = services.diagnostics.look(actor, &held).await?;
    page.show_as(status, &Check::new(page, &held, &look, problem, sure_problem))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Confirmed {
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
    Form(confirmed): Form<Confirmed>,
) -> Result<HttpResponse, WebError> {
    let held = services.drafts.get(&actor, &id).await?;
    if !held.draft.targets().is_empty() && confirmed.sure.is_empty() {
        return again(&page, &services, (&actor, &id), StatusCode::UNPROCESSABLE_ENTITY, (String::new(), true)).await;
    }
    match services.launch.start(&actor, (&id, &confirmed.v)).await.map_err(at_step(&id, Step::Check))? {
        Outcome::Started { group: Some(group), .. } => Ok(page.go_with_news(&urls::group(&group), Flash::ScansStarted)),
        Outcome::Started { first, group: None } => Ok(see_other(&urls::task(&first))),
        Outcome::Partly => Ok(see_other(&urls::step(&id, Step::Check))),
        Outcome::OwnershipMissing => Ok(see_other(&format!("{}?missing=1", urls::step(&id, Step::Ownership)))),
        Outcome::Refused(words) => {
            let words = format!("The scanning service refused the scan: {}", words.short(300));
            again(&page, &services, (&actor, &id), StatusCode::UNPROCESSABLE_ENTITY, (words, false)).await
        }
    }
}
