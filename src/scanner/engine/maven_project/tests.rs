//! Resolving projects: parents, properties, managed versions, BOMs, profiles, ranges, and what stays open.

use super::{Dependency, PomFile, Resolution, resolve};
use crate::scanner::engine::test_data::SOURCES;

fn set(poms: &[(&str, &str)]) -> Resolution {
    let file = |(path, body): &(&str, &str)| PomFile { path: (*path).to_owned(), content: pom(body).into_bytes() };
    resolve(poms.iter().map(file).collect(), &SOURCES)
}

fn pom(body: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<project xmlns=\"http://maven.apache.org/POM/4.0.0\">{body}</project>")
}

fn names(group: &str, artifact: &str, version: &str) -> String {
    format!("<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>")
}

fn dependency(group: &str, artifact: &str, rest: &str) -> String {
    format!("<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{rest}</dependency>")
}

fn parent(group: &str, artifact: &str, version: &str, path: Option<&str>) -> String {
    let path = path.map(|path| format!("<relativePath>{path}</relativePath>")).unwrap_or_default();
    format!("<parent>{}{path}</parent>", names(group, artifact, version))
}

fn managed(dependencies: &str) -> String {
    format!("<dependencyManagement><dependencies>{dependencies}</dependencies></dependencyManagement>")
}

/// `artifact version` of every dependency of the pom at `path`.
fn found(resolution: &Resolution, path: &str) -> Vec<String> {
    let project = resolution.projects.iter().find(|project| project.path == path).unwrap();
    project.dependencies.iter().map(|one| format!("{} {}", one.coordinates.artifact, one.coordinates.version)).collect()
}

fn only(resolution: &Resolution) -> &Dependency {
    let all: Vec<&Dependency> = resolution.projects.iter().flat_map(|project| &project.dependencies).collect();
    assert_eq!(all.len(), 1, "{resolution:?}");
    all[0]
}

fn open(resolution: &Resolution) -> Vec<String> {
    resolution
        .unresolved
        .iter()
        .map(|one| format!("{} {} {} {}: {}", one.path, one.kind, one.name, one.version, one.reason))
        .collect()
}

#[test]
fn properties_of_a_chain_of_parents_are_filled_in_for_the_child() {
    let top = format!("{}<properties><lib>1.0</lib><base>9</base></properties>", names("org.top", "top", "7"));
    let middle = format!(
        "{}<artifactId>middle</artifactId><properties><lib>2.${{base}}</lib></properties><dependencies>{}</dependencies>",
        parent("org.top", "top", "7", None),
        dependency("org.x", "inherited", "<version>${project.version}</version>")
    );
    let leaf = format!(
        "{}<artifactId>leaf</artifactId><version>8</version><dependencies>{}</dependencies>",
        parent("org.top", "middle", "7", Some("../")),
        dependency("${project.groupId}", "lib", "<version>${lib}-${project.parent.version}</version>")
    );
    let resolution = set(&[("pom.xml", &top), ("middle/pom.xml", &middle), ("middle/leaf/pom.xml", &leaf)]);
    assert_eq!(found(&resolution, "middle/pom.xml"), ["inherited 7"]);
    // The child's own version stands in what it inherits.
    assert_eq!(found(&resolution, "middle/leaf/pom.xml"), ["lib 2.9-7", "inherited 8"]);
    assert_eq!(open(&resolution), [""; 0]);
    assert_eq!(resolution.projects[0].name, "org.top:leaf@8");
}

#[test]
fn what_a_parent_says_already_is_not_said_again() {
    let top = format!("{}<dependencies>{}</dependencies>", names("g", "top", "1"), dependency("x", "y", "<version>3</version>"));
    let leaf = format!("{}<artifactId>leaf</artifactId>", parent("g", "top", "1", None));
    let resolution = set(&[("pom.xml", &top), ("leaf/pom.xml", &leaf)]);
    assert_eq!(found(&resolution, "pom.xml"), ["y 3"]);
    assert_eq!(found(&resolution, "leaf/pom.xml"), [""; 0]);
}

#[test]
fn a_parent_elsewhere_in_the_set_is_found_by_its_name() {
    let top = format!("{}<properties><v>4</v></properties>", names("g", "top", "1"));
    let leaf = format!(
        "{}<artifactId>leaf</artifactId><dependencies>{}</dependencies>",
        parent("g", "top", "1", Some("../wrong/pom.xml")),
        dependency("x", "y", "<version>${v}</version>")
    );
    assert_eq!(found(&set(&[("build/parent/pom.xml", &top), ("leaf/pom.xml", &leaf)]), "leaf/pom.xml"), ["y 4"]);
    // Another version of the same name is another parent.
    let other = leaf.replace("<version>1</version>", "<version>2</version>");
    let resolution = set(&[("build/parent/pom.xml", &top), ("leaf/pom.xml", &other)]);
    assert_eq!(open(&resolution).len(), 2, "{:?}", open(&resolution));
    assert!(
        open(&resolution)[1].starts_with("leaf/pom.xml parent g:top 2: it is not among the given poms"),
        "{:?}",
        open(&resolution)
    );
}

