//! Reports of tasks, streamed through.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use crate::contract::ids::TaskId;
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::gateway::upstream::Call;
pub(in crate::gateway) use crate::gateway::upstream::Report;

/// Use cases around reports. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Reports {
    credentials: Credentials,
}

impl Reports {
    pub(in crate::gateway) const fn new(credentials: Credentials) -> Self {
        Self { credentials }
    }

    /// Opens the report of a task.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the service sends something else than the report, e.g. an error page with status 200.
    pub(in crate::gateway) async fn open(
        &self,
        actor: &Actor,
        task: &TaskId,
        form: ReportType,
        language: ReportLanguage,
    ) -> Result<Report, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, call) = (task.clone(), Call { language, ..call });
            async move { service.report(&call, &task, form).await }
        });
        let report = ask.await?;
        if is_it(form, report.content_type.raw()) {
            return Ok(report);
        }
        Err(Error::Unusable("The scanning service sent something else than the report that was asked for."))
    }
}

/// Whether a media type is one this form of report comes in.
pub(super) fn is_it(form: ReportType, media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match form {
        ReportType::Pdf => matches!(essence.as_str(), "application/pdf" | "application/octet-stream"),
        ReportType::CycloneDx | ReportType::Spdx => {
            essence == "application/json" || essence.ends_with("+json") || essence == "application/octet-stream"
        }
        ReportType::Html => matches!(essence.as_str(), "text/html" | "application/xhtml+xml" | "application/octet-stream"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_that_was_asked_for_is_handed_on() {
        assert!(is_it(ReportType::Pdf, "application/pdf"));
        assert!(is_it(ReportType::Html, "Text/HTML; charset=utf-8"));
        for (form, other) in [
            (ReportType::Pdf, "text/html"),
            (ReportType::Html, "application/pdf"),
            (ReportType::Pdf, "application/json"),
            (ReportType::Pdf, ""),
        ] {
            assert!(!is_it(form, other), "{other}");
        }
    }
}
