//! Bodies on their way, in both directions: pulled by whoever takes them, so that a slow side slows the other one.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, TryStreamExt as _};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use super::pool::Lease;
use crate::gateway::upstream::error::UpstreamError;

/// The sender's stream ended before the body was whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sender stopped")]
pub(crate) struct Stopped;

impl From<Infallible> for Stopped {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// What was read ahead is given out in pieces of this, so that nobody has all of it waiting twice.
const PIECE: usize = 64 * 1024;

/// What a request carries.
pub(crate) enum Outgoing {
    Nothing,
    Whole(Option<Bytes>),
    Stream(Streamed),
}

/// A body that arrives while it is sent on.
pub(crate) struct Streamed {
    inner: Pin<Box<dyn Stream<Item = Result<Bytes, Stopped>>>>,
    left: Option<u64>,
    progress: Rc<Progress>,
}

/// How far a streamed body is: shared with the watch over its silence.
struct Progress {
    moved: Cell<Instant>,
    /// The sender was asked for more and has not answered.
    waits_for_sender: Cell<bool>,
    is_over: Cell<bool>,
    is_stopped: Cell<bool>,
}

impl Outgoing {
    /// A body of `length` bytes where that is known.
    pub(crate) fn stream(inner: impl Stream<Item = Result<Bytes, Stopped>> + 'static, length: Option<u64>) -> Self {
        let progress = Progress {
            moved: Cell::new(Instant::now()),
            waits_for_sender: Cell::new(false),
            is_over: Cell::new(false),
            is_stopped: Cell::new(false),
        };
        Self::Stream(Streamed { inner: Box::pin(inner), left: length, progress: Rc::new(progress) })
    }

    pub(super) fn watch(&self) -> Watch {
        match self {
            Self::Stream(streamed) => Watch(Some(Rc::clone(&streamed.progress))),
            Self::Nothing | Self::Whole(_) => Watch(None),
        }
    }
}

/// Watches over the silence of a request's body, and of the service after it.
pub(super) struct Watch(Option<Rc<Progress>>);

impl Watch {
    /// Resolves when no byte of the body moved for `idle`, or, after its end, no head of an answer came for `head`.
    pub(super) async fn silence(&self, idle: Duration, head: Duration) -> UpstreamError {
        let began = Instant::now();
        loop {
            let over = |progress: &Rc<Progress>| progress.is_over.get();
            let (since, limit) = match &self.0 {
                Some(progress) if !over(progress) => (progress.moved.get(), idle),
                // Taking in what was streamed may take longer than answering a question.
                Some(progress) => (progress.moved.get(), head.max(idle)),
                None => (began, head),
            };
            if since.elapsed() >= limit {
                let sender = self.0.as_ref().is_some_and(|progress| !over(progress) && progress.waits_for_sender.get());
                return if sender { UpstreamError::sender_silent() } else { UpstreamError::timeout() };
            }
            sleep_until(since + limit).await;
        }
    }

    /// Whether the sender stopped before the body was whole.
    pub(super) fn is_stopped(&self) -> bool {
        self.0.as_ref().is_some_and(|progress| progress.is_stopped.get())
    }

