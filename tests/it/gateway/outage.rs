//! Redis away while people work, and Redis that closes what is idle: nobody is signed out, nobody has to sign in again.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use tempfile::TempDir;

use crate::support::client::{Answer, Browser};
use crate::support::eventually;
use crate::support::redis::{RedisServer, free_port};
use crate::support::replicas::{Replicas, Setup};

/// Short waits, so that an outage shows soon.
const IMPATIENT: &str = "connect_timeout_ms = 300\nresponse_timeout_ms = 500\n";

pub(super) fn setup(store: &str) -> Setup {
    Setup { store: store.to_owned(), ..Setup::default() }
}

/// Tabs that open the list of tasks again and again until they are told to stop; gives all answers.
pub(super) async fn load(replicas: &Replicas, browser: &Browser, stop: &Arc<AtomicBool>) -> Vec<Answer> {
    let tabs = (0..12).map(|index| {
        let (mut tab, stop) = (browser.clone(), Arc::clone(stop));
        let url = format!("{}/tasks", replicas.all[index % replicas.all.len()].url);
        async move {
            let mut answers = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                answers.push(tab.get(&url).await);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            answers
        }
    });
    join_all(tabs).await.into_iter().flatten().collect()
}

/// What has to hold of every answer, with Redis or without.
fn nobody_was_sent_away(answers: &[Answer]) {
    for answer in answers {
        assert!(matches!(answer.status.as_u16(), 200 | 503), "{}: {}", answer.status, answer.text());
        assert_eq!(answer.header("set-cookie"), "", "{}", answer.status);
        if answer.status == 503 {
            assert!(answer.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 0), "{:?}", answer.headers);
        }
    }
}

/// Redis stops answering for `time`, under load; then it is killed, and comes back with what it had saved.
async fn outage(time: Duration) {
    let mut replicas = Replicas::on_redis_with(2, setup(IMPATIENT)).await;
    let mut browser = replicas.signed_in().await;
    let codes = replicas.provider.seen().codes;
    let stop = Arc::new(AtomicBool::new(false));
    let frozen = async {
        let redis = replicas.redis.as_ref().unwrap();
        redis.freeze();
        let (mut door, mut tab) = (Browser::new(), browser.clone());
        eventually("the outage", async || (tab.get(&format!("{}/tasks", replicas.all[0].url)).await.status == 503).then_some(()))
            .await;
        // What needs no session is there as ever.
        let alive = door.get(&format!("{}/healthz", replicas.all[0].url)).await;
        assert_eq!(alive.status, 200, "{}", alive.text());
        let sign_in = door.get(&format!("{}/auth/login", replicas.all[0].url)).await;
        assert_eq!(sign_in.status, 503, "{}", sign_in.text());
        tokio::time::sleep(time).await;
        redis.thaw();
        eventually("the end of it", async || {
            (tab.get(&format!("{}/tasks", replicas.all[1].url)).await.status == 200).then_some(())
        })
        .await;
        stop.store(true, Ordering::SeqCst);
    };
    let (answers, ()) = tokio::join!(load(&replicas, &browser, &stop), frozen);
    nobody_was_sent_away(&answers);
    assert!(answers.iter().any(|answer| answer.status == 503), "the outage was seen");

    replicas.redis.as_ref().unwrap().dump().await;
    replicas.redis.as_mut().unwrap().kill();
    let urls: Vec<String> = replicas.all.iter().map(|replica| format!("{}/tasks", replica.url)).collect();
    for url in &urls {
        let gone = eventually("the outage", async || Some(browser.get(url).await).filter(|answer| answer.status == 503)).await;
        nobody_was_sent_away(&[gone]);
    }
    replicas.redis.as_mut().unwrap().resume().await;
    for url in &urls {
        let back = eventually("the store", async || Some(browser.get(url).await).filter(|answer| answer.status == 200)).await;
        nobody_was_sent_away(&[back]);
    }
    assert_eq!(replicas.provider.seen().codes, codes, "nobody had to sign in again");
    assert_eq!(replicas.provider.seen().asked, 0, "and nothing was refreshed");
}

#[tokio::test]
async fn redis_away_for_a_moment_is_a_503_and_the_same_cookies_work_after() {
    outage(Duration::from_secs(2)).await;
}

#[tokio::test]
#[ignore = "takes more than half a minute"]
async fn redis_away_for_half_a_minute_is_a_503_and_the_same_cookies_work_after() {
    outage(Duration::from_secs(30)).await;
}

#[tokio::test]
async fn connections_that_redis_closes_because_they_are_idle_are_never_seen_by_a_user() {
    let replicas = Replicas::on_redis().await;
    let mut browser = replicas.signed_in().await;
    let redis = replicas.redis.as_ref().unwrap();
    let set = redis.command(&["CONFIG", "SET", "timeout", "1"]).await;
    assert!(set.is_empty(), "{set}");
    for _ in 0..3 {
        // What asks is one of them.
        eventually("idle connections to be closed", async || {
            let list = redis.command(&["CLIENT", "LIST", "TYPE", "normal"]).await;
            (list.matches(" cmd=").count() == 1).then_some(())
        })
        .await;
        for replica in &replicas.all {
            let page = browser.get(&format!("{}/tasks", replica.url)).await;
            assert_eq!(page.status, 200, "{}", page.text());
        }
    }
}

#[tokio::test]
async fn a_gateway_on_redis_over_tls_with_a_password_signs_people_in() {
    let folder = TempDir::new().unwrap();
    let (port, path) = (free_port(), |name: &str| folder.path().join(name).to_str().unwrap().to_owned());
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    std::fs::write(path("tls.pem"), certificate.pem()).unwrap();
    std::fs::write(path("tls.key"), key.serialize_pem()).unwrap();
    let mut redis = Command::new("redis-server")
        .args([
            "--port",
            "0",
            "--tls-port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--requirepass",
            "a-password",
        ])
        .args(["--tls-auth-clients", "no", "--tls-ca-cert-file", &path("tls.pem")])
        .args(["--tls-cert-file", &path("tls.pem"), "--tls-key-file", &path("tls.key"), "--dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let store = format!("redis_ca_file = \"{}\"\n", path("tls.pem"));
    let url = format!("rediss://:a-password@127.0.0.1:{port}");
    let replicas = Replicas::at_redis(RedisServer::elsewhere(url), 2, setup(&store)).await;
    let mut browser = eventually("a sign-in", async || {
        let mut browser = Browser::new();
        (browser.sign_in_at(&replicas.all[0].url).await.status == 200).then_some(browser)
    })
    .await;
    assert_eq!(browser.get(&format!("{}/tasks", replicas.all[1].url)).await.status, 200);
    assert!(!replicas.logs().contains("a-password"));
    redis.kill().unwrap();
    redis.wait().unwrap();
}
