//! Source archives: lock files and poms become components and findings, whatever lies around them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::finding::{Analysis, Watch};
use super::test_data::{LIMITS, starter};
use super::{Job, NamedFile, analyze};
use crate::config::scanner::Archive;
use crate::contract::components::ComponentRow;
use crate::platform::clock::Clock;

const LOCK: &str =
    r#"{"lockfileVersion":3,"packages":{"node_modules/lodash":{"version":"4.17.20"},"node_modules/ms":{"version":"2.1.3"}}}"#;
const POM: &str = "<project><groupId>g</groupId><artifactId>app</artifactId><version>1</version><dependencies><dependency>\
    <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>${log}</version></dependency>\
    <dependency><groupId>x</groupId><artifactId>open</artifactId></dependency></dependencies>\
    <properties><log>2.14.1</log></properties></project>";

fn zip(folder: &Path, name: &str, files: &[(&str, &str)]) -> NamedFile {
    let path: PathBuf = folder.join(name);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    NamedFile { path, name: name.to_owned() }
}

fn scan(artifact: NamedFile, sources: Vec<NamedFile>, limits: &Archive) -> Analysis {
    analyze(&Job { artifact, sources }, &starter().current(), limits, &Clock::system(), &Watch::default()).unwrap()
}

fn row<'a>(analysis: &'a Analysis, name: &str) -> &'a ComponentRow {
    analysis.components.iter().find(|row| row.component.name == name).unwrap()
}

#[test]
fn a_source_archive_is_scanned_by_its_lock_files_and_poms() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = zip(
        folder.path(),
        "app.zip",
        &[
            ("web/package-lock.json", LOCK),
            ("web/node_modules/x/package-lock.json", "broken on purpose"),
            ("api/requirements.txt", "PyYAML==5.3\nflask\n"),
            (
                "tool/Cargo.lock",
                "[[package]]\nname = \"time\"\nversion = \"0.1.44\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
            ),
            ("go/go.mod", "module m\nrequire golang.org/x/net v0.7.0\n"),
            ("go/go.sum", "golang.org/x/crypto v0.1.0 h1:x=\n"),
            ("old/go.sum", "golang.org/x/text v0.3.5 h1:x=\n"),
            ("java/pom.xml", POM),
            ("pnpm-lock.yaml", "lockfileVersion: 6"),
        ],
    );
    let analysis = scan(artifact, Vec::new(), &LIMITS);
    let lodash = row(&analysis, "lodash");
    assert_eq!((lodash.component.path.as_str(), lodash.ecosystem.as_str()), ("app.zip!/web/package-lock.json", "npm"));
    assert_eq!((lodash.component.purl.as_str(), lodash.identified_by.as_str()), ("pkg:npm/lodash@4.17.20", "package-lock.json"));
    assert_eq!((lodash.upgrade_to.as_deref(), lodash.counts.high_count), (Some("4.17.21"), 1));
    assert_eq!(row(&analysis, "ms").upgrade_to, None);
    assert_eq!(row(&analysis, "pyyaml").upgrade_to.as_deref(), Some("5.4"));
    assert_eq!(row(&analysis, "golang.org/x/net").upgrade_to.as_deref(), Some("v0.17.0"));
    assert_eq!(row(&analysis, "golang.org/x/text").identified_by, "go.sum");
    assert!(
        !analysis.components.iter().any(|row| row.component.name == "golang.org/x/crypto"),
        "go.mod is there, so go.sum does not count"
    );
    let log4j = row(&analysis, "org.apache.logging.log4j:log4j-core");
    assert_eq!((log4j.component.path.as_str(), log4j.identified_by.as_str()), ("app.zip!/java/pom.xml", "pom.xml"));
    assert!(log4j.counts.critical_count > 0);
    assert_eq!(log4j.vul_ids.len() as u64, log4j.counts.total);
    let unknown: Vec<_> = analysis.summary.unidentified.iter().map(|one| format!("{}: {}", one.path, one.reason)).collect();
    assert!(unknown.iter().any(|line| line.starts_with("app.zip!/java/pom.xml: x:open")), "{unknown:?}");
    let notes = analysis.summary.notes.join("\n");
    assert!(notes.contains("pnpm-lock.yaml locks versions in a form that is not read here"), "{notes}");
    assert!(notes.contains("api/requirements.txt: 1 entries name no version"), "{notes}");
    assert!(!notes.contains("node_modules"), "{notes}");
    assert_eq!(analysis.summary.component_count, analysis.components.len() as u64);
}

