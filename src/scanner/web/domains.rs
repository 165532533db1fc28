//! Domain ownership: the content to put on a target, the check, and the gate before tasks with a target.

use actix_web::{HttpResponse, web};
use url::Url;

use super::App;
use super::error::Failure;
use super::extract::Body;
use crate::contract::domains::VerifyDomain;
use crate::scanner::identity::Caller;
use crate::scanner::ownership::NotVerified;

/// `GET /domain-ownership/random-content`.
pub(super) async fn content(app: web::Data<App>, caller: Caller) -> Result<HttpResponse, Failure> {
    let content = app.ownership.content(&caller.account).await.map_err(Failure::internal)?;
    Ok(HttpResponse::Ok().json(content))
}

/// `POST /domain-ownership/verify`.
pub(super) async fn verify(app: web::Data<App>, caller: Caller, Body(body): Body<VerifyDomain>) -> Result<HttpResponse, Failure> {
    let verified = app.ownership.verify((&caller.account, &caller.name), &body.url, &body.content).await;
    verified.map_err(|error| match error {
        NotVerified::Address(words) => Failure::bad(words),
        NotVerified::Content => Failure::bad(
            "This content was not given to this account, or it has expired. Get a new one from random-content, put it on the target, and verify again.",
        ),
        NotVerified::TooMany(wait) => Failure::too_often("There were too many ownership checks within a minute.", wait),
        NotVerified::Missing(words) => Failure::ownership_missing(words),
        NotVerified::Store(error) => Failure::internal(error),
    })?;
    Ok(HttpResponse::Ok().finish())
}

/// Lets an artifact pass when an address it names is verified for the account. Both addresses of a create are asked for:
/// which of the two a scan would visit is the service's own affair.
pub(super) async fn require_verified(app: &App, account: &str, target: &Url) -> Result<(), Failure> {
    if !app.ownership.is_required() || app.ownership.is_verified(account, target.as_str()).await.map_err(Failure::internal)? {
        return Ok(());
    }
    Err(Failure::ownership_missing(format!(
        "It is not proved that {} belongs to this account. Get a content from domain-ownership/random-content, put it into /.well-known/hash.txt of the target or into a TXT record of its host, call domain-ownership/verify, then create the task again.",
        target.authority()
    )))
}
