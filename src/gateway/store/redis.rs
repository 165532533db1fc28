//! The Redis backend, for several replicas. Connects when it is first needed and again whenever it has to; every call
//! has its time. Expiry and lease times are Redis's own, so the replicas' clocks do not matter.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, FromRedisValue, Pipeline, RedisError};

use super::entries::failed;
use super::message::{Board, Subscription};
use super::redis_scripts::Scripts;
use super::{Count, Key, Lease, OpenError, Record, Swap, Unavailable, Version};
use crate::platform::random;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// How to reach Redis.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct RedisSettings {
    /// `redis://` or `rediss://` with credentials.
    pub(in crate::gateway) url: Secret,
    /// In front of every key and channel.
    pub(in crate::gateway) prefix: String,
    pub(in crate::gateway) connect_timeout: Duration,
    /// Time of one call.
    pub(in crate::gateway) response_timeout: Duration,
}

/// Longest wait before the message connection is tried again.
const SLOWEST_RETRY: Duration = Duration::from_secs(1);
const FASTEST_RETRY: Duration = Duration::from_millis(50);
/// How long the last fencing number is remembered.
const FENCE_KEPT: Duration = Duration::from_hours(24);
/// What `PTTL` says of a key that is not there.
const GONE: i64 = -2;
/// Calls that may wait for their turn on the one connection.
const QUEUE: usize = 1024;

const RECORD: char = 'r';
const SET: char = 's';
const COUNTER: char = 'c';
const LEASE: char = 'l';
const FENCE: char = 'f';

/// Handle of the connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Redis(Arc<Inner>);

struct Inner {
    connection: ConnectionManager,
    /// Whole time of a call, reconnecting included.
    patience: Duration,
    prefix: String,
    scripts: Scripts,
    board: Board,
}

