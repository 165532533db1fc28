//! Answers that come before a request is sent whole. A service that does not want the rest of a body answers, closes, and may
//! reset the connection: writing then fails although the answer is there to be read. So a write that fails waits for a moment,
//! in which what has arrived is read; then it fails.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::{Sleep, sleep};

/// A connection whose failed writes wait.
pub(super) struct Early<T> {
    io: T,
    /// How long an answer that has arrived may take to be read. Nothing more arrives on such a connection.
    reads: Duration,
    failed: Option<Failed>,
}

struct Failed {
    why: io::ErrorKind,
    until: Pin<Box<Sleep>>,
}

impl<T> Early<T> {
    pub(super) const fn new(io: T, reads: Duration) -> Self {
        Self { io, reads, failed: None }
    }

    /// What came of a write, or of an attempt to.
    fn patient<R>(&mut self, done: Poll<io::Result<R>>, context: &mut Context<'_>) -> Poll<io::Result<R>> {
        match done {
            Poll::Ready(Err(error)) if is_of_the_other_side(error.kind()) => {
                let failed = Failed { why: error.kind(), until: Box::pin(sleep(self.reads)) };
                self.failed = Some(failed);
                // What is there is looked for once more, whatever woke this up.
                context.waker().wake_by_ref();
                self.wait(context)
            }
            other => other,
        }
    }

    fn wait<R>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<R>> {
        let Some(failed) = &mut self.failed else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        ready!(failed.until.as_mut().poll(context));
        Poll::Ready(Err(failed.why.into()))
    }
}

/// Whether the other side closed.
const fn is_of_the_other_side(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted)
}

impl<T: Read + Unpin> Read for Early<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for Early<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.failed.is_some() {
            return self.wait(context);
        }
        let done = Pin::new(&mut self.io).poll_write(context, bytes);
        self.patient(done, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.failed.is_some() {
            return self.wait(context);
        }
        let done = Pin::new(&mut self.io).poll_write_vectored(context, pieces);
        self.patient(done, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.failed.is_some() {
            return self.wait(context);
        }
        let done = Pin::new(&mut self.io).poll_flush(context);
        self.patient(done, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
