//! Two gateways on a cluster, while it changes under them: nobody is signed out and every page comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::outage::{load, setup};
use crate::support::redis::RedisServer;
use crate::support::redis_many::{cluster, move_slots};
use crate::support::replicas::Replicas;

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
