//! Messages between the parts of one process, and of all replicas where the backend carries them further.

use std::sync::Arc;

use tokio::sync::broadcast;

/// What a subscriber gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Event {
    /// A message, as it was published.
    Message(Vec<u8>),
    /// Messages may have been lost (a slow subscriber, a broken connection): forget what was derived from earlier ones.
    Missed,
}

/// One listener on one channel.
pub(in crate::gateway) struct Subscription {
    channel: &'static str,
    from: broadcast::Receiver<Parcel>,
}

/// What travels inside the process; without content it stands for lost messages of all channels.
#[derive(Clone)]
pub(super) struct Parcel(Option<(Arc<str>, Arc<[u8]>)>);

/// The sending side inside the process. Cheap to clone.
#[derive(Clone)]
pub(super) struct Board(broadcast::Sender<Parcel>);

impl Default for Board {
    fn default() -> Self {
        Self(broadcast::Sender::new(1024))
    }
}

impl Board {
    pub(super) fn post(&self, channel: &str, payload: &[u8]) {
        // No listener is no error.
        let _ = self.0.send(Parcel(Some((channel.into(), payload.into()))));
    }

    pub(super) fn post_missed(&self) {
        let _ = self.0.send(Parcel(None));
    }

    pub(super) fn subscribe(&self, channel: &'static str) -> Subscription {
        Subscription { channel, from: self.0.subscribe() }
    }
}

impl Subscription {
    /// The next event; `None` when the store is closed.
    pub(in crate::gateway) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.from.recv().await {
                Ok(Parcel(None)) | Err(broadcast::error::RecvError::Lagged(_)) => return Some(Event::Missed),
                Ok(Parcel(Some((channel, payload)))) if *channel == *self.channel => {
                    return Some(Event::Message(payload.to_vec()));
                }
                Ok(_) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
