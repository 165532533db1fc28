//! Files at the service: whether one is there, and uploads that stream through with their hash computed on the way.
//!
//! An upload holds one chunk at a time: the next is only asked of the sender when the service has taken the last, so the
//! sender is slowed to the service's pace. Silence is cut, and told apart by who was silent.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, Method};
use tokio::time::{Instant, sleep_until};

use crate::contract::ids::Sha256;
use crate::contract::paths;
use crate::platform::digest::Running;
use crate::platform::hostile::Hostile;

use super::credential::Call;
use super::error::{Kind, Origin, UpstreamError};
use super::reading;
use super::service::{ScanningService, json, needed};
use super::transport::Repeat;

/// An upload the service has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uploaded {
    /// Computed here while the file passed, and the same as the service says.
    pub sha256: Sha256,
    /// Bytes that passed.
    pub size: u64,
    pub file_name: Hostile,
}

impl ScanningService {
    /// `POST /api/v1/files/check-exist/{sha256}`: by status alone; the string of the answer says nothing.
    pub(crate) async fn file_exists(&self, call: &Call, sha256: &Sha256) -> Result<bool, UpstreamError> {
        let request = self.request(call, Method::POST, &paths::check_exist(sha256))?;
        match self.transport.call(request, Repeat::Safe).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind == Kind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// `POST /api/v1/files/upload` of a stream of any length. `sha256` is sent for the service to check, `force` stores again
    /// what is there already. An error of `body` ends the upload with [`Kind::BodyBroken`].
    pub(crate) async fn upload<S, E>(
        &self,
        call: &Call,
        name: &Hostile,
        sha256: Option<&Sha256>,
        force: bool,
        body: S,
    ) -> Result<Uploaded, UpstreamError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
    {
        let progress = Arc::new(Progress::default());
        let watched = Watched { inner: Box::pin(body), progress: Arc::clone(&progress) };
        let part = Part::stream(Body::wrap_stream(watched)).file_name(name.raw().to_owned());
        let mut request = self.request(call, Method::POST, paths::FILES_UPLOAD)?;
        if let Some(sha256) = sha256 {
            request = request.query(&[("sha256", sha256.as_str())]);
        }
        if force {
            request = request.query(&[("forceUpload", "true")]);
        }
        let sent = self.transport.stream(request.multipart(Form::new().part("file", part)));
        let answer = tokio::select! {
            biased;
            answer = sent => answer,
            error = progress.silence(self.transport.idle, self.transport.whole.max(self.transport.idle)) => Err(error),
        };
        let answer = answer.map_err(|error| progress.meant(error))?;
        progress.uploaded(&json(&answer)?, name)
    }
}

/// How far an upload is. Shared by the stream that feeds it and the watch over its silence.
struct Progress {
    state: Mutex<State>,
    size: AtomicU64,
    ended: AtomicBool,
    broken: AtomicBool,
    /// The sender was asked for more and has not answered yet.
    waits_for_sender: AtomicBool,
}

struct State {
    hash: Option<Running>,
    moved: Instant,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            state: Mutex::new(State { hash: Some(Running::default()), moved: Instant::now() }),
            size: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            waits_for_sender: AtomicBool::new(false),
        }
    }
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chunk(&self, chunk: &Bytes) {
        let mut state = self.state();
        state.moved = Instant::now();
        if let Some(hash) = &mut state.hash {
            hash.update(chunk);
        }
        drop(state);
        self.size.fetch_add(chunk.len() as u64, Ordering::AcqRel);
    }

    /// What it means that a call ended in `error` when it was this far.
    fn meant(&self, error: UpstreamError) -> UpstreamError {
        if self.broken.load(Ordering::Acquire) {
            return UpstreamError::body_broken();
        }
        let is_under_way = self.size.load(Ordering::Acquire) > 0 && !self.ended.load(Ordering::Acquire);
        let has_broken = error.origin == Origin::Network && error.kind == Kind::Unavailable;
        if is_under_way && has_broken { UpstreamError::broke_off() } else { error }
    }

    fn end(&self) {
        self.state().moved = Instant::now();
        self.ended.store(true, Ordering::Release);
    }

    /// Resolves when nothing moved for `idle`, or, once everything is sent, when no answer came for `answer`.
    async fn silence(&self, idle: Duration, answer: Duration) -> UpstreamError {
        loop {
            let limit = if self.ended.load(Ordering::Acquire) { answer } else { idle };
            let until = self.state().moved + limit;
            if Instant::now() >= until {
                let sender = self.waits_for_sender.load(Ordering::Acquire) && !self.ended.load(Ordering::Acquire);
                return if sender { UpstreamError::sender_silent() } else { UpstreamError::timeout() };
            }
            sleep_until(until).await;
        }
    }

    fn uploaded(&self, answer: &serde_json::Value, name: &Hostile) -> Result<Uploaded, UpstreamError> {
        let answer = reading::unwrapped(answer);
        let theirs = reading::text(answer, &["sha256", "hash"]).raw().trim().to_ascii_lowercase();
        needed((!theirs.is_empty()).then_some(()))?;
        let ours = self.state().hash.take().map(Running::finish).unwrap_or_default();
        if !self.ended.load(Ordering::Acquire) || ours != theirs {
            return Err(UpstreamError::hash_mismatch());
        }
        let told = reading::text(answer, &["fileName", "name"]);
        let file_name = if told.is_empty() { name.clone() } else { told };
        Ok(Uploaded { sha256: needed(ours.parse().ok())?, size: self.size.load(Ordering::Acquire), file_name })
    }
}

struct Watched<S> {
    inner: Pin<Box<S>>,
    progress: Arc<Progress>,
}

impl<S, E> Stream for Watched<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.inner.as_mut().poll_next(context);
        let progress = &self.progress;
        progress.waits_for_sender.store(polled.is_pending(), Ordering::Release);
        match &polled {
            Poll::Ready(Some(Ok(chunk))) => progress.chunk(chunk),
            Poll::Ready(Some(Err(_))) => progress.broken.store(true, Ordering::Release),
            Poll::Ready(None) => progress.end(),
            Poll::Pending => {}
        }
        polled
    }
}
