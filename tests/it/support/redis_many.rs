//! A Redis cluster of real processes on loopback, and slots that move in it.

use std::process::{Command, Stdio};

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
