//! A scan task as the portal knows it (WIRE 5.3 to 5.5, 18 #6).

use serde_json::Value;

use super::group::GroupId;
use crate::contract::ids::TaskId;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Created,
    Running,
    /// `SUCCESS` or `FINISHED`.
    Done,
    Failed,
    /// `TERMINATED`, `CANCELLED`, `CANCELED` or `STOPPED`.
    Terminated,
    /// A word this version does not know; shown as it is and asked for more slowly.
    Other(Hostile),
}

impl Status {
    /// Reads the word of the wire in any case.
    pub(crate) fn read(word: &str) -> Self {
        match word.trim().to_ascii_uppercase().as_str() {
            "CREATED" => Self::Created,
            "RUNNING" => Self::Running,
            "SUCCESS" | "FINISHED" => Self::Done,
            "FAILED" => Self::Failed,
            "TERMINATED" | "CANCELLED" | "CANCELED" | "STOPPED" => Self::Terminated,
            _ => Self::Other(Hostile::new(word)),
        }
    }

    /// Whether nothing changes any more.
    pub(crate) const fn has_ended(&self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Terminated)
    }
}

/// How many findings there are, by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub total: u64,
    pub critical: u64,
    pub high: u64,
    pub medium: u64,
    pub low: u64,
    /// Findings whose vulnerable class is not in the artifact; not among the other numbers.
    pub cleared: u64,
}

impl Counts {
    /// Both together.
    pub(crate) const fn plus(&self, other: &Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            critical: self.critical.saturating_add(other.critical),
            high: self.high.saturating_add(other.high),
            medium: self.medium.saturating_add(other.medium),
            low: self.low.saturating_add(other.low),
            cleared: self.cleared.saturating_add(other.cleared),
        }
    }
}

/// Counts, and where they come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    pub counts: Counts,
    pub groups: Vec<StatisticsGroup>,
}

/// Findings of one kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatisticsGroup {
    pub category: Hostile,
    pub cwe: Hostile,
    pub severity: super::finding::Severity,
    pub count: u64,
}

/// A task. A row of a list has less: what it does not tell is empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub id: TaskId,
    pub project: Hostile,
    pub lang: Hostile,
    pub status: Status,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub executed: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub created_by: Hostile,
    /// None when the answer does not tell.
    pub counts: Option<Counts>,
    /// 0 to 100.
    pub progress: Option<u8>,
    pub err_code: Option<i64>,
    pub err_detail: Hostile,
    pub summary: Option<Summary>,
    /// None: the task was made alone.
    pub group: Option<GroupId>,
    /// The service of the group it is about.
    pub service: Hostile,
    /// Name of the file it is about; empty when the answer does not tell, as in lists.
    pub file: Hostile,
    /// All tasks of its group, itself too, when the answer tells.
    pub group_tasks: Vec<TaskId>,
    pub accounts: Vec<Account>,
    /// What the task was created with: names and values, without captured sessions.
    pub params: Vec<(Hostile, Value)>,
    /// The whole answer without captured sessions.
    pub raw: Value,
}

/// A login given for the target, without anything that was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub role: Hostile,
    /// Without query.
    pub address: Hostile,
}

/// What a composition analysis looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    pub component_count: u64,
    /// Path in the archive and why nothing is known about it.
    pub unidentified: Vec<(Hostile, Hostile)>,
    pub notes: Vec<Hostile>,
    /// The newest advisory known to the scan, `YYYY-MM-DD`.
    pub advisory_date: Hostile,
    pub advisory_count: u64,
}

/// Answer to create and create-group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Created {
    /// The first task.
    pub id: TaskId,
    pub status: Status,
    pub at: Option<Timestamp>,
    /// All tasks of a group, the first included; only the one task otherwise.
    pub ids: Vec<TaskId>,
    /// The group the tasks are in, when the answer tells.
    pub group: Option<GroupId>,
    /// Artifacts of a group no task was made for.
    pub failures: Vec<CreateFailure>,
}

/// An artifact that was refused while others of its group were taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CreateFailure {
    /// 0 is the first artifact of the request.
    pub index: u64,
    pub code: Option<i64>,
    pub words: Hostile,
}
