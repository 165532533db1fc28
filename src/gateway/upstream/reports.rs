//! Reports at the service: streamed through, never held.

use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use reqwest::Method;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, HeaderName};

use crate::contract::ids::TaskId;
use crate::contract::paths;
use crate::contract::reports::ReportType;
use crate::platform::hostile::Hostile;

use super::credential::Call;
use super::error::UpstreamError;
use super::service::ScanningService;
use super::transport::{self, Repeat};

/// A body that arrives in pieces; ends with an error when it is cut or silent for too long.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, UpstreamError>> + Send>>;

/// An open report.
pub(crate) struct Report {
    /// As the service says; never to be guessed from the content.
    pub content_type: Hostile,
    /// Bytes, when the service tells.
    pub length: Option<u64>,
    /// The name the service proposes.
    pub filename: Option<Hostile>,
    pub stream: ByteStream,
}

impl ScanningService {
    /// `GET /api/v2/tasks/{taskId}/report`, in the language of the call.
    pub(crate) async fn report(&self, call: &Call, id: &TaskId, form: ReportType) -> Result<Report, UpstreamError> {
        let path = format!("{}?type={}", paths::report(id), form.as_str());
        let response = self.transport.open(self.request(call, Method::GET, &path)?, Repeat::Safe).await?;
        let content_type = header(response.headers(), &CONTENT_TYPE).unwrap_or_else(|| form.media_type().into());
        let filename = header(response.headers(), &CONTENT_DISPOSITION).and_then(|value| proposed_name(&value));
        Ok(Report {
            content_type: Hostile::new(content_type),
            length: response.content_length(),
            filename,
            stream: Box::pin(transport::body(response, self.transport.idle)),
        })
    }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The `filename` parameter of a `Content-Disposition`.
fn proposed_name(value: &str) -> Option<Hostile> {
    let name = value.split(';').map(str::trim).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("filename").then(|| value.trim().trim_matches('"').to_owned())
    })?;
    (!name.is_empty()).then(|| Hostile::new(name))
}
