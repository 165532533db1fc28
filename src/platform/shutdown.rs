//! Orderly ends: one signal that everything long-lived watches, and the one way to start a background task.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

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

    /// Starts a background task. It should end soon after [`Shutdown::begun`]; it is aborted when the drain time is over.
    #[expect(clippy::disallowed_methods, reason = "this is the wrapper the ban points to")]
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let tasks = Arc::clone(&self.tasks);
        tokio::spawn(async move {
            let mut tasks = tasks.lock().await;
            while tasks.try_join_next().is_some() {}
            tasks.spawn(task);
        });
    }

    /// Waits for background tasks, at most `limit`; aborts what is left.
    pub async fn drain(&self, limit: Duration) {
        let mut tasks = self.tasks.lock().await;
        let _ = tokio::time::timeout(limit, async { while tasks.join_next().await.is_some() {} }).await;
        tasks.abort_all();
    }
}
