//! The Redis backend, for several replicas. Connects when it is first needed and again whenever it has to; every call
//! has its time. Calls are made so that most of them come to the same when they are sent twice. Expiry and lease times are Redis's own, so the replicas' clocks do not matter.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, Pipeline, RedisError};

use super::message::{Board, Subscription};
use super::redis_link::Link;
use super::redis_messages::Listener;
use super::redis_scripts::Scripts;
use super::redis_survey;
use super::redis_way::{RedisSettings, Way};
use super::{Count, Key, Lease, OpenError, Record, Seen, Swap, Unavailable, Version};
use crate::platform::random;
use crate::platform::shutdown::Shutdown;

/// How long the last fencing number is remembered.
const FENCE_KEPT: Duration = Duration::from_hours(24);
/// What `PTTL` says of a key that is not there.
const GONE: i64 = -2;

const RECORD: char = 'r';
const SET: char = 's';
const COUNTER: char = 'c';
const LEASE: char = 'l';
const FENCE: char = 'f';

/// Handle of the connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Redis(Arc<Inner>);

struct Inner {
    link: Link,
    /// Whole time of a call, reconnecting included.
    patience: Duration,
    settings: RedisSettings,
    scripts: Scripts,
    board: Board,
}

impl Redis {
    pub(super) fn new(settings: &RedisSettings, shutdown: &Shutdown) -> Result<Self, OpenError> {
        let wrong = |error: RedisError| OpenError::Settings(words(&error));
        let times = (settings.connect_timeout, settings.response_timeout);
        let link = Link::new(Way::new(settings).map_err(wrong)?, times);
        let board = Board::default();
        let (way, prefix) = (Way::new(settings).map_err(wrong)?, settings.prefix.clone());
        let listener = Listener { way, board: board.clone(), prefix, timeout: times.0 + times.1 };
        let end = shutdown.clone();
        shutdown.spawn(async move {
            tokio::select! {
                () = listener.run() => {}
                () = end.begun() => {}
            }
        });
        Ok(Self(Arc::new(Inner {
            link,
            patience: settings.connect_timeout + settings.response_timeout,
            settings: settings.clone(),
            scripts: Scripts::default(),
            board,
        })))
    }

    pub(super) async fn get(&self, key: &Key) -> Result<Option<Record>, Unavailable> {
        let name = self.name(key, RECORD);
        // Not in one transaction: a server that is full refuses those, even of reads.
        let mut both = redis::pipe();
        both.cmd("GET").arg(&name).cmd("PTTL").arg(&name);
        let answer = self.answered(both.query_async::<(Option<Vec<u8>>, i64)>(&mut self.0.link.again())).await?;
        let (bytes, left) = match answer {
            Ok(answer) => answer,
            Err(error) if is_no_record(error.clone()) => return Ok(Some(Record::SAYS_NOTHING)),
            Err(error) => return Err(Unavailable(words(&error))),
        };
        let Some(bytes) = bytes.filter(|_| left != GONE) else { return Ok(None) };
        let Some((version, value)) = bytes.split_first_chunk::<8>() else { return Ok(Some(Record::SAYS_NOTHING)) };
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
        // What was there before tells whether an earlier try of this very call has written.
        let command = command.arg("NX").arg("GET");
        let answer = self.answered(command.query_async::<Option<Vec<u8>>>(&mut self.0.link.again())).await?;
        match answer {
            Ok(before) => Ok(before.is_none_or(|before| before == bytes).then_some(version)),
            Err(error) if is_no_record(error.clone()) => Ok(None),
            Err(error) => Err(Unavailable(words(&error))),
        }
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
        Ok(match self.within(call.invoke_async::<i64>(&mut self.0.link.again())).await? {
            1 => Swap::Done(version),
            0 => Swap::Conflict,
            _ => Swap::Gone,
        })
    }

    pub(super) async fn rewrap(&self, key: &Key, version: Version, form: Vec<u8>) -> Result<bool, Unavailable> {
        let mut bytes = version.0.to_be_bytes().to_vec();
        bytes.extend_from_slice(&form);
        let mut call = self.0.scripts.rewrap.key(self.name(key, RECORD));
        call.arg(&version.0.to_be_bytes()[..]).arg(&bytes);
        self.within(call.invoke_async::<bool>(&mut self.0.link.again())).await
    }