    /// Whether all of the body was taken to be sent.
    pub(super) fn is_over(&self) -> bool {
        self.0.as_ref().is_none_or(|progress| progress.is_over.get())
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Stopped;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Stopped>>> {
        match &mut *self {
            Self::Nothing => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(streamed) => streamed.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Whole(bytes) => bytes.is_none(),
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Nothing => SizeHint::with_exact(0),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Stream(streamed) => streamed.left.map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

impl Streamed {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Stopped>>> {
        let polled = self.inner.as_mut().poll_next(context);
        let progress = &self.progress;
        progress.waits_for_sender.set(polled.is_pending());
        let piece = ready!(polled);
        progress.moved.set(Instant::now());
        match piece {
            Some(Ok(chunk)) => {
                self.left = self.left.map(|left| left.saturating_sub(chunk.len() as u64));
                // The end of a body of known length is not asked for.
                progress.is_over.set(self.left == Some(0));
                Poll::Ready(Some(Ok(Frame::data(chunk))))
            }
            Some(Err(stopped)) => {
                progress.is_stopped.set(true);
                Poll::Ready(Some(Err(stopped)))
            }
            None => {
                progress.is_over.set(true);
                Poll::Ready(None)
            }
        }
    }
}

/// The body of an answer, as it arrives; ends with an error when it is cut or silent for too long. Dropped before its end,
/// it closes the connection.
pub(crate) struct AnswerBody {
    incoming: Incoming,
    lease: Option<Lease>,
    /// Over the body of the request: an answer may come before its end.
    watch: Watch,
    idle: Duration,
    /// What was read ahead, to be given out first.
    ahead: Bytes,
    /// Armed while a piece is waited for.
    alarm: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
}

impl AnswerBody {
    pub(super) fn new(incoming: Incoming, lease: Lease, watch: Watch, idle: Duration) -> Self {
        let mut body = Self { incoming, lease: Some(lease), watch, idle, ahead: Bytes::new(), alarm: None, is_waiting: false };
        if body.incoming.is_end_stream() {
            body.end();
        }
        body
    }

    /// Bytes that are still to come, where the service said so.
    pub(crate) fn length(&self) -> Option<u64> {
        Some(self.incoming.size_hint().exact()? + self.ahead.len() as u64)
    }

    fn end(&mut self) {
        // A connection on which half a request stands is good for no other.
        if let Some(lease) = self.lease.take().filter(|_| self.watch.is_over()) {
            lease.give_back();
        }
    }

    /// Reads the beginning of it, which is given out later all the same: up to its end, until `most` bytes are there, or for as
    /// long as a silence may last.
    pub(super) async fn look_ahead(&mut self, most: usize) -> Result<&[u8], UpstreamError> {
        let mut all = BytesMut::from(std::mem::take(&mut self.ahead));
        let until = Instant::now() + self.idle;
        while all.len() < most {
            match timeout_at(until, self.try_next()).await {
                Ok(Ok(Some(piece))) => all.extend_from_slice(&piece),
                Ok(Err(error)) => return Err(error),
                Ok(Ok(None)) | Err(_) => break,
            }
        }
        self.ahead = all.freeze();
        Ok(&self.ahead)
    }

    /// The rest as a whole; `None` when it is more than `most` bytes.
    pub(crate) async fn whole(mut self, most: usize) -> Result<Option<Bytes>, UpstreamError> {
        self.gathered(most).await
    }

    /// The rest as a whole; `None` when it is more than `most` bytes, and then nothing of it is lost: what was read is given out
    /// first. Where the service says how much there is, too much is not begun with.
    pub(crate) async fn gathered(&mut self, most: usize) -> Result<Option<Bytes>, UpstreamError> {
        if self.length().is_some_and(|length| length > most as u64) {
            return Ok(None);
        }
        let Some(first) = self.try_next().await? else { return Ok(Some(Bytes::new())) };
        if self.length() == Some(0) {
            // One piece was all of it; its end is read so that the connection can be used again.
            self.try_next().await?;
            return Ok(Some(first));
        }
        let mut all = BytesMut::from(first);
        while all.len() <= most {
            match self.try_next().await? {
                Some(piece) => all.extend_from_slice(&piece),
                None => return Ok(Some(all.freeze())),
            }
        }
        self.ahead = all.freeze();
        Ok(None)
    }
}

impl Stream for AnswerBody {
    type Item = Result<Bytes, UpstreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if !this.ahead.is_empty() {
            let piece = this.ahead.split_to(this.ahead.len().min(PIECE));
            return Poll::Ready(Some(Ok(piece)));
        }
        if this.lease.is_none() {
            return Poll::Ready(None);
        }
        loop {
            match Pin::new(&mut this.incoming).poll_frame(context) {
                Poll::Ready(frame) => {
                    this.is_waiting = false;
                    match frame {
                        Some(Ok(frame)) => {
                            // Trailers are not passed on.
                            if let Ok(chunk) = frame.into_data() {
                                return Poll::Ready(Some(Ok(chunk)));
                            }
                        }
                        Some(Err(_)) => {
                            this.lease = None;
                            return Poll::Ready(Some(Err(UpstreamError::broke())));
                        }
                        None => {
                            this.end();
                            return Poll::Ready(None);
                        }
                    }
                }
                Poll::Pending => {
                    let until = Instant::now() + this.idle;
                    let alarm = this.alarm.get_or_insert_with(|| Box::pin(sleep_until(until)));
                    if !this.is_waiting {
                        this.is_waiting = true;
                        alarm.as_mut().reset(until);
                    }
                    ready!(alarm.as_mut().poll(context));
                    this.lease = None;
                    return Poll::Ready(Some(Err(UpstreamError::timeout())));
                }
            }
        }
    }
}