#[test]
fn a_relative_path_never_leaves_the_set() {
    let leaf = format!("{}<artifactId>leaf</artifactId>", parent("g", "top", "1", Some("../../../../etc/pom.xml")));
    let resolution = set(&[("leaf/pom.xml", &leaf), ("../../escape/pom.xml", &names("g", "top", "1"))]);
    assert_eq!(resolution.projects.len(), 1);
    assert!(resolution.notes[0].contains("its path leads out of the archive"), "{:?}", resolution.notes);
}

#[test]
fn managed_versions_come_from_the_nearest_pom_and_bring_scope_and_exclusions() {
    let exclusions = "<exclusions><exclusion><groupId>bad</groupId><artifactId>thing</artifactId></exclusion></exclusions>";
    let entry = |version: &str| dependency("x", "y", &format!("<version>{version}</version><scope>test</scope>{exclusions}"));
    let top = format!("{}{}", names("g", "top", "1"), managed(&entry("1.0")));
    let leaf = format!(
        "{}<artifactId>leaf</artifactId>{}<dependencies>{}</dependencies>",
        parent("g", "top", "1", None),
        managed(&entry("2.0")),
        dependency("x", "y", "<optional>true</optional>")
    );
    let resolution = set(&[("pom.xml", &top), ("leaf/pom.xml", &leaf)]);
    let one = only(&resolution);
    assert_eq!((one.coordinates.version.as_str(), one.scope.as_str(), one.is_optional), ("2.0", "test", true));
    assert_eq!((one.managed_by.as_deref(), &one.exclusions[..]), (Some("leaf/pom.xml"), &["bad:thing".to_owned()][..]));
}

#[test]
fn type_and_classifier_are_part_of_what_is_managed() {
    let entry = dependency("x", "y", "<version>1</version><classifier>linux</classifier>");
    let plain = dependency("x", "y", "");
    let named = dependency("x", "y", "<classifier>linux</classifier>");
    let body = format!("{}{}<dependencies>{plain}{named}</dependencies>", names("g", "a", "1"), managed(&entry));
    let resolution = set(&[("pom.xml", &body)]);
    assert_eq!(found(&resolution, "pom.xml"), ["y 1"]);
    assert_eq!(open(&resolution), ["pom.xml dependency x:y : its version is missing, and no given pom manages it."]);
}

#[test]
fn an_imported_bom_manages_versions_in_its_own_words() {
    let import =
        |version: &str| dependency("b", "bom", &format!("<version>{version}</version><type>pom</type><scope>import</scope>"));
    let bom = format!(
        "{}<properties><y>5</y></properties>{}",
        names("b", "bom", "3"),
        managed(&format!("{}{}", dependency("x", "y", "<version>${y}</version>"), dependency("x", "z", "<version>1</version>")))
    );
    let user = format!(
        "{}<properties><y>6</y><bom>3</bom></properties>{}<dependencies>{}{}</dependencies>",
        names("g", "a", "1"),
        // A word of one's own counts more than any import, wherever it stands.
        managed(&format!("{}{}", import("${bom}"), dependency("x", "z", "<version>2</version>"))),
        dependency("x", "y", ""),
        dependency("x", "z", "")
    );
    let resolution = set(&[("app/pom.xml", &user), ("bom/pom.xml", &bom)]);
    assert_eq!(found(&resolution, "app/pom.xml"), ["y 5", "z 2"]);
    assert_eq!(open(&resolution), [""; 0]);
    let absent = set(&[("app/pom.xml", &user)]);
    assert_eq!(found(&absent, "app/pom.xml"), ["z 2"]);
    assert_eq!(
        open(&absent),
        [
            "app/pom.xml bom b:bom ${bom}: this imported BOM is not among the given poms, so what it manages is unknown.",
            "app/pom.xml dependency x:y : its version is missing, and what may manage it is not among the given poms (the BOM b:bom)."
        ]
    );
}

#[test]
fn boms_that_import_each_other_end() {
    let import = |name: &str| managed(&dependency("b", name, "<version>1</version><type>pom</type><scope>import</scope>"));
    let one = format!("{}{}", names("b", "one", "1"), import("two"));
    let two = format!("{}{}", names("b", "two", "1"), import("one"));
    let resolution = set(&[("one/pom.xml", &one), ("two/pom.xml", &two)]);
    assert!(open(&resolution).iter().any(|line| line.contains("imports itself in the end")), "{:?}", open(&resolution));
}

#[test]
fn parents_that_go_round_in_a_circle_end() {
    let one = format!("{}<artifactId>one</artifactId>", parent("g", "two", "1", Some("../two/pom.xml")));
    let two = format!("{}<artifactId>two</artifactId>", parent("g", "one", "1", Some("../one/pom.xml")));
    let own = format!("{}<artifactId>own</artifactId>", parent("g", "own", "1", Some("pom.xml")));
    let resolution = set(&[("one/pom.xml", &one), ("two/pom.xml", &two), ("own/pom.xml", &own)]);
    assert_eq!(resolution.projects.len(), 3);
    assert_eq!(
        open(&resolution).iter().filter(|line| line.contains("it is its own ancestor")).count(),
        3,
        "{:?}",
        open(&resolution)
    );
}