    pub(super) async fn survey(&self, visit: &mut (dyn FnMut(Seen<'_>) + Send)) -> Result<(), Unavailable> {
        redis_survey::survey(&self.0.settings, RECORD, visit).await.map_err(|error| Unavailable(words(&error)))
    }

    pub(super) async fn touch(&self, key: &Key, ttl: Duration) -> Result<bool, Unavailable> {
        self.command(redis::cmd("PEXPIRE").arg(self.name(key, RECORD)).arg(milliseconds(ttl))).await
    }

    pub(super) async fn take(&self, key: &Key) -> Result<Option<Vec<u8>>, Unavailable> {
        let bytes: Option<Vec<u8>> = self.command_once(redis::cmd("GETDEL").arg(self.name(key, RECORD))).await?;
        Ok(bytes.as_deref().and_then(<[u8]>::split_first_chunk::<8>).map(|(_, value)| value.to_vec()))
    }

    pub(super) async fn delete(&self, key: &Key) -> Result<bool, Unavailable> {
        self.command_once(redis::cmd("DEL").arg(self.name(key, RECORD))).await
    }

    pub(super) async fn add(&self, key: &Key, member: &str, ttl: Option<Duration>) -> Result<(), Unavailable> {
        let mut call = self.0.scripts.add.key(self.name(key, SET));
        call.arg(member).arg(lifetime(ttl));
        self.within(call.invoke_async::<i64>(&mut self.0.link.again())).await.map(|_| ())
    }

    pub(super) async fn remove(&self, key: &Key, member: &str) -> Result<bool, Unavailable> {
        self.command_once(redis::cmd("SREM").arg(self.name(key, SET)).arg(member)).await
    }

    pub(super) async fn members(&self, key: &Key) -> Result<Vec<String>, Unavailable> {
        let mut members: Vec<String> = self.command(redis::cmd("SMEMBERS").arg(self.name(key, SET))).await?;
        members.sort_unstable();
        Ok(members)
    }

    pub(super) async fn count(&self, key: &Key, by: u64, window: Duration) -> Result<Count, Unavailable> {
        let mut call = self.0.scripts.count.key(self.name(key, COUNTER));
        call.arg(milliseconds(window)).arg(by);
        let (value, left) = self.within(call.invoke_async::<(u64, i64)>(&mut self.0.link.once())).await?;
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
        let owner = random::id().map_err(|error| Unavailable(error.to_string()))?;
        let mut call = self.0.scripts.acquire.key(self.name(key, LEASE));
        call.key(self.name(key, FENCE)).arg(&owner).arg(milliseconds(ttl)).arg(milliseconds(FENCE_KEPT));
        let fence = self.within(call.invoke_async::<u64>(&mut self.0.link.again())).await?;
        Ok((fence > 0).then(|| Lease { key: key.clone(), owner, fence }))
    }

    pub(super) async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool, Unavailable> {
        let mut call = self.0.scripts.renew.key(self.name(&lease.key, LEASE));
        call.arg(&lease.owner).arg(milliseconds(ttl));
        self.within(call.invoke_async::<bool>(&mut self.0.link.again())).await
    }

    pub(super) async fn release(&self, lease: &Lease) -> Result<bool, Unavailable> {
        let mut call = self.0.scripts.release.key(self.name(&lease.key, LEASE));
        call.arg(&lease.owner);
        self.within(call.invoke_async::<bool>(&mut self.0.link.again())).await
    }

    pub(super) async fn publish(&self, channel: &'static str, payload: &[u8]) -> Result<(), Unavailable> {
        self.command(redis::cmd("PUBLISH").arg(format!("{}{channel}", self.0.settings.prefix)).arg(payload)).await
    }

    pub(super) fn subscribe(&self, channel: &'static str) -> Subscription {
        self.0.board.subscribe(channel)
    }

    fn name(&self, key: &Key, shape: char) -> String {
        key.in_redis(&self.0.settings.prefix, shape)
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
        self.within(command.query_async(&mut self.0.link.again())).await
    }

    /// A command whose answer would be another one the second time.
    async fn command_once<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        self.within(command.query_async(&mut self.0.link.once())).await
    }

    async fn pipeline<T: FromRedisValue>(&self, pipeline: &Pipeline) -> Result<T, Unavailable> {
        self.within(pipeline.query_async(&mut self.0.link.again())).await
    }

    async fn within<T>(&self, call: impl Future<Output = Result<T, RedisError>>) -> Result<T, Unavailable> {
        self.answered(call).await?.map_err(|error| Unavailable(words(&error)))
    }

    /// What Redis says, a refusal included.
    async fn answered<T>(&self, call: impl Future<Output = Result<T, RedisError>>) -> Result<Result<T, RedisError>, Unavailable> {
        let answer = tokio::time::timeout(self.0.patience, call).await;
        answer.map_err(|_| Unavailable("no answer in time".to_owned()))
    }
}

/// A new version and the record as Redis keeps it.
fn versioned(value: &[u8]) -> Result<(Version, Vec<u8>), Unavailable> {
    let version: [u8; 8] = random::bytes().map_err(|error| Unavailable(error.to_string()))?;
    let mut bytes = Vec::with_capacity(8 + value.len());
    bytes.extend_from_slice(&version);
    bytes.extend_from_slice(value);
    Ok((Version(u64::from_be_bytes(version)), bytes))
}

/// Whether something of another type than a record has the name of one.
pub(super) fn is_no_record(error: RedisError) -> bool {
    error.into_server_errors().is_some_and(|errors| errors.iter().any(|(_, error)| error.code() == "WRONGTYPE"))
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn lifetime(ttl: Option<Duration>) -> i64 {
    ttl.map_or(-1, milliseconds)
}

/// What went wrong, without the details: they may quote the command.
pub(super) fn words(error: &RedisError) -> String {
    error.category().to_owned()
}
