//! Domain ownership at the service: the content to host, and the check.

use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::contract::domains::VerifyDomain;
use crate::contract::paths;
use crate::gateway::domain::ownership::{Challenge, Verdict};
use crate::platform::hostile::Hostile;

use super::credential::Call;
use super::error::{Kind, UpstreamError};
use super::reading;
use super::service::{ScanningService, Send, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `GET /api/v1/domain-ownership/random-content`. The answer may be an object, a JSON string or plain text.
    pub(crate) async fn ownership_content(&self, call: &Call) -> Result<Challenge, UpstreamError> {
        let request = self.request(call, Method::GET, paths::DOMAIN_CONTENT)?;
        let answer = self.transport.call(request, Repeat::Safe).await?;
        let value = serde_json::from_slice::<Value>(&answer.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
        needed(read(&value))
    }

    /// `POST /api/v1/domain-ownership/verify`: whether the content was found. Any refusal means "not yet".
    pub(crate) async fn verify_ownership(&self, call: &Call, target: &Url, content: &str) -> Result<Verdict, UpstreamError> {
        let host = target.host_str().unwrap_or_default();
        let domain = target.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let body = VerifyDomain { url: target.to_string(), domain, content: content.to_owned() };
        match self.ask(call, (Method::POST, paths::DOMAIN_VERIFY), Send::Json(&body), Repeat::Never).await {
            Ok(_) => Ok(Verdict::Verified),
            Err(error) if matches!(error.kind, Kind::Invalid | Kind::Conflict | Kind::NotFound | Kind::Forbidden) => {
                Ok(Verdict::NotYet(error.text))
            }
            Err(error) => Err(error),
        }
    }
}

fn read(value: &Value) -> Option<Challenge> {
    let value = reading::unwrapped(value);
    let content = match value {
        Value::String(text) => Hostile::new(text.trim()),
        _ => Hostile::new(reading::text(value, &["content", "randomContent", "hash", "data"]).raw().trim()),
    };
    let name = reading::text(value, &["fileName"]);
    let file_name = if name.is_empty() { Hostile::from("hash.txt") } else { name };
    (!content.is_empty()).then(|| Challenge { content, expires: reading::time(value, &["expiredAt", "expiresAt"]), file_name })
}
