//! Connections of one worker that wait for their next request, newest first.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1::SendRequest;
use tokio::time::Instant;

use super::body::Outgoing;

pub(super) type Sender = SendRequest<Outgoing>;

/// The connections.
pub(super) struct Pool {
    idle: RefCell<HashMap<Arc<str>, Vec<Idle>>>,
    /// A connection waits at most this long: shorter than services wait before they close it.
    kept: Duration,
    /// So many wait at most for each address.
    most: usize,
}

struct Idle {
    sender: Sender,
    since: Instant,
}

impl Pool {
    pub(super) fn new(kept: Duration, most: usize) -> Self {
        Self { idle: RefCell::default(), kept, most }
    }

    /// The connection that came back last, if one is good. What is too old is closed by the way.
    pub(super) fn take(&self, key: &Arc<str>) -> Option<Sender> {
        let mut idle = self.idle.borrow_mut();
        let waiting = idle.get_mut(key)?;
        if let Some(last) = waiting.last()
            && last.since.elapsed() >= self.kept
        {
            waiting.clear();
        }
        while let Some(Idle { sender, .. }) = waiting.pop() {
            if !sender.is_closed() {
                return Some(sender);
            }
        }
        None
    }

    /// Lends a connection to an answer that is read.
    pub(super) fn lease(self: &Rc<Self>, key: &Arc<str>, sender: Sender) -> Lease {
        Lease { pool: Rc::clone(self), key: Arc::clone(key), sender }
    }
}

/// A connection that is in use. Dropped, it closes; given back, it waits for the next request.
pub(super) struct Lease {
    pool: Rc<Pool>,
    key: Arc<str>,
    sender: Sender,
}

impl Lease {
    pub(super) fn give_back(self) {
        if self.sender.is_closed() {
            return;
        }
        let mut idle = self.pool.idle.borrow_mut();
        let waiting = idle.entry(self.key).or_default();
        // The oldest are closed first: they are at the front.
        let old = waiting.iter().take_while(|one| one.since.elapsed() >= self.pool.kept).count();
        waiting.drain(..old);
        if waiting.len() < self.pool.most {
            waiting.push(Idle { sender: self.sender, since: Instant::now() });
        }
    }
}