impl Redis {
    pub(super) fn new(settings: &RedisSettings, shutdown: &Shutdown) -> Result<Self, OpenError> {
        let wrong = |error: RedisError| OpenError::Settings(words(&error));
        let client = Client::open(settings.url.expose()).map_err(wrong)?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(settings.connect_timeout))
            .set_response_timeout(Some(settings.response_timeout))
            .set_number_of_retries(1)
            .set_min_delay(FASTEST_RETRY)
            .set_max_delay(SLOWEST_RETRY)
            .set_pipeline_buffer_size(QUEUE);
        let connection = ConnectionManager::new_lazy_with_config(client.clone(), config).map_err(wrong)?;
        let board = Board::default();
        let listener =
            Listener { client, board: board.clone(), prefix: settings.prefix.clone(), timeout: settings.connect_timeout };
        let end = shutdown.clone();
        shutdown.spawn(async move {
            tokio::select! {
                () = listener.run() => {}
                () = end.begun() => {}
            }
        });
        Ok(Self(Arc::new(Inner {
            connection,
            patience: settings.connect_timeout + settings.response_timeout,
            prefix: settings.prefix.clone(),
            scripts: Scripts::default(),
            board,
        })))
    }

    pub(super) async fn get(&self, key: &Key) -> Result<Option<Record>, Unavailable> {
        let name = self.name(key, RECORD);
        // Not in one transaction: a server that is full refuses those, even of reads.
        let mut both = redis::pipe();
        both.cmd("GET").arg(&name).cmd("PTTL").arg(&name);
        let (bytes, left): (Option<Vec<u8>>, i64) = self.pipeline(&both).await?;
        let bytes = bytes.filter(|_| left != GONE);
        let Some((version, value)) = bytes.as_deref().and_then(<[u8]>::split_first_chunk::<8>) else { return Ok(None) };
        let expires_in = u64::try_from(left).ok().map(Duration::from_millis);
        Ok(Some(Record { value: value.to_vec(), version: Version(u64::from_be_bytes(*version)), expires_in }))
    }

    pub(super) async fn put(&self, key: &Key, value: Vec<u8>, ttl: Option<Duration>) -> Result<Version, Unavailable> {
        let (version, bytes) = versioned(&value)?;
        self.command::<()>(&self.set(key, &bytes, ttl)).await?;
        Ok(version)
    }

    pub(super) async fn insert(&self, key: &Key, value: Vec<u8>, ttl: Option<Duration>) -> Result<Option<Version>, Unavailable> {
        let (version, bytes) = versioned(&value)?;
        let mut command = self.set(key, &bytes, ttl);
        let written: Option<String> = self.command(command.arg("NX")).await?;
        Ok(written.map(|_| version))
    }

    pub(super) async fn compare_and_set(
        &self,
        key: &Key,
        expected: Version,
        value: Vec<u8>,
        ttl: Option<Duration>,
    ) -> Result<Swap, Unavailable> {
        let (version, bytes) = versioned(&value)?;
        let scripts = &self.0.scripts;
        let mut call = scripts.swap.key(self.name(key, RECORD));
        call.arg(&expected.0.to_be_bytes()[..]).arg(&bytes).arg(lifetime(ttl));
        Ok(match self.within(call.invoke_async::<i64>(&mut self.connection())).await? {
            1 => Swap::Done(version),
            0 => Swap::Conflict,
            _ => Swap::Gone,
        })
    }

    pub(super) async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, Unavailable> {
        self.command(redis::cmd("PEXPIRE").arg(self.name(key, RECORD)).arg(milliseconds(ttl))).await
    }

    pub(super) async fn take(&self, key: &Key) -> Result<Option<Vec<u8>>, Unavailable> {
        let bytes: Option<Vec<u8>> = self.command(redis::cmd("GETDEL").arg(self.name(key, RECORD))).await?;
        Ok(bytes.as_deref().and_then(<[u8]>::split_first_chunk::<8>).map(|(_, value)| value.to_vec()))
    }

    pub(super) async fn delete(&self, key: &Key) -> Result<bool, Unavailable> {
        self.command(redis::cmd("DEL").arg(self.name(key, RECORD))).await
    }

    pub(super) async fn add(&self, key: &Key, member: &str, ttl: Option<Duration>) -> Result<(), Unavailable> {
        let mut call = self.0.scripts.add.key(self.name(key, SET));
        call.arg(member).arg(lifetime(ttl));
        self.within(call.invoke_async::<i64>(&mut self.connection())).await.map(|_| ())
    }

    pub(super) async fn remove(&self, key: &Key, member: &str) -> Result<bool, Unavailable> {
        self.command(redis::cmd("SREM").arg(self.name(key, SET)).arg(member)).await
    }

    pub(super) async fn members(&self, key: &Key) -> Result<Vec<String>, Unavailable> {
        let mut members: Vec<String> = self.command(redis::cmd("SMEMBERS").arg(self.name(key, SET))).await?;
        members.sort_unstable();
        Ok(members)
    }

    pub(super) async fn count(&self, key: &Key, window: Duration) -> Result<Count, Unavailable> {
        let mut call = self.0.scripts.count.key(self.name(key, COUNTER));
        call.arg(milliseconds(window));
        let (value, left) = self.within(call.invoke_async::<(u64, i64)>(&mut self.connection())).await?;
        Ok(Count { value, resets_in: Duration::from_millis(u64::try_from(left).unwrap_or(0)) })
    }

    pub(super) async fn peek(&self, key: &Key) -> Result<Option<Count>, Unavailable> {
        let name = self.name(key, COUNTER);
        let mut both = redis::pipe();
        both.atomic().cmd("GET").arg(&name).cmd("PTTL").arg(&name);
        let (value, left): (Option<u64>, i64) = self.pipeline(&both).await?;
        Ok(value.map(|value| Count { value, resets_in: Duration::from_millis(u64::try_from(left).unwrap_or(0)) }))
    }

    pub(super) async fn reset(&self, key: &Key) -> Result<(), Unavailable> {
        self.command(redis::cmd("DEL").arg(self.name(key, COUNTER))).await
    }

    pub(super) async fn acquire(&self, key: &Key, ttl: Duration) -> Result<Option<Lease>, Unavailable> {
        let owner = random::id().map_err(failed)?;
        let mut call = self.0.scripts.acquire.key(self.name(key, LEASE));
        call.key(self.name(key, FENCE)).arg(&owner).arg(milliseconds(ttl)).arg(milliseconds(FENCE_KEPT));
        let fence = self.within(call.invoke_async::<u64>(&mut self.connection())).await?;
        Ok((fence > 0).then(|| Lease { key: key.clone(), owner, fence }))
    }

    pub(super) async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Unavailable> {
        let mut call = self.0.scripts.renew.key(self.name(&lease.key, LEASE));
        call.arg(&lease.owner).arg(milliseconds(ttl));
        self.within(call.invoke_async::<bool>(&mut self.connection())).await
    }

    pub(super) async fn release(&self, lease: &Lease) -> Result<bool, Unavailable> {
        let mut call = self.0.scripts.release.key(self.name(&lease.key, LEASE));
        call.arg(&lease.owner);
        self.within(call.invoke_async::<bool>(&mut self.connection())).await
    }

    pub(super) async fn publish(&self, channel: &'static str, payload: &[u8]) -> Result<(), Unavailable> {
        self.command(redis::cmd("PUBLISH").arg(format!("{}{channel}", self.0.prefix)).arg(payload)).await
    }

    pub(super) fn subscribe(&self, channel: &'static str) -> Subscription {
        self.0.board.subscribe(channel)
    }

    fn name(&self, key: &Key, shape: char) -> String {
        key.in_redis(&self.0.prefix, shape)
    }

    fn connection(&self) -> ConnectionManager {
        self.0.connection.clone()
    }

    fn set(&self, key: &Key, bytes: &[u8], ttl: Option<Duration>) -> Cmd {
        let mut command = redis::cmd("SET");
        command.arg(self.name(key, RECORD)).arg(bytes);
        if let Some(ttl) = ttl {
            command.arg("PX").arg(milliseconds(ttl).max(1));
        }
        command
    }

    async fn command<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        self.within(command.query_async(&mut self.connection())).await
    }

    async fn pipeline<T: FromRedisValue>(&self, pipeline: &Pipeline) -> Result<T, Unavailable> {
        self.within(pipeline.query_async(&mut self.connection())).await
    }

    async fn within<T>(&self, call: impl Future<Output = Result<T, RedisError>>) -> Result<T, Unavailable> {
        match tokio::time::timeout(self.0.patience, call).await {
            Ok(outcome) => outcome.map_err(|error| Unavailable(words(&error))),
            Err(_) => Err(Unavailable("no answer in time".to_owned())),
        }
    }
}

