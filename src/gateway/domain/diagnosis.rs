//! Network diagnostics: whether the service reaches a target (WIRE 7).

use serde_json::Value;

use crate::platform::hostile::Hostile;

/// One look at a running or finished diagnosis; the list of stages grows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diagnosis {
    pub id: String,
    pub target: Hostile,
    pub state: State,
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
    pub info: Hostile,
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
    #[cfg_attr(not(test), expect(dead_code, reason = "network checks have no page yet"))]
    pub(crate) fn is_reached(&self) -> bool {
        self.state == State::Finished && self.stages.iter().all(|stage| stage.outcome == Outcome::Pass)
    }
}
