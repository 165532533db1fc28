//! Plans of components, and the order among the versions that fix them.

use serde_json::Value;

use super::*;
use crate::contract::results;
use crate::gateway::domain::finding::{Component, Purchase, Reachability, Severity};
use crate::gateway::domain::task::Counts;

fn finding(id: &str, fixed: Option<&str>) -> FindingRow {
    FindingRow {
        id: id.parse().unwrap(),
        task: None,
        severity: Severity::Known(results::Severity::High),
        title: id.into(),
        category: "".into(),
        description: "".into(),
        cwe: "".into(),
        cves: Vec::new(),
        component: None,
        fixed_version: fixed.map(Hostile::from),
        confidence: "".into(),
        reachability: None,
        purchase: Purchase::Open,
        raw: Value::Null,
    }
}

fn component(name: &str, path: &str, findings: &[&str], upgrade_to: Option<&str>) -> ComponentRow {
    ComponentRow {
        part: Component { name: name.into(), version: "1.0".into(), purl: "".into(), path: path.into() },
        ecosystem: "Maven".into(),
        identified_by: "".into(),
        counts: Counts { total: findings.len() as u64, high: findings.len() as u64, ..Counts::default() },
        findings: findings.iter().map(|id| id.parse().unwrap()).collect(),
        upgrade_to: upgrade_to.map(Hostile::from),
        reachability: None,
        raw: Value::Null,
    }
}

#[test]
fn what_clears_most_comes_first_and_what_has_no_fix_is_named() {
    let findings = [
        finding("a", Some("1.2.9")),
        finding("b", Some("1.2.17")),
        finding("c", None),
        finding("d", Some("2.0")),
        finding("e", None),
    ];
    let rows = vec![
        component("none:clean", "x", &[], None),
        component("no:fix", "y", &["e"], None),
        component("one:clear", "z", &["d"], Some("2.0")),
        component("some:fixes", "w", &["a", "b", "c"], None),
    ];
    let plan = plan(rows, &findings);
    let told: Vec<_> = plan
        .iter()
        .map(|one| (one.row.part.name.raw(), one.target.as_ref().map(Hostile::raw), one.clears, one.of, one.without_fix.len()))
        .collect();
    assert_eq!(told, [("some:fixes", Some("1.2.17"), 2, 3, 1), ("one:clear", Some("2.0"), 1, 1, 0), ("no:fix", None, 0, 1, 1)]);
    assert_eq!(plan[0].without_fix[0].id.as_str(), "c");
}

#[test]
fn the_same_component_in_several_places_is_one_upgrade() {
    let findings = [finding("a", None), finding("b", None)];
    let rows = vec![component("x:y", "one.jar", &["a"], Some("1.9")), component("x:y", "two.jar", &["b"], Some("1.10"))];
    let plan = plan(rows, &findings);
    assert_eq!((plan.len(), plan[0].clears, plan[0].of), (1, 2, 2));
    assert_eq!(plan[0].target.as_ref().map(Hostile::raw), Some("1.10"));
    assert_eq!(plan[0].places.iter().map(Hostile::raw).collect::<Vec<_>>(), ["one.jar", "two.jar"]);
}

#[test]
fn findings_that_are_cleared_are_no_reason_to_upgrade() {
    let mut cleared = finding("a", Some("9"));
    cleared.reachability = Some(Reachability::Known(results::Reachability::NotPresent));
    let mut row = component("x:y", "p", &["a", "b"], None);
    row.counts = Counts { total: 1, high: 1, cleared: 1, ..Counts::default() };
    let plan = plan(vec![row], &[cleared, finding("b", Some("2"))]);
    assert_eq!((plan[0].target.as_ref().map(Hostile::raw), plan[0].clears, plan[0].of), (Some("2"), 1, 1));
}

#[test]
fn a_component_whose_findings_are_not_known_promises_nothing() {
    let plan = plan(vec![component("x:y", "p", &["gone"], None)], &[]);
    assert_eq!((plan[0].target.as_ref(), plan[0].clears, plan[0].of), (None, 0, 1));
}

#[test]
fn later_versions_are_told_from_earlier_ones() {
    let ascending = [
        "",
        "0.9",
        "1.0-alpha",
        "1.0-rc1",
        "1.0-rc.2",
        "1.0",
        "1.0.1",
        "1.2.9",
        "1.2.17",
        "1.10",
        "2.0.0.RELEASE",
        "v2.0.1",
        "20231013",
        "99999999999999999999999999",
    ];
    for pair in ascending.windows(2) {
        assert_eq!(order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        assert_eq!(order(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
    }
    for (left, right) in [("1.0", "1.0.0"), ("1.0.Final", "1.0"), ("v1.2", "1.2"), ("1.0", " 1.0 ")] {
        assert_eq!(order(left, right), Ordering::Equal, "{left} {right}");
    }
}
