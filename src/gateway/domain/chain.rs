//! Exploit chains: how several findings work together (WIRE 18 #7).

use serde_json::Value;

use super::finding::{Fix, Place, Severity};
use crate::contract::ids::VulId;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// A chain with its steps in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub id: VulId,
    pub title: Hostile,
    pub category: Hostile,
    pub severity: Severity,
    pub cwe: Hostile,
    pub description: Hostile,
    pub impact: Hostile,
    pub precondition: Hostile,
    pub fix: Fix,
    pub findings: Vec<VulId>,
    pub steps: Vec<Step>,
    pub created: Option<Timestamp>,
    /// The whole answer as it came.
    pub raw: Value,
}

impl Chain {
    /// The findings it is about, each once: those it names, then those its steps reach.
    pub(in crate::gateway) fn leads_to(&self) -> impl Iterator<Item = &VulId> {
        let steps = self.steps.iter().filter_map(|step| step.finding.as_ref());
        let mut seen = std::collections::HashSet::new();
        self.findings.iter().chain(steps).filter(move |id| seen.insert(id.as_str().to_owned()))
    }

    /// The first step that says how it is reached from outside, else the first step.
    pub(in crate::gateway) fn entry(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.kind == StepKind::Entry).or_else(|| self.steps.first())
    }
}

/// What a step is in its chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum StepKind {
    Entry,
    #[default]
    Call,
    Sink,
    Other(Hostile),
}

impl StepKind {
    /// Reads the word of the wire in any case; nothing is a call.
    pub(crate) fn read(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "entry" => Self::Entry,
            "" | "call" => Self::Call,
            "sink" => Self::Sink,
            _ => Self::Other(Hostile::new(word)),
        }
    }
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub kind: StepKind,
    /// Class, method, file, line and the archive the class lies in.
    pub place: Place,
    pub finding: Option<VulId>,
    pub category: Hostile,
    pub severity: Severity,
    pub api_method: Hostile,
    pub api_path: Hostile,
    pub description: Hostile,
    pub poc_script: Hostile,
    pub poc_output: Hostile,
}
