//! What tests of several rooms share: services on free ports, artifacts made on the spot, waiting without sleeping.

pub(crate) mod class_file;
pub(crate) mod client;
pub(crate) mod demo;
pub(crate) mod dns;
pub(crate) mod front;
pub(crate) mod jar;
pub(crate) mod keys;
pub(crate) mod large;
pub(crate) mod long_way;
pub(crate) mod openid;
pub(crate) mod provider;
pub(crate) mod redis;
pub(crate) mod redis_many;
pub(crate) mod replicas;
pub(crate) mod scanner;
pub(crate) mod service;
pub(crate) mod shop;
pub(crate) mod target;
pub(crate) mod upstream;
pub(crate) mod userinfo;

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// How long anything that has to happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Asks again and again until `ask` gives something; fails loudly, saying `what` never came, when patience ends.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{what} never came");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs something beside the test.
#[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// Reads until there is `mark`, or the connection ends; gives all that came.
pub(crate) async fn read_to(stream: &mut TcpStream, mark: &str) -> String {
    let mut all = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if text.contains(mark) {
            return text;
        }
        let read = tokio::time::timeout(Duration::from_mins(1), stream.read_buf(&mut all)).await;
        match read.unwrap_or_else(|_| panic!("neither {mark:?} nor an end came: {text}")) {
            Ok(0) | Err(_) => return text,
            Ok(_) => {}
        }
    }
}
