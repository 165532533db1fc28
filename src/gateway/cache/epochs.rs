//! What ends kept answers: each subject of each tenant has an epoch, which is part of every answer's place and moves with every
//! change. Nothing is looked for and deleted; what was kept before is not found any more and runs out.
//!
//! In this process an epoch is a number that moves at once. The other replicas are told by a message, and by a record of the
//! store whose version is the epoch of the answers kept there. Until both are done it is tried again, and until then nothing
//! of the subject is taken from the store or put into it.
//!
//! Where a change was given up on, nobody knows when the service makes it. For a while the epoch moves again and again, so that
//! what was read before it is not kept for long.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Event, Key, Store, Subscription, Unavailable};
use crate::platform::random;
use crate::platform::shutdown::Shutdown;

/// Where word of changes goes: `REPLICA/TENANT/SUBJECT`.
const CHANGED: &str = "cache-changed";
/// A store that is away is tried again this often.
const AGAIN: Duration = Duration::from_secs(1);
/// The record of an epoch outlives by this what was kept before it.
const MARGIN: Duration = Duration::from_mins(1);
/// So long a service may take over a change that was given up on.
const OPEN_FOR: Duration = Duration::from_mins(2);
/// Meanwhile nothing of its subjects is kept longer than this.
const OPEN_EVERY: Duration = Duration::from_secs(2);

const SUBJECTS: [Subject; 3] = [Subject::TaskLists, Subject::Tasks, Subject::Shares];

/// The epochs of all tenants. Cheap to clone.
#[derive(Clone)]
pub(super) struct Epochs(Arc<Inner>);

struct Inner {
    tenants: HashMap<TenantId, [AtomicU64; SUBJECTS.len()]>,
    /// Moves for all tenants together when word may have been lost.
    everything: AtomicU64,
    store: Store,
    /// Name of this replica: its own word is no news to it.
    replica: String,
    /// What the other replicas do not know yet, with the number of its last change.
    untold: Mutex<HashMap<(TenantId, Subject), u64>>,
    changes: AtomicU64,
    /// What changes of unknown end are about, and until when that is.
    open: Mutex<HashMap<(TenantId, Subject), Instant>>,
    /// There is something in `open`.
    opened: Notify,
    /// There is something for the task that tries again.
    again: Notify,
    /// How long the record of an epoch is kept.
    kept: Duration,
    wait: Duration,
}

impl Epochs {
    /// Epochs of these tenants, of answers that are kept for `longest`. Listens until the end of the process. A change waits up
    /// to `wait` for the other replicas to be told.
    pub(super) fn new(
        tenants: impl IntoIterator<Item = TenantId>,
        (longest, wait): (Duration, Duration),
        store: &Store,
        shutdown: &Shutdown,
    ) -> Result<Self, random::Unavailable> {
        let epochs = Self(Arc::new(Inner {
            tenants: tenants.into_iter().map(|tenant| (tenant, Default::default())).collect(),
            everything: AtomicU64::new(0),
            store: store.clone(),
            replica: random::id()?,
            untold: Mutex::default(),
            changes: AtomicU64::new(0),
            open: Mutex::default(),
            opened: Notify::new(),
            again: Notify::new(),
            kept: longest.saturating_add(MARGIN),
            wait,
        }));
        let (listening, events) = (epochs.clone(), store.subscribe(CHANGED));
        shutdown.spawn_until_begun(async move { listening.listen(events).await });
        let telling = epochs.clone();
        shutdown.spawn_until_begun(async move { telling.tell_again().await });
        let moving = epochs.clone();
        shutdown.spawn_until_begun(async move { moving.move_open().await });
        Ok(epochs)
    }

    /// The epoch of a subject of a tenant, or of what no change ends; `None` for a tenant there is none of.
    pub(super) fn of(&self, tenant: &TenantId, subject: Option<Subject>) -> Option<u64> {
        let all = self.0.everything.load(Ordering::SeqCst);
        let subjects = self.0.tenants.get(tenant)?;
        // Both only grow, so that their sum is another one after each change.
        Some(subject.and_then(|subject| place(subjects, subject)).map_or(all, |own| all + own.load(Ordering::SeqCst)))
    }

    /// Whether the store knows of every change of the subject.
    pub(super) fn is_told(&self, tenant: &TenantId, subject: Option<Subject>) -> bool {
        let untold = self.untold();
        untold.is_empty() || subject.is_none_or(|subject| !untold.contains_key(&(tenant.clone(), subject)))
    }

