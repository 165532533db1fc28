//! Whether somebody answers at all. Asked without a credential: what is said does not matter, only who says something.

use reqwest::{Method, StatusCode};

use super::credential::{Call, Credential};
use super::error::{Kind, UpstreamError};
use super::service::ScanningService;
use super::transport::{Answer, Repeat};
use crate::contract::paths;
use crate::contract::reports::ReportLanguage;

/// How somebody stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It answers.
    There,
    /// Something answers, and says that it is in trouble.
    InTrouble,
    /// No connection.
    Away,
    /// No answer in time.
    Silent,
}

impl Presence {
    /// That of whoever gave this.
    pub(super) fn of(answer: &Result<Answer, UpstreamError>) -> Self {
        match answer {
            Ok(answer) if answer.status.is_server_error() && answer.status != StatusCode::NOT_IMPLEMENTED => Self::InTrouble,
            Ok(_) => Self::There,
            Err(UpstreamError { kind: Kind::Timeout, .. }) => Self::Silent,
            Err(_) => Self::Away,
        }
    }
}

impl ScanningService {
    /// Whether the service answers. Asks for what everybody may ask for; that there is none of it is an answer too.
    pub(crate) async fn presence(&self) -> Presence {
        let call = Call { credential: Credential::None, request_id: String::new(), language: ReportLanguage::English };
        match self.request_at(&call, Method::GET, paths::PUBLISHABLE_KEY) {
            Ok(request) => Presence::of(&self.transport.answer(request, Repeat::Never).await),
            Err(_) => Presence::Away,
        }
    }
}
