//! The one-file backend: every operation of the contract as a piece of work on the entries of the file.
//!
//! A write is answered after its commit. Most are on the disk then; touches, counts and leases are there a tenth of a
//! second later, and when the end begins. Reads happen on the caller's thread from the newest commit.

use std::future::{Ready, ready};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redb::ReadableTable as _;
#[cfg(test)]
use redb::ReadableTableMetadata as _;

use super::entries::{Entries, Entry, failed};
use super::file::File;
use super::key::Parts;
use super::message::{Board, Subscription};
use super::writer::Writer;
use super::{Count, Key, Lease, OpenError, Record, Seen, Swap, Unavailable, Version};
use crate::platform::clock::Clock;
use crate::platform::random;
use crate::platform::shutdown::Shutdown;

/// How long the last fencing number is remembered.
const FENCE_KEPT: Duration = Duration::from_hours(24);

const RECORD: char = 'r';
const SET: char = 's';
const COUNTER: char = 'c';
const LEASE: char = 'l';
const FENCE: char = 'f';

/// Handle of the file. Cheap to clone; the file is closed when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Embedded(Arc<Inner>);

struct Inner {
    /// First, so that the last commit happens before the file is closed.
    writer: Writer,
    file: Arc<File>,
    clock: Clock,
    board: Board,
}

impl Embedded {
    pub(super) fn open(path: &Path, clock: Clock) -> Result<Self, OpenError> {
        let file = Arc::new(File::open(path)?);
        let writer = Writer::start(Arc::clone(&file), clock.clone())
            .map_err(|error| OpenError::Refused(path.display().to_string(), error.to_string()))?;
        Ok(Self(Arc::new(Inner { writer, file, clock, board: Board::default() })))
    }

    pub(super) fn hurry_at(&self, shutdown: &Shutdown) {
        let (inner, end) = (Arc::downgrade(&self.0), shutdown.clone());
        shutdown.spawn(async move {
            end.begun().await;
            let Some(inner) = inner.upgrade() else { return };
            if let Err(error) = inner.writer.hurry().await {
                tracing::error!(%error, "what the embedded store was told last may not be on the disk");
            }
        });
    }

    pub(super) fn get(&self, key: &Key) -> Ready<Result<Option<Record>, Unavailable>> {
        let now = self.0.clock.now();
        let record = |entry: Entry| Record { expires_in: entry.left(now), version: entry.version, value: entry.content };
        ready(self.read(&key.in_file(RECORD)).map(|entry| entry.map(record)))
    }

