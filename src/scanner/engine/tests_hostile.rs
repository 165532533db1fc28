//! Archives made to do harm: every one gives a partial result with a note or a plain error, never a crash.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::finding::{Analysis, Watch};
use super::test_data::{LIMITS, scan, scan_with, starter};
use super::{AnalyzeError, Job, NamedFile, analyze};
use crate::config::scanner::Archive;
use crate::platform::clock::{Clock, Timestamp};

const POM: (&str, &[u8]) =
    ("META-INF/maven/org.yaml/snakeyaml/pom.properties", b"groupId=org.yaml\nartifactId=snakeyaml\nversion=1.27\n");

fn zipped(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn deflated(entries: &[(&str, &[u8])]) -> Vec<u8> {
    zipped(entries, CompressionMethod::Deflated)
}

fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn analysed(content: &[u8], limits: &Archive) -> Analysis {
    let (_folder, path) = file("app.jar", content);
    scan_with(&path, &starter(), limits).unwrap()
}

fn refused(content: &[u8]) -> AnalyzeError {
    let (_folder, path) = file("app.jar", content);
    scan(&path, &starter()).unwrap_err()
}

fn has_note(analysis: &Analysis, part: &str) -> bool {
    analysis.summary.notes.iter().any(|note| note.contains(part))
}

/// Replaces every occurrence of `from` by `to`, of the same length.
fn patch(content: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut hits = 0;
    for at in 0..=content.len() - from.len() {
        if content[at..].starts_with(from) {
            content[at..at + to.len()].copy_from_slice(to);
            hits += 1;
        }
    }
    assert!(hits > 0, "nothing to patch");
}

/// Sets two bytes at `offset` of every local (true) or central (false) header.
fn set_header(content: &mut [u8], signature: [u8; 4], offset: usize, value: &[u8]) {
    for at in 0..content.len() - 4 {
        if content[at..].starts_with(&signature) {
            content[at + offset..at + offset + value.len()].copy_from_slice(value);
        }
    }
}

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";

#[test]
fn a_zip_bomb_is_left_out_and_the_rest_is_found() {
    let bomb = vec![0_u8; 30 << 20];
    let analysis = analysed(&deflated(&[("bomb.jar", &bomb), POM]), &LIMITS);
    assert!(has_note(&analysis, "zip bomb"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 1);
    assert!(!analysis.findings.is_empty());
}

#[test]
fn an_entry_larger_than_its_limit_and_a_sum_larger_than_the_limit_are_left_out() {
    let big: Vec<u8> = (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let content = deflated(&[POM, ("big.jar", &big)]);
    let nested = analysed(&content, &Archive { nested_bytes: 1 << 20, ..LIMITS });
    assert!(has_note(&nested, "larger than the limit for one entry"), "{:?}", nested.summary.notes);
    let whole = analysed(&content, &Archive { inflated_bytes: 1 << 20, ..LIMITS });
    assert!(has_note(&whole, "More than 1048576 inflated bytes"), "{:?}", whole.summary.notes);
    assert_eq!((nested.summary.component_count, whole.summary.component_count), (1, 1));
}

#[test]
fn more_entries_than_allowed_end_the_walk_with_a_note() {
    let names: Vec<String> = (0..100_050).map(|at| format!("f{at}")).collect();
    let mut entries: Vec<(&str, &[u8])> = vec![POM];
    entries.extend(names.iter().map(|name| (name.as_str(), &b""[..])));
    let analysis = analysed(&zipped(&entries, CompressionMethod::Stored), &LIMITS);
    assert!(has_note(&analysis, "More than 100000 entries"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 1);
}

#[test]
fn archives_fifty_deep_are_read_down_to_the_limit() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut content = zipped(&[POM], method);
        for _ in 0..50 {
            content = zipped(&[("inner.jar", &content), POM], method);
        }
        let analysis = analysed(&content, &LIMITS);
        assert!(has_note(&analysis, "deeper than 8"), "{:?}", analysis.summary.notes);
        assert_eq!(analysis.summary.component_count, 9);
    }
}

#[test]
fn a_cut_archive_says_so_and_a_cut_inner_archive_is_a_note() {
    let whole = deflated(&[POM, ("a.class", b"x")]);
    let half = &whole[..whole.len() / 2];
    assert!(matches!(refused(half), AnalyzeError::Unreadable(text) if text.contains("cut off")));
    let outer = analysed(&deflated(&[("cut.jar", half), POM]), &LIMITS);
    assert!(has_note(&outer, "app.jar!/cut.jar is named like an archive"), "{:?}", outer.summary.notes);
    assert_eq!(outer.summary.component_count, 1);
}

#[test]
fn every_possible_cut_ends_well() {
    let whole = deflated(&[POM, ("lib/x.jar", &deflated(&[POM])), ("a.class", b"x")]);
    let database = starter();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.jar");
    for end in 0..whole.len() {
        std::fs::write(&path, &whole[..end]).unwrap();
        assert!(scan(&path, &database).is_err(), "{end}");
    }
}

#[test]
fn any_damaged_byte_ends_well() {
    let whole = deflated(&[POM, ("lib/x.jar", &deflated(&[POM])), ("META-INF/MANIFEST.MF", b"Implementation-Version: 1\n")]);
    let database = starter();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.jar");
    for at in 0..whole.len() {
        for value in [0x00, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            std::fs::write(&path, &damaged).unwrap();
            if let Ok(analysis) = scan(&path, &database) {
                assert!(analysis.summary.component_count <= 2);
            }
        }
    }
}

#[test]
fn a_wrong_checksum_leaves_the_entry_out() {
    let mut content = zipped(
        &[POM, ("META-INF/maven/junit/junit/pom.properties", b"groupId=junit\nartifactId=junit\nversion=4.12\n")],
        CompressionMethod::Stored,
    );
    patch(&mut content, b"version=4.12", b"version=4.13");
    let analysis = analysed(&content, &LIMITS);
    assert!(has_note(&analysis, "junit/pom.properties was not read: it is damaged"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 1);
}

#[test]
fn absolute_and_climbing_names_are_noted_and_write_nothing() {
    let mut content = deflated(&[("xx/xx/evil.jar", &deflated(&[POM])), ("/etc/passwd.class", b"x")]);
    patch(&mut content, b"xx/xx/evil.jar", b"../../evil.jar");
    let (folder, path) = file("app.jar", &content);
    let analysis = scan(&path, &starter()).unwrap();
    assert!(has_note(&analysis, "whose names point outside"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_archive_is_refused_in_plain_words() {
    for content in [&b""[..], b"#!/bin/sh\n", b"PK", &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52]] {
        let error = refused(content);
        assert!(matches!(error, AnalyzeError::NotAnArchive(_)), "{error}");
        assert_eq!(error.to_string(), "app.jar is not a zip file. Upload a .jar, .war, .ear or .zip.");
    }
    let mut garbage = b"PK\x03\x04".to_vec();
    garbage.extend((0..5000_u32).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()));
    assert!(matches!(refused(&garbage), AnalyzeError::Unreadable(_)));
}

#[test]
fn an_empty_archive_is_read_and_said_to_be_empty() {
    let analysis = analysed(&deflated(&[]), &LIMITS);
    assert!(has_note(&analysis, "is an empty archive") && has_note(&analysis, "no component could be identified"));
}

#[test]
fn entries_with_the_same_name_are_all_read() {
    let other =
        ("META-INF/maven/org.yaml/snakeyamm/pom.properties", &b"groupId=org.yaml\nartifactId=snakeyaml\nversion=1.26\n"[..]);
    let mut content = deflated(&[POM, other]);
    patch(&mut content, b"snakeyamm", b"snakeyaml");
    let analysis = analysed(&content, &LIMITS);
    assert!(has_note(&analysis, "whose name it also gives to another"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 2);
}

#[test]
fn a_huge_declared_size_takes_no_memory_and_is_found_out() {
    let mut content = deflated(&[POM, ("big.jar", b"small")]);
    set_header(&mut content, CENTRAL, 24, &[0xfe, 0xff, 0xff, 0xff]);
    let analysis = analysed(&content, &LIMITS);
    assert!(has_note(&analysis, "it is damaged"), "{:?}", analysis.summary.notes);
}

#[test]
fn an_encrypted_entry_and_an_unknown_method_are_noted() {
    let mut encrypted = deflated(&[POM]);
    set_header(&mut encrypted, LOCAL, 6, &[1, 0]);
    set_header(&mut encrypted, CENTRAL, 8, &[1, 0]);
    assert!(has_note(&analysed(&encrypted, &LIMITS), "it is encrypted"));
    let mut unknown = deflated(&[POM]);
    set_header(&mut unknown, LOCAL, 8, &[97, 0]);
    set_header(&mut unknown, CENTRAL, 10, &[97, 0]);
    assert!(has_note(&analysed(&unknown, &LIMITS), "compression method 97"));
}

#[test]
fn something_in_front_of_the_archive_does_no_harm() {
    let mut content = b"#!/bin/sh\nexec java -jar \"$0\"\n".to_vec();
    content.extend(deflated(&[POM]));
    assert_eq!(analysed(&content, &LIMITS).summary.component_count, 1);
}

#[test]
fn a_stop_ends_the_analysis_with_nothing() {
    let (_folder, path) = file("app.jar", &deflated(&[POM]));
    let watch = Watch::default();
    watch.stop();
    let outcome = analyze(
        &Job { artifact: NamedFile { path, name: "app.jar".to_owned() }, sources: Vec::new() },
        &starter().current(),
        &LIMITS,
        &Clock::system(),
        &watch,
    );
    assert!(matches!(outcome, Err(AnalyzeError::Stopped)));
}

#[test]
fn time_that_runs_out_leaves_what_was_found() {
    let clock = Clock::manual(Timestamp(0));
    let watch = Watch::default();
    let advance = |class: &str| {
        clock.advance(Duration::from_secs(61));
        class.is_empty()
    };
    let content = deflated(&[
        POM,
        ("a.class", b"x"),
        ("META-INF/maven/junit/junit/pom.properties", b"groupId=junit\nartifactId=junit\nversion=4.12\n"),
    ]);
    let zip = super::ZipFile::open(super::Source::memory(content)).unwrap();
    let mut walk = super::Walk::new(&LIMITS, super::Budget::new(&clock, &watch, LIMITS.seconds), &watch, &advance);
    assert!(matches!(walk.archive(&zip, "app.jar".to_owned(), 0), Err(super::Halt::Limit)));
    assert_eq!(walk.seen[0].poms.len(), 1);
    assert!(walk.notes.into_lines()[0].contains("more than 60 seconds"));
}

/// Points every one of the `count` entries of the directory but the first to the bytes of the second.
fn overlapped(content: &mut [u8], count: usize) {
    let mut records: Vec<usize> = (0..content.len() - 4).filter(|at| content[*at..].starts_with(&CENTRAL)).collect();
    // Archives that are stored inside have directories too; its own comes last.
    records.drain(..records.len() - count);
    let second: [u8; 4] = content[records[1] + 42..records[1] + 46].try_into().unwrap();
    for at in &records[1..] {
        content[at + 42..at + 46].copy_from_slice(&second);
    }
}

#[test]
fn entries_over_the_same_bytes_end_the_archive_with_a_note_and_are_read_once() {
    for method in [CompressionMethod::Deflated, CompressionMethod::Stored] {
        let class = vec![7_u8; 100_000];
        let names: Vec<String> = (0..50).map(|at| format!("f{at:02}.class")).collect();
        let mut entries: Vec<(&str, &[u8])> = vec![POM];
        entries.extend(names.iter().map(|name| (name.as_str(), class.as_slice())));
        let mut content = zipped(&entries, method);
        overlapped(&mut content, entries.len());
        // Read a second time they would go beyond this limit, and the note would be another one.
        let analysis = analysed(&content, &Archive { inflated_bytes: 150_000, ..LIMITS });
        assert!(has_note(&analysis, "Entries of app.jar lie over each other"), "{:?}", analysis.summary.notes);
        assert!(has_note(&analysis, "from f01.class on"), "{:?}", analysis.summary.notes);
        assert!(!has_note(&analysis, "inflated bytes"), "{:?}", analysis.summary.notes);
        assert_eq!(analysis.summary.component_count, 1);
    }
}

#[test]
fn archives_over_the_same_bytes_inside_one_another_end_only_the_one_that_has_them() {
    let (one, two) = (deflated(&[POM]), deflated(&[POM]));
    let mut inner = zipped(&[("x.class", b"x"), ("lib/a.jar", &one), ("lib/b.jar", &two)], CompressionMethod::Stored);
    overlapped(&mut inner, 3);
    let analysis = analysed(&deflated(&[("inner.jar", &inner), ("beside.jar", &one)]), &LIMITS);
    assert!(has_note(&analysis, "Entries of app.jar!/inner.jar lie over each other"), "{:?}", analysis.summary.notes);
    assert_eq!(analysis.summary.component_count, 2);
}

const BOMB: &str = r#"<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>"#;

fn sources(pom: &[u8]) -> Analysis {
    let (_folder, path) = file("sources.zip", &deflated(&[("pom.xml", pom)]));
    scan(&path, &starter()).unwrap()
}

#[test]
fn a_pom_of_entities_is_said_to_be_unread_wherever_it_lies() {
    let project = format!("{BOMB}<project><groupId>g</groupId><artifactId>&c;</artifactId><version>1</version></project>");
    for pom in [&project, &format!("{BOMB}<lolz>&c;</lolz>")] {
        let analysis = sources(pom.as_bytes());
        let said = analysis.summary.notes.iter().find(|note| note.contains("sources.zip: pom.xml "));
        assert!(said.is_some_and(|note| note.contains(" read")), "{:?}", analysis.summary.notes);
        assert_eq!(analysis.summary.component_count, 0);
        let analysis = analysed(&deflated(&[("META-INF/maven/g/a/pom.xml", pom.as_bytes())]), &LIMITS);
        assert!(has_note(&analysis, "g/a/pom.xml could not be read: it uses entities"), "{:?}", analysis.summary.notes);
    }
    let cut = analysed(&deflated(&[("META-INF/maven/g/a/pom.xml", b"<project><groupId>g</groupId>")]), &LIMITS);
    assert!(has_note(&cut, "could not be read: it is not XML, or cut off"), "{:?}", cut.summary.notes);
    // A pom that only lacks what its parent says is no fault.
    let child = b"<project><parent><groupId>g</groupId></parent><artifactId>a</artifactId></project>";
    let child = analysed(&deflated(&[("META-INF/maven/g/a/pom.xml", child)]), &LIMITS);
    assert!(!has_note(&child, "pom.xml"), "{:?}", child.summary.notes);
}

#[test]
fn poms_in_utf_16_are_read_with_a_mark_and_without() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><project><groupId>org.yaml</groupId><artifactId>snakeyaml</artifactId>\
                <version>1.27</version><dependencies><dependency><groupId>org.yaml</groupId><artifactId>snakeyaml</artifactId>\
                <version>1.26</version></dependency></dependencies></project>";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for content in [[&[0xff, 0xfe][..], &little].concat(), [&[0xfe, 0xff][..], &big].concat(), little, big] {
        let analysis = sources(&content);
        assert_eq!(analysis.components[0].component.version, "1.26", "{:?}", analysis.summary.notes);
        let analysis = analysed(&deflated(&[("META-INF/maven/org.yaml/snakeyaml/pom.xml", &content)]), &LIMITS);
        assert_eq!(analysis.components[0].component.version, "1.27", "{:?}", analysis.summary.notes);
    }
}
