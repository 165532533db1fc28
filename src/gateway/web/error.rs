//! Errors as users and programs see them: a status, plain words, what to do next. The page itself is made by
//! `middleware::error_page`, which knows the tenant and the request id. What is logged is logged there, once.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, LOCATION, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};

use super::urls;
use crate::contract::error::ErrorResponse;
use crate::gateway::domain::draft::Became;
use crate::gateway::domain::ending::Ending;
use crate::gateway::services::error::UpstreamError;

/// A way on: what it is called, and its address.
pub(in crate::gateway) type Way = (&'static str, String);

/// Beside a page that tells a refusal in its own words: the refusal, for the log.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Told(pub(in crate::gateway) WebError);

/// An answer that is not what was asked for.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct WebError {
    pub(in crate::gateway) status: StatusCode,
    pub(in crate::gateway) title: &'static str,
    /// What happened, in plain words.
    pub(in crate::gateway) words: Box<str>,
    /// What to do next.
    pub(in crate::gateway) hint: &'static str,
    /// Seconds.
    pub(in crate::gateway) retry_after: Option<u64>,
    /// The interface's number where it is more exact than the status.
    pub(in crate::gateway) code: Option<NonZeroU32>,
    /// For the log only.
    pub(in crate::gateway) cause: Option<Box<str>>,
    /// Where somebody has to go first: a browser that reads is redirected, a form gets a page with the link, programs get 401.
    pub(in crate::gateway) sign_in: Option<Box<str>>,
    /// Ways on from here, where some are known.
    pub(in crate::gateway) ways: Box<[Way]>,
    /// The cause of the refusal is gone: the same request, sent once more, is taken.
    pub(in crate::gateway) resends: bool,
    /// There is something to read before: browsers get the page with a link to the sign-in.
    pub(in crate::gateway) explains: bool,
}

/// `type` of a problem that is told by its status alone.
const ABOUT_BLANK: &str = "about:blank";
/// `type` of a refusal whose cause is gone: the same request, sent once more, is taken.
const RESEND: &str = "token-refreshed-resend";
/// After a form that was refused for want of a session, whole: no handler began with it, or what it stored was cut.
pub(in crate::gateway) const NOTHING_CHANGED: &str = "Nothing was changed. Sign in, then do it once more.";

impl WebError {
    pub(super) fn new(status: StatusCode, title: &'static str, words: impl Into<String>, hint: &'static str) -> Self {
        Self {
            status,
            title,
            words: words.into().into_boxed_str(),
            hint,
            retry_after: None,
            code: None,
            cause: None,
            sign_in: None,
            ways: Box::default(),
            resends: false,
            explains: false,
        }
    }