#[test]
fn dependencies_of_every_profile_are_read_and_marked() {
    let profile = |id: &str, active: &str, version: &str| {
        format!(
            "<profile><id>{id}</id><activation><activeByDefault>{active}</activeByDefault></activation>\
             <properties><v>{version}</v></properties><dependencies>{}</dependencies></profile>",
            dependency("x", id, "<version>${v}</version>")
        )
    };
    let body = format!(
        "{}<properties><v>0</v></properties><dependencies>{}</dependencies><profiles>{}{}</profiles>",
        names("g", "a", "1"),
        dependency("x", "main", "<version>${v}</version>"),
        profile("usual", "true", "1"),
        profile("rare", "false", "2")
    );
    let resolution = set(&[("pom.xml", &body)]);
    let marked: Vec<_> = resolution.projects[0]
        .dependencies
        .iter()
        .map(|one| (one.coordinates.artifact.as_str(), one.coordinates.version.as_str(), one.profile.as_deref()))
        .collect();
    assert_eq!(marked, [("main", "1", None), ("usual", "1", None), ("rare", "2", Some("rare"))]);
}

#[test]
fn ranges_and_floating_versions_are_listed_with_their_lowest_version() {
    let one = |artifact: &str, version: &str| dependency("x", artifact, &format!("<version>{version}</version>"));
    let body = format!(
        "{}<dependencies>{}{}{}{}</dependencies>",
        names("g", "a", "1"),
        one("range", "[1.0,2.0)"),
        one("pinned", "[1.5]"),
        one("newest", "LATEST"),
        one("upto", "(,3]")
    );
    let resolution = set(&[("pom.xml", &body)]);
    assert_eq!(found(&resolution, "pom.xml"), ["pinned 1.5"]);
    let lines = open(&resolution).join("\n");
    assert!(lines.contains("x:range [1.0,2.0): its version is a range"), "{lines}");
    assert!(lines.contains("the lowest it allows is 1.0"), "{lines}");
    assert!(lines.contains("x:newest LATEST: its version is whichever is the newest"), "{lines}");
    assert_eq!(resolution.unresolved.len(), 3);
}

#[test]
fn what_no_pom_says_is_listed_with_the_reason() {
    let one = |artifact: &str, version: &str| dependency("x", artifact, &format!("<version>{version}</version>"));
    let body = format!(
        "{}{}<modules><module>core</module></modules><properties><loop>${{pool}}</loop><pool>${{loop}}</pool></properties>\
         <dependencies>{}{}{}{}{}</dependencies>",
        parent("org.boot", "starter-parent", "3.1", Some("")),
        names("g", "a", "1"),
        one("unknown", "${nowhere}"),
        one("machine", "${env.VERSION}"),
        one("loop", "${loop}"),
        dependency("x", "managed", ""),
        one("odd", "1/2")
    );
    let lines = open(&set(&[("pom.xml", &body)])).join("\n");
    for expected in [
        "dependency x:unknown ${nowhere}: its version uses ${nowhere}, which no given pom sets.",
        "dependency x:machine ${env.VERSION}: its version uses ${env.VERSION}, which depends on the machine that builds.",
        "dependency x:loop ${loop}: its version uses ${loop}, which stands for itself in the end.",
        "dependency x:managed : its version is missing, and what may manage it is not among the given poms (the parent org.boot:starter-parent).",
        "dependency x:odd 1/2: 1/2 is no usable name or version.",
        "module core : this module is not among the given poms.",
        "parent org.boot:starter-parent 3.1: it is not among the given poms, so what it sets and manages is unknown.",
    ] {
        assert!(lines.contains(expected), "{expected}\n{lines}");
    }
}

#[test]
fn modules_of_the_set_are_not_missing() {
    let top = format!("{}<modules><module>core</module><module>./web/pom.xml</module></modules>", names("g", "top", "1"));
    let resolution = set(&[
        ("top/pom.xml", &top),
        ("top/core/pom.xml", &names("g", "core", "1")),
        ("top/web/pom.xml", &names("g", "web", "1")),
    ]);
    assert_eq!(open(&resolution), [""; 0]);
}

#[test]
fn comments_cdata_and_entities_of_xml_are_read() {
    let body = format!(
        "<!-- a --><groupId>g</groupId><artifactId>a</artifactId><version>1</version><dependencies>{}</dependencies>",
        "<dependency><groupId><![CDATA[x]]></groupId><artifactId>&#121;</artifactId><version> 2 <!-- c --></version></dependency>"
    );
    assert_eq!(found(&set(&[("pom.xml", &body)]), "pom.xml"), ["y 2"]);
}
