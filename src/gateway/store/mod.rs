//! Durable and expiring records, sets, counters, leases and messages: one contract, two backends (one file, or Redis).
//!
//! The room knows bytes and keys, not what they mean; whoever writes seals and hashes what is secret. A read has three
//! outcomes: found, not there, and [`Unavailable`], which never means "not there".

mod copies;
mod embedded;
mod entries;
mod file;
mod key;
mod message;
mod redis;
mod redis_link;
mod redis_messages;
mod redis_scripts;
mod redis_survey;
mod redis_way;
#[cfg(test)]
pub(in crate::gateway) mod tests;
mod writer;

use std::path::Path;
use std::time::Duration;

pub(in crate::gateway) use self::copies::Copies;
pub(in crate::gateway) use self::key::Key;
pub(in crate::gateway) use self::message::{Event, Subscription};
pub(in crate::gateway) use self::redis_way::{Layout, RedisSettings};
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// The store did not answer. What was asked may have happened or not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store does not answer: {0}")]
pub(in crate::gateway) struct Unavailable(pub(in crate::gateway) String);

/// Why the embedded store could not be opened. The file is left as it is.
#[derive(Debug, thiserror::Error)]
pub(in crate::gateway) enum OpenError {
    /// Another process, or another part of this one, has it open.
    #[error("{0} is in use by another process")]
    InUse(String),
    /// The file is cut or damaged, or was written by something else.
    #[error("{0} is damaged or is no store of this program; restore it from a backup, or move it away to start empty")]
    Damaged(String),
    /// The operating system refused.
    #[error("{0} cannot be opened: {1}")]
    Refused(String, String),
    /// The settings make no sense, e.g. a Redis address that is none.
    #[error("the store's settings are wrong: {0}")]
    Settings(String),
}

/// Stands for one content of a record. Two writes never give the same version, also not after a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gateway) struct Version(pub(in crate::gateway) u64);

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Record {
    pub(in crate::gateway) value: Vec<u8>,
    pub(in crate::gateway) version: Version,
    /// How long it has left; `None` when it stays until it is deleted.
    pub(in crate::gateway) expires_in: Option<Duration>,
}

impl Record {
    /// What is read where something that is no record has the name of one (Redis has other types): there, but without a word.
    const SAYS_NOTHING: Self = Self { value: Vec::new(), version: Version(0), expires_in: None };
}

/// A record as a survey sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Seen<'s> {
    /// Whose it is.
    pub(in crate::gateway) tenant: &'s str,
    /// The kind in its [`Key`].
    pub(in crate::gateway) kind: &'s str,
    /// The last part of its name.
    pub(in crate::gateway) id: &'s str,
    /// The first bytes of its content, at least 46 when it has so many; none of something that is no record.
    pub(in crate::gateway) start: &'s [u8],
}

/// Outcome of a compare-and-set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Swap {
    /// Written; this is the new version.
    Done(Version),
    /// Somebody else wrote meanwhile. Nothing was written.
    Conflict,
    /// The record is not there any more. Nothing was written.
    Gone,
}

/// State of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Count {
    pub(in crate::gateway) value: u64,
    /// When the window that the first count opened ends.
    pub(in crate::gateway) resets_in: Duration,
}

/// The right to do something alone, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Lease {
    key: Key,
    owner: String,
    /// Greater than that of every earlier lease on the same key.
    pub(in crate::gateway) fence: u64,
}

/// A store. Cheap to clone; clones are the same store.
///
/// A `ttl` of `None` keeps an entry until it is deleted; a `ttl` of zero is an entry that is gone already.
#[derive(Clone)]
pub(in crate::gateway) struct Store(Backend);

#[derive(Clone)]
enum Backend {
    Embedded(embedded::Embedded),
    Redis(redis::Redis),
}

/// Sends a call to the backend that there is.
macro_rules! each {
    ($store:expr, $backend:ident => $call:expr) => {
        match &$store.0 {
            Backend::Embedded($backend) => $call.await,
            Backend::Redis($backend) => $call.await,
        }
    };
}

impl Store {
    /// Opens the one-file store, creating the file (mode 0600) when there is none. One process per file.
    ///
    /// # Errors
    /// [`OpenError`]; a damaged file is never emptied.
    pub(in crate::gateway) fn embedded(path: &Path, clock: Clock) -> Result<Self, OpenError> {
        Ok(Self(Backend::Embedded(embedded::Embedded::open(path, clock)?)))
    }

    /// When the end begins, nothing waits for its flush any more: the process may be gone before the last clone was dropped. Call
    /// it where a tokio runtime is running.
    pub(in crate::gateway) fn hurry_at(&self, shutdown: &Shutdown) {
        if let Backend::Embedded(embedded) = &self.0 {
            embedded.hurry_at(shutdown);
        }
    }

    /// A store on Redis 7. Does not connect yet, so it may be down now. Expiry is by Redis's own clock.
    ///
    /// # Errors
    /// [`OpenError::Settings`] when the address is none.
    pub(in crate::gateway) fn redis(settings: &RedisSettings, shutdown: &Shutdown) -> Result<Self, OpenError> {
        Ok(Self(Backend::Redis(redis::Redis::new(settings, shutdown)?)))
    }

    /// The record, if it is there.
    pub(in crate::gateway) async fn get(&self, key: &Key) -> Result<Option<Record>, Unavailable> {
        each!(self, backend => backend.get(key))
    }

