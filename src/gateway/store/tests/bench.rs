//! Stores for tests: a file in a folder of its own, or a real `redis-server` on a port of its own. Both go away with it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Layout, RedisSettings, Store};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A store with what it stands on.
pub(in crate::gateway) struct Bench {
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) redis: Option<RedisServer>,
    pub(in crate::gateway) shutdown: Shutdown,
    folder: TempDir,
}

impl Bench {
    /// The embedded file, with a manual clock.
    pub(in crate::gateway) fn file() -> Self {
        let folder = TempDir::new().unwrap();
        let clock = Clock::manual(Timestamp(1_700_000_000_000));
        let store = Store::embedded(&folder.path().join("store.redb"), clock.clone()).unwrap();
        Self { store, clock, redis: None, shutdown: Shutdown::default(), folder }
    }

    /// A Redis of its own. The clock is manual too; Redis does not follow it.
    pub(in crate::gateway) async fn redis() -> Self {
        let (folder, shutdown) = (TempDir::new().unwrap(), Shutdown::default());
        let server = RedisServer::start(folder.path()).await;
        let store = Store::redis(&server.settings(), &shutdown).unwrap();
        let bench = Self { store, clock: Clock::manual(Timestamp(1_700_000_000_000)), redis: Some(server), shutdown, folder };
        // The listener for messages connects by itself; tests of messages need it there.
        let mut ready = bench.store.subscribe("ready");
        until("the message connection", async || {
            bench.store.publish("ready", b"?").await.unwrap();
            tokio::time::timeout(Duration::from_millis(20), ready.next()).await.is_ok()
        })
        .await;
        bench
    }

    /// Where the embedded file is.
    pub(in crate::gateway) fn path(&self) -> PathBuf {
        self.folder.path().join("store.redb")
    }

    /// Moves the file's clock; Redis's own goes on by itself, so follow with [`until`].
    pub(in crate::gateway) fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Everything that is at rest: the whole file, or a dump of Redis.
    pub(in crate::gateway) async fn at_rest(self) -> Vec<u8> {
        if let Some(server) = &self.redis {
            server.command(&["SAVE"]).await;
            return std::fs::read(self.folder.path().join("dump.rdb")).unwrap();
        }
        let path = self.path();
        // The last handle flushes.
        drop(self.store);
        std::fs::read(path).unwrap()
    }
}

/// A `redis-server` on loopback.
pub(in crate::gateway) struct RedisServer {
    port: u16,
    folder: PathBuf,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts one that keeps nothing by itself and has its files in `folder`.
    pub(in crate::gateway) async fn start(folder: &Path) -> Self {
        let mut server = Self { port: free_port(), folder: folder.to_owned(), process: None };
        server.resume().await;
        server
    }

    /// Starts it again on the same port.
    pub(in crate::gateway) async fn resume(&mut self) {
        let process = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--appendonly", "no", "--rdbcompression", "no"])
            .args(["--save", "", "--dir"])
            .arg(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server must be installed");
        self.process = Some(process);
        until("redis-server", async || self.try_command(&["PING"]).await.is_some()).await;
    }

    /// Kills it as a crash would.
    pub(in crate::gateway) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub(in crate::gateway) fn settings(&self) -> RedisSettings {
        RedisSettings {
            url: Secret::new(format!("redis://127.0.0.1:{}", self.port)),
            layout: Layout::One,
            roots: None,
            prefix: "test:".to_owned(),
            connect_timeout: Duration::from_secs(2),
            response_timeout: Duration::from_secs(2),
        }
    }

    /// Sends a command past the store.
    pub(in crate::gateway) async fn command(&self, words: &[&str]) -> redis::Value {
        self.try_command(words).await.expect("redis-server answers")
    }

    async fn try_command(&self, words: &[&str]) -> Option<redis::Value> {
        let client = redis::Client::open(self.settings().url.expose()).unwrap();
        // A busy machine takes longer for SAVE than the client waits by itself.
        let patient = redis::AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let mut connection = client.get_multiplexed_async_connection_with_config(&patient).await.ok()?;
        let (first, rest) = words.split_first().unwrap();
        redis::cmd(first).arg(rest).query_async(&mut connection).await.ok()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A free port of loopback, below those that systems hand out by themselves: no connection takes it before a server listens.
pub(in crate::gateway) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(131);
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst));
        let port = u16::try_from(10_000 + number % 20_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Asks again until the answer is yes.
pub(in crate::gateway) async fn until(what: &str, mut asked: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !asked().await {
        assert!(start.elapsed() < PATIENCE, "still waiting for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(in crate::gateway) fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

pub(in crate::gateway) fn globex() -> TenantId {
    TenantId::parse("globex").unwrap()
}
