//! What a report shows, in the order it shows it, as plain text that is safe to print once the output has escaped it.

use serde::Serialize;

use super::Content;
use super::words::Words;
use crate::contract::chains::{ChainStep, ExploitChain};
use crate::contract::results::{Evidence, FixSuggestion, Reachability, Severity, VulDetail};
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

#[derive(Serialize)]
pub(super) struct View {
    pub(super) words: &'static Words,
    pub(super) project: String,
    pub(super) facts: Vec<Fact>,
    pub(super) counts: Vec<Count>,
    pub(super) total: u64,
    pub(super) component_count: u64,
    pub(super) unidentified: Vec<Fact>,
    pub(super) notes: Vec<String>,
    /// Said instead of findings when there are none.
    pub(super) nothing_found: Option<String>,
    pub(super) findings: Vec<Finding>,
    /// Findings whose vulnerable class is not there: title and path.
    pub(super) cleared: Vec<Fact>,
    pub(super) chains: Vec<Chain>,
}

/// A chain as an ordered list.
#[derive(Serialize)]
pub(super) struct Chain {
    pub(super) title: String,
    pub(super) steps: Vec<String>,
}

/// A label and what belongs to it.
#[derive(Serialize)]
pub(super) struct Fact {
    pub(super) label: String,
    pub(super) value: String,
}

/// One severity in the overview.
#[derive(Serialize)]
pub(super) struct Count {
    /// The severity's name on the wire, for the style.
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    pub(super) word: &'static str,
    pub(super) findings: u64,
    /// Where its part of the bar begins and how wide it is, in thousandths.
    pub(super) from: u64,
    pub(super) width: u64,
}

#[derive(Serialize)]
pub(super) struct Finding {
    pub(super) number: u64,
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    pub(super) severity: &'static str,
    pub(super) title: String,
    pub(super) facts: Vec<Fact>,
    pub(super) description: String,
    pub(super) evidence: Vec<Fact>,
    pub(super) fix: Vec<String>,
    /// Before and after, when the fix is a change of text.
    pub(super) change: Option<(String, String)>,
    pub(super) references: Vec<Reference>,
}

#[derive(Serialize)]
pub(super) struct Reference {
    pub(super) text: String,
    /// Only web addresses become links.
    pub(super) link: Option<String>,
}

impl View {
    pub(super) fn new(content: &Content, words: &'static Words) -> Self {
        let summary = &content.summary;
        let data = (summary.advisory_count.to_string(), or(&text(&summary.advisory_date), words.unknown));
        let total = content.stat.total;
        Self {
            words,
            project: text(&content.project_name),
            facts: facts(content, words, fill(words.data_value, &[&data.0, &data.1])),
            counts: counts(content, words),
            total,
            component_count: summary.component_count,
            unidentified: summary
                .unidentified
                .iter()
                .map(|part| Fact { label: text(&part.path), value: text(&part.reason) })
                .collect(),
            notes: summary.notes.iter().map(|note| text(note)).collect(),
            nothing_found: content.findings.is_empty().then(|| fill(words.nothing_found, &[&data.0, &data.1])),
            cleared: content
                .findings
                .iter()
                .filter(|finding| finding.row.reachability == Some(Reachability::NotPresent))
                .map(|finding| Fact { label: text(&finding.row.title), value: text(&finding.row.component.path) })
                .collect(),
            chains: content.chains.iter().map(chain).collect(),
            findings: content.findings.iter().zip(1..).map(|(finding, number)| Finding::new(finding, number, words)).collect(),
        }
    }
}

fn facts(content: &Content, words: &'static Words, data: String) -> Vec<Fact> {
    [
        (words.project, text(&content.project_name)),
        (words.task, content.task_id.to_string()),
        (words.status, format!("{} ({})", words.succeeded, content.status.as_str())),
        (words.artifact, text(&content.artifact_name)),
        ("SHA-256", content.artifact_sha256.to_string()),
        (words.language, text(&content.lang)),
        (words.created_by, text(&content.created_by)),
        (words.created_at, minute(content.created_at)),
        (words.ended_at, minute(content.ended_at)),
        (words.data, data),
    ]
    .into_iter()
    .map(|(label, value)| Fact { label: label.to_owned(), value })
    .collect()
}

