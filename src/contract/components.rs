//! Components of a task. An addition to the interface: services without it answer 404, and nothing is shown then.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids::VulId;
use super::results::{Component, Reachability};
use super::tasks::ResultsStat;

/// One row of a component search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentRow {
    #[serde(flatten)]
    pub component: Component,
    /// `Maven`, `npm`, `PyPI`, `crates.io`, `Go`.
    pub ecosystem: String,
    /// What told its name and version: `pom.properties`, `pom.xml`, `manifest`, `file name`, `package-lock.json`, …
    pub identified_by: String,
    /// Counts of its findings.
    pub counts: ResultsStat,
    /// Its findings, the most severe first.
    pub vul_ids: Vec<VulId>,
    /// The lowest version without any of the known flaws, of the variant in use (`-jre`, `-android`); `at least 9.4.52` when
    /// only another variant is named. None when a flaw has no fix or there is none to fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_to: Option<String>,
    /// The strongest of its findings; none without findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachability: Option<Reachability>,
}
