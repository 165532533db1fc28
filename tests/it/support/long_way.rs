//! A way to a server on loopback that is as long as a test wants it: what comes back arrives so much later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::spawn;

/// The way. It ends with the test's runtime.
pub(crate) struct LongWay {
    pub(crate) port: u16,
    millis: Arc<AtomicU64>,
}

impl LongWay {
    /// To a port of loopback; no longer than the direct one yet.
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let way = Self { port: listener.local_addr().unwrap().port(), millis: Arc::default() };
        let millis = Arc::clone(&way.millis);
        spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let ((asks, hears), (answers, takes)) = (near.into_split(), far.into_split());
                spawn(pass(asks, takes, Arc::default()));
                spawn(pass(answers, hears, Arc::clone(&millis)));
            }
        });
        way
    }

    /// From now on each answer takes so long.
    pub(crate) fn takes(&self, time: Duration) {
        self.millis.store(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

/// Passes everything on, each piece so long after it came: those that come together arrive together.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, millis: Arc<AtomicU64>) {
    let (sender, mut pieces) = mpsc::unbounded_channel();
    spawn(async move {
        let mut piece = Vec::new();
        while from.read_buf(&mut piece).await.is_ok_and(|read| read > 0) {
            let due = Instant::now() + Duration::from_millis(millis.load(Ordering::SeqCst));
            if sender.send((due, std::mem::take(&mut piece))).is_err() {
                return;
            }
        }
    });
    while let Some((due, piece)) = pieces.recv().await {
        tokio::time::sleep_until(due).await;
        if to.write_all(&piece).await.is_err() {
            return;
        }
    }
}
