//! How what went wrong in a use case looks to users and programs.

use std::num::NonZeroU32;

use actix_web::http::StatusCode;

use super::error::WebError;
use crate::contract::error::codes;
use crate::gateway::services::error::{Error, Kind, UpstreamError};

impl From<Error> for WebError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => Self::not_found(),
            Error::Invalid(words) => Self::bad_request(words),
            Error::Precondition => Self::precondition(),
            Error::WrongCode => Self {
                code: NonZeroU32::new(codes::CODE_WRONG),
                ..Self::forbidden("The extraction code is wrong, or there is no such share.")
            },
            Error::CodeNeeded => Self {
                code: NonZeroU32::new(codes::CODE_NEEDED),
                ..Self::forbidden("This share needs its extraction code, or there is no such share.")
            },
            Error::ShareClosed => Self::share_closed(),
            Error::Conflict(words) => {
                Self::new(StatusCode::CONFLICT, "That is not possible now", words, "Load the page again to see how things stand.")
            }
            Error::NoDraft(became) => Self::no_draft(became.as_deref()),
            Error::Stale(_) => Self::new(
                StatusCode::CONFLICT,
                "This draft changed meanwhile",
                "It was changed in another tab or window after you opened this page, so nothing was saved now.",
                "Look at the draft as it is now, then make your change once more.",
            ),
            Error::TooLarge(words) => Self::too_large(words),
            Error::SignIn => Self::sign_in_again(),
            Error::Resend => Self::resend(),
            Error::OtherKey => Self {
                retry_after: Some(1),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Please send it once more",
                    "The scanning service did not accept the server key that this was sent with, so nothing of it was taken.",
                    "Send it once more: the other server key is used then.",
                )
            },
            Error::Cut(ending) => Self::cut(ending),
            Error::Busy { retry_after } => Self::busy(retry_after),
            Error::Unavailable { retry_after } => Self::unavailable(retry_after),
            Error::Resting { retry_after } => Self {
                retry_after: Some(retry_after),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The scanning service is busy",
                    "The scanning service is in trouble or has too much to do at the moment.",
                    "Wait a little, then try again. Nothing is lost.",
                )
            },
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

impl WebError {
    fn precondition() -> Self {
        Self::new(
            StatusCode::PRECONDITION_FAILED,
            "This changed meanwhile",
            "It is not any more what If-Match or If-Unmodified-Since of the request say.",
            "Ask for it without them to see how it is now.",
        )
    }

    fn share_closed() -> Self {
        let words = "The extraction code is right, but the share is over, or opens at its page only.";
        Self { words: words.into(), ..Self::not_found() }
    }
}

/// Whose fault it is decides the page: theirs is 502 or 504, never our 500.
fn from_upstream(cause: &UpstreamError) -> WebError {
    match &cause.kind {
        Kind::NotFound => WebError::not_found(),
        Kind::Unauthorized => WebError::sign_in_again(),
        Kind::Forbidden => WebError::forbidden("The scanning service does not allow this for your account."),
        Kind::Invalid | Kind::Conflict if cause.text.is_empty() => {
            WebError::bad_request("The scanning service refused the request.")
        }
        Kind::Invalid | Kind::Conflict => {
            WebError::bad_request(format!("The scanning service refused the request: {}", cause.text.short(300)))
        }
        Kind::TooLarge => WebError::too_large("The scanning service takes no file of this size."),
        Kind::BodyBroken => WebError::bad_request("The upload stopped before it was whole. Nothing was stored."),
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
