//! Says of each finding whether an entry point of the application leads to it, and by which calls. It annotates and raises:
//! no finding is taken away, and a path that is not seen is no proof that there is none.

use std::collections::HashMap;

use super::advisories::Advisories;
use super::budget::Budget;
use super::bytecode::{Code, Entry, EntryKind, Path, Paths, Step, Target};
use super::finding::{Chain, Finding};
use super::notes::Notes;
use super::wording::UNEXAMINED;
use crate::contract::chains::{ChainStep, StepKind};
use crate::contract::results::{Evidence, Reachability};
use crate::platform::digest;

/// What is known of an artifact when its findings are looked at.
struct Known<'a> {
    code: &'a Code,
    paths: Paths<'a>,
    /// Whether everything in the artifact was read.
    is_whole: bool,
}

/// Annotates `findings` and gives the chains that begin with a request; `is_whole` when all of the artifact was read. Bounds
/// that were hit become notes, and what is behind them is unknown.
pub(super) fn annotate(
    findings: &mut [Finding],
    (code, is_whole): (&Code, bool),
    advisories: &Advisories,
    budget: &Budget<'_>,
    notes: &mut Notes,
) -> Vec<Chain> {
    let by_path: HashMap<&str, u32> = code.archives.iter().map(String::as_str).zip(0..).collect();
    let mut known = Known { code, paths: code.paths(budget), is_whole };
    let bounds = code.bounds();
    let (mut chains, mut surplus, mut too_long) = (Vec::new(), 0_u64, 0_u64);
    for finding in findings.iter_mut().filter(|one| one.reachability.is_none()) {
        let is_over = budget.check().is_err();
        known.paths.missed.is_late |= is_over;
        let holder = finding.component.path.split("!/META-INF/").next().unwrap_or_default().to_owned();
        let Some(archive) = by_path.get(holder.as_str()).copied() else { continue };
        let is_embedded = holder != finding.component.path;
        let reach = advisories.reach_of(&finding.component.name, &finding.cve_ids);
        let (target, is_configured) = match reach {
            Some((reach, is_configured)) => (Target::Named(reach), is_configured),
            // A part of another archive has no classes of its own that are known.
            None if is_embedded => {
                unknown(finding, "It is packed into another archive, and which classes are its own is not known.");
                continue;
            }
            None => (Target::Archive(archive), false),
        };
        // What was reached before the time was over counts, as long as there is time to tell the path.
        let found = if is_over { None } else { known.paths.find(&target) };
        let Some(method) = found else {
            not_reached(finding, &known, &target, is_configured);
            continue;
        };
        let path = known.paths.path(method);
        reached(finding, code, &path, reach.is_some());
        let Some(entry) = path.entry.filter(|entry| entry.kind != EntryKind::Main) else { continue };
        if path.length > bounds.chain_steps {
            too_long += 1;
        } else if chains.len() >= bounds.chains {
            surplus += 1;
        } else {
            chains.push(chain(finding, code, entry, &path.steps, reach.is_some()));
        }
    }
    for finding in findings.iter_mut().filter(|one| one.reachability.is_some()) {
        finding.description = finding.description.replace(UNEXAMINED, "");
    }
    limits(&known, (surplus, too_long), notes);
    chains
}

/// Says which bounds were hit.
fn limits(known: &Known<'_>, (surplus, too_long): (u64, u64), notes: &mut Notes) {
    let (bounds, graph, paths) = (known.code.bounds(), &known.code.graph, &known.paths);
    if graph.damaged > 0 {
        notes.add(match graph.damaged {
            1 => "1 class file could not be read as a class; its calls are not known.".to_owned(),
            many => format!("{many} class files could not be read as classes; their calls are not known."),
        });
    }
    if graph.is_cut {
        notes.add("There are more classes and calls than are looked at: the calls of the rest are not known.".to_owned());
    }
    if paths.missed.is_cut && !graph.is_cut {
        notes.add(format!("More than {} calls lead on from entry points: the rest was not followed.", bounds.steps));
    }
    if paths.missed.is_late {
        notes.add(
            "The time of the analysis was over before all calls were followed: what the rest reaches is not known.".to_owned(),
        );
    }
    if paths.missed.is_narrowed {
        notes.add(format!(
            "Some calls may run more than {} methods, or methods of more than {} classes: no more were followed for each.",
            bounds.targets, bounds.subclasses
        ));
    }
    if surplus > 0 {
        notes.add(format!("There are {surplus} more exploit chains than the {} that are listed.", bounds.chains));
    }
    if too_long > 0 {
        notes.add(format!("{too_long} paths have more than {} steps: no exploit chains were made of them.", bounds.chain_steps));
    }
}

