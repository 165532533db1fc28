//! Redis as it is run in earnest: over TLS with a password, watched by sentinels whose master dies, and as a cluster whose
//! slots move. All of it are real processes on loopback.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::bench::{acme, free_port, until};
use crate::gateway::store::{Event, Key, Layout, RedisSettings, Store, Swap};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

const HOUR: Option<Duration> = Some(Duration::from_hours(1));
const PASSWORD: &str = "hunter2-hunter2";

/// A `redis-server` with options of its own.
struct Node {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Node {
    fn start(port: u16, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"]).arg(folder.path()).args(options);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("redis-server must be installed");
        Self { port, process, _folder: folder }
    }

    fn plain(options: &[&str]) -> Self {
        let port = free_port();
        Self::start(port, &[&["--port", &port.to_string()], options].concat())
    }

    async fn ask<T: redis::FromRedisValue>(&self, words: &[&str]) -> Option<T> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.ok()?;
        let (first, rest) = words.split_first().unwrap();
        redis::cmd(first).arg(rest).query_async(&mut connection).await.ok()
    }

    async fn up(self) -> Self {
        until("redis-server", async || self.ask::<String>(&["PING"]).await.is_some()).await;
        self
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn settings(url: String, layout: Layout) -> RedisSettings {
    RedisSettings {
        url: Secret::new(url),
        layout,
        roots: None,
        prefix: "test:".to_owned(),
        connect_timeout: Duration::from_secs(2),
        response_timeout: Duration::from_secs(2),
    }
}

fn key(id: &str) -> Key {
    Key::new(&acme(), "thing", id)
}

/// Writes an authority, and a certificate of it for 127.0.0.1 with its key; gives the authority.
fn certificates(folder: &Path) -> Vec<u8> {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let roots = authority.self_signed(&authority_key).unwrap().pem();
    let server_key = rcgen::KeyPair::generate().unwrap();
    let server = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let server = server.signed_by(&server_key, &issuer).unwrap();
    std::fs::write(folder.join("ca.pem"), &roots).unwrap();
    std::fs::write(folder.join("server.pem"), server.pem()).unwrap();
    std::fs::write(folder.join("server.key"), server_key.serialize_pem()).unwrap();
    roots.into_bytes()
}

/// A server that speaks TLS only and wants a password; gives the authority of its certificate.
fn secured(folder: &Path) -> (Node, Vec<u8>) {
    let roots = certificates(folder);
    let port = free_port();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (ca, certificate, private) = (path("ca.pem"), path("server.pem"), path("server.key"));
    let tls = ["--port", "0", "--tls-port", &port.to_string(), "--tls-auth-clients", "no", "--requirepass", PASSWORD];
    let files = ["--tls-ca-cert-file", &ca, "--tls-cert-file", &certificate, "--tls-key-file", &private];
    (Node::start(port, &[&tls[..], &files[..]].concat()), roots)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_tls_with_a_password_everything_works_and_a_stranger_or_a_wrong_certificate_gets_nothing() {
    let folder = TempDir::new().unwrap();
    let (node, roots) = secured(folder.path());
    let with = |url: String, roots: Option<Vec<u8>>| {
        let settings = RedisSettings { roots, ..settings(url, Layout::One) };
        Store::redis(&settings, &Shutdown::default()).unwrap()
    };
    let right = format!("rediss://:{PASSWORD}@{}", node.address());
    let store = with(right.clone(), Some(roots.clone()));
    until("the store", async || store.put(&key("a"), b"content".to_vec(), HOUR).await.is_ok()).await;
    let record = store.get(&key("a")).await.unwrap().unwrap();
    assert!(matches!(store.compare_and_set(&key("a"), record.version, vec![2], HOUR).await, Ok(Swap::Done(_))));
    let mut ear = store.subscribe("news");
    until("a message", async || {
        store.publish("news", b"word").await.unwrap();
        matches!(tokio::time::timeout(Duration::from_millis(50), ear.next()).await, Ok(Some(Event::Message(_))))
    })
    .await;
    let strangers = [
        // The system does not know this authority.
        with(right, None),
        with(format!("rediss://:{PASSWORD}@{}", node.address()), Some(certificates(TempDir::new().unwrap().path()))),
        with(format!("rediss://:wrong@{}", node.address()), Some(roots.clone())),
        with(format!("rediss://{}", node.address()), Some(roots)),
        with(format!("redis://:{PASSWORD}@{}", node.address()), None),
    ];
    for stranger in strangers {
        let error = stranger.get(&key("a")).await.unwrap_err();
        assert!(!error.to_string().contains(PASSWORD), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_redis_closes_because_they_are_idle_are_never_seen() {
    let node = Node::plain(&["--timeout", "1"]).up().await;
    let store = Store::redis(&settings(format!("redis://{}", node.address()), Layout::One), &Shutdown::default()).unwrap();
    let mut version = store.put(&key("a"), vec![0], HOUR).await.unwrap();
    let clients = async || {
        let list: String = node.ask(&["CLIENT", "LIST", "TYPE", "normal"]).await.unwrap();
        // The one that asks is among them.
        list.lines().count() - 1
    };
    for round in 1..4_u8 {
        until("the connection to be closed", async || clients().await == 0).await;
        match round {
            1 => assert!(store.take(&key("none")).await.unwrap().is_none()),
            2 => assert_eq!(store.count(&key("a"), HOUR.unwrap()).await.unwrap().value, 1),
            _ => assert!(store.get(&key("a")).await.unwrap().is_some()),
        }
        let Ok(Swap::Done(next)) = store.compare_and_set(&key("a"), version, vec![round], HOUR).await else { panic!("it swaps") };
        version = next;
    }
}

/// A master with a replica, and three sentinels that watch them.
struct Watched {
    master: Node,
    replica: Node,
    sentinels: Vec<Node>,
}

impl Watched {
    async fn start() -> Self {
        let master = Node::plain(&["--repl-diskless-sync-delay", "0"]).up().await;
        let follow = ["--replicaof", "127.0.0.1", &master.port.to_string()];
        let replica = Node::plain(&follow).up().await;
        let mut sentinels = Vec::new();
        for _ in 0..3 {
            sentinels.push(Self::sentinel(master.port).await);
        }
        let watched = Self { master, replica, sentinels };
        until("the replica and the sentinels to know each other", async || {
            for sentinel in &watched.sentinels {
                let about: Vec<String> = sentinel.ask(&["SENTINEL", "MASTER", "mymaster"]).await.unwrap_or_default();
                let says = |name: &str, value: &str| about.windows(2).any(|pair| pair[0] == name && pair[1] == value);
                if !says("num-slaves", "1") || !says("num-other-sentinels", "2") {
                    return false;
                }
            }
            true
        })
        .await;
        watched
    }

    async fn sentinel(master: u16) -> Node {
        let (port, folder) = (free_port(), TempDir::new().unwrap());
        let file = folder.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 {master} 2\n\
             sentinel down-after-milliseconds mymaster 500\nsentinel failover-timeout mymaster 3000\n"
        );
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new("redis-server");
        command.arg(&file).arg("--sentinel").stdout(Stdio::null()).stderr(Stdio::null());
        Node { port, process: command.spawn().unwrap(), _folder: folder }.up().await
    }

    fn store(&self) -> Store {
        let sentinels = self.sentinels.iter().map(Node::address).collect();
        let layout = Layout::Sentinels { sentinels, master: "mymaster".to_owned() };
        Store::redis(&settings("redis://unused".to_owned(), layout), &Shutdown::default()).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_master_dies_the_store_goes_on_with_the_one_that_the_sentinels_choose() {
    let mut watched = Watched::start().await;
    let store = watched.store();
    let mut ear = store.subscribe("news");
    store.put(&key("a"), b"content".to_vec(), None).await.unwrap();
    until("the replica to have it", async || watched.replica.ask::<i64>(&["DBSIZE"]).await == Some(1)).await;
    let fence = store.acquire(&key("lease"), Duration::from_millis(1)).await.unwrap().unwrap().fence;
    watched.master.kill();
    // Away, never "not there".
    until("the other master", async || store.put(&key("b"), vec![1], None).await.is_ok()).await;
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().value, b"content");
    until(
        "a lease of a greater fence",
        async || matches!(store.acquire(&key("lease"), Duration::from_millis(1)).await, Ok(Some(lease)) if lease.fence > fence),
    )
    .await;
    until("messages", async || {
        store.publish("news", b"back").await.unwrap();
        matches!(tokio::time::timeout(Duration::from_millis(50), ear.next()).await, Ok(Some(Event::Message(_))))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_only_hangs_is_left_and_one_that_was_demoted_too() {
    let watched = Watched::start().await;
    let store = watched.store();
    store.put(&key("a"), vec![1], None).await.unwrap();
    until("the replica to have it", async || watched.replica.ask::<i64>(&["DBSIZE"]).await == Some(1)).await;
    let id = watched.master.process.id().to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    signal("-STOP");
    until("the other master", async || store.put(&key("a"), vec![2], None).await.is_ok()).await;
    signal("-CONT");
    // It comes back as a replica; writes go on at the new master.
    until("the old master to follow", async || {
        let role: Vec<redis::Value> = watched.master.ask(&["ROLE"]).await.unwrap_or_default();
        role.first() == Some(&redis::Value::BulkString(b"slave".to_vec()))
    })
    .await;
    store.put(&key("a"), vec![3], None).await.unwrap();
    // An orderly switch back: the connection stays open, and its server refuses writes.
    until("a failover on request", async || {
        watched.sentinels[0].ask::<String>(&["SENTINEL", "FAILOVER", "mymaster"]).await.is_some()
    })
    .await;
    until("the first to be master again", async || {
        let role: Vec<redis::Value> = watched.master.ask(&["ROLE"]).await.unwrap_or_default();
        role.first() == Some(&redis::Value::BulkString(b"master".to_vec()))
    })
    .await;
    until("writes", async || store.put(&key("a"), vec![4], None).await.is_ok()).await;
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().value, [4]);
}

/// Three masters that share the slots.
async fn cluster() -> Vec<Node> {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        // A cluster's nodes speak with each other ten thousand ports higher, unless they are told otherwise.
        let bus = free_port().to_string();
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-port", &bus];
        nodes.push(Node::plain(&options).up().await);
    }
    let addresses: Vec<String> = nodes.iter().map(Node::address).collect();
    let mut made = Command::new("redis-cli");
    made.args(["--cluster", "create"]).args(&addresses).args(["--cluster-yes"]);
    let made = made.output().expect("redis-cli must be installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    for node in &nodes {
        until("the cluster", async || {
            let about: String = node.ask(&["CLUSTER", "INFO"]).await.unwrap_or_default();
            about.contains("cluster_state:ok") && about.contains("cluster_known_nodes:3")
        })
        .await;
    }
    nodes
}

fn on(nodes: &[Node]) -> Store {
    let layout = Layout::Cluster(vec![nodes[0].address()]);
    Store::redis(&settings("redis://unused".to_owned(), layout), &Shutdown::default()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_cluster_every_operation_works_and_messages_reach_all() {
    let nodes = cluster().await;
    let (store, elsewhere) = (on(&nodes), on(&nodes));
    let mut ear = elsewhere.subscribe("news");
    for id in 0..60 {
        let key = key(&id.to_string());
        let version = store.put(&key, vec![1], HOUR).await.unwrap();
        assert!(store.insert(&key, vec![2], HOUR).await.unwrap().is_none());
        assert!(matches!(store.compare_and_set(&key, version, vec![2], HOUR).await.unwrap(), Swap::Done(_)));
        assert_eq!(store.get(&key).await.unwrap().unwrap().value, [2]);
        store.add(&key, "m", HOUR).await.unwrap();
        assert_eq!(store.members(&key).await.unwrap(), ["m"]);
        assert_eq!(store.count(&key, HOUR.unwrap()).await.unwrap().value, 1);
        assert_eq!(store.peek(&key).await.unwrap().unwrap().value, 1);
        let lease = store.acquire(&key, HOUR.unwrap()).await.unwrap().unwrap();
        assert!(store.renew(&lease, HOUR.unwrap()).await.unwrap() && store.release(&lease).await.unwrap());
        assert_eq!(store.take(&key).await.unwrap(), Some(vec![2]));
    }
    let mut used = 0;
    for node in &nodes {
        used += usize::from(node.ask::<i64>(&["DBSIZE"]).await.unwrap() > 0);
    }
    assert_eq!(used, 3, "the names go to all nodes");
    until("a message", async || {
        store.publish("news", b"word").await.unwrap();
        matches!(tokio::time::timeout(Duration::from_millis(50), ear.next()).await, Ok(Some(Event::Message(_))))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_that_move_under_load_lose_no_record_and_fail_no_call() {
    let nodes = cluster().await;
    let store = on(&nodes);
    for id in 0..300 {
        store.put(&key(&id.to_string()), vec![0], None).await.unwrap();
    }
    let busy = {
        let store = store.clone();
        async move {
            // Versions tell whether a write of ours was lost or done twice.
            for round in 1..6_u8 {
                for id in 0..300 {
                    let key = key(&id.to_string());
                    let record = store.get(&key).await.unwrap().unwrap();
                    assert_eq!(record.value, [round - 1], "{id}");
                    let swapped = store.compare_and_set(&key, record.version, vec![round], None).await.unwrap();
                    assert!(matches!(swapped, Swap::Done(_)), "{id}: {swapped:?}");
                }
            }
        }
    };
    let (from, to): (String, String) =
        (nodes[0].ask(&["CLUSTER", "MYID"]).await.unwrap(), nodes[1].ask(&["CLUSTER", "MYID"]).await.unwrap());
    let moving = tokio::process::Command::new("redis-cli")
        .args(["--cluster", "reshard", &nodes[0].address(), "--cluster-from", &from, "--cluster-to", &to])
        .args(["--cluster-slots", "800", "--cluster-yes"])
        .stdin(Stdio::null())
        .output();
    let (moved, ()) = tokio::join!(moving, busy);
    let moved = moved.unwrap();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stdout));
    for id in 0..300 {
        assert_eq!(store.get(&key(&id.to_string())).await.unwrap().unwrap().value, [5], "{id}");
    }
}
