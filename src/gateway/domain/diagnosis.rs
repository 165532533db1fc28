//! Network diagnostics: whether the service reaches a target (WIRE 7).

use std::time::Duration;

use serde_json::Value;

use crate::platform::hostile::Hostile;

/// One look at a running or finished diagnosis; the list of stages grows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diagnosis {
    pub id: String,
    pub target: Hostile,
    pub state: State,
    /// How many stages there are when all pass; 0 when the answer does not tell.
    pub stage_count: u64,
    /// The stage that runs now.
    pub next_stage: Hostile,
    pub stages: Vec<Stage>,
    pub raw: Value,
}

/// Whether to ask again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    InProgress,
    Finished,
    Other(Hostile),
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub name: Hostile,
    pub description: Hostile,
    pub outcome: Outcome,
    /// What was seen, one or more lines.
    pub info: Hostile,
    /// What to do about a failure; empty when there is nothing to do.
    pub hint: Hostile,
    /// How long it took, when the answer tells.
    pub took: Option<Duration>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Pass,
    Fail,
    Pending,
}

impl Diagnosis {
    /// Finished, and no check failed or stayed open. An empty list counts as reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.state == State::Finished && self.stages.iter().all(|stage| stage.outcome == Outcome::Pass)
    }
}