fn unknown(finding: &mut Finding, why: &str) {
    finding.reachability = Some(Reachability::Unknown);
    note(finding, format!("Whether it can be reached is unknown. {why}"));
}

fn note(finding: &mut Finding, detail: String) {
    let path = finding.component.path.clone();
    finding.evidence.push(Evidence { kind: "note".to_owned(), path, detail });
}

fn not_reached(finding: &mut Finding, known: &Known<'_>, target: &Target<'_>, is_configured: bool) {
    let Known { code, paths, is_whole } = known;
    let reason = if paths.missed.is_late {
        Some("The time of the analysis was over before all calls were followed.")
    } else if !paths.has_entries() {
        Some("The artifact has no entry point: no main class that is started, no servlet, no handler.")
    } else if !paths.knows(target) {
        Some("None of its classes could be read.")
    } else if paths.missed.is_cut {
        Some("The artifact has more calls than are followed.")
    } else if code.graph.damaged > 0 {
        Some("Some classes are damaged and could not be followed.")
    } else if !is_whole {
        Some("Not everything in the artifact could be read.")
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
    let narrowed =
        if paths.missed.is_narrowed { " Of calls that may run very many methods, only some were followed." } else { "" };
    note(finding, format!("It is there, and no path of calls from an entry point to it was seen.{narrowed}"));
}

fn reached(finding: &mut Finding, code: &Code, found: &Path<'_>, is_named: bool) {
    finding.reachability = Some(Reachability::Reachable);
    let what = if is_named { "the vulnerable code" } else { "code of the component; which part is vulnerable is not known" };
    let from = found.entry.map(words).unwrap_or_default();
    let said_how = if found.length == 1 {
        format!("It begins there itself: {from} comes in at {what}.")
    } else {
        format!("Calls lead from {from} to {what}.")
    };
    note(finding, format!("{said_how} Derived from bytecode, not executed."));
    for step in &found.steps {
        let path = place(code, step);
        finding.evidence.push(Evidence { kind: "path".to_owned(), path: path.clone(), detail: said(step) });
        if step.line > 0 {
            finding.flow.push(serde_json::json!({
                "file_uri": path, "start_line": step.line, "start_column": 1, "end_column": 1,
            }));
        }
    }
    let more = found.length.saturating_sub(found.steps.len());
    if more > 0 {
        note(finding, format!("The path has {more} further steps that are not shown."));
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

/// The first step is where the request comes in, the last one the flaw. When both are the same method, it is both steps, and
/// each of them says so.
fn chain(finding: &Finding, code: &Code, entry: &Entry, steps: &[Step], is_named: bool) -> Chain {
    let flaw = if is_named {
        "belongs to the code that has the flaw"
    } else {
        "belongs to the component that has the flaw; which part of it is vulnerable is not known"
    };
    let comes_in = capital(&words(entry));
    let mut all: Vec<(StepKind, &Step, String)> = Vec::new();
    match steps {
        [only] => {
            let said = said(only);
            all.push((StepKind::Entry, only, format!("{comes_in} comes in at {said}, which itself {flaw}.")));
            all.push((
                StepKind::Sink,
                only,
                format!("{said} {flaw}. The request comes in there itself, without a call between."),
            ));
        }
        [first, between @ .., last] => {
            all.push((StepKind::Entry, first, format!("{comes_in} comes in at {}.", said(first))));
            all.extend(between.iter().map(|step| (StepKind::Call, step, format!("{} calls on.", said(step)))));
            all.push((StepKind::Sink, last, format!("{} {flaw}.", said(last))));
        }
        [] => {}
    }
    let step = |((kind, step, description), order): ((StepKind, &Step, String), u32)| {
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
    };
    let mut parts = vec![finding.fingerprint.clone()];
    parts.extend(steps.iter().map(|step| format!("{}.{}", step.class, step.method)));
    let fingerprint = digest::hex(&digest::sha256(parts.join("\0").as_bytes()));
    Chain { fingerprint, finding: finding.fingerprint.clone(), steps: all.into_iter().zip(1..).map(step).collect() }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
