//! What the engine found, as the results of a task.

use std::collections::HashSet;

use crate::contract::chains::{ChainStep, ExploitChain, StepKind};
use crate::contract::results::{Reachability, Severity, VulDetail, VulRow};
use crate::contract::tasks::ResultsStat;
use crate::scanner::engine::finding::{Analysis, Chain, Finding};
use crate::scanner::store::results::Results;
use crate::scanner::store::tasks::{Outcome, TaskRecord};

/// Said of a task that was given logins.
const LOGINS_UNUSED: &str = "Logins were given; this service analyses the artifact and does not sign in.";

/// The results of an analysis that went to its end.
pub(super) fn success(task: &TaskRecord, mut analysis: Analysis) -> Outcome {
    if !task.accounts.is_empty() {
        analysis.summary.notes.push(LOGINS_UNUSED.to_owned());
    }
    let mut seen = HashSet::new();
    let findings: Vec<VulDetail> = analysis
        .findings
        .into_iter()
        .filter(|finding| seen.insert(finding.fingerprint.clone()))
        .zip(1..)
        .filter_map(|(finding, number)| detail(task, number, finding))
        .collect();
    let stat = count(findings.iter().map(|finding| &finding.row));
    let chains = analysis.chains.into_iter().filter_map(|chain| self::chain(task, chain, &findings)).collect();
    Outcome::Success(Box::new(Results { chains, components: analysis.components, summary: analysis.summary, stat, findings }))
}

/// Counts by severity. What class presence cleared is counted apart.
pub(in crate::scanner) fn count<'a>(rows: impl Iterator<Item = &'a VulRow>) -> ResultsStat {
    rows.fold(ResultsStat::default(), |mut stat, row| {
        if row.reachability == Some(Reachability::NotPresent) {
            stat.cleared_count += 1;
            return stat;
        }
        stat.total += 1;
        stat.purchased += 1;
        match row.severity {
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
        reachability: finding.reachability,
    };
    Some(VulDetail {
        row,
        task_lang: task.lang.clone(),
        location,
        verify_result: "VERSION_MATCH".to_owned(),
        poc_script: String::new(),
        poc_script_output: String::new(),
        fix_suggestion,
        code_flow: finding.flow,
        code_snippet: Vec::new(),
        component_task: true,
        aliases: finding.aliases,
        affected_range: finding.affected_range,
        evidence: finding.evidence,
        references: finding.references,
        published: finding.published,
    })
}

/// `None` when the finding it leads to is not among the task's.
fn chain(task: &TaskRecord, chain: Chain, findings: &[VulDetail]) -> Option<ExploitChain> {
    let finding = findings.iter().find(|finding| finding.row.vul_id.as_str() == chain.finding)?;
    let entry = chain.steps.first()?;
    let from = if entry.api_path.is_empty() {
        format!("{}.{}", entry.class_name.rsplit('.').next().unwrap_or_default(), entry.method)
    } else {
        [entry.api_method.as_str(), entry.api_path.as_str()].join(" ").trim().to_owned()
    };
    let row = &finding.row;
    Some(ExploitChain {
        vul_id: chain.fingerprint.parse().ok()?,
        task_id: task.id.clone(),
        title: format!("{from} reaches {}", row.title),
        category: row.category.clone(),
        severity: row.severity,
        cwe_id: row.cwe_id.clone(),
        description: format!(
            "Calls lead from {from} to vulnerable code of {} {}. Derived from bytecode, not executed.",
            row.component.name, row.component.version
        ),
        step_count: u32::try_from(chain.steps.len()).unwrap_or(u32::MAX),
        vul_ids: vec![row.vul_id.clone()],
        steps: chain
            .steps
            .into_iter()
            .map(|step| ChainStep { vul_id: (step.kind == StepKind::Sink).then(|| row.vul_id.clone()), ..step })
            .collect(),
        created_at: task.updated_at.rfc3339(),
        impact: row.description.clone(),
        precondition: format!("A request reaches {from}, and data of it gets as far as the last step."),
        fix_suggestion: finding.fix_suggestion.clone(),
    })
}
