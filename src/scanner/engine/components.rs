//! The components of an artifact as rows: what each is, what was found in it, and the way out. Computed last, from the final
//! findings; looks for nothing new.

use std::collections::HashMap;

use super::advisories::Advisories;
use super::finding::Finding;
use super::identity::Identified;
use super::metadata::Coordinates;
use super::upgrade::{self, Target};
use crate::contract::components::ComponentRow;
use crate::contract::results::{Component, Reachability, Severity};
use crate::contract::tasks::ResultsStat;

/// One row for each component and place, by path.
pub(super) fn rows<'a>(
    identified: impl Iterator<Item = &'a Identified>,
    findings: &[Finding],
    advisories: &Advisories,
) -> Vec<ComponentRow> {
    let mut by_component: HashMap<(&str, &str, &str), Vec<&Finding>> = HashMap::new();
    for finding in findings {
        let Component { name, version, path, .. } = &finding.component;
        by_component.entry((name, version, inside(path))).or_default().push(finding);
    }
    let mut upgrades: HashMap<&Coordinates, Option<Target>> = HashMap::new();
    let mut rows = Vec::new();
    for one in identified {
        let coordinates = &one.coordinates;
        let name = coordinates.package();
        let mine = by_component.get(&(name.as_str(), coordinates.version.as_str(), inside(&one.path)));
        let mine = mine.map(Vec::as_slice).unwrap_or_default();
        let upgrade_to = if mine.is_empty() {
            None
        } else {
            upgrades.entry(coordinates).or_insert_with(|| upgrade::target(coordinates, advisories)).as_ref().map(Target::words)
        };
        rows.push(row(one, mine, upgrade_to));
    }
    rows.sort_by(|left, right| place(left).cmp(&place(right)));
    rows.dedup_by(|left, right| place(left) == place(right));
    rows
}

fn place(row: &ComponentRow) -> (&str, &str, &str, &str) {
    (&row.component.path, &row.ecosystem, &row.component.name, &row.component.version)
}

/// The path without the name of the artifact: fingerprints of findings do not know it either.
fn inside(path: &str) -> &str {
    path.split_once('!').map_or("", |(_, inside)| inside)
}

fn row(one: &Identified, findings: &[&Finding], upgrade_to: Option<String>) -> ComponentRow {
    let identified_by = one.evidence.first().map(|evidence| evidence.kind.clone()).unwrap_or_default();
    ComponentRow {
        component: Component {
            name: one.coordinates.package(),
            version: one.coordinates.version.clone(),
            purl: one.coordinates.purl(),
            path: one.path.clone(),
        },
        ecosystem: one.coordinates.ecosystem.as_str().to_owned(),
        identified_by,
        counts: counts(findings),
        vul_ids: findings.iter().filter_map(|finding| finding.fingerprint.parse().ok()).collect(),
        upgrade_to,
        reachability: findings.iter().filter_map(|finding| finding.reachability).min(),
    }
}

/// What is cleared is counted apart.
fn counts(findings: &[&Finding]) -> ResultsStat {
    let mut stat = ResultsStat::default();
    for finding in findings {
        if finding.reachability == Some(Reachability::NotPresent) {
            stat.cleared_count += 1;
            continue;
        }
        stat.total += 1;
        stat.purchased += 1;
        match finding.severity {
            Severity::Critical => stat.critical_count += 1,
            Severity::High => stat.high_count += 1,
            Severity::Medium => stat.medium_count += 1,
            Severity::Low => stat.low_count += 1,
        }
    }
    stat
}
