//! Front-end bootstrap at the service: the publishable key.

use reqwest::Method;
use serde_json::Value;

use crate::contract::paths;
use crate::platform::hostile::Hostile;

use super::credential::{Call, Credential};
use super::error::UpstreamError;
use super::reading;
use super::service::{ScanningService, json, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `GET /biz/api/v1/auth/clerk/publishable-key`. Outside the prefix and always without a credential.
    pub(crate) async fn publishable_key(&self, call: &Call) -> Result<Hostile, UpstreamError> {
        let call = Call { credential: Credential::None, ..call.clone() };
        let request = self.request_at(&call, Method::GET, paths::PUBLISHABLE_KEY)?;
        let answer: Value = json(&self.transport.call(request, Repeat::Safe).await?)?;
        let key = reading::text(reading::unwrapped(&answer), &["publishableKey"]);
        needed(Some(key).filter(|key| !key.is_empty()))
    }
}
