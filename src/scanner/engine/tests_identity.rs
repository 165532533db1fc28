//! How archives are recognised: the order of evidence, nested and shaded layouts, and what stays unknown.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::finding::Analysis;
use super::test_data::{scan, starter};
use crate::contract::results::{Confidence, Reachability};

fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn pom(group: &str, artifact: &str, version: &str) -> (String, Vec<u8>) {
    let content = format!("groupId={group}\nartifactId={artifact}\nversion={version}\n");
    (format!("META-INF/maven/{group}/{artifact}/pom.properties"), content.into_bytes())
}

fn analysed(name: &str, content: &[u8]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    scan(&path, &starter()).unwrap()
}

/// Component, version, path and confidence of the findings, each once.
fn components(analysis: &Analysis) -> Vec<String> {
    let mut all: Vec<String> = analysis
        .findings
        .iter()
        .map(|one| format!("{} {} {} {:?}", one.component.name, one.component.version, one.component.path, one.confidence))
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn libraries_of_a_war_and_of_a_spring_boot_jar_are_found_at_their_place() {
    let (entry, content) = pom("org.yaml", "snakeyaml", "1.27");
    let library = jar(&[(&entry, &content)]);
    let war = jar(&[("WEB-INF/classes/app/Main.class", b"x"), ("WEB-INF/lib/snakeyaml-1.27.jar", &library)]);
    assert_eq!(components(&analysed("app.war", &war)), ["org.yaml:snakeyaml 1.27 app.war!/WEB-INF/lib/snakeyaml-1.27.jar High"]);
    let boot = jar(&[("BOOT-INF/classes/app/Main.class", b"x"), ("BOOT-INF/lib/snakeyaml-1.27.jar", &library)]);
    let analysis = analysed("app.jar", &boot);
    assert_eq!(components(&analysis), ["org.yaml:snakeyaml 1.27 app.jar!/BOOT-INF/lib/snakeyaml-1.27.jar High"]);
    assert!(analysis.summary.unidentified.is_empty());
    let ear = jar(&[("app.war", &war)]);
    assert_eq!(
        components(&analysed("all.ear", &ear)),
        ["org.yaml:snakeyaml 1.27 all.ear!/app.war!/WEB-INF/lib/snakeyaml-1.27.jar High"]
    );
}

#[test]
fn a_shaded_jar_is_itself_and_everything_packed_into_it() {
    let (yaml, yaml_content) = pom("org.yaml", "snakeyaml", "1.27");
    let (own, own_content) = pom("com.h2database", "h2", "1.4.200");
    let analysis = analysed("h2-1.4.200.jar", &jar(&[(&yaml, &yaml_content), (&own, &own_content)]));
    assert_eq!(
        components(&analysis),
        [
            "com.h2database:h2 1.4.200 h2-1.4.200.jar High",
            "org.yaml:snakeyaml 1.27 h2-1.4.200.jar!/META-INF/maven/org.yaml/snakeyaml High",
        ]
    );
    let embedded = analysis.findings.iter().find(|one| one.component.name == "org.yaml:snakeyaml").unwrap();
    assert!(embedded.fix.principle.contains("packed into h2-1.4.200.jar"), "{}", embedded.fix.principle);
}

#[test]
fn a_pom_alone_stands_in_for_its_properties() {
    let text = b"<project><parent><groupId>org.yaml</groupId><version>1.27</version></parent><artifactId>snakeyaml</artifactId></project>";
    let analysis = analysed("renamed.jar", &jar(&[("META-INF/maven/org.yaml/snakeyaml/pom.xml", text)]));
    assert_eq!(components(&analysis), ["org.yaml:snakeyaml 1.27 renamed.jar High"]);
    assert_eq!(analysis.findings[0].evidence[0].kind, "pom.xml");
}

#[test]
fn without_poms_the_file_name_counts_when_the_classes_confirm_the_group() {
    let analysis = analysed(
        "snakeyaml-1.27.jar",
        &jar(&[("org/yaml/snakeyaml/Yaml.class", b"x"), ("org/yaml/snakeyaml/constructor/Constructor.class", b"x")]),
    );
    assert_eq!(components(&analysis), ["org.yaml:snakeyaml 1.27 snakeyaml-1.27.jar Medium"]);
    let foreign = analysed("snakeyaml-1.27.jar", &jar(&[("com/example/Own.class", b"x")]));
    assert!(foreign.findings.is_empty());
    assert_eq!(foreign.summary.unidentified[0].reason, "its name suggests snakeyaml 1.27, but nothing inside confirms whose");
    assert!(
        foreign.summary.notes.iter().any(|note| note.contains("One archive could not be identified")),
        "{:?}",
        foreign.summary.notes
    );
}

#[test]
fn the_manifest_gives_what_the_file_name_lacks() {
    let manifest = b"Bundle-SymbolicName: com.h2database\r\nImplementation-Version: 1.4.200\r\n";
    let analysis = analysed("h2.jar", &jar(&[("META-INF/MANIFEST.MF", manifest), ("org/h2/Driver.class", b"x")]));
    assert_eq!(components(&analysis), ["com.h2database:h2 1.4.200 h2.jar Medium"]);
    let ids = b"Implementation-Vendor-Id: org.yaml\nImplementation-Version: 9\n";
    let by_ids = analysed("snakeyaml-1.27.jar", &jar(&[("META-INF/MANIFEST.MF", ids)]));
    assert_eq!(components(&by_ids), ["org.yaml:snakeyaml 1.27 snakeyaml-1.27.jar Medium"]);
}

#[test]
fn documentation_sources_and_tests_are_no_components() {
    let (entry, content) = pom("org.yaml", "snakeyaml", "1.27");
    for name in ["snakeyaml-1.27-javadoc.jar", "snakeyaml-1.27-sources.jar", "snakeyaml-1.27-tests.jar"] {
        let analysis = analysed(name, &jar(&[(&entry, &content)]));
        assert_eq!((analysis.findings.len(), analysis.summary.component_count), (0, 0), "{name}");
    }
    let disguised = analysed("snakeyaml-1.27-javadoc.jar", &jar(&[(&entry, &content), ("org/yaml/snakeyaml/Yaml.class", b"x")]));
    assert!(!disguised.findings.is_empty());
}

#[test]
fn a_file_name_that_contradicts_the_pom_is_said_and_believed_less() {
    let (entry, content) = pom("org.yaml", "snakeyaml", "1.27");
    let analysis = analysed("snakeyaml-2.2.jar", &jar(&[(&entry, &content)]));
    assert_eq!(components(&analysis), ["org.yaml:snakeyaml 1.27 snakeyaml-2.2.jar Medium"]);
    assert!(
        analysis.findings[0].evidence[1].detail.contains("the file name says version 2.2")
            || analysis.findings[0].evidence[1].detail.contains("The file name says version 2.2")
    );
}

#[test]
fn a_removed_class_clears_its_finding_and_never_hides_it() {
    let (entry, content) = pom("org.apache.logging.log4j", "log4j-core", "2.14.1");
    let with = analysed(
        "log4j-core-2.14.1.jar",
        &jar(&[(&entry, &content), ("org/apache/logging/log4j/core/lookup/JndiLookup.class", b"x")]),
    );
    let without =
        analysed("log4j-core-2.14.1.jar", &jar(&[(&entry, &content), ("org/apache/logging/log4j/core/Logger.class", b"x")]));
    let shell = |analysis: &Analysis| analysis.findings.iter().find(|one| one.cve_ids == ["CVE-2021-44228"]).unwrap().clone();
    assert_eq!(shell(&with).confidence, Confidence::High);
    assert_eq!((shell(&without).confidence, shell(&without).reachability), (Confidence::Low, Some(Reachability::NotPresent)));
    assert_ne!(shell(&with).reachability, Some(Reachability::NotPresent));
    assert_eq!(shell(&with).fixed_version.as_deref(), Some("2.15.0"));
}

#[test]
fn hostile_coordinates_never_become_a_component() {
    let bad = ("META-INF/maven/x/y/pom.properties", &b"groupId=<script>\nartifactId=y\nversion=1\n"[..]);
    let analysis = analysed("app.jar", &jar(&[bad]));
    assert_eq!(analysis.summary.component_count, 0);
    assert!(analysis.summary.notes.iter().any(|note| note.contains("names no usable component")));
}

#[test]
fn the_same_component_at_the_same_place_has_the_same_fingerprint_whatever_the_artifact_is_called() {
    let (entry, content) = pom("org.yaml", "snakeyaml", "1.27");
    let war = jar(&[("WEB-INF/lib/snakeyaml-1.27.jar", &jar(&[(&entry, &content)]))]);
    let prints = |name: &str| analysed(name, &war).findings.into_iter().map(|one| one.fingerprint).collect::<Vec<_>>();
    assert_eq!(prints("a.war"), prints("b-2.war"));
    assert!(prints("a.war").len() >= 7);
}

#[test]
fn the_names_of_debian_give_artifact_and_version() {
    let analysis = analysed("log4j-1.2-1.2.17.jar", &jar(&[("org/apache/log4j/Logger.class", b"x")]));
    let component = &analysis.components[0].component;
    assert_eq!(component.purl, "pkg:maven/log4j/log4j@1.2.17", "{:?}", analysis.summary);
    assert!(analysis.findings.iter().any(|one| one.cve_ids == ["CVE-2019-17571"]));
    let (entry, content) = pom("log4j", "log4j", "1.2.17");
    let same = analysed("log4j-1.2-1.2.17.jar", &jar(&[(&entry, &content)]));
    assert!(same.findings.iter().all(|one| one.confidence == Confidence::High), "the file name contradicts nothing");
}

#[test]
fn an_upgrade_stays_with_the_variant_in_use() {
    let upgrade = |group: &str, artifact: &str, version: &str| {
        let (entry, content) = pom(group, artifact, version);
        let analysis = analysed(&format!("{artifact}-{version}.jar"), &jar(&[(&entry, &content)]));
        (analysis.components[0].upgrade_to.clone().unwrap(), analysis.findings)
    };
    let (to, findings) = upgrade("com.google.guava", "guava", "25.0-jre");
    assert_eq!(to, "32.0.0-jre");
    assert!(findings.iter().all(|one| one.fixed_version.as_deref() == Some("32.0.0-android")), "what the advisory says stays");
    assert!(findings.iter().all(|one| one.fix.fix_method.ends_with("from 25.0-jre to 32.0.0-jre")), "{findings:#?}");
    assert!(findings[0].fix.code_example.as_ref().unwrap().after.contains("<version>32.0.0-jre</version>"));
    assert_eq!(upgrade("com.google.guava", "guava", "25.0-android").0, "32.0.0-android");
    let (to, findings) = upgrade("com.google.guava", "guava", "20.0");
    assert_eq!(to, "at least 32.0.0-android");
    assert!(findings.iter().any(|one| one.fix.fix_method.ends_with("from 20.0 to at least 32.0.0-android")));
    assert_eq!(upgrade("org.eclipse.jetty", "jetty-server", "9.4.10.v20180503").0, "at least 9.4.56");
}
