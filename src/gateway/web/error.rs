//! Errors as users and programs see them: a status, plain words, what to do next. The page itself is made by
//! `middleware::error_page`, which knows the tenant and the request id. What is logged is logged there, once.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, LOCATION, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};

use crate::gateway::services::error::{Error, Kind, UpstreamError};

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
    /// For the log only.
    pub(in crate::gateway) cause: Option<Box<str>>,
    /// Where a browser that has to sign in first is sent; programs get 401.
    pub(in crate::gateway) sign_in: Option<Box<str>>,
    /// The page to go back to, where one is known.
    pub(in crate::gateway) back: Option<Box<str>>,
}

impl WebError {
    fn new(status: StatusCode, title: &'static str, words: impl Into<String>, hint: &'static str) -> Self {
        Self {
            status,
            title,
            words: words.into().into_boxed_str(),
            hint,
            retry_after: None,
            cause: None,
            sign_in: None,
            back: None,
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
        let words = "A part of the portal cannot be reached right now. You are still signed in.";
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "Back in a moment", words, "Wait a little, then load the page again.")
        }
    }

    /// Sign in first, then come back to `address` (a complete local sign-in address).
    pub(in crate::gateway) fn sign_in(address: String) -> Self {
        let words = "You are not signed in, or your session has ended.";
        Self {
            sign_in: Some(address.into()),
            ..Self::new(
                StatusCode::UNAUTHORIZED,
                "Please sign in",
                words,
                "Sign in and try again. What you were doing is kept where it was.",
            )
        }
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

    /// With a link to the page it happened on.
    pub(in crate::gateway) fn back_to(self, address: String) -> Self {
        Self { back: Some(address.into()), ..self }
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

    fn upstream(status: StatusCode, title: &'static str, words: &'static str, cause: &UpstreamError) -> Self {
        Self {
            cause: Some(cause.to_string().into()),
            ..Self::new(status, title, words, "Try again in a moment. Nothing you did is lost.")
        }
    }
}

impl From<Error> for WebError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => Self::not_found(),
            Error::Invalid(words) => Self::bad_request(words),
            Error::Conflict(words) => {
                Self::new(StatusCode::CONFLICT, "That is not possible now", words, "Load the page again to see how things stand.")
            }
            Error::Stale => Self::new(
                StatusCode::CONFLICT,
                "This draft changed meanwhile",
                "It was changed in another tab or window after you opened this page, so nothing was saved now.",
                "Go back to the step: it shows the draft as it is. Then make your change once more.",
            ),
            Error::TooLarge(words) => Self::too_large(words),
            Error::SignIn => Self::sign_in(super::urls::LOGIN_AGAIN.to_owned()),
            Error::Busy { retry_after } => Self::busy(retry_after),
            Error::Unavailable { retry_after } => Self::unavailable(retry_after),
            Error::Unusable(words) => Self {
                cause: Some(words.into()),
                ..Self::new(
                    StatusCode::BAD_GATEWAY,
                    "The scanning service is not available",
                    words,
                    "Try again in a moment. Nothing you did is lost.",
                )
            },
            Error::Internal(cause) => Self::internal(cause),
            Error::Upstream(cause) => from_upstream(&cause),
        }
    }
}

/// Whose fault it is decides the page: theirs is 502 or 504, never our 500.
fn from_upstream(cause: &UpstreamError) -> WebError {
    match &cause.kind {
        Kind::NotFound => WebError::not_found(),
        Kind::Unauthorized => WebError::sign_in(super::urls::LOGIN_AGAIN.to_owned()),
        Kind::Forbidden => WebError::forbidden("The scanning service does not allow this for your account."),
        Kind::Invalid | Kind::Conflict if cause.text.is_empty() => {
            WebError::bad_request("The scanning service refused the request.")
        }
        Kind::Invalid | Kind::Conflict => {
            WebError::bad_request(format!("The scanning service refused the request: {}", cause.text.short(300)))
        }
        Kind::TooLarge => WebError::too_large("The scanning service takes no file of this size."),
        Kind::BodyBroken => WebError::bad_request("The upload was cut before it was whole. Nothing was stored."),
        Kind::HashMismatch => WebError::bad_request("The file changed on the way. Nothing was stored; send it again."),
        Kind::TooMany { retry_after } => WebError::busy(retry_after.map_or(30, |wait| wait.as_secs().max(1))),
        Kind::Subscription => {
            let words = "The scanning service says that the company's subscription does not cover this.";
            WebError::upstream(StatusCode::BAD_GATEWAY, "The subscription does not cover this", words, cause)
        }
        Kind::Timeout => {
            let words = "The scanning service did not answer in time.";
            WebError::upstream(StatusCode::GATEWAY_TIMEOUT, "The scanning service is slow", words, cause)
        }
        Kind::Unavailable | Kind::Garbage => {
            let words = "The scanning service could not be reached or gave no usable answer.";
            WebError::upstream(StatusCode::BAD_GATEWAY, "The scanning service is not available", words, cause)
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
