//! Says of each finding whether an entry point of the application leads to it, and by which calls. It annotates and raises:
//! no finding is taken away, and a path that is not seen is no proof that there is none.

use std::collections::HashMap;

use super::advisories::Advisories;
use super::bytecode::{Code, Entry, EntryKind, Paths, Step, Target};
use super::finding::{Chain, Finding};
use super::wording::UNEXAMINED;
use crate::contract::chains::{ChainStep, StepKind};
use crate::contract::results::{Evidence, Reachability};
use crate::platform::digest;

/// Steps of a path that are shown.
const MOST_STEPS: usize = 60;
/// Chains of one task.
const MOST_CHAINS: usize = 500;

/// Annotates `findings` and gives the chains that begin with a request.
pub(super) fn annotate(findings: &mut [Finding], code: &Code, advisories: &Advisories) -> Vec<Chain> {
    let by_path: HashMap<&str, u32> = code.archives.iter().map(String::as_str).zip(0..).collect();
    let paths = code.paths();
    let mut chains = Vec::new();
    for finding in findings.iter_mut().filter(|one| one.reachability.is_none()) {
        let holder = finding.component.path.split("!/META-INF/").next().unwrap_or_default().to_owned();
        let Some(archive) = by_path.get(holder.as_str()).copied() else { continue };
        let is_embedded = holder != finding.component.path;
        let known = advisories.reach_of(&finding.component.name, &finding.cve_ids);
        let (target, is_configured) = match known {
            Some((reach, is_configured)) => (Target::Named(reach), is_configured),
            // A part of another archive has no classes of its own that are known.
            None if is_embedded => {
                unknown(finding, "It is packed into another archive, and which classes are its own is not known.");
                continue;
            }
            None => (Target::Archive(archive), false),
        };
        match paths.find(&target) {
            Some(method) => {
                let (entry, steps) = paths.path(method);
                reached(finding, code, entry, &steps, known.is_some());
                if let Some(entry) = entry.filter(|entry| entry.kind != EntryKind::Main)
                    && chains.len() < MOST_CHAINS
                    && steps.len() <= MOST_STEPS
                {
                    chains.push(chain(finding, code, entry, &steps));
                }
            }
            None => not_reached(finding, code, &paths, &target, is_configured),
        }
    }
    for finding in findings.iter_mut().filter(|one| one.reachability.is_some()) {
        finding.description = finding.description.replace(UNEXAMINED, "");
    }
    chains
}

fn unknown(finding: &mut Finding, why: &str) {
    finding.reachability = Some(Reachability::Unknown);
    note(finding, format!("Whether it can be reached is unknown. {why}"));
}

fn note(finding: &mut Finding, detail: String) {
    let path = finding.component.path.clone();
    finding.evidence.push(Evidence { kind: "note".to_owned(), path, detail });
}

fn not_reached(finding: &mut Finding, code: &Code, paths: &Paths<'_>, target: &Target<'_>, is_configured: bool) {
    let reason = if !paths.has_entries() {
        Some("The artifact has no entry point: no main class that is started, no servlet, no handler.")
    } else if !paths.knows(target) {
        Some("None of its classes could be read.")
    } else if paths.is_cut {
        Some("The artifact has more calls than are followed.")
    } else if code.graph.damaged > 0 {
        Some("Some classes are damaged and could not be followed.")
    } else if is_configured {
        Some("No call leads to it, but it is one of those that a configuration loads by name.")
    } else if paths.is_dynamic || code.is_wired {
        Some("No call leads to it, but the application loads code by name.")
    } else {
        None
    };
    if let Some(reason) = reason {
        return unknown(finding, reason);
    }
    finding.reachability = Some(Reachability::PresentNoPath);
    note(finding, "It is there, and no path of calls from an entry point to it was seen.".to_owned());
}

fn reached(finding: &mut Finding, code: &Code, entry: Option<&Entry>, steps: &[Step], is_named: bool) {
    finding.reachability = Some(Reachability::Reachable);
    let what = if is_named { "the vulnerable code" } else { "code of the component; which part is vulnerable is not known" };
    let from = entry.map(words).unwrap_or_default();
    note(finding, format!("Calls lead from {from} to {what}. Derived from bytecode, not executed."));
    for step in steps.iter().take(MOST_STEPS) {
        let path = place(code, step);
        finding.evidence.push(Evidence { kind: "path".to_owned(), path: path.clone(), detail: said(step) });
        if step.line > 0 {
            finding.flow.push(serde_json::json!({
                "file_uri": path, "start_line": step.line, "start_column": 1, "end_column": 1,
            }));
        }
    }
}

fn words(entry: &Entry) -> String {
    match entry.kind {
        EntryKind::Main => "a main method".to_owned(),
        EntryKind::Servlet | EntryKind::Handler => {
            let request = [entry.verb.as_str(), entry.path.as_str()].join(" ");
            format!("a request ({})", if request.trim().is_empty() { "any path" } else { request.trim() })
        }
    }
}

/// `org.example.Orders.find(String):12`.
fn said(step: &Step) -> String {
    let line = if step.line > 0 { format!(":{}", step.line) } else { String::new() };
    format!("{}.{}{line}", step.class, step.method)
}

/// Where the source of a step would be: the archive, the package, and the file the class names.
fn place(code: &Code, step: &Step) -> String {
    let archive = archive(code, step);
    let package = step.class.rsplit_once('.').map(|(package, _)| package.replace('.', "/")).unwrap_or_default();
    let own = step.class.rsplit('.').next().and_then(|name| name.split('$').next()).unwrap_or_default();
    let file = if step.file.is_empty() { format!("{own}.class") } else { step.file.clone() };
    [archive, &format!("!/{package}/{file}").replace("!//", "!/")].concat()
}

fn archive<'a>(code: &'a Code, step: &Step) -> &'a str {
    code.archives.get(step.archive as usize).map_or("", String::as_str)
}

fn chain(finding: &Finding, code: &Code, entry: &Entry, steps: &[Step]) -> Chain {
    let last = steps.len();
    let steps: Vec<ChainStep> = steps
        .iter()
        .zip(1..)
        .map(|(step, order)| {
            let (kind, description) = match order {
                1 => (StepKind::Entry, format!("{} comes in at {}.", capital(&words(entry)), said(step))),
                order if order as usize == last => {
                    (StepKind::Sink, format!("{} belongs to the code that has the flaw.", said(step)))
                }
                _ => (StepKind::Call, format!("{} calls on.", said(step))),
            };
            let is_entry = kind == StepKind::Entry;
            ChainStep {
                order,
                vul_id: None,
                category: finding.category.clone(),
                severity: finding.severity,
                api_method: if is_entry { entry.verb.clone() } else { String::new() },
                api_path: if is_entry { entry.path.clone() } else { String::new() },
                description,
                kind,
                class_name: step.class.clone(),
                method: step.method.clone(),
                path: archive(code, step).to_owned(),
                file: step.file.clone(),
                line: (step.line > 0).then_some(u32::from(step.line)),
            }
        })
        .collect();
    let mut parts = vec![finding.fingerprint.clone()];
    parts.extend(steps.iter().map(|step| format!("{}.{}", step.class_name, step.method)));
    let fingerprint = digest::hex(&digest::sha256(parts.join("\0").as_bytes()));
    Chain { fingerprint, finding: finding.fingerprint.clone(), steps }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