    /// The page for a status that has no words of its own.
    pub(in crate::gateway) fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            400 => Self::bad_request("The request could not be read."),
            403 => Self::forbidden("This is not open to your account."),
            404 => Self::not_found(),
            405 => Self::new(
                status,
                "This does not work that way",
                "The address is right, but not for this kind of request.",
                "Go back and use the links and buttons of the page.",
            ),
            413 => Self::too_large("What was sent is larger than allowed."),
            429 => Self::busy(60),
            503 => Self::unavailable(5),
            _ if status.is_client_error() => Self::new(
                status,
                "The request could not be used",
                "The request could not be used as it came.",
                "Go back and try again.",
            ),
            _ => Self::internal("an answer without words"),
        }
    }

    pub(in crate::gateway) fn bad_request(words: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "The request could not be used",
            words,
            "Go back, change what was named, and try again. Nothing was changed.",
        )
    }

    pub(in crate::gateway) fn forbidden(words: impl Into<String>) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "This is not open to you",
            words,
            "If you need it, ask an administrator of your company.",
        )
    }

    pub(in crate::gateway) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "Nothing is here",
            "There is nothing at this address, or it is not yours to see.",
            "Check the address, or start from the home page.",
        )
    }

    pub(in crate::gateway) fn unsupported_media_type(words: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "This cannot be read here",
            words,
            "Go back and use the links and buttons of the page.",
        )
    }

    pub(in crate::gateway) fn too_large(words: impl Into<String>) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "That is too large",
            words,
            "Choose a smaller file, or ask an administrator to raise the limit.",
        )
    }

    /// `seconds` until the next try makes sense.
    pub(in crate::gateway) fn busy(seconds: u64) -> Self {
        let words = "There were too many tries in a short time.";
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "Please wait a moment", words, "Nothing is lost. Wait, then try again.")
        }
    }

    /// Our own store or another part cannot be reached; sessions stay.
    pub(in crate::gateway) fn unavailable(seconds: u64) -> Self {
        let words = "A part of the portal cannot be reached right now. Nothing is lost: whoever was signed in still is.";
        Self {
            retry_after: Some(seconds),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Back in a moment",
                words,
                "Wait a little, then load the page again. A form that was on its way is sent once more with it.",
            )
        }
    }

    /// Sign in first, then come back to `address` (a complete local sign-in address).
    pub(in crate::gateway) fn sign_in(address: String) -> Self {
        let words = "You are not signed in, or your session has ended.";
        Self { sign_in: Some(address.into()), ..Self::new(StatusCode::UNAUTHORIZED, "Please sign in", words, NOTHING_CHANGED) }
    }

    /// The tokens of the session are no good any more. That is found out while a request runs, perhaps not at its first step.
    pub(super) fn sign_in_again() -> Self {
        Self {
            words: "Your company's sign-in page wants a new sign-in, so this could not be finished.".into(),
            hint: "What you asked for was not done, or not all of it. Sign in, look at how things stand, then go on.",
            ..Self::sign_in(urls::LOGIN_AGAIN.to_owned())
        }
    }

    /// The sign-in was renewed while a body was on its way that cannot be sent on twice. The sender sends it once more.
    pub(super) fn resend() -> Self {
        let words = "Your sign-in was renewed while this was on its way, so it was not taken. You are still signed in.";
        let hint = "Go back and send it once more.";
        Self { resends: true, ..Self::new(StatusCode::UNAUTHORIZED, "Please send it once more", words, hint) }
    }

    /// The person is signed in and has to show once more who they are: the last time is longer ago than this, or is not known.
    pub(in crate::gateway) fn step_up(within: Duration) -> Self {
        let minutes = within.as_secs() / 60;
        let minutes = if minutes == 1 { "minute".to_owned() } else { format!("{minutes} minutes") };
        let words = format!(
            "Keys are changed only by somebody who signed in within the last {minutes}, so that an open browser is not \
enough. Your company's sign-in page asks you once more who you are; then you are back here."
        );
        let hint = "Nothing was changed, and what was typed into a form is not kept: fill it in once more when you are back.";
        let sign_in = urls::LOGIN_STEP_UP.to_owned();
        Self { title: "Please sign in once more", words: words.into(), hint, explains: true, ..Self::sign_in(sign_in) }
    }

    /// Whether only a newer sign-in is missing.
    pub(in crate::gateway) fn steps_up(&self) -> bool {
        self.sign_in.as_deref() == Some(urls::LOGIN_STEP_UP)
    }

    /// The session was ended by somebody or something else, which is told before anybody is led to the sign-in.
    pub(in crate::gateway) fn ended(ending: Ending) -> Self {
        Self {
            title: "Your session was ended",
            words: ending.words().into(),
            hint: "Sign in again to go on.",
            explains: true,
            ..Self::sign_in(urls::LOGIN.to_owned())
        }
    }

    /// What was being sent was cut, because its session ended.
    pub(super) fn cut(ending: Ending) -> Self {
        let words = format!("{} What was being sent was cut, and nothing of it was stored.", ending.words());
        Self { words: words.into(), ..Self::ended(ending) }
    }

    /// `cause` is logged, never shown.
    pub(in crate::gateway) fn internal(cause: impl Into<String>) -> Self {
        let words = "Something went wrong on our side. It has been noted.";
        Self {
            cause: Some(cause.into().into()),
            ..Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "That did not work",
                words,
                "Try again. If it happens again, tell your administrator the request id below.",
            )
        }
    }

    /// For programs: a problem document (RFC 9457) with the members of the interface's ErrorResponse.
    pub(in crate::gateway) fn problem(&self, request_id: &str) -> serde_json::Value {
        let same =
            ErrorResponse::new(self.code.map_or_else(|| u32::from(self.status.as_u16()) * 10, NonZeroU32::get), &*self.words);
        serde_json::json!({
            "type": if self.resends { RESEND } else { ABOUT_BLANK },
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.words,
            "success": same.success,
            "message": same.message,
            "data": same.data,
            "login_url": self.sign_in,
            "request_id": request_id,
        })
    }

    /// With ways on from here.
    pub(in crate::gateway) fn with_ways(self, ways: impl Into<Box<[Way]>>) -> Self {
        Self { ways: ways.into(), ..self }
    }

    /// A draft that is not there, and what it has become if it was started.
    pub(super) fn no_draft(became: Option<&Became>) -> Self {
        let Some(became) = became else {
            let words = "There is no such draft: it was deleted, it has come to its end, or it is not yours.";
            let ways = [("Your drafts", urls::TASKS_NEW.to_owned()), ("All tasks", urls::TASKS.to_owned())];
            let error =
                Self::new(StatusCode::NOT_FOUND, "This draft is not here", words, "Go on with another draft, or begin one.");
            return error.with_ways(ways);
        };
        let (name, task) = (became.project.short(80), became.task.as_str());
        let (words, way) = match &became.group {
            Some(group) => (
                format!("This draft has become a group of tasks: “{name}” was started, and its first task is {task}."),
                ("Go to the group", urls::group(group)),
            ),
            None => (
                format!("This draft has become task {task}: “{name}” was started."),
                ("Go to the task", urls::task(&became.task)),
            ),
        };
        let hint = "It was deleted when it was started, so nothing in it can be changed or started again.";
        Self::new(StatusCode::GONE, "This scan was started", words, hint).with_ways([way, ("All tasks", urls::TASKS.to_owned())])
    }

    /// An unknown host: there is no tenant to speak for.
    pub(in crate::gateway) fn misdirected() -> Self {
        Self::new(
            StatusCode::MISDIRECTED_REQUEST,
            "Nobody lives at this address",
            "This address does not belong to a company that is served here.",
            "Check the address you were given.",
        )
    }

    pub(super) fn upstream(status: StatusCode, title: &'static str, words: &'static str, cause: &UpstreamError) -> Self {
        Self {
            cause: Some(cause.to_string().into()),
            ..Self::new(status, title, words, "Try again in a moment. Nothing you did is lost.")
        }
    }
}

impl fmt::Display for WebError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.status.as_u16(), self.title)
    }
}

impl ResponseError for WebError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::new(self.status);
        if let Some(seconds) = self.retry_after {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer.extensions_mut().insert(self.clone());
        answer
    }
}

/// 303: look at `address` next.
pub(in crate::gateway) fn see_other(address: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, address)).finish()
}
