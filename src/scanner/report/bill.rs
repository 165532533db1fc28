//! What both bills of materials are made of: components by package URL with their places, flaws with what they affect, and
//! names that are the same for the same task. Knows neither format.

use std::collections::BTreeMap;

use super::Content;
use crate::contract::results::{Reachability, VulDetail};
use crate::platform::digest;

/// A component, once, wherever it lies.
pub(super) struct Part<'a> {
    pub(super) purl: &'a str,
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) identified_by: &'a str,
    /// Its places in the artifact.
    pub(super) paths: Vec<&'a str>,
}

/// One flaw of one component.
pub(super) struct Flaw<'a> {
    pub(super) finding: &'a VulDetail,
    /// The strongest of all places.
    pub(super) reachability: Option<Reachability>,
}

/// Components by package URL. Tasks of earlier versions kept none: then those with findings are told.
pub(super) fn parts(content: &Content) -> Vec<Part<'_>> {
    let mut all: BTreeMap<&str, Part<'_>> = BTreeMap::new();
    let rows = content.components.iter().map(|row| (&row.component, row.identified_by.as_str()));
    let found = content.findings.iter().map(|finding| {
        let how = finding.evidence.first().map_or("", |evidence| evidence.kind.as_str());
        (&finding.row.component, how)
    });
    for (component, identified_by) in rows.chain(found) {
        let part = all.entry(&component.purl).or_insert_with(|| Part {
            purl: &component.purl,
            name: &component.name,
            version: &component.version,
            identified_by,
            paths: Vec::new(),
        });
        part.paths.push(&component.path);
    }
    let mut parts: Vec<Part<'_>> = all.into_values().collect();
    for part in &mut parts {
        part.paths.sort_unstable();
        part.paths.dedup();
    }
    parts
}

/// Flaws by component and id, in the order of the findings.
pub(super) fn flaws(content: &Content) -> Vec<Flaw<'_>> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut all: Vec<Flaw<'_>> = Vec::new();
    for finding in &content.findings {
        let reachability = finding.row.reachability;
        let key = (finding.row.component.purl.as_str(), id(finding));
        if let Some(known) = places.get(&key).and_then(|at| all.get_mut(*at)) {
            // Strongest first; a place where nothing can be said outweighs one that is cleared.
            known.reachability = match (known.reachability, reachability) {
                (Some(left), Some(right)) => Some(left.min(right)),
                (left, right) => left.or(right).filter(|one| *one == Reachability::Reachable),
            };
        } else {
            places.insert(key, all.len());
            all.push(Flaw { finding, reachability });
        }
    }
    all
}

/// The id to show.
pub(super) fn id(finding: &VulDetail) -> &str {
    let row = &finding.row;
    row.cve_ids.first().or(finding.aliases.first()).map_or(row.vul_id.as_str(), String::as_str)
}

/// A short name made of a text, the same for the same text.
pub(super) fn short(text: &str) -> String {
    let mut hash = digest::hex(&digest::sha256(text.as_bytes()));
    hash.truncate(32);
    hash
}

/// A UUID of version 8 made of the task: the same task gives the same document.
pub(super) fn uuid(content: &Content, kind: &str) -> String {
    let hash = short(&format!("{kind}\0{}\0{}", content.task_id, content.artifact_sha256));
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// Whole seconds, as both formats want them.
pub(super) fn instant(content: &Content) -> String {
    let text = content.ended_at.rfc3339();
    let seconds = text.get(.."2026-01-01T00:00:00".len()).unwrap_or(&text);
    format!("{seconds}Z")
}
