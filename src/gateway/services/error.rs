//! What can go wrong in a use case. Knows nothing of HTTP; `web::error` decides how it looks.

use crate::gateway::cache::StaleOk;
use crate::gateway::domain::draft::{Became, Step};
use crate::gateway::domain::ending::Ending;
use crate::gateway::ledger::LedgerError;
use crate::gateway::policies::PolicyError;
use crate::gateway::roster::RosterError;
use crate::gateway::session::TokenError;
use crate::gateway::store::Unavailable;
pub(in crate::gateway) use crate::gateway::upstream::{Kind, UpstreamError};
use crate::gateway::vault::VaultError;
use crate::platform::seal::SealError;

/// Words for a service that refuses tokens which were made a moment ago: a new sign-in would not help.
pub(super) const NOT_BELIEVED: &str = "The scanning service does not accept your sign-in, although it is fresh.";
/// Words for a service that refuses the server keys.
pub(super) const KEYS_NOT_BELIEVED: &str = "The scanning service does not accept the server key of this tenant.";

/// The outcome of a use case that did not work.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::gateway) enum Error {
    /// Not there, or another tenant's.
    #[error("not found")]
    NotFound,
    /// No draft of this person: another's, over, or started; then what it has become.
    #[error("no such draft")]
    NoDraft(Option<Box<Became>>),
    /// Words for the user.
    #[error("{0}")]
    Invalid(String),
    /// Words for the user.
    #[error("{0}")]
    Conflict(String),
    /// What is there is not what the request wants it to be still.
    #[error("a precondition does not hold")]
    Precondition,
    /// The extraction code of a share.
    #[error("wrong code")]
    WrongCode,
    /// A share, of which nothing is known without its extraction code.
    #[error("a code is needed")]
    CodeNeeded,
    /// The extraction code is right, but the share does not open to programs.
    #[error("the share does not open")]
    ShareClosed,
    /// What was to be changed is not as the person saw it any more: these steps are not, as far as it is known. Nothing was
    /// changed.
    #[error("changed meanwhile")]
    Stale(Vec<Step>),
    /// Words for the user.
    #[error("{0}")]
    TooLarge(String),
    /// The session cannot get a token any more.
    #[error("sign in again")]
    SignIn,
    /// The session ended while a body was on its way; nothing of it was kept.
    #[error("cut: {0:?}")]
    Cut(Ending),
    /// A body that can be sent only once was refused for its token, which is renewed now: the sender has to send it again.
    #[error("send it again")]
    Resend,
    /// A body that can be sent only once was refused for the server key that came with it: the next one goes with the other key,
    /// and the sender has to send it again.
    #[error("send it again, with another server key")]
    OtherKey,
    /// Seconds until the next try makes sense.
    #[error("too many tries")]
    Busy { retry_after: u64 },
    /// Our own store, or the provider, cannot be reached. Seconds.
    #[error("unavailable")]
    Unavailable { retry_after: u64 },
    /// The scanning service is left alone for a moment, or has no place for one more. Seconds.
    #[error("no place at the service")]
    Resting { retry_after: u64 },
    /// The service answered, but not with what it was asked for. Words for the user.
    #[error("{0}")]
    Unusable(&'static str),
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// For the log only.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// Whether the service may have done, or may still do, what it was asked for all the same.
    pub(in crate::gateway) const fn leaves_open(&self) -> bool {
        matches!(self, Self::Upstream(error) if matches!(error.kind, Kind::Timeout | Kind::Unavailable | Kind::Garbage))
    }
}

impl StaleOk for Error {
    fn may_serve_stale(&self) -> bool {
        match self {
            Self::Resting { .. } | Self::Unavailable { .. } => true,
            _ => self.leaves_open(),
        }
    }

    /// A service that is left alone says so to the next one at once, so that those need not be told apart.
    fn lacks_place(&self) -> bool {
        matches!(self, Self::Resting { .. })
    }
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Unavailable(error) => error.into(),
            LedgerError::Sealed => Self::Internal(error.to_string()),
        }
    }
}

impl From<Unavailable> for Error {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable { retry_after: 5 }
    }
}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Unknown => Self::NotFound,
            PolicyError::Sealed => Self::Internal(error.to_string()),
            PolicyError::Unsure { .. } => Self::Unavailable { retry_after: 5 },
            PolicyError::Unavailable(error) => error.into(),
        }
    }
}

impl From<RosterError> for Error {
    fn from(error: RosterError) -> Self {
        match error {
            RosterError::Sealed => Self::Internal(error.to_string()),
            RosterError::Unavailable(error) => error.into(),
        }
    }
}

impl From<TokenError> for Error {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::SignInAgain => Self::SignIn,
            TokenError::Unavailable => Self::Unavailable { retry_after: 5 },
            TokenError::NotBelieved => Self::Unusable(NOT_BELIEVED),
        }
    }
}

/// The words of an error as a sentence for people.
fn sentence(error: &VaultError) -> String {
    let words = error.to_string();
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Unknown => Self::NotFound,
            VaultError::Duplicate
            | VaultError::Full { .. }
            | VaultError::ManyTexts
            | VaultError::Rotated
            | VaultError::OnlyActive => Self::Conflict(sentence(&error)),
            VaultError::Malformed => Self::Invalid(sentence(&error)),
            VaultError::Sealed => Self::Internal(error.to_string()),
            VaultError::Unavailable(error) => error.into(),
        }
    }
}

impl From<SealError> for Error {
    fn from(error: SealError) -> Self {
        Self::Internal(error.to_string())
    }
}