    /// Ends what was kept of the subjects here. The others do not know yet.
    pub(super) fn change(&self, tenant: &TenantId, subjects: &[Subject]) {
        for subject in subjects {
            let number = self.0.changes.fetch_add(1, Ordering::SeqCst);
            self.untold().insert((tenant.clone(), *subject), number);
            self.turn(tenant, *subject);
        }
    }

    /// A change of the subjects may still come about.
    pub(super) fn leave_open(&self, tenant: &TenantId, subjects: &[Subject]) {
        let until = Instant::now() + OPEN_FOR;
        self.open().extend(subjects.iter().map(|subject| ((tenant.clone(), *subject), until)));
        self.0.opened.notify_one();
    }

    /// Moves the epochs of what is open, until it is not any more and once then.
    async fn move_open(&self) {
        loop {
            if self.open().is_empty() {
                self.0.opened.notified().await;
            }
            tokio::time::sleep(OPEN_EVERY).await;
            let (now, mut about) = (Instant::now(), Vec::new());
            self.open().retain(|subject, until| {
                about.push(subject.clone());
                *until > now
            });
            for (tenant, subject) in about {
                self.change(&tenant, &[subject]);
            }
            self.tell().await;
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<(TenantId, Subject), Instant>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the others, or gives up for now; then it is tried again behind the request.
    pub(super) async fn tell(&self) {
        let later = Later(self);
        let trouble = match timeout(self.0.wait, self.tell_some()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the store is slow".to_owned()),
        };
        if let Some(error) = trouble {
            tracing::warn!(error, "other replicas do not know of a change yet");
        }
        drop(later);
    }

    /// Lets the others be told behind the request.
    pub(super) fn tell_later(&self) {
        if !self.untold().is_empty() {
            self.0.again.notify_one();
        }
    }

    fn turn(&self, tenant: &TenantId, subject: Subject) {
        if let Some(own) = self.0.tenants.get(tenant).and_then(|subjects| place(subjects, subject)) {
            own.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn listen(&self, mut events: Subscription) {
        loop {
            match events.next().await {
                Some(Event::Message(text)) => match read(&text) {
                    Some((replica, ..)) if replica == self.0.replica => {}
                    Some((_, tenant, subject)) => self.turn(&tenant, subject),
                    None => tracing::warn!("a message about a change cannot be read"),
                },
                Some(Event::Missed) => {
                    self.0.everything.fetch_add(1, Ordering::SeqCst);
                }
                None => return,
            }
        }
    }

    async fn tell_again(&self) {
        loop {
            self.0.again.notified().await;
            while let Err(error) = self.tell_some().await {
                tracing::debug!(%error, "other replicas still do not know of a change");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }

    /// Tells what is untold now, in the store first: whoever hears of it looks there next.
    async fn tell_some(&self) -> Result<(), Unavailable> {
        let some: Vec<_> = self.untold().iter().map(|(about, number)| (about.clone(), *number)).collect();
        for ((tenant, subject), number) in some {
            self.0.store.put(&record_of(&tenant, subject), Vec::new(), Some(self.0.kept)).await?;
            let word = format!("{}/{tenant}/{}", self.0.replica, name(subject));
            self.0.store.publish(CHANGED, word.as_bytes()).await?;
            let mut untold = self.untold();
            let about = (tenant, subject);
            // A change that came meanwhile may have been too late for this word.
            if untold.get(&about) == Some(&number) {
                untold.remove(&about);
            }
        }
        Ok(())
    }

    fn untold(&self) -> MutexGuard<'_, HashMap<(TenantId, Subject), u64>> {
        self.0.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever stops telling half-way leaves it to the task behind.
struct Later<'e>(&'e Epochs);

impl Drop for Later<'_> {
    fn drop(&mut self) {
        self.0.tell_later();
    }
}

fn read(text: &[u8]) -> Option<(&str, TenantId, Subject)> {
    let mut words = std::str::from_utf8(text).ok()?.split('/');
    let (replica, tenant, word) = (words.next()?, words.next()?, words.next()?);
    let subject = SUBJECTS.into_iter().find(|subject| name(*subject) == word)?;
    Some((replica, TenantId::parse(tenant).ok()?, subject))
}

/// The record whose version is the epoch of a subject in the store.
pub(super) fn record_of(tenant: &TenantId, subject: Subject) -> Key {
    Key::new(tenant, "cache-epoch", name(subject))
}

fn place(subjects: &[AtomicU64; SUBJECTS.len()], subject: Subject) -> Option<&AtomicU64> {
    SUBJECTS.iter().position(|known| *known == subject).and_then(|at| subjects.get(at))
}

const fn name(subject: Subject) -> &'static str {
    match subject {
        Subject::TaskLists => "task-lists",
        Subject::Tasks => "tasks",
        Subject::Shares => "shares",
    }
}
