//! Domain ownership: the content to put on a target, the check, and the gate before tasks with a target.

use actix_web::{HttpResponse, web};

use super::App;
use super::error::Failure;
use super::extract::Body;
use crate::contract::domains::VerifyDomain;
use crate::contract::tasks::CreateTask;
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

/// Lets a create pass when every target it names is verified for the account. The target is the target service's address;
/// where none is given, the home page's. A login page beside it may be at somebody else's.
pub(super) async fn require_verified(app: &App, account: &str, body: &CreateTask) -> Result<(), Failure> {
    if !app.ownership.is_required() {
        return Ok(());
    }
    let given = |address: &Option<String>| address.clone().filter(|address| !address.trim().is_empty());
    let own = given(&body.sandbox_target_service_url).or_else(|| given(&body.sandbox_home_page_url));
    let further = body.primary_source_codes.iter().flatten().filter_map(|artifact| given(&artifact.sandbox_target_service_url));
    for address in own.into_iter().chain(further) {
        if !app.ownership.is_verified(account, &address).await.map_err(Failure::internal)? {
            let place =
                url::Url::parse(address.trim()).map_or_else(|_| "the target".to_owned(), |url| url.authority().to_owned());
            let place = place.rsplit_once('@').map_or(place.as_str(), |(_, place)| place);
            return Err(Failure::ownership_missing(format!(
                "It is not proved that {place} belongs to this account. Get a content from domain-ownership/random-content, put it into /.well-known/hash.txt of the target or into a TXT record of its host, call domain-ownership/verify, then create the task again.",
            )));
        }
    }
    Ok(())
}
