//! Two gateways on a cluster or on a watched master, while it changes under them: nobody is signed out, and tokens are refreshed
//! once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::outage::{load, setup};
use super::refresh::{at_once, expired, patient};
use crate::support::eventually;
use crate::support::redis::RedisServer;
use crate::support::redis_many::{Watched, cluster, move_slots};
use crate::support::replicas::{Replicas, Setup};

/// The address is not used; the nodes are.
const NOWHERE: &str = "redis://127.0.0.1:1";

#[tokio::test]
async fn while_the_slots_of_a_cluster_move_every_page_comes() {
    let nodes = cluster().await;
    let store = format!("redis_cluster = [\"127.0.0.1:{}\"]\n", nodes[0].port);
    let replicas = Replicas::at_redis(RedisServer::elsewhere(NOWHERE.to_owned()), 2, setup(&store)).await;
    let browser = replicas.signed_in().await;
    let stop = Arc::new(AtomicBool::new(false));
    let moving = async {
        move_slots(&nodes).await;
        stop.store(true, Ordering::SeqCst);
    };
    let (answers, ()) = tokio::join!(load(&replicas, &browser, &stop), moving);
    assert!(!answers.is_empty());
    let failed = answers.iter().filter(|answer| answer.status != 200).count();
    assert_eq!(failed, 0, "of {}", answers.len());
    let mut next = replicas.signed_in().await;
    assert_eq!(next.get(&format!("{}/tasks", replicas.all[1].url)).await.status, 200);
}

#[tokio::test]
async fn while_the_slots_of_a_cluster_move_one_refresh_serves_everybody() {
    let nodes = cluster().await;
    let store = format!("redis_cluster = [\"127.0.0.1:{}\"]\n", nodes[0].port);
    let setup = Setup { store, ..patient() };
    let replicas = Replicas::at_redis(RedisServer::elsewhere(NOWHERE.to_owned()), 2, setup).await;
    let browser = expired(&replicas).await;
    replicas.provider.state().latency = Duration::from_secs(3);
    let before = replicas.provider.seen();
    let (statuses, ()) = tokio::join!(at_once(&replicas, &browser, 100), move_slots(&nodes));
    assert!(statuses.iter().all(|&status| status == Some(200)), "{statuses:?}");
    let seen = replicas.provider.seen();
    assert_eq!((seen.asked - before.asked, seen.reused), (1, 0));
}

#[tokio::test]
async fn a_master_that_fails_during_a_refresh_costs_no_second_grant_and_signs_nobody_out() {
    let mut redis = Watched::start().await;
    let sentinels: Vec<String> = redis.addresses().iter().map(|address| format!("\"{address}\"")).collect();
    let store = format!("redis_sentinels = [{}]\nredis_master = \"mymaster\"\n", sentinels.join(", "));
    let setup = Setup { store, ..patient() };
    let replicas = Replicas::at_redis(RedisServer::elsewhere(NOWHERE.to_owned()), 2, setup).await;
    let mut browser = expired(&replicas).await;
    replicas.provider.state().latency = Duration::from_secs(4);
    let before = replicas.provider.seen();
    let failing = async {
        eventually("the grant", async || (replicas.provider.seen().asked > before.asked).then_some(())).await;
        // What the master promised has reached its replica: the lease among it.
        eventually("the lease at the replica", async || {
            redis.replica.command(&["KEYS", "*:refresh:l"]).await.contains("refresh").then_some(())
        })
        .await;
        redis.master.kill();
    };
    let (statuses, ()) = tokio::join!(at_once(&replicas, &browser, 60), failing);
    assert!(statuses.iter().all(|status| matches!(status, Some(200 | 503))), "{statuses:?}");
    for replica in &replicas.all {
        let url = format!("{}/tasks", replica.url);
        eventually("the new master", async || (browser.get(&url).await.status == 200).then_some(())).await;
    }
    let seen = replicas.provider.seen();
    assert_eq!((seen.refreshes - before.refreshes, seen.reused), (1, 0));
}
