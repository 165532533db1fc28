//! Components of a task: what the artifact is made of, and what is known about each part. Every text may have been written by
//! an attacker.

use serde_json::Value;

use super::finding::{Component, Reachability};
use super::task::Counts;
use crate::contract::ids::VulId;
use crate::platform::hostile::Hostile;

/// One part of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComponentRow {
    pub part: Component,
    /// `Maven`, `npm`, `PyPI`, `crates.io`, `Go`.
    pub ecosystem: Hostile,
    /// What told its name and version.
    pub identified_by: Hostile,
    pub counts: Counts,
    /// Its findings, the most severe first.
    pub findings: Vec<VulId>,
    /// The lowest version without any of the known flaws; none when there is no such version or nothing to fix.
    pub upgrade_to: Option<Hostile>,
    /// The strongest of its findings.
    pub reachability: Option<Reachability>,
    /// The whole row as it came.
    pub raw: Value,
}

impl ComponentRow {
    /// Whether something open is known about it.
    pub(in crate::gateway) const fn is_vulnerable(&self) -> bool {
        self.counts.total > 0
    }

    /// Orders the worst first: what is open by severity, what is only cleared, what has nothing; then by name and place.
    pub(in crate::gateway) fn rank(&self) -> impl Ord + use<> {
        let counts = &self.counts;
        let worst = std::cmp::Reverse([counts.critical, counts.high, counts.medium, counts.low, counts.total, counts.cleared]);
        let part = &self.part;
        (worst, part.name.raw().to_lowercase(), part.version.raw().to_owned(), part.path.raw().to_owned())
    }
}
