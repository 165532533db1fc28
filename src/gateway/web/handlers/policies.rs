//! The policy of a company: looked at and changed.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;

use crate::gateway::services::Services;
use crate::gateway::services::policies::Answer;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Admin, Form};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::policies::{Entered, Policy};
use crate::platform::digits::whole;

pub(in crate::gateway) async fn show(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let shown = services.administration.policies.show(&actor).await?;
    page.show(&Policy::new(page.chrome("Policy", "admin"), &shown, None))
}

/// Saves the whole policy, or shows the form once more with what was typed and why nothing was saved.
pub(in crate::gateway) async fn save(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Form(form): Form<HashMap<String, String>>,
) -> Result<HttpResponse, WebError> {
    let policies = &services.administration.policies;
    let looked_at = form.get("version").and_then(|version| whole(version));
    let looked_at = looked_at.ok_or_else(|| WebError::bad_request("The form does not say which version it was made from."))?;
    let (status, problems) = match policies.save(&actor, (looked_at, &form)).await? {
        Answer::Saved => return Ok(page.go_with_news(urls::POLICY, Flash::PolicySaved)),
        Answer::Unchanged => return Ok(page.go_with_news(urls::POLICY, Flash::PolicyUnchanged)),
        Answer::Wrong(problems) => (StatusCode::UNPROCESSABLE_ENTITY, problems),
        Answer::Stale => (StatusCode::CONFLICT, Vec::new()),
    };
    let shown = policies.show(&actor).await?;
    let entered = Entered { form: &form, problems: &problems, is_stale: status == StatusCode::CONFLICT, looked_at };
    page.show_as(status, &Policy::new(page.chrome("Error: policy", "admin"), &shown, Some(&entered)))
}
