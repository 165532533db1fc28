//! PDF reports on their way to recipients: taken whole, given the line at the foot of each page, sent on. What cannot be marked is not
//! given out: every copy says which share it came through, and the report in HTML always can.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::watermark::Body;
use crate::gateway::pdf::{Refusal, at_foot};
use crate::gateway::services::error::Error;
use crate::gateway::services::reports::Report;

/// What goes out at once; between two pieces it is looked whether the share is still there.
const PIECE: usize = 64 * 1024;

/// How much is held.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct MarkSettings {
    /// Bytes of a PDF.
    pub(in crate::gateway) most: usize,
    /// How many.
    pub(in crate::gateway) at_once: usize,
    /// How long one more waits.
    pub(in crate::gateway) wait: Duration,
}

/// Why a PDF is not given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum Unmarked {
    #[error("too many are on their way")]
    Busy,
    #[error("it is too large to be marked")]
    TooLarge,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The places for PDFs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Marking {
    places: Arc<Semaphore>,
    settings: MarkSettings,
}

impl Marking {
    pub(super) fn new(settings: MarkSettings) -> Self {
        Self { places: Arc::new(Semaphore::new(settings.at_once)), settings }
    }

    /// The report with the words on each page, and its bytes. A caller who leaves gives the place back: at once while the report
    /// comes in or goes out, after its few milliseconds while it is marked.
    ///
    /// # Errors
    /// [`Error::Upstream`] when the service breaks off.
    pub(super) async fn marked(&self, report: Report, words: String) -> Result<Result<(Body, u64), Unmarked>, Error> {
        let outcome = self.try_marked(report, words).await;
        let word = match &outcome {
            Ok(Ok(_)) => "marked",
            Ok(Err(Unmarked::Busy)) => "busy",
            Ok(Err(Unmarked::TooLarge)) => "too_large",
            Ok(Err(Unmarked::Refused(Refusal::Encrypted))) => "encrypted",
            Ok(Err(Unmarked::Refused(Refusal::Unreadable))) => "unreadable",
            Err(_) => "cut",
        };
        metrics::counter!("cardea_share_pdf_total", "outcome" => word).increment(1);
        outcome
    }

    async fn try_marked(&self, report: Report, words: String) -> Result<Result<(Body, u64), Unmarked>, Error> {
        let most = self.settings.most;
        if report.length.is_some_and(|length| length > most as u64) {
            return Ok(Err(Unmarked::TooLarge));
        }
        let waiting = tokio::time::timeout(self.settings.wait, Arc::clone(&self.places).acquire_owned());
        let Ok(Ok(place)) = waiting.await else { return Ok(Err(Unmarked::Busy)) };
        let Some(pdf) = whole(report, most).await? else { return Ok(Err(Unmarked::TooLarge)) };
        let work = move || (at_foot(&pdf, &words), pdf, place);
        let done = tokio::task::spawn_blocking(work).await;
        let (line, pdf, place) = done.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(line.map(|line| sent(pdf, line.into(), place)).map_err(Unmarked::Refused))
    }
}

/// All of a report; None where that is more than so many bytes.
async fn whole(report: Report, most: usize) -> Result<Option<Bytes>, Error> {
    let mut stream = report.stream;
    let mut all = BytesMut::new();
    while let Some(piece) = stream.try_next().await? {
        if all.len() + piece.len() > most {
            return Ok(None);
        }
        all.extend_from_slice(&piece);
    }
    Ok(Some(all.freeze()))
}

/// One after the other in pieces. The place is kept as long as the bytes are.
fn sent(pdf: Bytes, line: Bytes, place: OwnedSemaphorePermit) -> (Body, u64) {
    let length = (pdf.len() + line.len()) as u64;
    let state = ([pdf, line], place);
    let pieces = futures_util::stream::unfold(state, |([mut first, mut second], place)| async move {
        if first.is_empty() {
            first = std::mem::take(&mut second);
        }
        let piece = first.split_to(first.len().min(PIECE));
        (!piece.is_empty()).then_some((Ok(piece), ([first, second], place)))
    });
    (Box::pin(pieces), length)
}
