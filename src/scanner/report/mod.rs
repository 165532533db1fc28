//! Reports of a task that has succeeded: one view of the results, written as HTML and as PDF, in English and Chinese.
//! Takes the results as values; knows no storage and no HTTP. Everything a scan returned is hostile text here.

mod bill;
mod cyclonedx;
mod html;
#[cfg(feature = "pdf")]
mod pdf;
mod spdx;
mod view;
mod words;

use bytes::Bytes;
use futures_util::Stream;
use tokio::sync::Semaphore;

use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::contract::results::VulDetail;
use crate::contract::tasks::{ResultsStat, ScanSummary, TaskStatus};
use crate::platform::clock::Timestamp;

/// Typesetting takes a core and some 100 MB for the largest reports.
const PDFS_AT_ONCE: usize = 2;

/// What a report is about.
pub(in crate::scanner) struct Content {
    pub(in crate::scanner) task_id: TaskId,
    pub(in crate::scanner) project_name: String,
    pub(in crate::scanner) lang: String,
    pub(in crate::scanner) status: TaskStatus,
    pub(in crate::scanner) artifact_name: String,
    pub(in crate::scanner) artifact_sha256: Sha256,
    pub(in crate::scanner) created_by: String,
    pub(in crate::scanner) created_at: Timestamp,
    /// Also the date of the document: the same task gives the same bytes.
    pub(in crate::scanner) ended_at: Timestamp,
    pub(in crate::scanner) stat: ResultsStat,
    pub(in crate::scanner) summary: ScanSummary,
    /// Most severe first.
    pub(in crate::scanner) findings: Vec<VulDetail>,
    /// By path.
    pub(in crate::scanner) components: Vec<ComponentRow>,
    /// Most severe first.
    pub(in crate::scanner) chains: Vec<ExploitChain>,
    pub(in crate::scanner) language: ReportLanguage,
}

/// Why there is no PDF.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum ReportError {
    #[error("this build has no PDF reports")]
    #[cfg_attr(feature = "pdf", expect(dead_code, reason = "only builds without PDF reports refuse them"))]
    NotOffered,
    #[error("a report could not be typeset: {0}")]
    #[cfg_attr(not(feature = "pdf"), expect(dead_code, reason = "only builds with PDF reports typeset them"))]
    Typesetting(String),
}

/// Writes reports.
pub(in crate::scanner) struct Reports {
    #[cfg_attr(not(feature = "pdf"), expect(dead_code, reason = "only PDF reports are bounded"))]
    typesetting: Semaphore,
    policy: String,
}

impl Default for Reports {
    fn default() -> Self {
        Self { typesetting: Semaphore::new(PDFS_AT_ONCE), policy: format!("{}; frame-ancestors 'none'", html::policy()) }
    }
}

impl Reports {
    /// The Content-Security-Policy an HTML report is sent with: nothing but its own style sheet.
    pub(in crate::scanner) fn policy(&self) -> &str {
        &self.policy
    }

    /// A self-contained page, written while it is sent.
    #[expect(clippy::unused_self, reason = "one way to ask for both forms")]
    pub(in crate::scanner) fn html(&self, content: Content) -> impl Stream<Item = Result<Bytes, std::io::Error>> + use<> {
        html::stream(content)
    }

    /// A bill of materials; `None` when `kind` is none. Blocks for a moment when there are many components.
    #[expect(clippy::unused_self, reason = "one way to ask for every form")]
    pub(in crate::scanner) fn bill(&self, kind: ReportType, content: &Content) -> Option<Vec<u8>> {
        let document = match kind {
            ReportType::CycloneDx => cyclonedx::document(content),
            ReportType::Spdx => spdx::document(content),
            ReportType::Html | ReportType::Pdf => return None,
        };
        serde_json::to_vec_pretty(&document).ok()
    }

    /// A PDF document.
    #[cfg(feature = "pdf")]
    pub(in crate::scanner) async fn pdf(&self, content: Content) -> Result<Bytes, ReportError> {
        let _permit = self.typesetting.acquire().await.map_err(|error| ReportError::Typesetting(error.to_string()))?;
        let typeset = tokio::task::spawn_blocking(move || pdf::typeset(&content));
        typeset.await.map_err(|_| ReportError::Typesetting("the typesetter panicked".to_owned()))?
    }

    /// A PDF document.
    #[cfg(not(feature = "pdf"))]
    #[expect(clippy::unused_async, reason = "the same shape as with PDF reports")]
    pub(in crate::scanner) async fn pdf(&self, _: Content) -> Result<Bytes, ReportError> {
        Err(ReportError::NotOffered)
    }
}