/// Carries messages from Redis to the subscribers in this process, for as long as the process lives.
struct Listener {
    client: Client,
    board: Board,
    prefix: String,
    timeout: Duration,
}

impl Listener {
    async fn run(self) {
        let mut wait = FASTEST_RETRY;
        loop {
            match self.listen().await {
                Ok(()) => wait = FASTEST_RETRY,
                Err(error) => tracing::warn!(error = words(&error), "the store's messages are cut off; trying again"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(SLOWEST_RETRY);
        }
    }

    /// Listens until the connection breaks.
    async fn listen(&self) -> Result<(), RedisError> {
        let slow = |_| RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
        let mut messages = tokio::time::timeout(self.timeout, self.client.get_async_pubsub()).await.map_err(slow)??;
        let pattern = format!("{}*", self.prefix);
        tokio::time::timeout(self.timeout, messages.psubscribe(pattern)).await.map_err(slow)??;
        // What was sent before this moment did not arrive.
        self.board.post_missed();
        let mut messages = messages.into_on_message();
        while let Some(message) = messages.next().await {
            if let Some(channel) = message.get_channel_name().strip_prefix(&self.prefix) {
                self.board.post(channel, message.get_payload_bytes());
            }
        }
        self.board.post_missed();
        Ok(())
    }
}

/// A new version and the record as Redis keeps it.
fn versioned(value: &[u8]) -> Result<(Version, Vec<u8>), Unavailable> {
    let version: [u8; 8] = random::bytes().map_err(failed)?;
    let mut bytes = Vec::with_capacity(8 + value.len());
    bytes.extend_from_slice(&version);
    bytes.extend_from_slice(value);
    Ok((Version(u64::from_be_bytes(version)), bytes))
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn lifetime(ttl: Option<Duration>) -> i64 {
    ttl.map_or(-1, milliseconds)
}

/// What went wrong, without the details: they may quote the command.
fn words(error: &RedisError) -> String {
    error.category().to_owned()
}
