//! The one connection of a process to Redis: opened when it is first needed, and again when it broke, when it timed out, or
//! when the server is no master any more. Of many calls that need it at the same time one opens it; they share a failure.
//!
//! A call that may be done twice is done again on a new connection when the old one broke, so that nobody sees a connection
//! that Redis closed because it was idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, ServerErrorKind, Value};
use tokio::sync::Mutex;

use super::redis_way::{Connection, Way};

/// The connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Link(Arc<Inner>);

struct Inner {
    held: Mutex<Held>,
    /// For connecting, and for one answer.
    times: (Duration, Duration),
}

struct Held {
    way: Way,
    open: Option<Open>,
    /// Counts connections.
    number: u64,
    failed: Option<(Instant, RedisError)>,
}

#[derive(Clone)]
struct Open {
    connection: Connection,
    closed: Arc<AtomicBool>,
    number: u64,
}

/// Sends calls over the link.
pub(super) struct Caller {
    link: Link,
    /// Whether a call may be done twice.
    again: bool,
}

/// What a call consists of.
#[derive(Clone, Copy)]
enum Call<'c> {
    One(&'c Cmd),
    Many(&'c Pipeline, usize, usize),
}

impl Link {
    pub(super) fn new(way: Way, times: (Duration, Duration)) -> Self {
        Self(Arc::new(Inner { held: Mutex::new(Held { way, open: None, number: 0, failed: None }), times }))
    }

    /// For calls that come to the same when they are done twice.
    pub(super) fn again(&self) -> Caller {
        Caller { link: self.clone(), again: true }
    }

    /// For calls that must not be done twice.
    pub(super) fn once(&self) -> Caller {
        Caller { link: self.clone(), again: false }
    }

    async fn open(&self) -> Result<Open, RedisError> {
        let asked = Instant::now();
        let mut held = self.0.held.lock().await;
        if let Some(open) = held.open.as_ref().filter(|open| !open.closed.load(Ordering::SeqCst)) {
            return Ok(open.clone());
        }
        if let Some((_, error)) = held.failed.as_ref().filter(|(at, _)| *at > asked) {
            return Err(error.clone());
        }
        match held.way.connect(self.0.times).await {
            Ok((connection, closed)) => {
                held.number += 1;
                let open = Open { connection, closed, number: held.number };
                held.open = Some(open.clone());
                Ok(open)
            }
            Err(error) => {
                held.open = None;
                held.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// The connection is of no use any more, unless there is another one already.
    async fn leave(&self, number: u64) {
        let mut held = self.0.held.lock().await;
        if held.open.as_ref().is_some_and(|open| open.number == number) {
            held.open = None;
        }
    }
}

impl Caller {
    async fn call<T>(&self, call: Call<'_>, read: fn(Answer) -> T) -> Result<T, RedisError> {
        let mut tries = 2;
        loop {
            let mut open = self.link.open().await?;
            tries -= 1;
            match open.connection.send(call).await {
                Err(error) if open.connection.is_lost(&error) => {
                    self.link.leave(open.number).await;
                    let may = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly) || (self.again && !error.is_timeout());
                    if tries == 0 || !may {
                        return Err(error);
                    }
                }
                other => return other.map(read),
            }
        }
    }
}

/// What comes back.
enum Answer {
    One(Value),
    Many(Vec<Value>),
}

impl Connection {
    async fn send(&mut self, call: Call<'_>) -> Result<Answer, RedisError> {
        match (self, call) {
            (Self::Node(node), Call::One(command)) => node.req_packed_command(command).await.map(Answer::One),
            (Self::Cluster(cluster), Call::One(command)) => cluster.req_packed_command(command).await.map(Answer::One),
            (Self::Node(node), Call::Many(pipeline, offset, count)) => {
                node.req_packed_commands(pipeline, offset, count).await.map(Answer::Many)
            }
            (Self::Cluster(cluster), Call::Many(pipeline, offset, count)) => {
                cluster.req_packed_commands(pipeline, offset, count).await.map(Answer::Many)
            }
        }
    }

    /// Whether another connection may help. A cluster's follows its nodes by itself.
    fn is_lost(&self, error: &RedisError) -> bool {
        match self {
            Self::Node(_) => {
                let demoted = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
                error.is_unrecoverable_error() || error.is_timeout() || demoted
            }
            Self::Cluster(_) => error.kind() == ErrorKind::ClusterConnectionNotFound || error.is_connection_dropped(),
        }
    }
}

impl ConnectionLike for Caller {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        let read = |answer| match answer {
            Answer::One(value) => value,
            Answer::Many(values) => Value::Array(values),
        };
        Box::pin(self.call(Call::One(cmd), read))
    }

    fn req_packed_commands<'a>(&'a mut self, pipeline: &'a Pipeline, offset: usize, count: usize) -> RedisFuture<'a, Vec<Value>> {
        let read = |answer| match answer {
            Answer::One(value) => vec![value],
            Answer::Many(values) => values,
        };
        Box::pin(self.call(Call::Many(pipeline, offset, count), read))
    }

    fn get_db(&self) -> i64 {
        0
    }
}
