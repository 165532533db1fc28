//! The scanning service of one tenant: its address and the ways its operations share to ask it. The operations themselves
//! stand in the file of their feature.

use reqwest::Method;
use reqwest::RequestBuilder;
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::config::gateway::{PublicAuth, Service};

use super::credential::{Call, Credential};
use super::error::UpstreamError;
use super::proxy::Target;
use super::reading;
use super::transport::{Answer, Repeat, Transport};

/// A client of one tenant's scanning service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ScanningService {
    pub(super) transport: Transport,
    /// `{base_url}` without a trailing slash.
    base: String,
    prefix: String,
    public_auth: PublicAuth,
    target: Target,
}

/// What a request sends.
pub(super) enum Send<'b, B: Serialize> {
    Nothing,
    Json(&'b B),
}

/// A request without a body.
pub(super) const NOTHING: Send<'static, ()> = Send::Nothing;

impl ScanningService {
    /// A client of the service `settings` describe.
    pub(crate) fn new(settings: &Service, transport: Transport) -> Result<Self, UpstreamError> {
        let base = settings.base_url.trim_end_matches('/').to_owned();
        let prefix = settings.prefix.trim_end_matches('/').to_owned();
        let usable = Url::parse(&format!("{base}{prefix}/"))
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none());
        if !usable {
            return Err(UpstreamError::ours("the address of the scanning service must be an http or https address"));
        }
        let target = Target::new(&base, &prefix)?;
        Ok(Self { transport, base, prefix, public_auth: settings.public_auth, target })
    }

    /// Where it is, for callers' own requests.
    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// A request for `path` below the prefix.
    pub(super) fn request(&self, call: &Call, method: Method, path: &str) -> Result<RequestBuilder, UpstreamError> {
        self.request_at(call, method, &format!("{}{path}", self.prefix))
    }

    /// A request for `path` at the base, outside the prefix.
    pub(super) fn request_at(&self, call: &Call, method: Method, path: &str) -> Result<RequestBuilder, UpstreamError> {
        let url =
            Url::parse(&format!("{}{path}", self.base)).map_err(|_| UpstreamError::ours("no address comes of this path"))?;
        Ok(self.transport.request(method, url).headers(call.headers()?))
    }

    /// Sends and reads the answer as JSON; an empty answer is null.
    pub(super) async fn ask<B: Serialize>(
        &self,
        call: &Call,
        (method, path): (Method, &str),
        send: Send<'_, B>,
        repeat: Repeat,
    ) -> Result<Value, UpstreamError> {
        let mut request = self.request(call, method, path)?;
        if let Send::Json(body) = send {
            request = request.json(body);
        }
        json(&self.transport.call(request, repeat).await?)
    }

    /// The call as a public share may be asked: never with a person's token, with the server key only if the tenant says so.
    pub(super) fn public(&self, call: &Call) -> Call {
        let credential = match (&call.credential, self.public_auth) {
            (key @ Credential::ServerKey(_), PublicAuth::Sk) => key.clone(),
            _ => Credential::None,
        };
        Call { credential, ..call.clone() }
    }
}

/// Reads an answer as JSON. An envelope that says `success: false` is an error whatever its status was.
pub(super) fn json(answer: &Answer) -> Result<Value, UpstreamError> {
    if answer.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    let value: Value = serde_json::from_slice(&answer.body).map_err(|_| UpstreamError::garbage("the answer is not JSON"))?;
    if reading::flag(&value, &["success"]) == Some(false) {
        return Err(UpstreamError::refused_in_envelope(&answer.headers, &answer.body));
    }
    Ok(value)
}

/// The value a needed thing was read from, or garbage.
pub(super) fn needed<T>(found: Option<T>) -> Result<T, UpstreamError> {
    found.ok_or_else(|| UpstreamError::garbage("the answer lacks what it is for"))
}
