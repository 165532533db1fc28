//! Reads tasks (WIRE 5.3 to 5.5, 18 #2, #4).

use serde_json::Value;

use crate::contract::ids::TaskId;
use crate::gateway::domain::finding::Severity;
use crate::gateway::domain::task::{Account, Counts, CreateFailure, Created, Statistics, StatisticsGroup, Status, Summary, Task};
use crate::platform::hostile::Hostile;

use super::{flag, id, ids, integer, list, objects, text, texts, time, unsigned, unwrapped, without_secrets};

/// A task of a list or in full; None without a usable id.
pub(in crate::gateway::upstream) fn task(value: &Value) -> Option<Task> {
    let raw = without_secrets(unwrapped(value).clone());
    let value = &raw;
    let params = value.pointer("/params/originRequestData").unwrap_or(&Value::Null);
    Some(Task {
        id: id(value, &["taskId", "id"])?,
        project: text(value, &["projectName", "name"]),
        lang: text(value, &["lang", "language"]),
        status: Status::read(text(value, &["taskStatus", "status"]).raw()),
        created: time(value, &["createdAt", "createTime"]),
        updated: time(value, &["updatedAt", "updateTime"]),
        executed: time(value, &["executedAt", "startedAt"]),
        ended: time(value, &["endedAt", "finishedAt"]),
        created_by: text(value, &["createdBy"]),
        counts: value.get("resultsStat").filter(|stat| stat.is_object()).map(counts),
        progress: unsigned(value, &["progress"]).map(|done| u8::try_from(done.min(100)).unwrap_or(100)),
        err_code: integer(value, &["errCode", "errorCode"]),
        err_detail: text(value, &["errDetail", "errorDetail"]),
        summary: value.get("summary").filter(|summary| summary.is_object()).map(summary),
        group: id(value, &["groupId", "taskGroupId"]),
        service: text(value, &["serviceName"]),
        file: file_name(value, params),
        group_tasks: ids(value, &["groupTaskIds"]),
        accounts: objects(value, &["accounts"], account),
        params: shown(params),
        raw,
    })
}

/// The name of the artifact: beside the task, or as it was created with.
fn file_name(task: &Value, params: &Value) -> Hostile {
    let names = ["primarySourceCodeFileName", "javaPackageFileName", "fileName"];
    let beside = text(task, &names);
    if beside.is_empty() { text(params, &names) } else { beside }
}

/// Role and address of a login; the query of the address may hold what is no business of a page.
fn account(value: &Value) -> Option<Account> {
    let address = text(value, &["loginUrl", "url"]);
    let bare = address.raw().split(['?', '#']).next().unwrap_or_default();
    let account = Account { role: text(value, &["roleName", "role"]), address: Hostile::from(bare) };
    (value.is_object() && account != Account::default()).then_some(account)
}

/// Parameters as names and values; nothing and empty lists are left out.
fn shown(params: &Value) -> Vec<(Hostile, Value)> {
    let Some(params) = params.as_object() else {
        return Vec::new();
    };
    params
        .iter()
        .filter(|(_, value)| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty))
        .map(|(name, value)| (Hostile::new(name.clone()), value.clone()))
        .collect()
}

/// Counts by severity; absent numbers are 0, an absent total is the sum.
pub(in crate::gateway::upstream) fn counts(value: &Value) -> Counts {
    let of = |names: &[&str]| unsigned(value, names).unwrap_or(0);
    let mut counts = Counts {
        total: 0,
        critical: of(&["criticalCount", "critical"]),
        high: of(&["highCount", "high"]),
        medium: of(&["mediumCount", "medium"]),
        low: of(&["lowCount", "low"]),
        cleared: of(&["clearedCount", "cleared"]),
    };
    let sum = [counts.critical, counts.high, counts.medium, counts.low].iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    counts.total = unsigned(value, &["total"]).unwrap_or(sum);
    counts
}

/// A stat answer: the counts at top, under `data` or `resultsStat`.
pub(in crate::gateway::upstream) fn statistics(value: &Value) -> Statistics {
    let value = unwrapped(value);
    let value = value.get("resultsStat").filter(|inner| inner.is_object()).unwrap_or(value);
    let groups = objects(value, &["detail"], |group| {
        Some(StatisticsGroup {
            category: text(group, &["category"]),
            cwe: text(group, &["cweId", "cwe"]),
            severity: Severity::read(text(group, &["severity"]).raw()),
            count: unsigned(group, &["count"])?,
        })
    });
    Statistics { counts: counts(value), groups }
}

fn summary(value: &Value) -> Summary {
    Summary {
        component_count: unsigned(value, &["componentCount"]).unwrap_or(0),
        unidentified: objects(value, &["unidentified"], |entry| Some((text(entry, &["path"]), text(entry, &["reason"])))),
        notes: texts(value, &["notes"]),
        advisory_date: text(value, &["advisoryDate"]),
        advisory_count: unsigned(value, &["advisoryCount"]).unwrap_or(0),
    }
}

/// Answer to create and create-group; None without any usable id.
pub(in crate::gateway::upstream) fn created(value: &Value) -> Option<Created> {
    if flag(value, &["success"]) == Some(false) {
        return None;
    }
    let answer = unwrapped(value);
    let mut all: Vec<TaskId> = ids(answer, &["taskIds"]);
    if all.is_empty() {
        all = list(answer, &["tasks"]).items.into_iter().filter_map(|task| id(task, &["taskId", "id"])).collect();
    }
    let first: TaskId = id(answer, &["taskId", "id"]).or_else(|| all.first().cloned())?;
    if all.is_empty() {
        all.push(first.clone());
    }
    let status = text(answer, &["status", "taskStatus"]);
    let status = if status.is_empty() { Status::Created } else { Status::read(status.raw()) };
    let failures = objects(answer, &["failures"], |failure| {
        let words = text(failure, &["errDetail", "errorDetail", "message"]);
        Some(CreateFailure { index: unsigned(failure, &["index"])?, code: integer(failure, &["errCode", "errorCode"]), words })
    });
    let group = id(answer, &["groupId", "taskGroupId"]);
    Some(Created { id: first, status, at: time(answer, &["createdAt", "createTime"]), ids: all, group, failures })
}
