//! Callers that leave. The server goes on with a request whose caller has left until it writes, which may be never: the service
//! thinks, or tells of events that do not happen. Their places at the service are for others.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::Version;
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};

use super::answer::Piece;
use crate::gateway::web::listener::{Peer, Presence};

/// How often it is looked whether a caller is still there.
const LOOK: Duration = Duration::from_millis(400);
/// The same, after it was asked.
const SOON: Duration = Duration::from_millis(50);
/// In the middle of an answer nobody can be asked. Whoever sends no more has left when nothing of the answer came for so long
/// either; with the time until it is looked, that is less than a second. Who only closed its sending side and reads on has all
/// that comes until then.
const GRACE: Duration = Duration::from_millis(500);
/// The end of a body whose caller has left. Who reads on all the same sees the connection break.
const LEFT: &str = "The caller closed its side of the connection, and nothing came for it.";

/// Resolves when the caller has left that waits for its answer.
pub(super) async fn gone(request: &HttpRequest) {
    let may_be_told = request.version() >= Version::HTTP_11;
    let mut wait = LOOK;
    loop {
        sleep(wait).await;
        wait = match request.conn_data::<Peer>().map(|peer| peer.look(may_be_told)) {
            Some(Presence::Gone) => return,
            Some(Presence::Asked) => SOON,
            Some(Presence::Here | Presence::Silent) | None => LOOK,
        };
    }
}

/// A body that ends when its caller has left; it is looked only while nothing comes, so what is there at once pays nothing.
pub(super) struct Watched<S> {
    /// Until it was given up.
    body: Option<S>,
    peer: Option<Peer>,
    /// Set anew only when it has run out, not for every piece.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Since when the caller was seen to send no more, and nothing came.
    silent_since: Option<Instant>,
}

impl<S> Watched<S> {
    pub(super) const fn new(body: S, peer: Option<Peer>) -> Self {
        Self { body: Some(body), peer, alarm: None, silent_since: None }
    }

    /// Whether the caller has left; else it is looked again in a while.
    fn is_left(&mut self, context: &mut Context<'_>) -> bool {
        let Some(peer) = self.peer.clone() else { return false };
        let mut alarm = self.alarm.take().unwrap_or_else(|| Box::pin(sleep(LOOK)));
        while alarm.as_mut().poll(context).is_ready() {
            let Some(wait) = self.wait_after(peer.glance()) else { return true };
            alarm.as_mut().reset(Instant::now() + wait);
        }
        self.alarm = Some(alarm);
        false
    }

    /// How long it is until the next look; `None` for a caller that has left.
    fn wait_after(&mut self, seen: Presence) -> Option<Duration> {
        match seen {
            Presence::Gone => None,
            Presence::Silent => {
                let since = *self.silent_since.get_or_insert_with(Instant::now);
                Some(GRACE.saturating_sub(since.elapsed())).filter(|left| !left.is_zero())
            }
            Presence::Here | Presence::Asked => {
                self.silent_since = None;
                Some(LOOK)
            }
        }
    }
}

impl<S: Stream<Item = Piece> + Unpin> Stream for Watched<S> {
    type Item = Piece;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Piece>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        if let Poll::Ready(piece) = Pin::new(body).poll_next(context) {
            this.silent_since = None;
            return Poll::Ready(piece);
        }
        if !this.is_left(context) {
            return Poll::Pending;
        }
        tracing::debug!("a caller left while nothing of its answer came");
        // With it goes the place at the service.
        this.body = None;
        Poll::Ready(Some(Err(LEFT.into())))
    }
}
