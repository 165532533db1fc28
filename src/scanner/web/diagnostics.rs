//! Network diagnostics: start a run, look at it.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use crate::contract::diagnostics::{CreateDiagnostics, CreatedDiagnostics};
use crate::scanner::diagnostics::NotStarted;
use crate::scanner::identity::Caller;

/// The longest address that is looked at, in bytes.
const LONGEST_ADDRESS: usize = 2048;

/// `POST /network-diagnostics`. What is wrong with the address itself is told by the first stage.
pub(super) async fn create(
    app: web::Data<App>,
    caller: Caller,
    Body(body): Body<CreateDiagnostics>,
) -> Result<HttpResponse, Failure> {
    let target = body.test_url.trim();
    if target.is_empty() {
        return Err(Failure::bad("testUrl is missing: name the address to check."));
    }
    if target.len() > LONGEST_ADDRESS {
        return Err(Failure::bad(format!("testUrl must have at most {LONGEST_ADDRESS} characters.")));
    }
    let id = app.diagnostics.start(&caller.account, target).map_err(|error| match error {
        NotStarted::TooMany(wait) => Failure::too_often("There were too many network checks within a minute.", wait),
        NotStarted::Busy(wait) => Failure::too_often("Other network checks of this account are still running.", wait),
        NotStarted::Random(error) => Failure::internal(error),
    })?;
    Ok(HttpResponse::Ok().json(CreatedDiagnostics { id }))
}

/// `GET /network-diagnostics/{id}/next-stage`: everything that has ended so far.
pub(super) async fn next_stage(app: web::Data<App>, caller: Caller, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let view = app.diagnostics.look(&caller.account, &path).ok_or_else(|| Failure::not_found("network check"))?;
    Ok(HttpResponse::Ok().json(view))
}
