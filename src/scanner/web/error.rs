//! Refusals as the interface's ErrorResponse: one sentence for people, a code for programs. What went wrong inside is
//! logged here, once, and never shown.

use std::fmt;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};

use crate::contract::error::{ErrorResponse, codes};
use crate::contract::ids::BadId;

/// A request that is not served, and what is said about it.
#[derive(Debug)]
pub(in crate::scanner) struct Failure {
    status: StatusCode,
    code: u32,
    message: String,
    header: Option<Header>,
}

#[derive(Debug)]
enum Header {
    RetryAfter(u64),
    Allow(&'static str),
    Authenticate,
}

impl Failure {
    fn new(status: StatusCode, code: u32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), header: None }
    }

    /// 400: a field or parameter is not what it has to be.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, codes::BAD_FIELD, message)
    }

    /// 400 with a code that says more than that a field is wrong.
    pub(super) fn bad_because(code: u32, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// The code for programs.
    pub(super) const fn code(&self) -> u32 {
        self.code
    }

    /// Whether the service is at fault and not the request.
    pub(super) fn is_internal(&self) -> bool {
        self.status.is_server_error()
    }

    /// 400: the file was never uploaded, or by somebody else.
    pub(super) fn unknown_file() -> Self {
        let message = "There is no uploaded file with this sha256. Upload it first, then use the sha256 of the answer.";
        Self::new(StatusCode::BAD_REQUEST, codes::UNKNOWN_FILE, message)
    }

    /// 401.
    pub(super) fn unauthorized() -> Self {
        let message = "A valid credential is needed: send Authorization: Bearer with a server key or an access token.";
        Self { header: Some(Header::Authenticate), ..Self::new(StatusCode::UNAUTHORIZED, codes::NO_TOKEN, message) }
    }

    /// 403: a valid credential that may not do this.
    pub(super) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, codes::FORBIDDEN, message)
    }

    /// 403: the share wants its extraction code.
    pub(super) fn code_needed() -> Self {
        Self::new(StatusCode::FORBIDDEN, codes::CODE_NEEDED, "This share is protected. Send its extraction code.")
    }

    /// 403: not the code of the share.
    pub(super) fn code_wrong() -> Self {
        Self::new(StatusCode::FORBIDDEN, codes::CODE_WRONG, "This is not the extraction code of the share.")
    }

    /// 404: `what` does not exist for this caller.
    pub(super) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, format!("There is no such {what}."))
    }

    /// 404: one answer for a share that never was and one that has ended.
    pub(super) fn no_share() -> Self {
        Self::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, "There is no such share, or it has ended.")
    }

    /// 404: no operation at all.
    pub(super) fn no_operation() -> Self {
        Self::new(StatusCode::NOT_FOUND, codes::NOT_FOUND, "There is no operation at this path.")
    }

    /// 405.
    pub(super) fn wrong_method(allowed: &'static str) -> Self {
        let message = format!("This path takes {allowed}.");
        Self { header: Some(Header::Allow(allowed)), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, 4050, message) }
    }

    /// 413.
    pub(super) fn too_large(limit: u64) -> Self {
        let message = format!("This is too large. At most {limit} bytes are taken.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, codes::TOO_LARGE, message)
    }

    /// 429, with the seconds to wait.
    fn later(seconds: u64, message: impl Into<String>) -> Self {
        let header = Some(Header::RetryAfter(seconds));
        Self { header, ..Self::new(StatusCode::TOO_MANY_REQUESTS, codes::TOO_MANY, message) }
    }

    /// 429: too many wrong codes; come back after `wait`.
    pub(super) fn too_many(wait: Duration) -> Self {
        Self::too_often("There were too many wrong codes.", wait)
    }

    /// 400: no proof that the target belongs to the account.
    pub(super) fn ownership_missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, codes::OWNERSHIP_MISSING, message)
    }

    /// 429: `what` came too often; come back after `wait`.
    pub(super) fn too_often(what: &str, wait: Duration) -> Self {
        let seconds = u64::try_from(wait.as_millis().div_ceil(1000).max(1)).unwrap_or(u64::MAX);
        Self::later(seconds, format!("{what} Try again in {seconds} seconds."))
    }

    /// 404: this machine has no browser to show.
    pub(super) fn no_browser() -> Self {
        let message = "Remote browsers are not available here: the service found no Chromium it can start. Enter cookies and \
                       headers by hand instead, or ask its operator to install Chromium.";
        Self::new(StatusCode::NOT_FOUND, codes::NO_BROWSER, message)
    }

    /// 429: every place for a remote browser is taken.
    pub(super) fn no_place(wait: Duration) -> Self {
        let seconds = wait.as_secs().max(1);
        Self::later(
            seconds,
            format!("All remote browsers are in use. Close one that is not needed, or try again in {seconds} seconds."),
        )
    }

    /// 429: as many analyses run as may run at once.
    pub(super) fn busy(wait: Duration) -> Self {
        let message = "Other analyses take all places at the moment. Please try again in a little while.";
        Self::later(wait.as_secs().max(1), message)
    }

    /// 500: our fault; `cause` is logged.
    pub(super) fn internal(cause: impl fmt::Display) -> Self {
        tracing::error!(%cause, "a request failed");
        let message = "Something went wrong in the service. Please try again; if it stays, tell its operator.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, codes::INTERNAL, message)
    }

    /// 500: the identity provider does not answer, so nobody can be let in.
    pub(super) fn identity_unavailable() -> Self {
        let message = "The sign-in cannot be checked at the moment. Please try again in a little while.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, codes::INTERNAL + 1, message)
    }

    /// 400 for an identifier in a path.
    pub(super) fn bad_id(error: BadId) -> Self {
        Self::bad(format!("{error}."))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponseBuilder::new(self.status);
        match &self.header {
            Some(Header::RetryAfter(seconds)) => answer.insert_header((RETRY_AFTER, seconds.to_string())),
            Some(Header::Allow(methods)) => answer.insert_header((ALLOW, *methods)),
            Some(Header::Authenticate) => answer.insert_header((WWW_AUTHENTICATE, "Bearer")),
            None => &mut answer,
        };
        answer.json(ErrorResponse::new(self.code, self.message.clone()))
    }
}
