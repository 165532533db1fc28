//! Poms that mean harm or are broken: bounded work, no fault, a plain word about each.

use proptest::prelude::*;

use super::{PomFile, Resolution, read_pom, resolve};
use crate::config::scanner::Sources;
use crate::scanner::engine::test_data::SOURCES;

fn one(content: impl Into<Vec<u8>>) -> Resolution {
    resolve(vec![PomFile { path: "pom.xml".to_owned(), content: content.into() }], &SOURCES)
}

const START: &str = "<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version>";

#[test]
fn entities_that_grow_are_not_expanded() {
    let entity = |level: usize| {
        let inner = format!("&lol{};", level - 1).repeat(10).replace("&lol0;", "&lol;");
        format!("<!ENTITY lol{level} \"{inner}\">")
    };
    let entities: Vec<String> = (1..10).map(entity).collect();
    let text = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE lolz [<!ENTITY lol \"lol\">{}<!ENTITY file SYSTEM \"file:///etc/passwd\">]>\
         {START}<properties><x>&lol9;</x><y>&file;</y></properties><dependencies><dependency><groupId>x</groupId>\
         <artifactId>y</artifactId><version>${{x}}</version></dependency></dependencies></project>",
        entities.concat()
    );
    let resolution = one(text);
    assert_eq!(resolution.unresolved[0].reason, "&lol9; is no usable name or version.");
}

#[test]
fn what_is_no_pom_is_told_apart() {
    let deep = "<a>".repeat(1000);
    for (text, words) in [
        (String::new(), "it is not XML"),
        ("hello".to_owned(), "it is not XML"),
        ("<html/>".to_owned(), "it is XML, but no pom"),
        ("<beans><bean/></beans>".to_owned(), "it is XML, but no pom"),
        ("<project></project>".to_owned(), "it is a pom without artifactId"),
        (format!("{START}<build>{deep}"), "it is nested deeper"),
        (format!("{START}</wrong>"), "it is not XML"),
        (format!("{START}<dependencies><dependency>"), "it is not XML"),
        ("PK\u{3}\u{4}".to_owned(), "it is not XML"),
    ] {
        let resolution = one(text.clone());
        assert!(resolution.projects.is_empty(), "{text}");
        assert!(resolution.notes.iter().any(|note| note.contains(words)), "{text}: {:?}", resolution.notes);
    }
}

#[test]
fn every_limit_is_obeyed_and_said() {
    let dependency = "<dependency><groupId>x</groupId><artifactId>y</artifactId><version>1</version></dependency>".repeat(50);
    let text = format!("{START}<dependencies>{dependency}</dependencies></project>");
    let with = |change: &dyn Fn(&mut Sources)| {
        let mut limits = SOURCES;
        change(&mut limits);
        let files = (0..3).map(|at| PomFile { path: format!("{at}/pom.xml"), content: text.clone().into_bytes() }).collect();
        resolve(files, &limits)
    };
    let all = with(&|_| {});
    assert_eq!((all.projects.len(), all.notes.len()), (3, 0));
    let few = with(&|limits| limits.poms = 2);
    assert_eq!(few.projects.len(), 2);
    assert!(few.notes[0].contains("Of 3 poms the first 2 were read"), "{:?}", few.notes);
    let small = with(&|limits| limits.pom_bytes = 100);
    assert!(small.notes[0].contains("more than the 100 bytes"), "{:?}", small.notes);
    let short = with(&|limits| limits.dependencies = 60);
    assert!(short.notes[0].contains("more than 60 dependencies"), "{:?}", short.notes);
    let count: usize = short.projects.iter().map(|project| project.dependencies.len()).sum();
    assert!(count < 60, "{count}");
    let flat = with(&|limits| limits.xml_depth = 3);
    assert!(flat.notes[0].contains("nested deeper"), "{:?}", flat.notes);
}

#[test]
fn ancestors_beyond_the_limit_are_said() {
    let pom = |at: usize| {
        let parent = format!(
            "<parent><groupId>g</groupId><artifactId>a{}</artifactId><version>1</version><relativePath>../{}/pom.xml</relativePath></parent>",
            at + 1,
            at + 1
        );
        let content = format!("<project>{parent}<artifactId>a{at}</artifactId></project>").into_bytes();
        PomFile { path: format!("{at}/pom.xml"), content }
    };
    let resolution = resolve((0..50).map(pom).collect(), &SOURCES);
    assert_eq!(resolution.projects.len(), 50);
    assert!(resolution.unresolved.iter().any(|one| one.reason.contains("more ancestors than the limits allow")));
}

#[test]
fn boms_that_import_two_each_cost_no_more_than_the_limit() {
    let pom = |at: usize| {
        let import = |to: usize| {
            format!(
                "<dependency><groupId>g</groupId><artifactId>a{to}</artifactId><version>1</version><type>pom</type><scope>import</scope></dependency>"
            )
        };
        let body = format!(
            "<dependencyManagement><dependencies>{}{}</dependencies></dependencyManagement>",
            import(at + 1),
            import(at + 2)
        );
        let content = format!("<project><groupId>g</groupId><artifactId>a{at}</artifactId><version>1</version>{body}</project>");
        PomFile { path: format!("{at}/pom.xml"), content: content.into_bytes() }
    };
    let resolution = resolve((0..200).map(pom).collect(), &SOURCES);
    assert_eq!(resolution.projects.len(), 200);
}

/// A pom with everything in it, to be broken.
const FULL: &str = "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version><relativePath>../</relativePath></parent>\
    <artifactId>a</artifactId><properties><v>[1,2)</v><w>${v}</w></properties><modules><module>m</module></modules>\
    <dependencyManagement><dependencies><dependency><groupId>b</groupId><artifactId>bom</artifactId><version>${w}</version><type>pom</type>\
    <scope>import</scope></dependency></dependencies></dependencyManagement><dependencies><dependency><groupId>x</groupId>\
    <artifactId>y</artifactId><version>${w}</version><exclusions><exclusion><groupId>*</groupId></exclusion></exclusions></dependency>\
    </dependencies><profiles><profile><id>q</id><activation><activeByDefault>true</activeByDefault></activation></profile></profiles></project>";

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_broken_pom_never_breaks_the_reader(changes in prop::collection::vec((0..FULL.len(), any::<u8>()), 1..20), end in 0..FULL.len()) {
        let mut bytes = FULL.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if end % 3 == 0 {
            bytes.truncate(end);
        }
        let _ = read_pom(&bytes, 64);
        let resolution = one(bytes);
        prop_assert!(resolution.projects.len() <= 1);
        prop_assert!(resolution.unresolved.len() <= 10);
    }

    #[test]
    fn any_bytes_are_no_fault(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(one(bytes).projects.is_empty());
    }
}
