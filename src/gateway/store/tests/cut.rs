//! A way to a `redis-server` that is cut in the middle of something: right after a command got there, with its answer or without.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::bench::RedisServer;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// What still comes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Last {
    /// The command and its answer.
    Answer,
    /// The command alone: it is done, and whoever sent it is not told.
    Command,
}

/// Where it is cut.
struct Armed {
    words: Vec<String>,
    last: Last,
}

/// The way. It is there until the runtime of the test ends.
#[derive(Clone)]
pub(in crate::gateway) struct Way {
    port: u16,
    armed: Arc<Mutex<Option<Armed>>>,
    is_cut: watch::Sender<bool>,
    shutdown: Shutdown,
}

impl Way {
    pub(in crate::gateway) async fn to(server: &RedisServer) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let target = server.settings().url.expose().trim_start_matches("redis://").to_owned();
        let way = Self {
            port: listener.local_addr().unwrap().port(),
            armed: Arc::default(),
            is_cut: watch::Sender::new(false),
            shutdown: Shutdown::default(),
        };
        let there = way.clone();
        way.shutdown.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (way, target) = (there.clone(), target.clone());
                there.shutdown.spawn(async move { way.carry(client, &target).await });
            }
        });
        way
    }

    pub(in crate::gateway) fn url(&self) -> Secret {
        Secret::new(format!("redis://127.0.0.1:{}", self.port))
    }

    /// Cuts the way at the next command with all of these words in it.
    pub(in crate::gateway) fn cut_at(&self, words: &[&str], last: Last) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        *self.armed.lock().unwrap() = Some(Armed { words, last });
    }

    pub(in crate::gateway) fn was_cut(&self) -> bool {
        *self.is_cut.borrow()
    }

    pub(in crate::gateway) fn mend(&self) {
        self.is_cut.send_replace(false);
    }

    async fn carry(&self, mut client: TcpStream, target: &str) {
        let mut cut = self.is_cut.subscribe();
        if *cut.borrow_and_update() {
            return;
        }
        let mut server = TcpStream::connect(target).await.unwrap();
        let (mut asked, mut answered, mut last) = (vec![0; 65536], vec![0; 65536], None);
        loop {
            tokio::select! {
                _ = cut.changed() => return,
                read = client.read(&mut asked) => {
                    let length = read.unwrap_or(0);
                    if length == 0 || server.write_all(&asked[..length]).await.is_err() {
                        return;
                    }
                    last = last.or_else(|| self.meets(&asked[..length]));
                }
                read = server.read(&mut answered) => {
                    let length = read.unwrap_or(0);
                    // The server does not know the script yet, so nothing is done; the command comes again.
                    if answered.starts_with(b"-NOSCRIPT") {
                        last = None;
                    }
                    if length == 0 || (last != Some(Last::Command) && client.write_all(&answered[..length]).await.is_err()) {
                        return;
                    }
                    if last.is_some() {
                        self.armed.lock().unwrap().take();
                        self.is_cut.send_replace(true);
                        return;
                    }
                }
            }
        }
    }

    fn meets(&self, sent: &[u8]) -> Option<Last> {
        let armed = self.armed.lock().unwrap();
        let has = |word: &String| sent.windows(word.len()).any(|part| part == word.as_bytes());
        armed.as_ref().filter(|armed| armed.words.iter().all(has)).map(|armed| armed.last)
    }
}
