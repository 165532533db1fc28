//! Uploads and whether a file is there. A file belongs to the account that uploaded it.

use std::time::Duration;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::StreamExt as _;
use serde::Deserialize;

use super::App;
use super::error::Failure;
use crate::contract::files::UploadedFile;
use crate::contract::ids::Sha256;
use crate::platform::multipart;
use crate::scanner::identity::Caller;
use crate::scanner::store::files::{FileRecord, Received};

/// What a multipart body may add to the bytes of the file: boundaries, part headers, other fields.
const ENVELOPE: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UploadQuery {
    sha256: Option<String>,
    force_upload: Option<String>,
}

/// `POST /files/upload`.
pub(super) async fn upload(
    app: web::Data<App>,
    caller: Caller,
    query: Result<web::Query<UploadQuery>, actix_web::Error>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    let query = query.map_err(|_| Failure::bad("The query is not right: sha256 and forceUpload may stand there once each."))?;
    let expected = query.sha256.as_deref().map(sha256).transpose()?;
    let replace = flag(query.force_upload.as_deref())?;
    let limit = app.settings.upload.max_bytes;
    announced(&request, limit)?;
    let (name, received) = receive(&app, Multipart::new(request.headers(), payload), limit).await?;
    if expected.is_some_and(|expected| expected != received.sha256) {
        return Err(Failure::bad("The bytes that arrived do not have the sha256 of the query. Nothing was kept."));
    }
    let now = app.clock.now();
    let record = app.store.run(move |store| store.keep_file(&caller.account, received, name, replace, now)).await;
    Ok(HttpResponse::Ok().json(answer(record.map_err(Failure::internal)?)))
}

/// `POST /files/check-exist/{sha256}`.
pub(super) async fn check_exist(app: web::Data<App>, caller: Caller, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let sha256 = sha256(&path)?;
    let known = app.store.run(move |store| store.file(&caller.account, &sha256)).await.map_err(Failure::internal)?;
    known.map(|file| HttpResponse::Ok().json(file.sha256)).ok_or_else(|| Failure::not_found("file"))
}

fn answer(file: FileRecord) -> UploadedFile {
    UploadedFile { sha256: file.sha256, file_name: file.name, size: file.size, created_at: file.created_at.rfc3339() }
}

fn sha256(text: &str) -> Result<Sha256, Failure> {
    text.to_ascii_lowercase().parse().map_err(Failure::bad_id)
}

fn flag(value: Option<&str>) -> Result<bool, Failure> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(_) => Err(Failure::bad("forceUpload is true or false.")),
    }
}

/// Refuses a body that is announced as too large before a byte of it is read.
pub(super) fn announced(request: &HttpRequest, limit: u64) -> Result<(), Failure> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit.saturating_add(ENVELOPE)) { Err(Failure::too_large(limit)) } else { Ok(()) }
}

/// Reads the whole form: one part `file` of at most `limit` bytes, other parts are passed over.
pub(super) async fn receive(app: &App, mut form: Multipart, limit: u64) -> Result<(String, Received), Failure> {
    let idle = Duration::from_secs(app.settings.upload.idle_seconds);
    let mut file = None;
    let mut rest = ENVELOPE;
    while let Some(part) = moving(idle, form.next()).await? {
        let mut part = part.map_err(|error| broken(&error))?;
        if part.name() == Some("file") {
            if file.is_some() {
                return Err(Failure::bad("The form has more than one part named file."));
            }
            file = Some((file_name(&part), take(app, (idle, limit), &mut part).await?));
        } else {
            pass_over(idle, &mut part, &mut rest).await?;
        }
    }
    file.ok_or_else(|| Failure::bad("The form has no part named file."))
}

async fn take(app: &App, (idle, limit): (Duration, u64), part: &mut Field) -> Result<Received, Failure> {
    let incoming = app.store.receive().map_err(Failure::internal)?;
    let mut size = 0_u64;
    while let Some(chunk) = moving(idle, part.next()).await? {
        let chunk = chunk.map_err(|error| broken(&error))?;
        size = size.saturating_add(chunk.len() as u64);
        if size > limit {
            return Err(Failure::too_large(limit));
        }
        if incoming.write(chunk).await.is_err() {
            // The writer has ended: finishing tells why.
            break;
        }
    }
    incoming.finish().await.map_err(Failure::internal)
}

async fn pass_over(idle: Duration, part: &mut Field, rest: &mut u64) -> Result<(), Failure> {
    while let Some(chunk) = moving(idle, part.next()).await? {
        let length = chunk.map_err(|error| broken(&error))?.len() as u64;
        *rest = rest.checked_sub(length).ok_or_else(|| Failure::bad("The form has too much beside its part named file."))?;
    }
    Ok(())
}

async fn moving<T>(idle: Duration, next: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::time::timeout(idle, next)
        .await
        .map_err(|_| Failure::bad("The upload stopped moving, so it was given up. Please try again."))
}

fn broken(error: &MultipartError) -> Failure {
    match error {
        MultipartError::ContentTypeMissing | MultipartError::ContentTypeParse | MultipartError::ContentTypeIncompatible => {
            Failure::bad("An upload is a multipart/form-data body with one part named file.")
        }
        MultipartError::Incomplete | MultipartError::Payload(_) => Failure::bad("The upload ended early. Nothing was kept."),
        _ => Failure::bad("The multipart body is not right. Send one part named file."),
    }
}

/// What is left is still hostile text.
fn file_name(part: &Field) -> String {
    let disposition = part.headers().get(CONTENT_DISPOSITION).map(HeaderValue::as_bytes).unwrap_or_default();
    multipart::file_name(disposition).unwrap_or_else(|| "file".to_owned())
}