    pub(super) async fn put(&self, key: &Key, value: Vec<u8>, ttl: Option<Duration>) -> Result<Version, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(true, move |entries| write_new(entries, &name, value, ttl)).await
    }

    pub(super) async fn insert(&self, key: &Key, value: Vec<u8>, ttl: Option<Duration>) -> Result<Option<Version>, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(true, move |entries| match entries.get(&name)? {
            Some(_) => Ok(None),
            None => write_new(entries, &name, value, ttl).map(Some),
        })
        .await
    }

    pub(super) async fn compare_and_set(
        &self,
        key: &Key,
        expected: Version,
        value: Vec<u8>,
        ttl: Option<Duration>,
    ) -> Result<Swap, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(true, move |entries| match entries.get(&name)? {
            None => Ok(Swap::Gone),
            Some(entry) if entry.version != expected => Ok(Swap::Conflict),
            Some(_) => write_new(entries, &name, value, ttl).map(Swap::Done),
        })
        .await
    }

    pub(super) async fn rewrap(&self, key: &Key, version: Version, form: Vec<u8>) -> Result<bool, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(false, move |entries| {
            let Some(mut entry) = entries.get(&name)?.filter(|entry| entry.version == version) else { return Ok(false) };
            entry.content = form;
            entries.set(&name, &entry).map(|()| true)
        })
        .await
    }

    pub(super) fn survey(&self, visit: &mut (dyn FnMut(Seen<'_>) + Send)) -> Ready<Result<(), Unavailable>> {
        ready(self.look_at_all(visit))
    }

    fn look_at_all(&self, visit: &mut (dyn FnMut(Seen<'_>) + Send)) -> Result<(), Unavailable> {
        let now = self.0.clock.now();
        self.0.file.read(|entries| {
            for item in entries.iter().map_err(failed)? {
                let (name, bytes) = item.map_err(failed)?;
                let parts = Parts::in_file(name.value(), RECORD);
                let entry = Entry::read(bytes.value()).filter(|entry| entry.lives(now));
                if let (Some(Parts { tenant, kind, id }), Some(entry)) = (parts, entry) {
                    visit(Seen { tenant, kind, id, start: &entry.content });
                }
            }
            Ok(())
        })
    }

    pub(super) async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(false, move |entries| {
            let Some(mut entry) = entries.get(&name)? else { return Ok(false) };
            entry.expires = Some(entries.now().after(ttl));
            entries.set(&name, &entry).map(|()| true)
        })
        .await
    }

    pub(super) async fn take(&self, key: &Key) -> Result<Option<Vec<u8>>, Unavailable> {
        let name = key.in_file(RECORD);
        self.write(true, move |entries| Ok(entries.delete(&name)?.map(|entry| entry.content))).await
    }

    pub(super) async fn delete(&self, key: &Key) -> Result<bool, Unavailable> {
        Ok(self.take(key).await?.is_some())
    }

    pub(super) async fn add(&self, key: &Key, member: &str, ttl: Option<Duration>) -> Result<(), Unavailable> {
        let (name, member) = (key.in_file(SET), member.to_owned());
        self.write(true, move |entries| {
            let old = entries.get(&name)?;
            let mut expires = ttl.map(|ttl| entries.now().after(ttl));
            let mut members = Vec::new();
            if let Some(old) = old {
                expires = old.expires.zip(expires).map(|(old, new)| old.max(new));
                members = read_set(&old);
            }
            if let Err(place) = members.binary_search(&member) {
                members.insert(place, member);
            }
            entries.set(&name, &Entry::new(write_set(&members)?, expires)?)
        })
        .await
    }

    pub(super) async fn remove(&self, key: &Key, member: &str) -> Result<bool, Unavailable> {
        let (name, member) = (key.in_file(SET), member.to_owned());
        self.write(true, move |entries| {
            let Some(mut entry) = entries.get(&name)? else { return Ok(false) };
            let mut members = read_set(&entry);
            let Ok(place) = members.binary_search(&member) else { return Ok(false) };
            members.remove(place);
            if members.is_empty() {
                return entries.delete(&name).map(|_| true);
            }
            entry.content = write_set(&members)?;
            entries.set(&name, &entry).map(|()| true)
        })
        .await
    }

    pub(super) fn members(&self, key: &Key) -> Ready<Result<Vec<String>, Unavailable>> {
        ready(self.read(&key.in_file(SET)).map(|entry| entry.map(|entry| read_set(&entry)).unwrap_or_default()))
    }

    pub(super) async fn count(&self, key: &Key, by: u64, window: Duration) -> Result<Count, Unavailable> {
        let name = key.in_file(COUNTER);
        self.write(false, move |entries| {
            let now = entries.now();
            let old = entries.get(&name)?;
            let value = old.as_ref().map_or(0, Entry::number).saturating_add(by);
            let expires = old.and_then(|old| old.expires).unwrap_or_else(|| now.after(window));
            entries.set(&name, &Entry::new(value.to_be_bytes().to_vec(), Some(expires))?)?;
            Ok(Count { value, resets_in: expires.since(now) })
        })
        .await
    }

    pub(super) fn peek(&self, key: &Key) -> Ready<Result<Option<Count>, Unavailable>> {
        let now = self.0.clock.now();
        let count = |entry: Entry| Count { value: entry.number(), resets_in: entry.left(now).unwrap_or_default() };
        ready(self.read(&key.in_file(COUNTER)).map(|entry| entry.map(count)))
    }

    pub(super) async fn reset(&self, key: &Key) -> Result<(), Unavailable> {
        let name = key.in_file(COUNTER);
        self.write(true, move |entries| entries.delete(&name).map(|_| ())).await
    }

    pub(super) async fn acquire(&self, key: &Key, ttl: Duration) -> Result<Option<Lease>, Unavailable> {
        let owner = random::id().map_err(|error| Unavailable(error.to_string()))?;
        let (key, name, fence_name) = (key.clone(), key.in_file(LEASE), key.in_file(FENCE));
        self.write(false, move |entries| {
            if entries.get(&name)?.is_some() {
                return Ok(None);
            }
            // By time as well as by count, so that it also grows when the last number was lost.
            let last = entries.get(&fence_name)?.as_ref().map_or(0, Entry::number);
            let fence = last.saturating_add(1).max(u64::try_from(entries.now().0).unwrap_or(0));
            let now = entries.now();
            entries.set(&fence_name, &Entry::new(fence.to_be_bytes().to_vec(), Some(now.after(FENCE_KEPT)))?)?;
            entries.set(&name, &Entry::new(owner.clone().into_bytes(), Some(now.after(ttl)))?)?;
            Ok(Some(Lease { key, owner, fence }))
        })
        .await
    }

    pub(super) async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Unavailable> {
        let (name, owner) = (lease.key.in_file(LEASE), lease.owner.clone());
        self.write(false, move |entries| {
            let Some(mut entry) = entries.get(&name)?.filter(|entry| entry.content == owner.as_bytes()) else { return Ok(false) };
            entry.expires = Some(entries.now().after(ttl));
            entries.set(&name, &entry).map(|()| true)
        })
        .await
    }

    pub(super) async fn release(&self, lease: &Lease) -> Result<bool, Unavailable> {
        let (name, owner) = (lease.key.in_file(LEASE), lease.owner.clone());
        self.write(false, move |entries| {
            let held = entries.get(&name)?.is_some_and(|entry| entry.content == owner.as_bytes());
            if held {
                entries.delete(&name)?;
            }
            Ok(held)
        })
        .await
    }

    pub(super) fn publish(&self, channel: &'static str, payload: &[u8]) -> Ready<Result<(), Unavailable>> {
        self.0.board.post(channel, payload);
        ready(Ok(()))
    }

    pub(super) fn subscribe(&self, channel: &'static str) -> Subscription {
        self.0.board.subscribe(channel)
    }

    /// How many entries the file holds, those included that ran out and are not swept yet.
    #[cfg(test)]
    pub(super) fn entries(&self) -> Result<u64, Unavailable> {
        self.0.file.read(|entries| entries.len().map_err(failed))
    }

    fn read(&self, name: &str) -> Result<Option<Entry>, Unavailable> {
        let now = self.0.clock.now();
        self.0.file.read(|entries| {
            let found = entries.get(name).map_err(failed)?;
            Ok(found.and_then(|bytes| Entry::read(bytes.value())).filter(|entry| entry.lives(now)))
        })
    }

    async fn write<T: Send + 'static>(
        &self,
        durable: bool,
        work: impl FnOnce(&mut Entries<'_>) -> Result<T, Unavailable> + Send + 'static,
    ) -> Result<T, Unavailable> {
        self.0.writer.write(durable, work).await
    }
}

fn write_new(entries: &mut Entries<'_>, name: &str, value: Vec<u8>, ttl: Option<Duration>) -> Result<Version, Unavailable> {
    let entry = Entry::new(value, ttl.map(|ttl| entries.now().after(ttl)))?;
    entries.set(name, &entry)?;
    Ok(entry.version)
}

fn read_set(entry: &Entry) -> Vec<String> {
    serde_json::from_slice(&entry.content).unwrap_or_default()
}

fn write_set(members: &[String]) -> Result<Vec<u8>, Unavailable> {
    serde_json::to_vec(members).map_err(|error| Unavailable(error.to_string()))
}
