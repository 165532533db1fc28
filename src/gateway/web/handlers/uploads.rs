//! Files, for the script of the new-scan page: whether one is there, and sending one.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;
use serde_json::json;

use crate::contract::ids::Sha256;
use crate::gateway::domain::draft::EMPTY_FILE;
use crate::gateway::services::Services;
use crate::gateway::services::uploads::Announced;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{CsrfHeader, Path, Query, SignedIn, UploadForm};

/// `{"exists": bool}`.
pub(in crate::gateway) async fn exists(
    SignedIn(actor): SignedIn,
    Path(sha256): Path<Sha256>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let exists = services.uploads.exists(&actor, &sha256).await?;
    Ok(HttpResponse::Ok().json(json!({ "exists": exists })))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    sha256: Option<Sha256>,
    #[serde(default)]
    force: bool,
}

/// `{"sha256": "…"}` of what the service has taken.
pub(in crate::gateway) async fn store(
    SignedIn(actor): SignedIn,
    _: CsrfHeader,
    Query(wanted): Query<Wanted>,
    form: UploadForm,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let (_, file) = form.read().await?;
    let file = file.ok_or_else(|| WebError::bad_request("The form holds no file."))?;
    if file.is_empty() {
        return Err(WebError::bad_request(EMPTY_FILE));
    }
    let announced = Announced { name: file.name().clone(), sha256: wanted.sha256, force: wanted.force };
    let stored = file.feed(|chunks| services.uploads.store(&actor, &announced, chunks)).await?;
    Ok(HttpResponse::Ok().json(json!({ "sha256": stored })))
}
