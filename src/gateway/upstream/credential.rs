//! What a call carries, and the only writer of `Authorization`.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::contract::reports::{LANGUAGE_HEADER, ReportLanguage};
use crate::platform::secret::Secret;

use super::error::UpstreamError;

/// As whom the service is called.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// Access token of the signed-in person.
    UserToken(Secret),
    /// Server key of the tenant.
    ServerKey(Secret),
    None,
}

impl Credential {
    /// Writes the header; the value is marked sensitive, so that no log of headers shows it.
    pub(crate) fn write(&self, headers: &mut HeaderMap) -> Result<(), UpstreamError> {
        let (Self::UserToken(secret) | Self::ServerKey(secret)) = self else {
            return Ok(());
        };
        let mut value =
            HeaderValue::try_from(format!("Bearer {}", secret.expose())).map_err(|_| UpstreamError::unusable_credential())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        Ok(())
    }
}

/// Who asks, under which request id and in which language. Everything a request tells about its caller.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub credential: Credential,
    /// Sent as `X-Request-Id`, so that both sides' logs can be joined.
    pub request_id: String,
    pub language: ReportLanguage,
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Call {
    /// The headers of this call.
    pub(super) fn headers(&self) -> Result<HeaderMap, UpstreamError> {
        let mut headers = HeaderMap::new();
        self.credential.write(&mut headers)?;
        if let Ok(id) = HeaderValue::try_from(&self.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Ok(name) = HeaderName::try_from(LANGUAGE_HEADER) {
            headers.insert(name, HeaderValue::from_static(self.language.as_str()));
        }
        Ok(headers)
    }
}
