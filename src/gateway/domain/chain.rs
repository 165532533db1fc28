//! Exploit chains: how several findings work together (WIRE 18 #7).

use serde_json::Value;

use super::finding::{Fix, Severity};
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

/// One step of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub finding: Option<VulId>,
    pub category: Hostile,
    pub severity: Severity,
    pub api_method: Hostile,
    pub api_path: Hostile,
    pub description: Hostile,
    pub poc_script: Hostile,
    pub poc_output: Hostile,
}