    /// Writes the record, whatever was there.
    pub(in crate::gateway) async fn put(&self, key: &Key, value: Vec<u8>, ttl: Option<Duration>) -> Result<Version, Unavailable> {
        each!(self, backend => backend.put(key, value, ttl))
    }

    /// Writes the record if there is none; `None` when there is.
    pub(in crate::gateway) async fn insert(
        &self,
        key: &Key,
        value: Vec<u8>,
        ttl: Option<Duration>,
    ) -> Result<Option<Version>, Unavailable> {
        each!(self, backend => backend.insert(key, value, ttl))
    }

    /// Writes the record if it is there with the `expected` version. Never creates one.
    pub(in crate::gateway) async fn compare_and_set(
        &self,
        key: &Key,
        expected: Version,
        value: Vec<u8>,
        ttl: Option<Duration>,
    ) -> Result<Swap, Unavailable> {
        each!(self, backend => backend.compare_and_set(key, expected, value, ttl))
    }

    /// Puts the same content in another form, e.g. under another key: version and lifetime stay. Nothing happens when the
    /// record is not the one that was read any more. A failure is nobody's but the log's: the old form still stands.
    pub(in crate::gateway) async fn rewrap(&self, key: &Key, version: Version, form: Option<Vec<u8>>) {
        let Some(form) = form else { return };
        let done: Result<bool, Unavailable> = each!(self, backend => backend.rewrap(key, version, form));
        if let Err(error) = done {
            tracing::warn!(%error, "a record keeps its older sealing key for now");
        }
    }

    /// Shows every record to `visit`, in no order; one that is written meanwhile may be missing or come twice.
    pub(in crate::gateway) async fn survey(&self, visit: &mut (dyn FnMut(Seen<'_>) + Send)) -> Result<(), Unavailable> {
        each!(self, backend => backend.survey(visit))
    }

    /// Whether other processes may use this store at the same time.
    pub(in crate::gateway) const fn is_shared(&self) -> bool {
        matches!(self.0, Backend::Redis(_))
    }

    /// Gives the record a new lifetime; its version stays. Whether it was there. May be lost in a crash within 100 ms.
    pub(in crate::gateway) async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, Unavailable> {
        each!(self, backend => backend.touch(key, ttl))
    }

    /// Reads and deletes the record in one step: of any number of callers one gets it.
    pub(in crate::gateway) async fn take(&self, key: &Key) -> Result<Option<Vec<u8>>, Unavailable> {
        each!(self, backend => backend.take(key))
    }

    /// Deletes the record. Whether it was there.
    pub(in crate::gateway) async fn delete(&self, key: &Key) -> Result<bool, Unavailable> {
        each!(self, backend => backend.delete(key))
    }

    /// Puts a member into the set, which lives at least `ttl` from now on.
    pub(in crate::gateway) async fn add(&self, key: &Key, member: &str, ttl: Option<Duration>) -> Result<(), Unavailable> {
        each!(self, backend => backend.add(key, member, ttl))
    }

    /// Takes a member out of the set. Whether it was in it.
    pub(in crate::gateway) async fn remove(&self, key: &Key, member: &str) -> Result<bool, Unavailable> {
        each!(self, backend => backend.remove(key, member))
    }

    /// The members in order of their text; empty when there is no set.
    pub(in crate::gateway) async fn members(&self, key: &Key) -> Result<Vec<String>, Unavailable> {
        each!(self, backend => backend.members(key))
    }

    /// Counts one more. The first count opens a window; when it ends, counting starts anew.
    pub(in crate::gateway) async fn count(&self, key: &Key, window: Duration) -> Result<Count, Unavailable> {
        self.count_by(key, 1, window).await
    }

    /// Counts `by` more in one step, as [`Store::count`] does one; the value is that of all replicas together.
    pub(in crate::gateway) async fn count_by(&self, key: &Key, by: u64, window: Duration) -> Result<Count, Unavailable> {
        each!(self, backend => backend.count(key, by, window))
    }

    /// The counter as it stands; `None` when no window is open.
    pub(in crate::gateway) async fn peek(&self, key: &Key) -> Result<Option<Count>, Unavailable> {
        each!(self, backend => backend.peek(key))
    }

    /// Closes the window of the counter.
    pub(in crate::gateway) async fn reset(&self, key: &Key) -> Result<(), Unavailable> {
        each!(self, backend => backend.reset(key))
    }

    /// The lease, if nobody holds it.
    pub(in crate::gateway) async fn acquire(&self, key: &Key, ttl: Duration) -> Result<Option<Lease>, Unavailable> {
        each!(self, backend => backend.acquire(key, ttl))
    }

    /// Holds the lease `ttl` longer from now. False when it ran out: then somebody else may hold it.
    pub(in crate::gateway) async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Unavailable> {
        each!(self, backend => backend.renew(lease, ttl))
    }

    /// Gives the lease back. False when it ran out before.
    pub(in crate::gateway) async fn release(&self, lease: &Lease) -> Result<bool, Unavailable> {
        each!(self, backend => backend.release(lease))
    }

    /// Sends a message to all subscribers of the channel that listen now, on every replica.
    pub(in crate::gateway) async fn publish(&self, channel: &'static str, payload: &[u8]) -> Result<(), Unavailable> {
        each!(self, backend => backend.publish(channel, payload))
    }

    /// Listens to a channel from now on.
    pub(in crate::gateway) fn subscribe(&self, channel: &'static str) -> Subscription {
        match &self.0 {
            Backend::Embedded(backend) => backend.subscribe(channel),
            Backend::Redis(backend) => backend.subscribe(channel),
        }
    }
}
