//! A task as it changes: asked for again and again while somebody looks, at the pace the task deserves.

use std::time::Duration;

use futures_util::Stream;
use tokio::time::{Instant, sleep};

use super::Actor;
use super::error::Error;
use super::tasks::Tasks;
use crate::contract::ids::TaskId;
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::task::{Status, Task};
use crate::platform::shutdown::Shutdown;

/// A state this version does not know is asked for this much more slowly (WIRE 18 #6).
const UNKNOWN_STATE: u32 = 30;
/// Trouble on the way slows the asking down to at most this many paces.
const SLOWEST: u32 = 16;

/// Watches tasks. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Live {
    tasks: Tasks,
    shutdown: Shutdown,
    pace: Duration,
    longest: Duration,
}

/// What a watcher is told.
#[derive(Debug)]
pub(in crate::gateway) enum Event {
    /// The task is not as it was; the last one has ended.
    Changed(Box<Task>),
    /// Nothing new: keeps the connection open.
    Quiet,
    /// The session has ended.
    SignedOut(Ending),
    /// The task is not there any more.
    Gone,
}

struct Watch {
    live: Live,
    actor: Actor,
    id: TaskId,
    started: Instant,
    wait: Duration,
    /// Paces between two questions.
    paces: u32,
    told: Option<(Status, Option<u8>)>,
}

impl Live {
    /// Asks every `pace`, for at most `longest`; the page asks for a new stream then.
    pub(in crate::gateway) const fn new(tasks: Tasks, shutdown: Shutdown, pace: Duration, longest: Duration) -> Self {
        Self { tasks, shutdown, pace, longest }
    }

    /// Events of a task until it has ended, the session has, the time is over or the process ends.
    pub(in crate::gateway) fn watch(&self, actor: Actor, id: TaskId) -> impl Stream<Item = Event> + use<> {
        let start = Watch { live: self.clone(), actor, id, started: Instant::now(), wait: Duration::ZERO, paces: 1, told: None };
        futures_util::stream::unfold(Some(start), |state| async move { state?.step().await })
    }
}

impl Watch {
    async fn step(mut self) -> Option<(Event, Option<Self>)> {
        if self.started.elapsed() >= self.live.longest {
            return None;
        }
        let shutdown = self.live.shutdown.clone();
        let asked = async {
            sleep(self.wait).await;
            self.live.tasks.watched(&self.actor, &self.id).await
        };
        let answer = tokio::select! {
            answer = asked => answer,
            () = shutdown.begun() => return None,
        };
        let event = match answer {
            Ok(task) => {
                self.paces = if matches!(task.status, Status::Other(_)) { UNKNOWN_STATE } else { 1 };
                let now = Some((task.status.clone(), task.progress));
                if self.told == now { Event::Quiet } else { Event::Changed(Box::new(task)) }
            }
            Err(Error::SignIn) => return Some((Event::SignedOut(Ending::TokensRefused), None)),
            Err(Error::NotFound) => return Some((Event::Gone, None)),
            Err(Error::Upstream(error)) if error.kind == crate::gateway::upstream::Kind::NotFound => {
                return Some((Event::Gone, None));
            }
            Err(error) => {
                tracing::debug!(%error, "a watched task could not be read");
                self.paces = (self.paces * 2).min(SLOWEST);
                Event::Quiet
            }
        };
        self.wait = self.live.pace * self.paces;
        if let Event::Changed(task) = &event {
            self.told = Some((task.status.clone(), task.progress));
            if task.status.has_ended() {
                return Some((event, None));
            }
        }
        Some((event, Some(self)))
    }
}
