//! The report of a shared task as a file, with a line that names the share. Its stream is cut when the share ends meanwhile.

use std::io;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::time::sleep;

use super::pdf::Unmarked;
use super::watermark::{Body, marked, words};
use super::{Content, SharePages, Visit};
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::gateway::domain::share;
use crate::gateway::domain::share_entry::Outcome;
use crate::gateway::services::error::Error;
use crate::gateway::services::reports::{Report, is_it};
use crate::gateway::upstream::{Call, Kind, ScanningService};
use crate::platform::hostile::Hostile;

/// How often it is looked whether a report may still go out.
const LOOK: Duration = Duration::from_millis(800);

/// A report for a recipient.
pub(in crate::gateway) enum ReportFor {
    Stream(Download),
    /// The company keeps no active server key here, or the service does not accept it.
    NoKey,
    /// No line that names the share can be put into it, so it is not given out.
    Unmarked(Unmarked),
}

/// A report on its way.
pub(in crate::gateway) struct Download {
    pub(in crate::gateway) project: Hostile,
    /// Names the share; nothing secret.
    pub(in crate::gateway) share: String,
    /// Bytes, when the service tells.
    pub(in crate::gateway) length: Option<u64>,
    /// Ends with an error when it is cut, or when the share ends before it does.
    pub(in crate::gateway) body: Body,
}

impl SharePages {
    /// The report of the share's own task, fetched with the company's server key: the recipient has no account. The share is
    /// asked for first, with the recipient's code; a share of single findings gives no report, nor does one that hides what a
    /// report may show.
    pub(in crate::gateway) async fn report(&self, visit: &Visit, form: ReportType) -> Result<Content<ReportFor>, Error> {
        let shared = match self.content(visit).await? {
            Content::Here(shared) => shared,
            Content::Over => return Ok(Content::Over),
        };
        let task = match (&shared.kind, &shared.task) {
            (share::Kind::Report, Some(task)) if !visit.hides_evidence => task.clone(),
            _ => return Err(Error::NotFound),
        };
        let tenant = &visit.place.tenant;
        let language = ReportLanguage::read(Some(&visit.entry.language));
        let ask = |service: ScanningService, call: Call| {
            let (task, call) = (task.clone(), Call { language, ..call });
            async move { service.report(&call, &task, form).await }
        };
        match self.credentials.with_server_key(tenant, (&visit.place.request_id, "getReport"), ask).await {
            Ok(Some(report)) if is_it(form, report.content_type.raw()) => {
                let content = self.download(visit, (report, form), shared.project).await?;
                if let Content::Here(ReportFor::Stream(_)) = &content {
                    self.log.note(&visit.place, &visit.place.mark(), Outcome::Report);
                }
                Ok(content)
            }
            Ok(Some(_)) => Err(Error::Unusable("The scanning service sent something else than the report.")),
            Ok(None) => Ok(Content::Here(ReportFor::NoKey)),
            Err(Error::Upstream(error)) if matches!(error.kind, Kind::Unauthorized | Kind::Forbidden) => {
                tracing::warn!(%tenant, %error, "the active server keys give no report");
                Ok(Content::Here(ReportFor::NoKey))
            }
            Err(error) => Err(error),
        }
    }

    async fn download(
        &self,
        visit: &Visit,
        (report, form): (Report, ReportType),
        project: Hostile,
    ) -> Result<Content<ReportFor>, Error> {
        let mark = visit.place.mark();
        let words = words(&mark, &visit.entry, self.clock.now());
        let (body, length) = if form == ReportType::Pdf {
            let marked = tokio::select! {
                biased;
                () = self.over(visit) => return Ok(Content::Over),
                marked = self.marking.marked(report, words) => marked?,
            };
            match marked {
                Ok((body, length)) => (body, Some(length)),
                Err(why) => {
                    tracing::warn!(tenant = %visit.place.tenant, share = mark.short(), %why, "a PDF report was not given out");
                    return Ok(Content::Here(ReportFor::Unmarked(why)));
                }
            }
        } else {
            let (body, added) = marked(Box::pin(report.stream.map_err(io::Error::other)), &words);
            (body, report.length.map(|length| length.saturating_add(added)))
        };
        let (share, body) = (mark.short().to_owned(), until(body, self.over(visit)));
        self.unless_over(visit, Content::Here(ReportFor::Stream(Download { project, share, length, body }))).await
    }

    /// Resolves when the visit is not good any more, for whatever reason a page would not be shown any more.
    fn over(&self, visit: &Visit) -> impl Future<Output = ()> + Send + 'static {
        let (pages, place, handle) = (self.clone(), visit.place.clone(), visit.handle.clone());
        async move {
            loop {
                sleep(LOOK).await;
                // A store that does not answer for a moment takes nothing back.
                if matches!(pages.visit(place.clone(), &handle).await, Ok(None)) {
                    return;
                }
            }
        }
    }
}

/// `body` until `over` resolves, which is an error in it: nobody takes a part for the whole.
fn until(body: Body, over: impl Future<Output = ()> + Send + 'static) -> Body {
    let state = Some((body, Box::pin(over)));
    Box::pin(futures_util::stream::unfold(state, |state| async move {
        let (mut body, mut over) = state?;
        tokio::select! {
            biased;
            () = &mut over => Some((Err(io::Error::other("the share ended")), None)),
            next = body.next() => next.map(|piece| (piece, Some((body, over)))),
        }
    }))
}
