//! A finding's own content, the same on signed-in pages and on shared ones: facts, evidence, fix, references.
//! Every text here came from a scan: it goes through a renderer of `Hostile` and then through the template's escaping.

use super::words::{ReachView, SeverityView};
use crate::gateway::domain::finding::{Advice, Component, Finding, Fix, Place, Purchase, Reference, Suggestion, Taint};
use crate::platform::hostile::Hostile;

/// Characters of a class, a method or a path in a step; no honest one is longer.
const NAME: usize = 1_000;

/// What `partials/finding_body.html` shows.
pub(in crate::gateway) struct FindingBody {
    pub(in crate::gateway) severity: SeverityView,
    pub(in crate::gateway) facts: Vec<Fact>,
    pub(in crate::gateway) description: String,
    pub(in crate::gateway) evidence: Vec<EvidenceView>,
    pub(in crate::gateway) reach: Option<ReachView>,
    pub(in crate::gateway) chains: Vec<ChainLink>,
    pub(in crate::gateway) ends: Vec<TaintView>,
    /// What `flow` is.
    pub(in crate::gateway) flow_title: &'static str,
    pub(in crate::gateway) flow: Vec<FlowStep>,
    /// Code and what a proof printed.
    pub(in crate::gateway) blocks: Vec<Block>,
    pub(in crate::gateway) fix: FixView,
    pub(in crate::gateway) references: Vec<ReferenceView>,
}

/// A name and a value; never empty.
pub(in crate::gateway) struct Fact {
    pub(in crate::gateway) name: &'static str,
    pub(in crate::gateway) value: String,
    /// Shown in a code face.
    pub(in crate::gateway) is_code: bool,
}

pub(in crate::gateway) struct EvidenceView {
    pub(in crate::gateway) kind: String,
    pub(in crate::gateway) path: String,
    pub(in crate::gateway) detail: String,
}

/// An exploit chain the finding is part of.
pub(in crate::gateway) struct ChainLink {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) title: String,
}

/// One step of a way through the code; one of the two is never empty.
pub(in crate::gateway) struct FlowStep {
    /// `org.example.Orders.find(String):42`, or `Orders.java, line 42`.
    pub(in crate::gateway) place: String,
    /// File and archive of a class.
    pub(in crate::gateway) beside: String,
}

/// Where data comes in or does harm.
pub(in crate::gateway) struct TaintView {
    pub(in crate::gateway) title: &'static str,
    pub(in crate::gateway) facts: Vec<Fact>,
    pub(in crate::gateway) snippet: String,
}

/// Several lines in a code face.
pub(in crate::gateway) struct Block {
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) text: String,
}

#[derive(Default)]
pub(in crate::gateway) struct FixView {
    pub(in crate::gateway) is_there: bool,
    pub(in crate::gateway) upgrade: String,
    pub(in crate::gateway) text: String,
    pub(in crate::gateway) facts: Vec<Fact>,
    pub(in crate::gateway) blocks: Vec<Block>,
    pub(in crate::gateway) advice: Vec<AdviceView>,
    pub(in crate::gateway) references: Vec<ReferenceView>,
}

pub(in crate::gateway) struct AdviceView {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) text: String,
    pub(in crate::gateway) note: String,
}

pub(in crate::gateway) struct ReferenceView {
    pub(in crate::gateway) title: String,
    /// The address in full; also shown when it is no link.
    pub(in crate::gateway) address: String,
    /// Only for http and https.
    pub(in crate::gateway) href: Option<String>,
}

