//! Remote browsers: a real Chromium behind sessions that a page of the scanning service shows. This room starts and ends the
//! browser, keeps sessions apart, and gives the page a link of messages; it knows no HTTP of the service. Everything a browser
//! sends goes through the guarded dialer. Nothing of a session is stored or logged.

mod address;
mod capture;
mod chromium;
mod commands;
mod devtools;
mod folders;
mod input;
mod message;
mod proxy;
mod reaper;
mod screen;
mod session;
mod tabs;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use self::chromium::Chromium;
use self::message::Incoming;
pub(super) use self::message::ToPage;
use self::session::{Session, Surroundings};
use super::dialer::Dialer;
use super::places::{Limits, Place, Places};
use crate::config::scanner::Browser as Settings;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;
use crate::platform::{digest, private, random};

/// Messages of a page that may wait for its session.
const INBOX: usize = 256;
/// Messages of a session that may wait for its page; more, and the page is let go.
const OUTBOX: usize = 256;
/// Sessions that may wait to begin: places are few anyway.
const BEGINNING: usize = 16;

/// Why no browser is opened.
#[derive(Debug)]
pub(super) enum Refused {
    /// There is none on this machine, or it does not start.
    NoBrowser,
    /// All places are taken: try again after this.
    Busy(Duration),
}

/// A session that waits for its page.
pub(super) struct Opened {
    pub(super) id: String,
    /// Opens the page once, for a short time.
    pub(super) token: Secret,
}

/// The way between a page and its session. The session hears of the end when this is dropped.
pub(super) struct Link {
    number: u64,
    inbox: mpsc::Sender<Incoming>,
    out: mpsc::Receiver<ToPage>,
}

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct Browsers(Arc<Inner>);

struct Inner {
    settings: Arc<Settings>,
    clock: Clock,
    executable: Option<PathBuf>,
    places: Places,
    sessions: Mutex<HashMap<String, Entry>>,
    links: AtomicU64,
    beginning: mpsc::Sender<Begin>,
}

/// What is known of a session from outside.
struct Entry {
    inbox: mpsc::Sender<Incoming>,
    opens_until: Timestamp,
    /// Hash of the token that opens the page; gone when it was used.
    token: Option<[u8; 32]>,
    /// Hash of the token of the page that was opened.
    page: Option<[u8; 32]>,
}

struct Begin {
    place: Place,
    answer: oneshot::Sender<Result<Opened, Refused>>,
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        per_account: settings.per_account,
        all: settings.per_host,
        waiting_per_account: settings.queue,
        waiting: settings.queue,
        patience: Duration::from_secs(settings.queue_seconds),
    }
}

impl Browsers {
    /// Removes what a killed service left below `data`, and gets ready to start a browser when one is asked for.
    ///
    /// # Errors
    /// When the folder or the port of the proxy cannot be had.
    pub(super) async fn start(
        settings: Settings,
        data: &Path,
        clock: Clock,
        dialer: Dialer,
        shutdown: &Shutdown,
    ) -> std::io::Result<Self> {
        let folder = std::path::absolute(data)?.join("browser");
        let below = folder.clone();
        let prepared = tokio::task::spawn_blocking(move || {
            private::folder(&below)?;
            reaper::reap(&below);
            Ok::<_, std::io::Error>(())
        });
        prepared.await.map_err(std::io::Error::other)??;
        let proxy = proxy::start(dialer, settings.connections, shutdown).await?;
        let executable = chromium::find(&settings);
        let (beginning, begins) = mpsc::channel(BEGINNING);
        let this = Self(Arc::new(Inner {
            places: Places::new(limits(&settings)),
            settings: Arc::new(settings),
            clock,
            executable,
            sessions: Mutex::default(),
            links: AtomicU64::new(1),
            beginning,
        }));
        let keeper = Keeper { browsers: this.clone(), folder, proxy, shutdown: shutdown.clone(), running: None };
        shutdown.spawn(keeper.run(begins));
        Ok(this)
    }

    /// Opens a session for `account`; waits in the queue when all places are taken.
    pub(super) async fn open(&self, account: &str) -> Result<Opened, Refused> {
        if self.0.executable.is_none() {
            return Err(Refused::NoBrowser);
        }
        let busy = |_| Refused::Busy(Duration::from_secs(self.0.settings.queue_seconds.max(1)));
        let place = self.0.places.take(account).await.map_err(busy)?;
        let (answer, answered) = oneshot::channel();
        self.0.beginning.send(Begin { place, answer }).await.map_err(|_| Refused::NoBrowser)?;
        answered.await.unwrap_or(Err(Refused::NoBrowser))
    }

    /// The page of a session is opened with its token, once. Gives the token of that page, for its link.
    pub(super) fn enter(&self, id: &str, token: &Secret) -> Option<Secret> {
        let now = self.0.clock.now();
        let mut sessions = self.sessions();
        let entry = sessions.get_mut(id)?;
        let right = entry.token.is_some_and(|hash| digest::same(&hash, &hash_of(token)));
        if !right || now >= entry.opens_until {
            return None;
        }
        let page = Secret::new(random::token().ok()?);
        entry.token = None;
        entry.page = Some(hash_of(&page));
        Some(page)
    }

