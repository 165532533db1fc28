//! Orderly ends: one signal that everything long-lived watches, and the one way to start a background task.

use std::future::Future;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

/// Exit code after a second signal: ended by hand, as a shell counts Ctrl-C.
const BY_HAND: i32 = 130;

/// Shared by all parts of a process. Cheap to clone.
#[derive(Clone)]
pub struct Shutdown {
    signal: watch::Sender<bool>,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { signal: watch::Sender::new(false), tasks: Arc::default() }
    }
}

impl Shutdown {
    /// Tells every watcher that the end has begun. Calling it again changes nothing.
    pub fn begin(&self) {
        self.signal.send_replace(true);
    }

    /// Whether the end has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        *self.signal.borrow()
    }

    /// Resolves when the end begins.
    pub async fn begun(&self) {
        let mut seen = self.signal.subscribe();
        let _ = seen.wait_for(|begun| *begun).await;
    }

    /// Waits that long, or until the end begins. False when it has begun.
    pub async fn pause(&self, time: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.begun() => false,
        }
    }

    /// Starts a background task. It should end soon after [`Shutdown::begun`]; it is aborted when the drain time is over.
    /// Call it where a tokio runtime is running.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// As [`Shutdown::spawn`], for a task that has no end of its own: it is dropped, wherever it is, when the end begins.
    pub fn spawn_until_begun(&self, task: impl Future<Output = ()> + Send + 'static) {
        let end = self.clone();
        self.spawn(async move {
            tokio::select! {
                () = task => {}
                () = end.begun() => {}
            }
        });
    }

    /// As [`Shutdown::spawn`], for a task that stays on this thread: on a worker of the HTTP server, or inside a `LocalSet`.
    pub fn spawn_local(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(task);
    }

    /// Waits for background tasks, at most `limit`; aborts what is left.
    pub async fn drain(&self, limit: Duration) {
        let all = async {
            // A task may start another while this waits: look again until none is left.
            loop {
                let mut some = mem::take(&mut *self.tasks());
                if some.is_empty() {
                    break;
                }
                while some.join_next().await.is_some() {}
            }
        };
        // What is left when the time is over ends with its set, which is dropped here.
        let _ = tokio::time::timeout(limit, all).await;
        self.tasks().abort_all();
    }

    /// From now on SIGTERM or Ctrl-C begins the end; a second one ends the process at once.
    ///
    /// # Errors
    /// When the system does not let signals be watched.
    #[expect(clippy::disallowed_methods, reason = "the watch is there until the process ends; the drain must not wait for it")]
    pub fn watch_signals(&self) -> io::Result<()> {
        let mut signals = Signals::new()?;
        let this = self.clone();
        tokio::spawn(async move {
            signals.next().await;
            tracing::info!("asked to end: finishing what is running; ask again to end at once");
            this.begin();
            signals.next().await;
            tracing::warn!("asked again: ending at once");
            std::process::exit(BY_HAND);
        });
        Ok(())
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn the_drain_waits_for_tasks_and_for_tasks_of_tasks() {
        let shutdown = Shutdown::default();
        let ended = Arc::new(AtomicUsize::new(0));
        let (outer, inner) = (shutdown.clone(), Arc::clone(&ended));
        shutdown.spawn(async move {
            outer.begun().await;
            let count = Arc::clone(&inner);
            outer.spawn(async move {
                count.fetch_add(1, Ordering::SeqCst);
            });
            inner.fetch_add(1, Ordering::SeqCst);
        });
        shutdown.begin();
        shutdown.drain(Duration::from_mins(1)).await;
        assert_eq!(ended.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn the_drain_waits_for_tasks_of_one_thread_too() {
        let shutdown = Shutdown::default();
        let ended = std::rc::Rc::new(std::cell::Cell::new(false));
        let (end, inner) = (shutdown.clone(), std::rc::Rc::clone(&ended));
        let all = async {
            shutdown.spawn_local(async move {
                end.begun().await;
                inner.set(true);
            });
            shutdown.begin();
            shutdown.drain(Duration::from_mins(1)).await;
        };
        tokio::task::LocalSet::new().run_until(all).await;
        assert!(ended.get());
    }

    #[tokio::test]
    async fn a_task_that_does_not_end_is_aborted() {
        let shutdown = Shutdown::default();
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        shutdown.spawn(async move {
            std::future::pending::<()>().await;
            drop(held);
        });
        shutdown.begin();
        shutdown.drain(Duration::ZERO).await;
        while Arc::strong_count(&alive) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
