//! Multipart forms with a file, read as they arrive: a few small fields, then the file as a stream that is only read as
//! fast as it is taken. Nothing is kept on disk or whole in memory.

use std::collections::HashMap;
use std::future::{self, Future, Ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_multipart::{Field, Multipart};
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH};
use actix_web::web::{Bytes, Data};
use actix_web::{FromRequest, HttpRequest};
use futures_util::{Stream, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::signed_in::check;
use crate::config::gateway::Limits;
use crate::gateway::domain::ending::Ending;
use crate::gateway::services::error::Error;
use crate::gateway::services::uploads::{Cut, too_large};
use crate::gateway::session::{Portal, Tether};
use crate::gateway::web::error::WebError;
use crate::platform::hostile::Hostile;
use crate::platform::multipart;

/// Bytes of one small field, and how many there may be.
const FIELD: usize = 4096;
const FIELDS: usize = 10;
/// What a form may hold beside its file.
const ENVELOPE: u64 = 1 << 20;
/// Chunks between the browser and the service.
const CHUNKS: usize = 2;
/// After a refusal the rest is read for this long, so that the browser gets to see the answer.
const DRAIN: Duration = Duration::from_secs(5);
const STOPPED: &str = "The upload stopped before it was whole. Nothing was stored.";

/// A form with a file, nothing of it read yet.
pub(in crate::gateway) struct UploadForm {
    form: Multipart,
    request: HttpRequest,
    idle: Duration,
    max_bytes: u64,
    /// The session it is sent in.
    tether: Option<Tether>,
}

impl FromRequest for UploadForm {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let Some(limits) = request.app_data::<Data<Limits>>() else {
            return future::ready(Err(WebError::internal("the limits are not known to the server")));
        };
        future::ready(Ok(Self {
            form: Multipart::new(request.headers(), payload.take()),
            request: request.clone(),
            idle: Duration::from_secs(limits.body_idle_seconds),
            max_bytes: limits.upload_bytes,
            tether: Portal::of(request).tether(),
        }))
    }
}

/// Small fields by name; a repeated one counts with its first value.
pub(in crate::gateway) struct Fields(HashMap<String, String>);

impl Fields {
    /// The value of a field; empty when it is not there.
    pub(in crate::gateway) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// The file of a form, its bytes still on their way.
pub(in crate::gateway) struct UploadFile {
    // Keeps the form alive while its part is read.
    _form: Multipart,
    part: Field,
    name: Hostile,
    idle: Duration,
    /// Its beginning, which was read to see whether there is one.
    first: Option<Bytes>,
    tether: Option<Tether>,
    /// All of it was read; a part that has ended must not be asked again.
    ended: bool,
}

impl UploadForm {
    /// Reads up to the file. `None` when no file was chosen.
    pub(in crate::gateway) async fn read(mut self) -> Result<(Fields, Option<UploadFile>), WebError> {
        let announced = self.request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.max_bytes.saturating_add(ENVELOPE)) {
            drain(&mut self.form).await;
            return Err(WebError::too_large(too_large(self.max_bytes)));
        }
        let mut fields = HashMap::new();
        while let Some(part) = moving(self.idle, self.form.next()).await? {
            let mut part = part.map_err(|_| WebError::bad_request(STOPPED))?;
            let name = part.name().unwrap_or_default().to_owned();
            let file = part.headers().get(CONTENT_DISPOSITION).and_then(|sent| multipart::file_name(sent.as_bytes()));
            match file {
                Some(file) if name == "file" && !file.is_empty() => {
                    let Self { form, idle, tether, .. } = self;
                    let name = Hostile::new(file);
                    let mut file = UploadFile { _form: form, part, name, idle, tether, first: None, ended: false };
                    file.begin().await?;
                    return Ok((Fields(fields), Some(file)));
                }
                _ => {
                    let value = small(self.idle, &mut part).await?;
                    if fields.len() == FIELDS {
                        return Err(WebError::bad_request("The form has more fields than it should."));
                    }
                    fields.entry(name).or_insert(value);
                }
            }
        }
        Ok((Fields(fields), None))
    }

    /// As [`UploadForm::read`], for a form of a signed-in page: its `csrf` field, which stands before the file, is checked.
    pub(in crate::gateway) async fn read_checked(self) -> Result<(Fields, Option<UploadFile>), WebError> {
        let request = self.request.clone();
        let (fields, file) = self.read().await?;
        match (check(&request, fields.get("csrf")), file) {
            (Ok(()), file) => Ok((fields, file)),
            (Err(refused), Some(file)) => {
                file.discard().await;
                Err(refused)
            }
            (Err(refused), None) => Err(refused),
        }
    }
}

impl UploadFile {
    /// What the sender calls the file, without folders.
    pub(in crate::gateway) const fn name(&self) -> &Hostile {
        &self.name
    }

    /// Whether there is nothing in it.
    pub(in crate::gateway) const fn is_empty(&self) -> bool {
        self.first.is_none() && self.ended
    }

