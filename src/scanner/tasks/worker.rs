//! One worker: takes the next task, has it analysed, writes how it ended. Whatever happens inside
//! an analysis, the worker lives on.

use std::sync::Arc;

use super::{Tasks, job, outcome};
use crate::contract::error::codes;
use crate::contract::ids::TaskId;
use crate::platform::shutdown::Shutdown;
use crate::scanner::engine::finding::{Analysis, Watch};
use crate::scanner::engine::{AnalyzeError, Job};
use crate::scanner::sandbox::Broken;
use crate::scanner::store::StoreError;
use crate::scanner::store::tasks::{Outcome, TaskRecord};

/// Works until the process ends.
pub(super) async fn work(tasks: Tasks, shutdown: Shutdown) {
    while let Some((account, id, watch)) = next(&tasks, &shutdown).await {
        if let Err(error) = run(&tasks, &shutdown, account, &id, watch).await {
            tracing::error!(task = %id, %error, "a task could not be recorded; it is taken up again at the next start");
        }
        tasks.line().running.remove(&id);
    }
}

/// Waits for a task. It counts as running from the moment it leaves the line, so that a stop never misses it.
async fn next(tasks: &Tasks, shutdown: &Shutdown) -> Option<(String, TaskId, Arc<Watch>)> {
    loop {
        let arrived = tasks.0.arrived.notified();
        if shutdown.has_begun() {
            return None;
        }
        if let Some(taken) = take(tasks) {
            return Some(taken);
        }
        tokio::select! {
            () = shutdown.begun() => return None,
            () = arrived => {}
        }
    }
}

fn take(tasks: &Tasks) -> Option<(String, TaskId, Arc<Watch>)> {
    let mut line = tasks.line();
    let (account, id) = line.waiting.pop_front()?;
    if !line.waiting.is_empty() {
        tasks.0.arrived.notify_one();
    }
    let watch = Arc::new(Watch::default());
    line.running.insert(id.clone(), Arc::clone(&watch));
    Some((account, id, watch))
}

async fn run(tasks: &Tasks, shutdown: &Shutdown, account: String, id: &TaskId, watch: Arc<Watch>) -> Result<(), StoreError> {
    let (store, now, task_id) = (&tasks.0.store, tasks.0.clock.now(), id.clone());
    let started = store.run(move |store| store.start_task(&account, &task_id, now)).await?;
    // Terminated or deleted while it waited.
    let Some(task) = started else { return Ok(()) };
    if shutdown.has_begun() {
        return Ok(());
    }
    let job = job::of(&tasks.0, &task).await?;
    let done = analyze(tasks, job, watch).await;
    if matches!(done, Err(Broken::Stopped | Broken::Refused(AnalyzeError::Stopped))) && shutdown.has_begun() {
        return Ok(());
    }
    let end = ended(&task, done);
    let now = tasks.0.clock.now();
    store.run(move |store| store.end_task(&task.account, &task.id, end, now)).await
}

async fn analyze(tasks: &Tasks, job: Job, watch: Arc<Watch>) -> Result<Analysis, Broken<AnalyzeError>> {
    tasks.0.sandbox.analyze(job, watch).await
}

fn ended(task: &TaskRecord, done: Result<Analysis, Broken<AnalyzeError>>) -> Outcome {
    let failed = |code, words: &str| Outcome::Failed { code, words: words.to_owned() };
    match done {
        Ok(analysis) => outcome::success(task, analysis),
        Err(Broken::Refused(error)) => failed(codes::BAD_FIELD, &error.to_string()),
        Err(Broken::Stopped) => failed(codes::BAD_FIELD, &AnalyzeError::Stopped.to_string()),
        Err(Broken::Memory(most)) => failed(
            codes::INTERNAL,
            &format!(
                "The analysis wanted more than {} MiB of memory and was ended. Nothing was found or ruled out. Scan the parts of this artifact one by one, or ask the operator for more.",
                most >> 20
            ),
        ),
        Err(Broken::Time(_)) => failed(
            codes::INTERNAL,
            "The analysis took longer than it may and was ended. Nothing was found or ruled out. Scan the parts of this artifact one by one.",
        ),
        Err(Broken::Crashed) => {
            tracing::error!(task = %task.id, "an analysis broke down");
            failed(codes::INTERNAL, "The analysis broke down on this artifact. Nothing was found or ruled out.")
        }
        Err(Broken::NotStarted) => failed(
            codes::INTERNAL,
            "The analysis could not be started. Try again; if it stays, tell the operator of the service.",
        ),
    }
}