    /// Connects the page of a session; an earlier link of it ends.
    pub(super) fn link(&self, id: &str, page: &Secret) -> Option<Link> {
        let inbox = {
            let sessions = self.sessions();
            let entry = sessions.get(id)?;
            entry.page.filter(|hash| digest::same(hash, &hash_of(page)))?;
            entry.inbox.clone()
        };
        let number = self.0.links.fetch_add(1, Ordering::Relaxed);
        let (to_page, out) = mpsc::channel(OUTBOX);
        inbox.try_send(Incoming::Link { number, out: to_page }).ok()?;
        Some(Link { number, inbox, out })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// What the session has for its page; `None` when the link has ended.
    pub(super) async fn next(&mut self) -> Option<ToPage> {
        self.out.recv().await
    }

    /// Hands a message of the page over; waits while the session is busy. False when it has ended.
    pub(super) async fn send(&self, text: String) -> bool {
        self.inbox.send(Incoming::Text { number: self.number, text }).await.is_ok()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // A session whose inbox is full finds out when it next sends.
        let _ = self.inbox.try_send(Incoming::Unlinked { number: self.number });
    }
}

/// Keeps the one browser process: starts it for the first session, ends it some time after the last.
struct Keeper {
    browsers: Browsers,
    folder: PathBuf,
    proxy: u16,
    shutdown: Shutdown,
    running: Option<Chromium>,
}

impl Keeper {
    async fn run(mut self, mut begins: mpsc::Receiver<Begin>) {
        let (ended, mut ends) = mpsc::channel::<()>(BEGINNING);
        let linger = Duration::from_secs(self.browsers.0.settings.linger_seconds);
        let mut open = 0_usize;
        loop {
            let is_unused = open == 0 && self.running.is_some();
            let devtools = self.running.as_ref().map(|running| running.devtools.clone());
            let gone = async {
                match devtools {
                    Some(devtools) => devtools.gone().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                begin = begins.recv() => {
                    let Some(Begin { place, answer }) = begin else { break };
                    let opened = self.begin(place, ended.clone()).await;
                    open += usize::from(opened.is_ok());
                    let _ = answer.send(opened);
                }
                _ = ends.recv() => open = open.saturating_sub(1),
                () = gone => {
                    tracing::warn!("the browser has ended by itself; the next session starts another");
                    self.end().await;
                }
                () = tokio::time::sleep(linger), if is_unused => self.end().await,
                () = self.shutdown.begun() => break,
            }
        }
        self.end().await;
    }

    async fn begin(&mut self, place: Place, ended: mpsc::Sender<()>) -> Result<Opened, Refused> {
        let inner = Arc::clone(&self.browsers.0);
        let running = self.running().await?;
        let around = Surroundings {
            devtools: running.devtools.clone(),
            user_agent: running.user_agent.clone(),
            settings: Arc::clone(&inner.settings),
            clock: inner.clock.clone(),
        };
        let (inbox, incoming) = mpsc::channel(INBOX);
        let failed = |cause: &dyn std::error::Error| {
            tracing::error!(%cause, "a remote browser could not be opened");
            Refused::NoBrowser
        };
        let (id, token) =
            random::hex_id().and_then(|id| Ok((id, Secret::new(random::token()?)))).map_err(|error| failed(&error))?;
        let session = Session::begin(around, incoming).await.map_err(|error| failed(&error))?;
        let opens_until = inner.clock.now().after(Duration::from_secs(inner.settings.open_seconds));
        let entry = Entry { inbox, opens_until, token: Some(hash_of(&token)), page: None };
        self.browsers.sessions().insert(id.clone(), entry);
        let (browsers, shutdown, known) = (self.browsers.clone(), self.shutdown.clone(), id.clone());
        self.shutdown.spawn(async move {
            session.run(shutdown).await;
            browsers.sessions().remove(&known);
            drop(place);
            let _ = ended.send(()).await;
        });
        Ok(Opened { id, token })
    }

    /// The running browser; starts it when there is none.
    async fn running(&mut self) -> Result<&Chromium, Refused> {
        let inner = &self.browsers.0;
        let started = if let Some(running) = self.running.take() {
            running
        } else {
            let executable = inner.executable.as_deref().ok_or(Refused::NoBrowser)?;
            let started = Chromium::start(executable, &self.folder, self.proxy, &inner.settings, &self.shutdown).await;
            started.map_err(|error| {
                tracing::error!(%error, "the browser does not start");
                Refused::NoBrowser
            })?
        };
        Ok(self.running.insert(started))
    }

    async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.end().await;
        }
    }
}

fn hash_of(token: &Secret) -> [u8; 32] {
    digest::sha256(token.expose().as_bytes())
}
