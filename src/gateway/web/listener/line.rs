//! A connection that does not wait for ever: the head of a request has a time from its first byte on, and an answer that
//! waits has to be taken. Request lines are looked through on the way (`target`).

use std::cell::Cell;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::target::Target;
use crate::config::gateway::Connection as Settings;

/// What is known of the requests on a line. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Use(Rc<Counts>);

#[derive(Default)]
struct Counts {
    /// Requests whose answer is not sent yet.
    open: Cell<usize>,
    /// Requests whose head was read, ever.
    begun: Cell<u64>,
    /// Whether the last write found no room.
    is_blocked: Cell<bool>,
}

impl Use {
    /// A request whose head was read, until what is returned is dropped.
    pub(super) fn begin(&self) -> InUse {
        self.0.open.set(self.0.open.get() + 1);
        self.0.begun.set(self.0.begun.get() + 1);
        InUse(self.clone())
    }

    /// Whether something waits to be written.
    pub(super) fn is_blocked(&self) -> bool {
        self.0.is_blocked.get()
    }

    fn is_open(&self) -> bool {
        self.0.open.get() > 0
    }
}

/// A request that is under way.
pub(super) struct InUse(Use);

impl Drop for InUse {
    fn drop(&mut self) {
        let open = &self.0.0.open;
        open.set(open.get().saturating_sub(1));
    }
}

/// The connection.
pub(super) struct Line<T> {
    io: T,
    settings: Settings,
    in_use: Use,
    /// When the first byte of a head came, and how many heads were read before.
    head: Option<(Instant, u64)>,
    /// The request line that comes, and how many heads were read before. Of requests that do not wait for the answer to the one
    /// before them not all are seen.
    target: (Target, u64),
    stall: Option<Stall>,
    /// One timer for both; it is set anew only when it has run out, not for every request.
    alarm: Option<Pin<Box<Sleep>>>,
    is_armed: bool,
}

/// A time in which a caller has to take something.
struct Stall {
    until: Instant,
    taken: usize,
}

impl<T> Line<T> {
    pub(super) fn new(io: T, settings: Settings) -> Self {
        let (in_use, head, stall) = (Use::default(), None, None);
        Self { io, settings, in_use, head, target: (Target::default(), 0), stall, alarm: None, is_armed: false }
    }

    /// What it is made of.
    pub(super) const fn connection(&self) -> &T {
        &self.io
    }

    /// For whoever serves its requests.
    pub(super) fn use_of_it(&self) -> Use {
        self.in_use.clone()
    }

    /// Looks whether a time has run out.
    fn look(&mut self) -> Result<()> {
        if self.head.is_some_and(|(_, before)| before != self.in_use.0.begun.get()) {
            self.head = None;
        }
        let now = match &self.alarm {
            Some(alarm) if self.is_armed => Some(Instant::now()).filter(|now| *now >= alarm.deadline()),
            _ => None,
        };
        let Some(now) = now else { return Ok(()) };
        self.is_armed = false;
        let late = self.head.is_some_and(|(since, _)| now >= since + self.head_time());
        let idle = self.stall.as_ref().is_some_and(|stall| now >= stall.until);
        if late && !self.in_use.is_open() {
            return Err(Error::new(ErrorKind::TimedOut, "the head of a request did not come in time"));
        }
        if let Some(stall) = self.stall.take_if(|_| idle)
            && self.in_use.is_blocked()
        {
            if stall.taken < self.settings.stall_bytes {
                return Err(Error::new(ErrorKind::TimedOut, "the caller does not take its answer"));
            }
            self.stall = Some(self.new_stall(now));
        }
        Ok(())
    }

    const fn head_time(&self) -> Duration {
        Duration::from_secs(self.settings.head_seconds)
    }

    fn new_stall(&self, now: Instant) -> Stall {
        Stall { until: now + Duration::from_secs(self.settings.stall_seconds), taken: 0 }
    }

