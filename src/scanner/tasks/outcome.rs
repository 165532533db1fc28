//! What the engine found, as the results of a task.

use std::collections::HashSet;

use crate::contract::results::{Severity, VulDetail, VulRow};
use crate::contract::tasks::ResultsStat;
use crate::scanner::engine::finding::{Analysis, Finding};
use crate::scanner::store::tasks::{Outcome, TaskRecord};

/// The results of an analysis that went to its end.
pub(super) fn success(task: &TaskRecord, analysis: Analysis) -> Outcome {
    let mut seen = HashSet::new();
    let findings: Vec<VulDetail> = analysis
        .findings
        .into_iter()
        .filter(|finding| seen.insert(finding.fingerprint.clone()))
        .zip(1..)
        .filter_map(|(finding, number)| detail(task, number, finding))
        .collect();
    let stat = count(findings.iter().map(|finding| finding.row.severity));
    Outcome::Success { findings, summary: analysis.summary, stat }
}

/// Counts by severity.
pub(in crate::scanner) fn count(severities: impl Iterator<Item = Severity>) -> ResultsStat {
    severities.fold(ResultsStat::default(), |mut stat, severity| {
        stat.total += 1;
        stat.purchased += 1;
        match severity {
            Severity::Critical => stat.critical_count += 1,
            Severity::High => stat.high_count += 1,
            Severity::Medium => stat.medium_count += 1,
            Severity::Low => stat.low_count += 1,
        }
        stat
    })
}

/// `None` when the engine gave no fingerprint, which it always does.
fn detail(task: &TaskRecord, number: u64, finding: Finding) -> Option<VulDetail> {
    let location = finding.component.path.clone();
    let fix_suggestion = serde_json::to_string(&finding.fix).unwrap_or_default();
    let row = VulRow {
        ov_id: number,
        vul_id: finding.fingerprint.parse().ok()?,
        task_id: task.id.clone(),
        category: finding.category,
        description: finding.description,
        cwe_id: finding.cwe_id,
        severity: finding.severity,
        purchase_status: "PURCHASED".to_owned(),
        price: 0,
        title: finding.title,
        cve_ids: finding.cve_ids,
        component: finding.component,
        fixed_version: finding.fixed_version,
        confidence: finding.confidence,
    };
    Some(VulDetail {
        row,
        task_lang: task.lang.clone(),
        location,
        verify_result: "VERSION_MATCH".to_owned(),
        poc_script: String::new(),
        poc_script_output: String::new(),
        fix_suggestion,
        code_flow: Vec::new(),
        code_snippet: Vec::new(),
        component_task: true,
        aliases: finding.aliases,
        affected_range: finding.affected_range,
        evidence: finding.evidence,
        references: finding.references,
        published: finding.published,
    })
}
