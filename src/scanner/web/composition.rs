//! Composition analysis of Maven projects by their poms (WIRE 10): answered at once with a zip. Poms are read in the analysis
//! process, never here.

use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse, web};

use super::App;
use super::error::Failure;
use super::files;
use crate::config::scanner::Sources;
use crate::scanner::engine::composition::{Poms, Refused, Upload};
use crate::scanner::identity::Caller;
use crate::scanner::places::Limits;
use crate::scanner::sandbox::Broken;

/// When to come back if no place came free.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// How many analyses may run.
pub(super) fn limits(settings: &Sources) -> Limits {
    Limits {
        per_account: settings.analyses_per_account,
        all: settings.analyses,
        waiting_per_account: settings.waiting,
        // Nobody waits because another account does.
        waiting: usize::MAX,
        patience: Duration::from_secs(settings.wait_seconds),
    }
}

/// `POST /sca/static-analyze/mvn`: one pom.xml.
pub(super) async fn pom(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    analyze(app, (caller, Upload::Pom), &request, payload).await
}

/// `POST /sca/static-analyze/mvn/zip`: a zip of poms with their paths.
pub(super) async fn poms(
    app: web::Data<App>,
    caller: Caller,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    analyze(app, (caller, Upload::Zip), &request, payload).await
}

/// The body goes to the disk first, so that slow senders hold neither memory nor a place.
async fn analyze(
    app: web::Data<App>,
    (caller, upload): (Caller, Upload),
    request: &HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Failure> {
    let most = app.settings.archive.sources.upload_bytes;
    files::announced(request, most)?;
    let (_, received) = files::receive(&app, Multipart::new(request.headers(), payload), most).await?;
    let _place = app.analyses.take(&caller.account).await.map_err(|_| Failure::busy(BUSY_WAIT))?;
    let poms = Poms { upload, path: received.path().to_owned() };
    let zip = app.sandbox.compose(poms).await.map_err(refused)?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "application/zip"))
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"composition.zip\""))
        .body(zip))
}

/// Poms that ask for too much are the sender's to change; a process that fails is ours.
fn refused(broken: Broken<Refused>) -> Failure {
    const SMALLER: &str = "Send fewer poms at once, or the poms of one module after the other.";
    match broken {
        Broken::Refused(Refused::Internal(cause)) => Failure::internal(cause),
        Broken::Refused(plain) => Failure::bad(plain.to_string()),
        Broken::Time(seconds) => {
            Failure::bad(format!("These poms took longer than {seconds} s to work out, so the analysis was ended. {SMALLER}"))
        }
        Broken::Memory(bytes) => Failure::bad(format!(
            "These poms take more than {} MiB of memory to work out, so the analysis was ended. {SMALLER}",
            bytes >> 20
        )),
        Broken::Crashed | Broken::Stopped => Failure::internal("an analysis of poms broke down"),
        Broken::NotStarted => Failure::internal("an analysis of poms could not be started"),
    }
}
