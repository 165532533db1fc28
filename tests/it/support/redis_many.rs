//! Many Redis processes on loopback: a cluster whose slots move, and a master with a replica that sentinels watch.

use std::fs;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::eventually;
use super::redis::{RedisServer, free_port};

/// Three masters that share the slots.
pub(crate) async fn cluster() -> Vec<RedisServer> {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        // Nodes speak with each other ten thousand ports higher, unless they are told otherwise.
        let bus = free_port().to_string();
        nodes.push(RedisServer::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus]).await);
    }
    let addresses: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let made = Command::new("redis-cli").args(["--cluster", "create"]).args(&addresses).arg("--cluster-yes").output();
    let made = made.expect("redis-cli is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    eventually("the cluster", async || {
        for node in &nodes {
            let about = node.command(&["CLUSTER", "INFO"]).await;
            if !about.contains("cluster_state:ok") || !about.contains("cluster_known_nodes:3") {
                return None;
            }
        }
        Some(())
    })
    .await;
    nodes
}

/// Lets every node hand many of its slots to the next one.
pub(crate) async fn move_slots(nodes: &[RedisServer]) {
    for (index, from) in nodes.iter().enumerate() {
        let to = &nodes[(index + 1) % nodes.len()];
        let mut ids = Vec::new();
        for node in [from, to] {
            let answer = node.command(&["CLUSTER", "MYID"]).await;
            ids.push(answer.lines().find(|line| line.len() == 40).unwrap().to_owned());
        }
        let moved = tokio::process::Command::new("redis-cli")
            .args(["--cluster", "reshard", &format!("127.0.0.1:{}", from.port), "--cluster-slots", "1500", "--cluster-yes"])
            .args(["--cluster-from", &ids[0], "--cluster-to", &ids[1]])
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stdout));
    }
}

/// A master with a replica, and three sentinels that watch them.
pub(crate) struct Watched {
    pub(crate) master: RedisServer,
    pub(crate) replica: RedisServer,
    sentinels: Vec<Sentinel>,
}

struct Sentinel {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Sentinel {
    fn start(master: u16) -> Self {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
        let file = folder.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 {master} 2\n\
             sentinel down-after-milliseconds mymaster 500\nsentinel failover-timeout mymaster 3000\n"
        );
        fs::write(&file, text).unwrap();
        let mut command = Command::new("redis-server");
        command.arg(&file).arg("--sentinel").stdout(Stdio::null()).stderr(Stdio::null());
        Self { port, process: command.spawn().unwrap(), _folder: folder }
    }

    /// Whether it knows the replica and the two others. By the tool of Redis: a sentinel does not know QUIT.
    fn knows_all(&self) -> bool {
        let asked = Command::new("redis-cli").args(["-p", &self.port.to_string(), "SENTINEL", "MASTER", "mymaster"]).output();
        let told = String::from_utf8(asked.unwrap().stdout).unwrap();
        told.contains("num-slaves\n1\n") && told.contains("num-other-sentinels\n2\n")
    }
}

impl Watched {
    pub(crate) async fn start() -> Self {
        let master = RedisServer::start_with(&["--repl-diskless-sync-delay", "0"]).await;
        let port = master.port.to_string();
        let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port]).await;
        let sentinels: Vec<Sentinel> = (0..3).map(|_| Sentinel::start(master.port)).collect();
        eventually("the sentinels to know each other", async || sentinels.iter().all(Sentinel::knows_all).then_some(())).await;
        Self { master, replica, sentinels }
    }

    /// Addresses of the sentinels.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect()
    }
}
