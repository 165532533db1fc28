//! Shares, the owner's side and the recipient's (WIRE 18 #10 to #15).

use serde_json::Value;

use super::chain::Chain;
use super::finding::FindingRow;
use super::task::Counts;
use crate::contract::ids::{ShareId, TaskId, VulId};
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What a share gives access to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Findings,
    Report,
    Other(Hostile),
}

impl Kind {
    /// Reads the word of the wire in any case.
    pub(crate) fn read(word: &str) -> Self {
        match word.trim().to_ascii_uppercase().as_str() {
            "VUL" => Self::Findings,
            "REPORT" => Self::Report,
            _ => Self::Other(Hostile::new(word)),
        }
    }
}

/// Which door a link leads to. Whoever makes a share chooses it and anybody can type the other one, so it tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Doorway {
    /// `/s/…`: asks for a code.
    Code,
    /// `/o/…`: asks for nothing but a person's decision.
    Open,
}

impl Doorway {
    pub(in crate::gateway) const ALL: [Self; 2] = [Self::Code, Self::Open];

    /// That of a share which needs a code, or does not.
    pub(in crate::gateway) const fn of(needs_code: bool) -> Self {
        if needs_code { Self::Code } else { Self::Open }
    }
}

/// A share at one of its doors: what its addresses begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Spot {
    pub(in crate::gateway) doorway: Doorway,
    pub(in crate::gateway) share: ShareId,
}

/// A share as its owner sees it. The code is never here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShareRow {
    pub id: ShareId,
    pub task: Option<TaskId>,
    pub project: Hostile,
    pub kind: Kind,
    pub findings: Vec<VulId>,
    pub needs_code: bool,
    /// None: no end.
    pub expires: Option<Timestamp>,
    pub created: Option<Timestamp>,
    pub created_by: Hostile,
    pub raw: Value,
}

/// Answer to create.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CreatedShare {
    pub id: ShareId,
    pub expires: Option<Timestamp>,
}

/// A share as its recipient sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PublicShare {
    pub id: ShareId,
    pub kind: Kind,
    pub project: Hostile,
    pub lang: Hostile,
    pub task: Option<TaskId>,
    pub expires: Option<Timestamp>,
    /// None when the answer does not tell.
    pub counts: Option<Counts>,
    pub findings: Vec<FindingRow>,
    pub chains: Vec<Chain>,
    pub raw: Value,
}

/// What a try to open a share gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Opened<T> {
    Open(T),
    /// Asked without a code, and one is needed.
    CodeNeeded,
    WrongCode,
    /// Unknown, expired or deleted: the three are not told apart.
    Gone,
}
