//! The audit log: by page, as a file, and whether it is whole.

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use serde::Deserialize;

use crate::gateway::domain::audit_filter::AuditFilter;
use crate::gateway::services::audit::{Form as FileForm, Lines};
use crate::gateway::services::{Actor, Services};
use crate::gateway::session::Portal;
use crate::gateway::web::attachment::attachment;
use crate::gateway::web::error::{WebError, see_other};
use crate::gateway::web::extract::{Admin, Form, Nothing, Query};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::audit::List;
use crate::gateway::web::views::audit_file::File;

#[derive(Deserialize)]
pub(in crate::gateway) struct Below {
    before: Option<u64>,
}

fn filter(request: &HttpRequest) -> Result<AuditFilter, WebError> {
    AuditFilter::read(request.query_string()).map_err(|refused| WebError::bad_request(refused.0))
}

pub(in crate::gateway) async fn list(
    page: Page,
    Admin(actor): Admin,
    request: HttpRequest,
    Query(below): Query<Below>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let filter = filter(&request)?;
    let shown = services.audit_log.page(&actor, &filter, below.before).await?;
    page.show(&List::new(&page, &filter, below.before, &shown, services.audit_log.now()))
}

/// What fits the filter as rows for a spreadsheet.
pub(in crate::gateway) async fn csv(
    Admin(actor): Admin,
    portal: Portal,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    file((&actor, &portal), filter(&request)?, (&services, FileForm::Csv))
}

/// The same as JSON.
pub(in crate::gateway) async fn json(
    Admin(actor): Admin,
    portal: Portal,
    request: HttpRequest,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    file((&actor, &portal), filter(&request)?, (&services, FileForm::Json))
}

/// A file that is made while it is sent. When it cannot be whole, or the session ends first, the connection breaks.
fn file(
    (actor, portal): (&Actor, &Portal),
    filter: AuditFilter,
    (services, form): (&Services, FileForm),
) -> Result<HttpResponse, WebError> {
    let tether = portal.tether().ok_or_else(|| WebError::sign_in(urls::LOGIN.to_owned()))?;
    let file = File::new(form, &actor.principal.tenant, &filter, services.audit_log.now());
    let lines = services.audit_log.file(actor, (filter, form))?;
    let body = body(form, (file.start()?, file.end()), lines.map_err(WebError::from));
    let body = body.map_err(|error| Box::<dyn std::error::Error>::from(error.to_string()));
    let body = tether.hold(body, |ending| Err(ending.words().into()));
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, file.media_type()))
        .insert_header((CONTENT_DISPOSITION, attachment(&file.name())))
        .insert_header((CONTENT_SECURITY_POLICY, "sandbox"))
        .streaming(Box::pin(body)))
}

/// Beginning, pieces, end.
fn body(
    form: FileForm,
    (start, end): (Vec<u8>, Vec<u8>),
    lines: impl Stream<Item = Result<Lines, WebError>>,
) -> impl Stream<Item = Result<Bytes, WebError>> {
    let pieces = lines.scan(true, move |is_first, lines| {
        let piece = lines.and_then(|lines| File::piece(form, &lines, is_first));
        std::future::ready(Some(piece))
    });
    let one = |piece| stream::once(std::future::ready(Ok(piece)));
    one(start).chain(pieces).chain(one(end)).map_ok(Bytes::from)
}

/// Begins a check of the whole trail; the page tells how it goes.
pub(in crate::gateway) async fn check(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    _form: Form<Nothing>,
) -> Result<HttpResponse, WebError> {
    if services.audit_log.check(&actor).await? {
        return Ok(see_other(urls::AUDIT));
    }
    Ok(page.go_with_news(urls::AUDIT, Flash::CheckedLately))
}
