//! Reads exploit chains (WIRE 18 #7).

use serde_json::Value;

use crate::gateway::domain::chain::{Chain, Step, StepKind};
use crate::gateway::domain::finding::Severity;

use super::results::{fix, place};
use super::{id, ids, objects, text, time, unwrapped};

/// A chain with its steps; None without a usable id.
pub(in crate::gateway::upstream) fn chain(value: &Value) -> Option<Chain> {
    let value = unwrapped(value);
    Some(Chain {
        id: id(value, &["vulId", "chainId", "id"])?,
        title: text(value, &["title", "name", "category"]),
        category: text(value, &["category"]),
        severity: Severity::read(text(value, &["severity"]).raw()),
        cwe: text(value, &["cweId", "cwe"]),
        description: text(value, &["description"]),
        impact: text(value, &["impact"]),
        precondition: text(value, &["precondition"]),
        fix: fix(value),
        findings: ids(value, &["vulIds"]),
        steps: objects(value, &["steps", "chain", "nodes", "stages"], |step| Some(self::step(step))),
        created: time(value, &["createdAt", "createTime"]),
        raw: value.clone(),
    })
}

fn step(value: &Value) -> Step {
    Step {
        kind: StepKind::read(text(value, &["kind"]).raw()),
        place: place(value).unwrap_or_default(),
        finding: id(value, &["vulId"]),
        category: text(value, &["category", "title", "name"]),
        severity: Severity::read(text(value, &["severity"]).raw()),
        api_method: text(value, &["apiMethod"]),
        api_path: text(value, &["apiPath"]),
        description: text(value, &["description"]),
        poc_script: text(value, &["pocScript"]),
        poc_output: text(value, &["pocScriptOutput"]),
    }
}