impl FindingBody {
    pub(in crate::gateway) fn new(finding: &Finding, chains: Vec<ChainLink>) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        for (index, snippet) in finding.snippets.iter().enumerate() {
            push_block(&mut blocks, format!("Code {}", index + 1), snippet.code());
        }
        push_block(&mut blocks, "Proof of concept".to_owned(), finding.poc.script.text.code());
        push_block(&mut blocks, "What the proof printed".to_owned(), finding.poc.output.text.code());
        let ends = [("Source: where the data comes in", &finding.source), ("Sink: where it does harm", &finding.sink)];
        Self {
            severity: SeverityView::of(&finding.row.severity),
            facts: facts(finding),
            reach: finding.row.reachability.as_ref().map(ReachView::of),
            chains,
            description: finding.row.description.code(),
            evidence: finding
                .evidence
                .iter()
                .map(|piece| EvidenceView { kind: piece.kind.text(), path: piece.path.text(), detail: piece.detail.code() })
                .collect(),
            ends: ends
                .into_iter()
                .filter_map(|(title, end)| end.as_ref().map(|end| taint(title, end, end.snippet.code())))
                .collect(),
            flow_title: if finding.flow.iter().any(|step| !step.class.is_empty()) {
                "Path of calls to the vulnerable code"
            } else {
                "Way of the data"
            },
            flow: finding.flow.iter().map(flow_step).filter(|step| !step.place.is_empty()).collect(),
            blocks,
            fix: fix(finding),
            references: references(&finding.references),
        }
    }
}

fn push_block(blocks: &mut Vec<Block>, title: String, text: String) {
    if !text.trim().is_empty() {
        blocks.push(Block { title, text });
    }
}

/// Facts with something to say, in the order given.
fn told(facts: Vec<(&'static str, String, bool)>) -> Vec<Fact> {
    facts
        .into_iter()
        .filter(|(_, value, _)| !value.trim().is_empty())
        .map(|(name, value, is_code)| Fact { name, value, is_code })
        .collect()
}

fn joined(texts: &[Hostile]) -> String {
    texts.iter().filter(|text| !text.is_empty()).map(Hostile::text).collect::<Vec<_>>().join(", ")
}

fn facts(finding: &Finding) -> Vec<Fact> {
    let row = &finding.row;
    let component = row.component.clone().unwrap_or_default();
    let purchase = match &row.purchase {
        Purchase::Open => String::new(),
        Purchase::Other(word) => word.short(60),
    };
    let same_place = finding.location.raw() == component.path.raw();
    told(vec![
        ("Category", row.category.text(), false),
        ("Weakness", row.cwe.text().to_ascii_uppercase(), false),
        ("CVE", joined(&row.cves), false),
        ("Also known as", joined(&finding.aliases), false),
        ("Component", component_name(&component), true),
        ("Package", component.purl.text(), true),
        ("Place in the file", component.path.text(), true),
        ("Affected versions", finding.affected_range.text(), true),
        ("Fixed in", row.fixed_version.as_ref().map(Hostile::text).unwrap_or_default(), true),
        ("Location", if same_place { String::new() } else { finding.location.text() }, true),
        ("Interface", format!("{} {}", finding.api_method.text(), finding.api_path.text()).trim().to_owned(), true),
        ("How sure", sureness(row.confidence.raw()).unwrap_or_else(|| row.confidence.text()), false),
        ("Check", check(finding.verify_result.raw()).unwrap_or_else(|| finding.verify_result.text()), false),
        ("Published", finding.published.text(), false),
        ("Language", finding.lang.text(), false),
        ("Status", purchase, false),
        ("Finding id", Hostile::from(row.id.as_str()).text(), true),
    ])
}

fn component_name(component: &Component) -> String {
    format!("{} {}", component.name.text(), component.version.text()).trim().to_owned()
}

fn sureness(word: &str) -> Option<String> {
    let words = match word.to_ascii_uppercase().as_str() {
        "HIGH" => "High",
        "MEDIUM" => "Medium",
        "LOW" => "Low",
        _ => return None,
    };
    Some(words.to_owned())
}

fn check(word: &str) -> Option<String> {
    let words = match word.to_ascii_uppercase().as_str() {
        "VERIFY_PASS" => "Proven by running it",
        "VERSION_MATCH" => "The version is one of the affected ones",
        _ => return None,
    };
    Some(words.to_owned())
}

fn taint(title: &'static str, end: &Taint, snippet: String) -> TaintView {
    let facts = told(vec![
        ("File", end.file.text(), true),
        ("Method", end.method.text(), true),
        ("Place", end.place.as_ref().map(place).unwrap_or_default(), true),
        ("What happens", end.message.text(), false),
    ]);
    TaintView { title, facts, snippet }
}

/// A step as it is read: the method with its line, or the place in a file.
pub(in crate::gateway) fn flow_step(step: &Place) -> FlowStep {
    if step.class.is_empty() && step.method.is_empty() {
        let place = if step.file.is_empty() && step.line == 0 { String::new() } else { place(step) };
        return FlowStep { place, beside: step.archive.short(NAME) };
    }
    let joined = |texts: [&Hostile; 2], between: &str| {
        let told: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).map(|text| text.short(NAME)).collect();
        told.join(between)
    };
    let line = if step.line > 0 { format!(":{}", step.line) } else { String::new() };
    FlowStep {
        place: format!("{}{line}", joined([&step.class, &step.method], ".")),
        beside: joined([&step.file, &step.archive], " in "),
    }
}