fn counts(content: &Content, words: &'static Words) -> Vec<Count> {
    let stat = &content.stat;
    let all = stat.total.max(1);
    let mut from = 0;
    Severity::ALL
        .into_iter()
        .map(|severity| {
            let count = match severity {
                Severity::Critical => stat.critical_count,
                Severity::High => stat.high_count,
                Severity::Medium => stat.medium_count,
                Severity::Low => stat.low_count,
            };
            let width = count.saturating_mul(1000) / all;
            let part = Count {
                class: severity.as_str(),
                mark: mark(severity),
                word: words.severity(severity),
                findings: count,
                from,
                width,
            };
            from += width;
            part
        })
        .collect()
}

impl Finding {
    fn new(finding: &VulDetail, number: u64, words: &'static Words) -> Self {
        let fix: FixSuggestion = serde_json::from_str(&finding.fix_suggestion).unwrap_or_default();
        let change = fix.code_example.map(|example| (code(&example.before), code(&example.after)));
        Self {
            number,
            class: finding.row.severity.as_str(),
            mark: mark(finding.row.severity),
            severity: words.severity(finding.row.severity),
            title: text(&finding.row.title),
            facts: finding_facts(finding, words),
            description: code(&finding.row.description),
            evidence: finding.evidence.iter().map(seen).collect(),
            fix: [fix.fix_method, fix.principle].iter().filter(|part| !part.trim().is_empty()).map(|part| code(part)).collect(),
            change: change.filter(|(before, after)| !before.is_empty() || !after.is_empty()),
            references: finding.references.iter().map(|address| reference(address)).collect(),
        }
    }
}

/// Facts without a value are left out, but for a fix: that there is none is worth saying.
fn finding_facts(finding: &VulDetail, words: &'static Words) -> Vec<Fact> {
    let row = &finding.row;
    let others: Vec<&str> = finding.aliases.iter().filter(|alias| !row.cve_ids.contains(alias)).map(String::as_str).collect();
    [
        (words.finding_id, row.vul_id.to_string()),
        (words.vulnerability, row.cve_ids.join(", ")),
        (words.also_known, others.join(", ")),
        (words.weakness, row.cwe_id.to_uppercase()),
        (words.category, row.category.clone()),
        (words.component, row.component.name.clone()),
        (words.version, row.component.version.clone()),
        (words.path, row.component.path.clone()),
        (words.affected, finding.affected_range.clone()),
        (words.fixed, row.fixed_version.clone().unwrap_or_else(|| words.no_fix.to_owned())),
        (words.confidence, words.confidence(row.confidence).to_owned()),
        (words.reachability, row.reachability.map(|one| words.reachability(one).to_owned()).unwrap_or_default()),
        (words.published, finding.published.clone()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.trim().is_empty())
    .map(|(label, value)| Fact { label: label.to_owned(), value: text(&value) })
    .collect()
}

fn chain(chain: &ExploitChain) -> Chain {
    let step = |step: &ChainStep| {
        let line = step.line.map(|line| format!(":{line}")).unwrap_or_default();
        let request = [step.api_method.as_str(), step.api_path.as_str()].join(" ");
        text(format!("{request} {}.{}{line} ({})", step.class_name, step.method, step.path).trim())
    };
    Chain { title: text(&chain.title), steps: chain.steps.iter().map(step).collect() }
}

fn seen(evidence: &Evidence) -> Fact {
    Fact { label: text(&evidence.kind), value: text(&format!("{}: {}", evidence.path, evidence.detail)) }
}

fn reference(address: &str) -> Reference {
    Reference { text: text(address), link: Hostile::from(address).link() }
}

/// Severity is never told by colour alone.
const fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "■",
        Severity::High => "▲",
        Severity::Medium => "◆",
        Severity::Low => "●",
    }
}

fn text(hostile: &str) -> String {
    Hostile::from(hostile).text()
}

fn code(hostile: &str) -> String {
    Hostile::from(hostile).code()
}

fn or(value: &str, otherwise: &str) -> String {
    if value.trim().is_empty() { otherwise.to_owned() } else { value.to_owned() }
}

/// `2026-11-28 01:10 UTC`.
fn minute(at: Timestamp) -> String {
    let text = at.rfc3339();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    let time: String = time.chars().take("01:10".len()).collect();
    format!("{date} {time} UTC")
}

/// Puts `values` where `{}` stands, from left to right.
pub(super) fn fill(sentence: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut parts = sentence.split("{}");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        out.push_str(values.next().copied().unwrap_or_default());
        out.push_str(part);
        out
    })
}