    /// Has the connection looked at again at `at`, or before.
    fn wake_at(&mut self, at: Instant, context: &mut Context<'_>) {
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(at)));
        if self.is_armed && alarm.deadline() <= at {
            return;
        }
        alarm.as_mut().reset(at);
        self.is_armed = true;
        if alarm.as_mut().poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Line<T> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        this.look()?;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.io).poll_read(context, buffer);
        if this.in_use.is_open() {
            return outcome;
        }
        let begun = this.in_use.0.begun.get();
        if this.target.1 != begun {
            this.target = (Target::default(), begun);
        }
        if let Some(came) = buffer.filled_mut().get_mut(before..) {
            this.target.0.read(came);
        }
        match (&outcome, this.head) {
            // The first head is the server's own to watch: it answers 408, where this can only close.
            (Poll::Ready(Ok(())), None) if buffer.filled().len() > before && this.in_use.0.begun.get() > 0 => {
                this.head = Some((Instant::now(), this.in_use.0.begun.get()));
            }
            (Poll::Pending, Some((since, _))) => this.wake_at(since + this.head_time(), context),
            _ => {}
        }
        outcome
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Line<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        this.look()?;
        let outcome = Pin::new(&mut this.io).poll_write(context, bytes);
        match &outcome {
            Poll::Ready(Ok(written)) => {
                this.in_use.0.is_blocked.set(false);
                if let Some(stall) = &mut this.stall {
                    stall.taken = stall.taken.saturating_add(*written);
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let now = Instant::now();
                let until = match &this.stall {
                    Some(stall) if this.in_use.is_blocked() || stall.until > now => stall.until,
                    _ => this.stall.insert(this.new_stall(now)).until,
                };
                this.in_use.0.is_blocked.set(true);
                this.wake_at(until, context);
            }
        }
        outcome
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const SETTINGS: Settings = Settings {
        keep_alive_seconds: 1,
        head_seconds: 1,
        uri_bytes: 0,
        head_bytes: 0,
        head_fields: 0,
        stall_seconds: 1,
        stall_bytes: 64,
    };

    fn is_late<V: std::fmt::Debug>(outcome: Result<V>) {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_head_that_does_not_come_in_time_ends_the_connection_also_when_it_is_not_the_first() {
        let (mut caller, line) = duplex(1024);
        let mut line = Line::new(line, SETTINGS);
        let mut buffer = [0; 64];
        caller.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(line.read(&mut buffer).await.unwrap() > 0);
        drop(line.use_of_it().begin());
        caller.write_all(b"GET / H").await.unwrap();
        assert!(line.read(&mut buffer).await.unwrap() > 0);
        let (outcome, ()) = tokio::join!(line.read_exact(&mut buffer), async {
            // Now and then a byte does not help.
            for _ in 0..30 {
                caller.write_all(b"x").await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        is_late(outcome);
    }

    #[tokio::test]
    async fn a_connection_that_is_idle_or_works_waits() {
        let (mut caller, line) = duplex(1024);
        let mut line = Line::new(line, SETTINGS);
        let mut buffer = [0; 64];
        let longer = Duration::from_millis(1500);
        assert!(tokio::time::timeout(longer, line.read(&mut buffer)).await.is_err(), "nothing has come yet");
        caller.write_all(b"POST / HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(line.read(&mut buffer).await.unwrap() > 0);
        let under_way = line.use_of_it().begin();
        caller.write_all(b"part of a body").await.unwrap();
        assert!(line.read(&mut buffer).await.unwrap() > 0);
        assert!(tokio::time::timeout(longer, line.read(&mut buffer)).await.is_err(), "bodies have a time of their own");
        drop(under_way);
        assert!(tokio::time::timeout(longer, line.read(&mut buffer)).await.is_err(), "the answer was sent");
    }

    #[tokio::test]
    async fn an_answer_that_is_not_taken_ends_the_connection() {
        let (mut caller, line) = duplex(128);
        let mut line = Line::new(line, SETTINGS);
        let drip = async {
            loop {
                caller.read_u8().await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            outcome = line.write_all(&[0; 4096]) => is_late(outcome),
            () = drip => {}
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_taken_slowly_goes_on() {
        let (mut caller, line) = duplex(128);
        let mut line = Line::new(line, SETTINGS);
        let (outcome, read) = tokio::join!(line.write_all(&[0; 2560]), async {
            let mut read = 0;
            while read < 2560 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                read += caller.read(&mut [0; 128]).await.unwrap();
            }
            read
        });
        outcome.unwrap();
        assert_eq!(read, 2560);
    }

    #[tokio::test]
    async fn over_a_real_socket_whoever_takes_nothing_is_cut_when_its_buffers_are_full() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _caller = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut line = Line::new(listener.accept().await.unwrap().0, SETTINGS);
        let mut outcome = Ok(());
        for _ in 0..10_000 {
            outcome = line.write_all(&vec![0; 65_536]).await;
            if outcome.is_err() {
                break;
            }
        }
        is_late(outcome);
    }
}
