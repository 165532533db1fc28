//! The advisory database on disk: importing every form, replacing snapshots, concurrent imports, damage.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::advisories::{AdvisoryDatabase, DatabaseError, ImportError, import, status};
use super::test_data::{scan, shared, shared_path};
use crate::platform::clock::Timestamp;

fn record(id: &str, cve: &str, fixed: &str) -> String {
    format!(
        r#"{{"id":"{id}","modified":"2025-01-01T00:00:00Z","published":"2025-01-01T00:00:00Z","aliases":["{cve}"],"summary":"A flaw",
        "affected":[{{"package":{{"ecosystem":"Maven","name":"org.example:thing"}},"ranges":[{{"type":"ECOSYSTEM",
        "events":[{{"introduced":"0"}},{{"fixed":"{fixed}"}}]}}]}}],"database_specific":{{"severity":"HIGH"}}}}"#
    )
}

fn written(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

fn advisories(folder: &Path) -> u64 {
    status(folder).unwrap().advisories
}

#[test]
fn every_form_of_osv_records_is_imported_and_gives_the_same() {
    let from = tempfile::tempdir().unwrap();
    let one = record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2");
    let two = record("GHSA-bbbb-bbbb-bbbb", "CVE-2099-0002", "3");
    let list = format!("[{one},{two}]");
    written(from.path(), "folder/a.json", one.as_bytes());
    written(from.path(), "folder/deep/b.json", two.as_bytes());
    written(from.path(), "list.json", list.as_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(list.as_bytes()).unwrap();
    written(from.path(), "list.json.gz", &gzip.finish().unwrap());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("a.json", &one), ("b.json", &two)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    written(from.path(), "all.zip", &zip.finish().unwrap().into_inner());
    for form in ["folder", "list.json", "list.json.gz", "all.zip"] {
        let data = tempfile::tempdir().unwrap();
        let before = advisories(data.path());
        let report = import(data.path(), &from.path().join(form), Timestamp(0)).unwrap();
        assert_eq!((report.read, report.imported, report.skipped.len()), (2, 2, 0), "{form}");
        assert_eq!(advisories(data.path()), before + 2, "{form}");
        assert_eq!(report.status.newest, "2025-01-01", "{form}");
    }
}

#[test]
fn what_is_left_out_is_counted_and_explained() {
    let from = tempfile::tempdir().unwrap();
    let good = record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2");
    let npm = r#"{"id":"GHSA-1","affected":[{"package":{"ecosystem":"NuGet","name":"x"}}]}"#;
    let withdrawn = r#"{"id":"GHSA-2","withdrawn":"2025-01-01T00:00:00Z"}"#;
    let path = written(from.path(), "list.json", format!("[{good},{npm},{npm},{withdrawn},17]").as_bytes());
    let report = import(&from.path().join("data"), &path, Timestamp(0)).unwrap();
    assert_eq!((report.read, report.imported, report.withdrawn), (5, 1, 1));
    let reasons: Vec<_> = report.skipped.iter().map(|one| (one.reason.as_str(), one.count)).collect();
    assert_eq!(reasons, [("no package of Maven, npm, PyPI, crates.io or Go", 2), ("not an OSV record", 1)]);
    assert!(report.to_string().contains("2 left out: no package of Maven, npm"), "{report}");
}

#[test]
fn a_file_without_advisories_is_refused_and_changes_nothing() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    for content in [&b""[..], b"hello world\n", b"\x00\x01\x02", b"PK\x03\x04 no zip"] {
        let path = written(from.path(), "x", content);
        let error = import(&data, &path, Timestamp(0)).unwrap_err();
        assert!(matches!(error, ImportError::Nothing(_) | ImportError::Read(..)), "{error}");
    }
    assert!(matches!(import(&data, &from.path().join("absent"), Timestamp(0)), Err(ImportError::Read(..))));
    assert!(!data.exists());
}

#[test]
fn a_running_service_takes_a_new_snapshot_up() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    let database = AdvisoryDatabase::open(&data).unwrap();
    assert!(database.current().is_starter_only() && database.current().count() > 280);
    assert!(!database.refresh().unwrap());
    let before = database.current();
    let path = written(from.path(), "a.json", record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2").as_bytes());
    import(&data, &path, Timestamp(0)).unwrap();
    assert!(database.refresh().unwrap());
    assert!(!database.refresh().unwrap());
    assert_eq!(database.current().count(), before.count() + 1);
    assert!(!database.current().is_starter_only());
}

#[test]
fn imports_at_the_same_time_lose_nothing() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    let paths: Vec<PathBuf> = (0..8)
        .map(|at| {
            let text = record(&format!("GHSA-aaaa-aaaa-000{at}"), &format!("CVE-2099-000{at}"), "2");
            written(from.path(), &format!("{at}.json"), text.as_bytes())
        })
        .collect();
    let before = advisories(&data);
    std::thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| import(&data, path, Timestamp(0)).unwrap());
        }
    });
    assert_eq!(advisories(&data), before + 8);
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_damaged_snapshot_is_named_and_what_was_in_use_stays() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    let path = written(from.path(), "a.json", record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2").as_bytes());
    import(&data, &path, Timestamp(0)).unwrap();
    let database = AdvisoryDatabase::open(&data).unwrap();
    let count = database.current().count();
    let file = data.join("advisories.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(matches!(database.refresh(), Err(DatabaseError::Damaged(_))));
    assert_eq!(database.current().count(), count);
    assert!(AdvisoryDatabase::open(&data).unwrap_err().to_string().contains("is damaged"));
}

#[test]
fn the_full_records_correct_the_table() {
    let osv = "advisories/osv-maven-from-testdata.json.gz";
    let csv = "advisories/advisories-maven-2024-12-16.csv";
    if shared(osv).is_none() || shared(csv).is_none() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let rows = import(data.path(), &shared_path(csv), Timestamp(0)).unwrap();
    assert_eq!((rows.read, rows.imported), (8298, 8298), "{rows}");
    assert!(rows.status.advisories > 5_200 && rows.status.packages > 2_370, "{rows}");
    let records = import(data.path(), &shared_path(osv), Timestamp(0)).unwrap();
    assert_eq!(records.read, 378, "{records}");
    assert!(records.imported > 340, "{records}");
    assert!(records.status.advisories < rows.status.advisories + 60, "names were not merged: {records}");
    assert_eq!(records.status.sources.len(), 3);
    let twice = import(data.path(), &shared_path(osv), Timestamp(0)).unwrap();
    assert_eq!(twice.status.advisories, records.status.advisories);
}

#[test]
fn an_imported_advisory_is_matched() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    let path = written(from.path(), "a.json", record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2").as_bytes());
    import(&data, &path, Timestamp(0)).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("META-INF/maven/org.example/thing/pom.properties", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"groupId=org.example\nartifactId=thing\nversion=1.9\n").unwrap();
    let jar = written(from.path(), "thing-1.9.jar", &zip.finish().unwrap().into_inner());
    let analysis = scan(&jar, &AdvisoryDatabase::open(&data).unwrap()).unwrap();
    assert_eq!(analysis.findings.len(), 1);
    let finding = &analysis.findings[0];
    assert_eq!(
        (finding.cve_ids.as_slice(), finding.aliases.as_slice()),
        (&["CVE-2099-0001".to_owned()][..], &["GHSA-aaaa-aaaa-aaaa".to_owned()][..])
    );
    assert_eq!(
        finding.references,
        ["https://nvd.nist.gov/vuln/detail/CVE-2099-0001", "https://github.com/advisories/GHSA-aaaa-aaaa-aaaa"]
    );
}

#[test]
fn records_of_every_world_are_kept_apart_by_name_and_world() {
    let from = tempfile::tempdir().unwrap();
    let of = |ecosystem: &str, name: &str, at: u32| {
        record(&format!("GHSA-aaaa-aaaa-000{at}"), &format!("CVE-2099-000{at}"), "2.0.0")
            .replace("\"Maven\"", &format!("\"{ecosystem}\""))
            .replace("org.example:thing", name)
    };
    let all = [("npm", "thing"), ("PyPI", "Thing"), ("crates.io", "thing"), ("Go", "example.org/thing")];
    let texts: Vec<String> = all.iter().zip(1..).map(|((ecosystem, name), at)| of(ecosystem, name, at)).collect();
    let path = written(from.path(), "all.json", format!("[{}]", texts.join(",")).as_bytes());
    let data = from.path().join("data");
    let before = status(&data).unwrap();
    let report = import(&data, &path, Timestamp(0)).unwrap();
    assert_eq!((report.imported, report.status.packages), (4, before.packages + 4));
    let zip_path = from.path().join("app.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&zip_path).unwrap());
    for (name, text) in [
        ("package-lock.json", r#"{"lockfileVersion":3,"packages":{"node_modules/thing":{"version":"1.9.9"}}}"#),
        ("requirements.txt", "thing==2.0.0rc1\n"),
        ("go.mod", "module m\nrequire example.org/thing v2.0.0+incompatible\n"),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    let found = scan(&zip_path, &AdvisoryDatabase::open(&data).unwrap()).unwrap().findings;
    let ids: Vec<_> = found.iter().map(|one| one.cve_ids[0].as_str()).collect();
    assert_eq!(ids, ["CVE-2099-0001", "CVE-2099-0002"]);
}

#[test]
fn a_snapshot_of_the_first_format_is_read_and_one_of_a_later_format_refused() {
    let from = tempfile::tempdir().unwrap();
    let data = from.path().join("data");
    let path = written(from.path(), "a.json", record("GHSA-aaaa-aaaa-aaaa", "CVE-2099-0001", "2").as_bytes());
    import(&data, &path, Timestamp(0)).unwrap();
    let count = advisories(&data);
    let file = data.join("advisories.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let old = text.replace("cardea-advisories/2", "cardea-advisories/1").replace("\"ecosystem\":\"Maven\",", "");
    std::fs::write(&file, &old).unwrap();
    let read = status(&data).unwrap();
    assert_eq!(read.advisories, count);
    assert!(read.to_string().contains("Maven packages only: import it again"), "{read}");
    std::fs::write(&file, text.replace("cardea-advisories/2", "cardea-advisories/3")).unwrap();
    let error = status(&data).unwrap_err();
    assert!(matches!(error, DatabaseError::Format(_)) && error.to_string().contains("another version"), "{error}");
}
