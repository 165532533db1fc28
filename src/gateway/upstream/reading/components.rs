//! Reads components of a task.

use serde_json::Value;

use crate::gateway::domain::component::ComponentRow;
use crate::gateway::domain::finding::Reachability;
use crate::gateway::domain::task::Counts;

use super::results::component as part;
use super::{counts, field, ids, text};

/// A row of a component search; None without anything to call it by.
pub(in crate::gateway::upstream) fn component_row(value: &Value) -> Option<ComponentRow> {
    let part = part(value.get("component").filter(|inner| inner.is_object()).unwrap_or(value));
    let upgrade_to = text(value, &["upgradeTo", "upgrade_to"]);
    (!part.name.is_empty() || !part.purl.is_empty() || !part.path.is_empty()).then(|| ComponentRow {
        part,
        ecosystem: text(value, &["ecosystem"]),
        identified_by: text(value, &["identifiedBy", "identified_by"]),
        counts: field(value, &["counts", "resultsStat"]).filter(|stat| stat.is_object()).map_or_else(Counts::default, counts),
        findings: ids(value, &["vulIds"]),
        upgrade_to: (!upgrade_to.is_empty()).then_some(upgrade_to),
        reachability: Reachability::read(text(value, &["reachability"]).raw()),
        raw: value.clone(),
    })
}
