//! A body that comes: while it is waited for it has to come, however little a byte now and then looks like silence. Time in
//! which nobody reads it does not count.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_http::error::PayloadError;
use actix_http::{Payload, Request};
use bytes::Bytes;
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::config::gateway::Connection as Settings;

/// The body.
struct Paced {
    payload: Payload,
    settings: Settings,
    /// In this window: how long it was waited for, and what came.
    waited: Duration,
    came: usize,
    /// Since when it is being waited for.
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

/// Gives the body of a request, if it has one, its pace.
pub(super) fn pace(request: &mut Request, settings: Settings) {
    if !matches!(request.payload(), Payload::None) {
        let body = Paced::new(request.take_payload(), settings);
        *request.payload() = Payload::Stream { payload: Box::pin(body) };
    }
}

impl Paced {
    const fn new(payload: Payload, settings: Settings) -> Self {
        Self { payload, settings, waited: Duration::ZERO, came: 0, since: None, alarm: None }
    }

    /// Waits on; `Err` when too little came for too long.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<PayloadError> {
        let window = Duration::from_secs(self.settings.stall_seconds);
        loop {
            let now = Instant::now();
            let since = *self.since.get_or_insert(now);
            let until = since + window.saturating_sub(self.waited);
            if now >= until {
                if self.came < self.settings.stall_bytes {
                    let late = Error::new(ErrorKind::TimedOut, "the body does not come");
                    return Poll::Ready(PayloadError::Incomplete(Some(late)));
                }
                (self.waited, self.came, self.since) = (Duration::ZERO, 0, Some(now));
                continue;
            }
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(until)));
            // Set anew only when it has run out, not for every chunk.
            if alarm.is_elapsed() || alarm.deadline() > until {
                alarm.as_mut().reset(until);
            }
            if alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match Pin::new(&mut self.payload).poll_next(context) {
            Poll::Pending => self.wait(context).map(|late| Some(Err(late))),
            Poll::Ready(Some(Ok(chunk))) => {
                self.came = self.came.saturating_add(chunk.len());
                if let Some(since) = self.since.take() {
                    self.waited += since.elapsed();
                }
                Poll::Ready(Some(Ok(chunk)))
            }
            ended @ Poll::Ready(_) => ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, StreamExt as _, stream};
    use tokio::sync::mpsc;
    use tokio::time::sleep;

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

    /// A body, and where its chunks are put in.
    fn body() -> (Pin<Box<Paced>>, mpsc::UnboundedSender<Bytes>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let chunks = stream::unfold(receiver, async |mut receiver: mpsc::UnboundedReceiver<Bytes>| {
            receiver.recv().await.map(|chunk| (Ok(chunk), receiver))
        });
        (Box::pin(Paced::new(Payload::Stream { payload: Box::pin(chunks) }, SETTINGS)), sender)
    }

    /// Reads to the end, which is the sender's own or a late one.
    async fn read(mut body: Pin<Box<Paced>>) -> Result<usize, PayloadError> {
        let mut all = 0;
        while let Some(chunk) = body.next().await {
            all += chunk?.len();
        }
        Ok(all)
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_or_comes_by_the_byte_is_cut() {
        let (silent, _sender) = body();
        assert!(matches!(read(silent).await, Err(PayloadError::Incomplete(Some(_)))));
        let (slow, sender) = body();
        let drip = async move {
            while sender.send(Bytes::from_static(b"x")).is_ok() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let (cut, ()) = tokio::join!(read(slow), drip);
        assert!(matches!(cut, Err(PayloadError::Incomplete(Some(_)))));
    }

    #[tokio::test]
    async fn a_body_that_comes_goes_on_and_a_reader_may_take_its_time() {
        let (steady, sender) = body();
        let send = async move {
            for _ in 0..25 {
                sender.send(Bytes::from_static(&[0; 32])).unwrap();
                sleep(Duration::from_millis(100)).await;
            }
        };
        let (read_whole, ()) = tokio::join!(read(steady), send);
        assert_eq!(read_whole.unwrap(), 25 * 32);
        let (mut late, sender) = body();
        assert!(late.next().now_or_never().is_none());
        sender.send(Bytes::from_static(b"a")).unwrap();
        assert_eq!(late.next().await.unwrap().unwrap(), "a");
        sleep(Duration::from_millis(1500)).await;
        sender.send(Bytes::from_static(b"b")).unwrap();
        assert_eq!(late.next().await.unwrap().unwrap(), "b", "nobody waited for it");
    }
}