#[test]
fn a_finding_of_a_lock_file_says_where_and_how_to_mend_it() {
    let folder = tempfile::tempdir().unwrap();
    let analysis = scan(zip(folder.path(), "app.zip", &[("package-lock.json", LOCK)]), Vec::new(), &LIMITS);
    let finding = &analysis.findings[0];
    assert_eq!(finding.cve_ids, ["CVE-2021-23337"]);
    assert_eq!((finding.evidence[0].kind.as_str(), finding.evidence[0].detail.as_str()), ("package-lock.json", "lodash 4.17.20"));
    assert_eq!((finding.fixed_version.as_deref(), finding.reachability), (Some("4.17.21"), None));
    assert_eq!(finding.fix.code_example.as_ref().unwrap().after, "\"lodash\": \"4.17.21\"");
    assert_eq!(analysis.components[0].vul_ids[0].as_str(), finding.fingerprint);
}

#[test]
fn sources_beside_an_artifact_are_read_and_those_that_are_missing_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = zip(folder.path(), "app.jar", &[("package-lock.json", LOCK), ("pom.xml", POM)]);
    let beside = zip(
        folder.path(),
        "src.zip",
        &[("web/yarn.lock", "# yarn lockfile v1\n\nlodash@^4:\n  version \"4.17.20\"\n"), ("lib/x.jar", "no jar")],
    );
    let gone = NamedFile { path: folder.path().join("gone"), name: "gone.zip".to_owned() };
    let analysis = scan(artifact, vec![beside, gone], &LIMITS);
    // What lies inside of a build of Java describes somebody else's build.
    assert_eq!(analysis.components.len(), 1);
    assert_eq!(analysis.components[0].component.path, "src.zip!/web/yarn.lock");
    let notes = analysis.summary.notes.join("\n");
    assert!(notes.contains("gone.zip could not be read"), "{notes}");
    assert!(!notes.contains("x.jar"), "{notes}");
}

#[test]
fn limits_of_lock_files_and_poms_are_obeyed_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("a/package-lock.json", LOCK), ("b/Pipfile.lock", "{\"default\":{\"x\":"), ("c/pom.xml", POM), ("d/pom.xml", POM)];
    let notes = |change: &dyn Fn(&mut Archive)| {
        let mut limits = LIMITS;
        change(&mut limits);
        let analysis = scan(zip(folder.path(), "app.zip", &files), Vec::new(), &limits);
        (analysis.components.len(), analysis.summary.notes.join("\n"))
    };
    let (count, said) = notes(&|_| {});
    assert_eq!(count, 4);
    assert!(said.contains("b/Pipfile.lock was not read: it is no valid JSON"), "{said}");
    let (count, said) = notes(&|limits| limits.sources.packages = 1);
    assert!(count == 3 && said.contains("More than 1 locked packages"), "{said}");
    let (count, said) = notes(&|limits| limits.sources.lock_bytes = 50);
    assert!(count == 2 && said.contains("a/package-lock.json was not read: it is larger than the limit"), "{said}");
    let (count, said) = notes(&|limits| limits.sources.poms = 1);
    assert!(count == 3 && said.contains("More than 1 poms: 1 were not read"), "{said}");
    let (count, said) = notes(&|limits| limits.sources.pom_bytes = 50);
    assert!(count == 2 && said.contains("c/pom.xml was not read"), "{said}");
}