    /// Reads its first bytes.
    async fn begin(&mut self) -> Result<(), WebError> {
        while self.first.is_none() && !self.ended {
            match moving(self.idle, self.part.next()).await? {
                Some(chunk) => {
                    let chunk = chunk.map_err(|_| WebError::bad_request(STOPPED))?;
                    self.first = Some(chunk).filter(|chunk| !chunk.is_empty());
                }
                None => self.ended = true,
            }
        }
        Ok(())
    }

    /// Hands the bytes to `work` as they arrive. Ends when `work` does, or with the session; the sender is slowed to its pace.
    pub(in crate::gateway) async fn feed<T, F>(mut self, work: impl FnOnce(Chunks) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (sender, receiver) = mpsc::channel(CHUNKS);
        let tether = self.tether.take();
        let outcome = {
            let mut work = pin!(work(Chunks { pieces: receiver, is_over: false }));
            let mut pumped = pin!(pump(&mut self, sender));
            let moved = async {
                tokio::select! {
                    biased;
                    outcome = &mut work => outcome,
                    () = &mut pumped => work.await,
                }
            };
            tokio::select! {
                outcome = moved => outcome,
                ending = ended(tether.as_ref()) => Err(Error::Cut(ending)),
            }
        };
        if outcome.is_err() {
            self.discard().await;
        }
        outcome
    }

    /// Reads on for a moment and forgets, so that the sender is ready for an answer.
    pub(in crate::gateway) async fn discard(mut self) {
        let until = Instant::now() + DRAIN;
        while !self.ended
            && let Ok(Some(Ok(_))) = timeout_at(until, self.part.next()).await
        {}
    }
}

/// The bytes of a file on their way to the service. Only an end that was sent is one: whoever sends may go away at any moment,
/// with the session or the browser, and what came until then must not look like a whole file to the service.
pub(in crate::gateway) struct Chunks {
    pieces: mpsc::Receiver<Piece>,
    is_over: bool,
}

/// A part of a file; `None` is its end.
type Piece = Option<Result<Bytes, Cut>>;

impl Stream for Chunks {
    type Item = Result<Bytes, Cut>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let piece = ready!(self.pieces.poll_recv(context)).unwrap_or(Some(Err(Cut::Stopped)));
        self.is_over = !matches!(piece, Some(Ok(_)));
        Poll::Ready(piece)
    }
}

/// The end of the session an upload is sent in.
async fn ended(tether: Option<&Tether>) -> Ending {
    let Some(tether) = tether else { return future::pending().await };
    let ending = tether.ended().await;
    tether.cut(ending);
    ending
}

/// From the browser into the channel, until the file ends, breaks or nobody takes any more.
async fn pump(file: &mut UploadFile, sender: mpsc::Sender<Piece>) {
    let mut next = file.first.take().map(Ok);
    if next.is_none() && !file.ended {
        next = piece(file).await;
    }
    loop {
        file.ended |= !matches!(next, Some(Ok(_)));
        if sender.send(next).await.is_err() || file.ended {
            return;
        }
        next = piece(file).await;
    }
}

async fn piece(file: &mut UploadFile) -> Piece {
    match timeout(file.idle, file.part.next()).await {
        Ok(Some(Ok(chunk))) => Some(Ok(chunk)),
        Ok(None) => None,
        Ok(Some(Err(_))) | Err(_) => Some(Err(Cut::Stopped)),
    }
}

async fn drain(form: &mut Multipart) {
    let until = Instant::now() + DRAIN;
    while let Ok(Some(Ok(mut part))) = timeout_at(until, form.next()).await {
        while let Ok(Some(Ok(_))) = timeout_at(until, part.next()).await {}
    }
}

async fn small(idle: Duration, part: &mut Field) -> Result<String, WebError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = moving(idle, part.next()).await? {
        bytes.extend_from_slice(&chunk.map_err(|_| WebError::bad_request(STOPPED))?);
        if bytes.len() > FIELD {
            return Err(WebError::bad_request("A field of the form is longer than it should be."));
        }
    }
    String::from_utf8(bytes).map_err(|_| WebError::bad_request("A field of the form is no text."))
}

async fn moving<T>(idle: Duration, next: impl Future<Output = T>) -> Result<T, WebError> {
    timeout(idle, next).await.map_err(|_| WebError::bad_request(STOPPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_whose_sender_goes_away_before_its_end_never_looks_whole() {
        let chunk = || Some(Ok(Bytes::from_static(b"part")));
        for (pieces, ends_well) in [(vec![chunk(), None], true), (vec![chunk()], false), (vec![], false)] {
            let (sender, receiver) = mpsc::channel(CHUNKS);
            for piece in pieces {
                sender.send(piece).await.unwrap();
            }
            drop(sender);
            let all: Vec<_> = Chunks { pieces: receiver, is_over: false }.collect().await;
            assert_eq!(all.last() != Some(&Err(Cut::Stopped)), ends_well, "{all:?}");
        }
    }
}
