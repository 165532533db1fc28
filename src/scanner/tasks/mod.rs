//! The task queue: who waits, what runs, how it ended. Bounded workers take tasks in the order they were made; analysis
//! itself is the engine's work and every state is the store's. Knows no HTTP.

mod job;
mod outcome;
mod worker;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(in crate::scanner) use outcome::count;
use tokio::sync::Notify;

use super::engine::AdvisoryDatabase;
use super::engine::finding::Watch;
use super::sandbox::Sandbox;
use super::store::groups::Grouped;
use super::store::tasks::{NewTask, TaskRecord, Terminated};
use super::store::{Store, StoreError};
use crate::contract::ids::TaskId;
use crate::contract::tasks::{GroupFailure, TaskStatus};
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// How often imported advisories are looked for.
const REFRESH_EVERY: Duration = Duration::from_secs(3);

/// The queue. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Tasks(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Clock,
    sandbox: Sandbox,
    advisories: Arc<AdvisoryDatabase>,
    line: Mutex<Line>,
    arrived: Notify,
}

/// What the queue holds in memory; the store knows the rest.
#[derive(Default)]
struct Line {
    waiting: VecDeque<(String, TaskId)>,
    running: HashMap<TaskId, Arc<Watch>>,
}

impl Tasks {
    /// Takes up what an earlier run left open and starts `workers` workers.
    pub(in crate::scanner) async fn start(
        store: Store,
        clock: Clock,
        (sandbox, workers): (Sandbox, usize),
        advisories: Arc<AdvisoryDatabase>,
        shutdown: &Shutdown,
    ) -> Result<Self, StoreError> {
        let open = store.run(Store::unfinished_tasks).await?;
        let waiting = open.into_iter().map(|task| (task.account, task.id)).collect();
        let line = Mutex::new(Line { waiting, running: HashMap::new() });
        let tasks = Self(Arc::new(Inner { store, clock, sandbox, advisories, line, arrived: Notify::new() }));
        for _ in 0..workers.max(1) {
            shutdown.spawn(worker::work(tasks.clone(), shutdown.clone()));
        }
        shutdown.spawn(stop_at_the_end(tasks.clone(), shutdown.clone()));
        shutdown.spawn(keep_fresh(Arc::clone(&tasks.0.advisories), shutdown.clone()));
        Ok(tasks)
    }

    /// Keeps a new task and lets it wait for a worker; a repeated request gets the task it already made
    /// (see [`Store::create_task`]).
    pub(in crate::scanner) async fn create(&self, request: String, task: NewTask) -> Result<TaskRecord, StoreError> {
        let (task, is_new) = self.0.store.run(move |store| store.create_task(&request, task)).await?;
        if is_new {
            self.enqueue([&task]);
        }
        Ok(task)
    }

    /// As [`Tasks::create`] for several at once (see [`Store::create_group`]).
    pub(in crate::scanner) async fn create_group(
        &self,
        request: String,
        (account, group_id): (String, String),
        made: (Vec<NewTask>, Vec<GroupFailure>),
    ) -> Result<Grouped, StoreError> {
        let grouped = self.0.store.run(move |store| store.create_group(&request, &account, group_id, made)).await?;
        if grouped.is_new {
            self.enqueue(&grouped.tasks);
        }
        Ok(grouped)
    }

    /// Tells the advisories in use from any other.
    pub(in crate::scanner) fn advisories_identity(&self) -> String {
        self.0.advisories.identity()
    }

    fn enqueue<'t>(&self, tasks: impl IntoIterator<Item = &'t TaskRecord>) {
        self.line().waiting.extend(tasks.into_iter().map(|task| (task.account.clone(), task.id.clone())));
        self.0.arrived.notify_one();
    }

    /// Ends a task that waits or runs; a running analysis stops within moments and its worker becomes free.
    pub(in crate::scanner) async fn terminate(&self, account: String, id: TaskId, by: String) -> Result<Terminated, StoreError> {
        let now = self.0.clock.now();
        let task = id.clone();
        let outcome = self.0.store.run(move |store| store.terminate_task(&account, &task, &by, now)).await?;
        if outcome == Terminated::Done {
            self.stop(&id);
        }
        Ok(outcome)
    }

    /// Deletes tasks, all or nothing; one that runs is stopped. Gives the first id that is unknown.
    pub(in crate::scanner) async fn delete(&self, account: String, ids: Vec<TaskId>) -> Result<Option<TaskId>, StoreError> {
        let doomed = ids.clone();
        let unknown = self.0.store.run(move |store| store.delete_tasks(&account, &doomed)).await?;
        if unknown.is_none() {
            for id in &ids {
                self.stop(id);
            }
        }
        Ok(unknown)
    }

    /// How far a task is, 0 to 100.
    pub(in crate::scanner) fn progress(&self, task: &TaskRecord) -> u8 {
        match task.status {
            TaskStatus::Running => self.line().running.get(&task.id).map_or(0, |watch| watch.progress()),
            _ => task.progress,
        }
    }

    fn stop(&self, id: &TaskId) {
        let mut line = self.line();
        line.waiting.retain(|(_, waiting)| waiting != id);
        if let Some(watch) = line.running.get(id) {
            watch.stop();
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Nothing under this lock can leave it half changed, so a panic elsewhere does not spoil it.
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks running analyses to stop when the process ends: their tasks stay RUNNING in the store and are taken up again.
async fn stop_at_the_end(tasks: Tasks, shutdown: Shutdown) {
    shutdown.begun().await;
    tasks.line().running.values().for_each(|watch| watch.stop());
}

/// Picks up imported advisories.
async fn keep_fresh(advisories: Arc<AdvisoryDatabase>, shutdown: Shutdown) {
    loop {
        if !shutdown.pause(REFRESH_EVERY).await {
            return;
        }
        let database = Arc::clone(&advisories);
        match tokio::task::spawn_blocking(move || database.refresh()).await {
            Ok(Ok(true)) => tracing::info!("new advisories are in use"),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "advisories could not be read again; the earlier ones stay in use"),
            Err(_) => tracing::error!("reading advisories panicked; the earlier ones stay in use"),
        }
    }
}
