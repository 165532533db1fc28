//! Composition analysis of Maven projects by their poms (WIRE 10): answered at once with a zip.

use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse, web};

use super::App;
use super::error::Failure;
use super::files;
use crate::scanner::engine::composition::{self, Refused, Upload};
use crate::scanner::identity::Caller;

/// `POST /sca/static-analyze/mvn`: one pom.xml.
pub(super) async fn pom(
    app: web::Data<App>,
    _: Caller,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    analyze(app, Upload::Pom, &request, payload).await
}

/// `POST /sca/static-analyze/mvn/zip`: a zip of poms with their paths.
pub(super) async fn poms(
    app: web::Data<App>,
    _: Caller,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    analyze(app, Upload::Zip, &request, payload).await
}

/// The body goes to the disk first, so that slow senders hold neither memory nor a place.
async fn analyze(
    app: web::Data<App>,
    upload: Upload,
    request: &HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    let limits = app.settings.archive.clone();
    let most = limits.sources.upload_bytes;
    files::announced(request, most)?;
    let (_, received) = files::receive(&app, Multipart::new(request.headers(), payload), most).await?;
    let wait = Duration::from_secs(limits.sources.wait_seconds);
    let turn = tokio::time::timeout(wait, app.analyses.acquire()).await;
    let _turn = turn.map_err(|_| Failure::busy(wait))?.map_err(Failure::internal)?;
    let advisories = app.tasks.advisories();
    let work = move || composition::analyze(upload, received.path(), &advisories, &limits)?.into_zip(&advisories);
    let done = tokio::task::spawn_blocking(work).await.map_err(Failure::internal)?;
    let zip = done.map_err(|refused| match refused {
        Refused::Internal(cause) => Failure::internal(cause),
        plain => Failure::bad(plain.to_string()),
    })?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "application/zip"))
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"composition.zip\""))
        .body(zip))
}
