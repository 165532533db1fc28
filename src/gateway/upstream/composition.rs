//! Composition analysis of Maven projects at the service (WIRE 10): the answer is a zip with one JSON file.

use std::io::{Cursor, Read as _};

use bytes::Bytes;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::Value;

use crate::contract::paths;

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::ScanningService;
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/sca/static-analyze/mvn`: one pom.xml. Gives the findings as the service tells them.
    pub(crate) async fn analyze_pom(&self, call: &Call, pom: Bytes) -> Result<Vec<Value>, UpstreamError> {
        self.analyze(call, paths::SCA_MAVEN, "pom.xml", pom).await
    }

    /// `POST /api/v1/sca/static-analyze/mvn/zip`: a zip of poms with their paths.
    pub(crate) async fn analyze_poms(&self, call: &Call, zip: Bytes) -> Result<Vec<Value>, UpstreamError> {
        self.analyze(call, paths::SCA_MAVEN_ZIP, "poms.zip", zip).await
    }

    async fn analyze(&self, call: &Call, path: &str, name: &'static str, file: Bytes) -> Result<Vec<Value>, UpstreamError> {
        let length = file.len() as u64;
        let part = Part::stream_with_length(file, length).file_name(name);
        let request = self.request(call, Method::POST, path)?.multipart(Form::new().part("file", part));
        let answer = self.transport.call(request, Repeat::Never).await?;
        let value = unpacked(&answer.body, self.transport.max_answer)?;
        Ok(reading::list(&value, &[]).items.into_iter().cloned().collect())
    }
}

/// The first `.json` file of a zip, inflated to at most `cap` bytes; a service may also answer plain JSON.
fn unpacked(body: &[u8], cap: usize) -> Result<Value, UpstreamError> {
    let bad = |_| UpstreamError::garbage("the analysis is neither JSON nor a zip with JSON");
    if !body.starts_with(b"PK") {
        return serde_json::from_slice(body).map_err(|error| bad(error.to_string()));
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(body)).map_err(|error| bad(error.to_string()))?;
    let at = (0..archive.len()).find(|at| is_json(&mut archive, *at)).ok_or_else(|| bad(String::new()))?;
    let entry = archive.by_index(at).map_err(|error| bad(error.to_string()))?;
    let mut text = Vec::new();
    entry.take(cap as u64 + 1).read_to_end(&mut text).map_err(|error| bad(error.to_string()))?;
    if text.len() > cap {
        return Err(UpstreamError::garbage("the answer is larger than allowed"));
    }
    serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))
}

fn is_json(archive: &mut zip::ZipArchive<Cursor<&[u8]>>, at: usize) -> bool {
    archive.by_index_raw(at).is_ok_and(|entry| entry.name_raw().to_ascii_lowercase().ends_with(b".json"))
}
