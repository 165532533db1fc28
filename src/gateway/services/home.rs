//! The first page: what needs its reader, what runs, what was found last.

use super::Actor;
use super::error::Error;
use super::lists::Listed;
use super::shares::{Seen, Shares};
use super::tasks::Tasks;
use crate::gateway::domain::filter::{State, TaskFilter};
use crate::gateway::domain::task::Task;

/// Rows of each list.
const ROWS: u32 = 10;
/// Finished tasks whose critical findings are counted.
const LOOKED_AT: u32 = 50;

/// Use cases of the first page. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Home {
    tasks: Tasks,
    shares: Shares,
}

/// What the first page tells.
pub(in crate::gateway) struct Summary {
    /// Own shares that wrong codes have closed.
    pub(in crate::gateway) closed: Vec<Seen>,
    pub(in crate::gateway) running: Listed<Task>,
    pub(in crate::gateway) recent: Vec<Task>,
    /// Critical findings in the newest finished tasks.
    pub(in crate::gateway) open_critical: u64,
    /// How many tasks those are.
    pub(in crate::gateway) looked_at: usize,
}

impl Home {
    pub(in crate::gateway) const fn new(tasks: Tasks, shares: Shares) -> Self {
        Self { tasks, shares }
    }

    pub(in crate::gateway) async fn summary(&self, actor: &Actor) -> Result<Summary, Error> {
        let running = TaskFilter::in_states(&[State::Waiting, State::Running]);
        let finished = TaskFilter::in_states(&[State::Finished]);
        let everything = TaskFilter::default();
        let (closed, running, recent, finished) = futures_util::future::try_join4(
            self.shares.closed_by_wrong_codes(actor),
            self.tasks.list(actor, &running, ROWS),
            self.tasks.list(actor, &everything, ROWS),
            self.tasks.list(actor, &finished, LOOKED_AT),
        )
        .await?;
        let open_critical = finished.items.iter().filter_map(|task| task.counts).map(|counts| counts.critical).sum();
        Ok(Summary { closed, running, recent: recent.items, open_critical, looked_at: finished.items.len() })
    }
}
