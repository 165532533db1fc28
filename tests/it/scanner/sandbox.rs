//! The process an analysis runs in: what it may not do, and what becomes of a task whose process misbehaves.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cardea::config::scanner::Sources;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::scanner::{ACME, GLOBEX, TestScanner, answer, assert_refused, form, spawn_scanner_with};
use crate::support::{eventually, jar};

/// A program that takes the place of the analysis: a shell script that has already read its order.
fn script(folder: &TempDir, lines: &str) -> PathBuf {
    let path = folder.path().join("analysis.sh");
    fs::write(&path, format!("#!/bin/sh\nread -r order\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

async fn with_script(lines: &str) -> (TestScanner, TempDir) {
    with_script_and(lines, |_| {}).await
}

/// The same with changed settings.
async fn with_script_and(lines: &str, change: impl FnOnce(&mut Sources)) -> (TestScanner, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = script(&folder, lines);
    let started = spawn_scanner_with(move |settings| {
        settings.analysis.executable = Some(program);
        change(&mut settings.archive.sources);
    });
    (started.await, folder)
}

async fn failed(scanner: &TestScanner) -> Value {
    let sha256 = scanner.upload(ACME, "shop.war", jar::vulnerable_war()).await;
    let id = scanner.create_task(ACME, "shop", &sha256).await;
    let task = scanner.ended(ACME, &id).await;
    assert_eq!(task["taskStatus"], "FAILED", "{task}");
    assert_eq!(scanner.get(ACME, &format!("/api/v1/tasks/{id}")).await.0, 200, "the service is up");
    task
}

fn words(task: &Value) -> &str {
    task["errDetail"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_fails_its_task_in_plain_words_and_nothing_else() {
    for lines in ["exit 101", "kill -9 $$", "echo no json", "exit 0", "printf '{\"Done\":{\"findings\"'"] {
        let (scanner, _folder) = with_script(lines).await;
        let task = failed(&scanner).await;
        assert!(
            words(&task).contains("broke down") && words(&task).contains("Nothing was found or ruled out"),
            "{lines}: {task}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_runs_out_of_memory_or_time_says_what_to_do() {
    let (scanner, _folder) = with_script("echo 'memory allocation of 99 bytes failed' >&2; kill -6 $$").await;
    let task = failed(&scanner).await;
    assert!(words(&task).contains("2048 MiB of memory") && words(&task).contains("one by one"), "{task}");
    let (scanner, _folder) = with_script("kill -24 $$").await;
    let task = failed(&scanner).await;
    assert!(words(&task).contains("longer than it may"), "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_end_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let program = script(&folder, "while :; do printf '%01000d' 0; done");
    let scanner = spawn_scanner_with(move |settings| {
        settings.analysis.executable = Some(program);
        settings.analysis.answer_bytes = 1 << 20;
    })
    .await;
    assert!(words(&failed(&scanner).await).contains("broke down"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_fails_the_task_and_says_whom_to_ask() {
    let scanner = spawn_scanner_with(|settings| settings.analysis.executable = Some("/nowhere/cardea".into())).await;
    assert!(words(&failed(&scanner).await).contains("tell the operator"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminated_task_ends_its_process() {
    let (scanner, folder) = with_script("echo $$ > \"$0.pid\"\necho '{\"Progress\":42}'\nexec sleep 600").await;
    let sha256 = scanner.upload(ACME, "shop.war", jar::vulnerable_war()).await;
    let id = scanner.create_task(ACME, "shop", &sha256).await;
    let task = eventually("progress of the process", async || {
        let (_, task) = scanner.get(ACME, &format!("/api/v1/tasks/{id}")).await;
        (task["progress"] == 42).then_some(task)
    })
    .await;
    assert_eq!(task["taskStatus"], "RUNNING");
    let pid = fs::read_to_string(folder.path().join("analysis.sh.pid")).unwrap();
    let process = PathBuf::from(format!("/proc/{}", pid.trim()));
    assert!(process.exists());
    assert_eq!(scanner.post(ACME, "/api/v1/tasks/terminate", json!({"taskId": id})).await.0, 200);
    eventually("the end of the process", async || (!process.exists()).then_some(())).await;
    assert_eq!(scanner.ended(ACME, &id).await["taskStatus"], "TERMINATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_wants_more_memory_than_there_is_fails_alone() {
    let scanner = spawn_scanner_with(|settings| settings.analysis.memory_bytes = 64 << 20).await;
    let noise: Vec<u8> = (0..(120_u32 << 20) / 4).flat_map(|n| (n / 64).wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let war = jar::archive(&[("big.jar", &noise)]);
    let sha256 = scanner.upload(ACME, "big.war", war).await;
    let id = scanner.create_task(ACME, "big", &sha256).await;
    let task = scanner.ended(ACME, &id).await;
    assert_eq!(task["taskStatus"], "FAILED", "{task}");
    assert!(words(&task).contains("64 MiB of memory"), "{task}");
    scanner.scanned(ACME, "small.jar", jar::library("org.example", "small", "1.0")).await;
}

/// An order whose artifact is a pipe nobody writes to: the process waits at its first read, after it gave everything up.
fn waiting(folder: &TempDir) -> Value {
    let pipe = folder.path().join("artifact.jar");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    json!({
        "work": {"Archive": {"artifact": {"path": pipe, "name": "artifact.jar"}, "sources": []}},
        "advisories": folder.path(),
        "limits": {"depth": 6, "entries": 1000, "inflated_bytes": 1_000_000, "nested_bytes": 1_000_000, "ratio": 200,
            "ratio_from_bytes": 1_000_000, "seconds": 60, "sources": {"upload_bytes": 1, "analyses": 1, "analyses_per_account": 1,
                "waiting": 1, "wait_seconds": 1, "seconds": 1, "memory_bytes": 1, "pom_bytes": 1, "lock_bytes": 1, "poms": 1,
                "xml_depth": 1, "parents": 1, "dependencies": 1, "packages": 1, "issues": 1},
            "call_graph": {"class_bytes": 1, "classes": 1, "methods": 1, "calls": 1, "name_bytes": 1, "steps": 1, "targets": 1,
                "subclasses": 1, "chains": 1, "chain_steps": 2}},
        "bounds": {"memory_bytes": 1_u64 << 30, "seconds": 60},
        "is_isolation_required": true,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_gives_up_connections_programs_and_files_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let order = waiting(&folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardea"));
    let mut process = command.arg("analyze-archive").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(process.stdin.as_mut().unwrap(), format!("{order}\n").as_bytes()).unwrap();
    let proc = PathBuf::from(format!("/proc/{}", process.id()));
    let status = eventually("the filter of system calls", async || {
        let status = fs::read_to_string(proc.join("status")).ok()?;
        status.contains("Seccomp:\t2").then_some(status)
    })
    .await;
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let limits = fs::read_to_string(proc.join("limits")).unwrap();
    for (name, value) in
        [("Max data size", "1073741824"), ("Max file size", "0"), ("Max core file size", "0"), ("Max cpu time", "90")]
    {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line[26..].trim_start().starts_with(value), "{line}");
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_service_was_killed_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let order = folder.path().join("order.json");
    fs::write(&order, format!("{}\n", waiting(&folder))).unwrap();
    let started = format!("{} analyze-archive < {} > /dev/null & echo $!; wait", env!("CARGO_BIN_EXE_cardea"), order.display());
    let mut service = Command::new("sh").args(["-c", &started]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(service.stdout.take().unwrap()), &mut pid).unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", pid.trim()));
    eventually("the filter of system calls", async || fs::read_to_string(&status).ok()?.contains("Seccomp:\t2").then_some(()))
        .await;
    service.kill().unwrap();
    service.wait().unwrap();
    // Whoever takes over orphans may not have looked yet: then it is a zombie.
    let ended = || fs::read_to_string(&status).map_or(true, |text| text.contains("State:\tZ"));
    eventually("the end of the process", async || ended().then_some(())).await;
}

const POM: &str = "/api/v1/sca/static-analyze/mvn";
const A_POM: &[u8] = b"<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>";

/// A script that notes its process and answers when a file `go` lies beside it.
const WAITS: &str = "echo $$ >> \"$0.pids\"\nwhile [ ! -e \"$0.go\" ]; do sleep 0.05; done\necho '{\"Done\":\"emlw\"}'";

async fn compose(scanner: &TestScanner, bearer: &str) -> (StatusCode, Value) {
    answer(scanner.request(Method::POST, POM).bearer_auth(bearer).multipart(form("pom.xml", A_POM.to_vec()))).await
}

/// The processes of [`WAITS`] so far.
fn processes(folder: &TempDir) -> Vec<PathBuf> {
    let pids = fs::read_to_string(folder.path().join("analysis.sh.pids")).unwrap_or_default();
    pids.lines().map(|pid| PathBuf::from(format!("/proc/{pid}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn poms_that_take_too_long_or_too_much_are_refused_with_what_to_do() {
    let lines = "echo $$ >> \"$0.pids\"\nexec sleep 600";
    let (scanner, folder) = with_script_and(lines, |sources| sources.seconds = 1).await;
    let refused = compose(&scanner, ACME).await;
    let words = refused.1["message"].as_str().unwrap();
    assert!(words.contains("longer than 1 s") && words.contains("Send fewer poms at once"), "{words}");
    assert_refused(refused, 400, 4000);
    let process = processes(&folder).pop().unwrap();
    eventually("the end of the process", async || (!process.exists()).then_some(())).await;
    assert_eq!(fs::read_dir(scanner.data().join("incoming")).unwrap().count(), 0, "nothing of the upload stays");

    let lines = "echo 'memory allocation of 99 bytes failed' >&2; kill -6 $$";
    let (scanner, _folder) = with_script_and(lines, |sources| sources.memory_bytes = 64 << 20).await;
    let refused = compose(&scanner, ACME).await;
    let words = refused.1["message"].as_str().unwrap();
    assert!(words.contains("more than 64 MiB of memory") && words.contains("Send fewer poms at once"), "{words}");
    assert_refused(refused, 400, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_of_poms_that_breaks_down_is_the_services_fault_and_the_service_stays() {
    for lines in ["exit 101", "kill -9 $$", "echo no json", "echo '{\"Done\":\"no base64\"}'", "echo '{\"Unfit\":\"x\"}'"] {
        let (scanner, _folder) = with_script(lines).await;
        assert_refused(compose(&scanner, ACME).await, 500, 5000);
        assert_eq!(scanner.post(ACME, "/api/v1/tasks/search", json!({})).await.0, StatusCode::OK, "{lines}");
    }
    let scanner = spawn_scanner_with(|settings| settings.analysis.executable = Some("/nowhere/cardea".into())).await;
    assert_refused(compose(&scanner, ACME).await, 500, 5000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_takes_all_its_places_takes_none_of_another() {
    let limits = |sources: &mut Sources| {
        (sources.analyses, sources.analyses_per_account, sources.waiting) = (2, 1, 1);
        sources.wait_seconds = 60;
    };
    let (scanner, folder) = with_script_and(WAITS, limits).await;
    let started = async |count| {
        eventually("the processes", async || (processes(&folder).len() == count).then_some(())).await;
    };
    let asks = || async {
        let request = scanner.request(Method::POST, POM).bearer_auth(ACME).multipart(form("pom.xml", A_POM.to_vec()));
        request.send().await.unwrap()
    };
    let others = async {
        started(1).await;
        // One runs. Of two more one waits, whichever comes first, and the other one is told to come back.
        let (one, two) = (asks(), asks());
        tokio::pin!(one, two);
        let (refused, waits) = tokio::select! {
            refused = &mut one => (refused, two),
            refused = &mut two => (refused, one),
        };
        assert_eq!((refused.status(), &refused.headers()["retry-after"]), (StatusCode::TOO_MANY_REQUESTS, &"5".parse().unwrap()));
        let release = async {
            started(2).await;
            fs::write(folder.path().join("analysis.sh.go"), "").unwrap();
        };
        let (waits, globex, ()) = tokio::join!(waits, compose(&scanner, GLOBEX), release);
        (waits.status(), globex.0)
    };
    let (first, (second, other)) = tokio::join!(compose(&scanner, ACME), others);
    assert_eq!((first.0, second, other), (StatusCode::OK, StatusCode::OK, StatusCode::OK), "{}", first.1);
}