fn place(place: &Place) -> String {
    let file = if place.file.is_empty() { "line ".to_owned() } else { format!("{}, line ", place.file.text()) };
    format!("{file}{}", place.line)
}

fn fix(finding: &Finding) -> FixView {
    fix_view(&finding.fix, upgrade(finding))
}

/// A suggestion, and a sentence about the upgrade, which may be empty.
pub(in crate::gateway) fn fix_view(fix: &Fix, upgrade: String) -> FixView {
    match fix {
        Fix::None => FixView { is_there: !upgrade.is_empty(), upgrade, ..FixView::default() },
        Fix::Text(text) => FixView { is_there: true, upgrade, text: text.code(), ..FixView::default() },
        Fix::Suggestion(suggestion) => suggested(suggestion, upgrade),
    }
}

fn upgrade(finding: &Finding) -> String {
    let (Some(component), Some(fixed)) = (&finding.row.component, &finding.row.fixed_version) else {
        return String::new();
    };
    if component.name.is_empty() || fixed.is_empty() {
        return String::new();
    }
    format!("Upgrade {} from {} to {} or later.", component.name.text(), component.version.text(), fixed.text())
}

fn suggested(suggestion: &Suggestion, upgrade: String) -> FixView {
    let mut blocks = Vec::new();
    push_block(&mut blocks, "Before".to_owned(), suggestion.before.code());
    push_block(&mut blocks, "After".to_owned(), suggestion.after.code());
    let sure =
        suggestion.confidence.filter(|share| (0.0..=1.0).contains(share)).map(|share| format!("{:.0} of 100", share * 100.0));
    let facts = told(vec![
        ("Principle", suggestion.principle.text(), false),
        ("Method", suggestion.method.text(), false),
        ("How sure", sure.unwrap_or_default(), false),
    ]);
    let advice = |kind: &'static str, list: &[Advice]| -> Vec<AdviceView> {
        list.iter()
            .map(|advice| AdviceView {
                kind,
                title: advice.title.text(),
                text: advice.description.code(),
                note: advice.note.text(),
            })
            .collect()
    };
    let mut all = advice("Another way", &suggestion.alternatives);
    all.extend(advice("Until it is fixed", &suggestion.mitigations));
    FixView {
        is_there: true,
        upgrade,
        text: suggestion.explanation.code(),
        facts,
        blocks,
        advice: all,
        references: references(&suggestion.references),
    }
}

fn references(list: &[Reference]) -> Vec<ReferenceView> {
    list.iter()
        .map(|reference| {
            let address = reference.url.text();
            let named = [&reference.title, &reference.kind].into_iter().find(|text| !text.is_empty());
            ReferenceView { title: named.map(|text| text.short(200)).unwrap_or_default(), href: reference.url.link(), address }
        })
        .filter(|reference| !(reference.title.is_empty() && reference.address.is_empty()))
        .collect()
}
