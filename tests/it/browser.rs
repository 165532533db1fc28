//! The portal in a real browser. The steps are in tests/browser; here the built binary is started for them and their verdict is passed on.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_cardea");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node_modules/playwright-core");

/// A demo on free ports in a folder of its own, which ends with the test.
struct Demo {
    process: Child,
    portal: String,
    folder: TempDir,
}

impl Demo {
    fn start() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let mut process = Command::new(BINARY)
            .args(["demo", "--port", "0", "--data"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the built binary runs");
        let told = BufReader::new(process.stdout.take().expect("its output is piped"));
        let ready = told.lines().map_while(Result::ok).find(|line| line.starts_with("ready "));
        let ready = ready.expect("the demo ended before it was ready");
        let portal = ready.split_whitespace().find_map(|part| part.strip_prefix("portal=")).expect("the line names the portal");
        Self { process, portal: portal.to_owned(), folder }
    }

    fn sheet(&self) -> String {
        self.folder.path().join("demo.json").to_str().expect("a plain path").to_owned()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs one script of tests/browser and fails with what it said.
fn run(script: &str, arguments: &[&str]) {
    assert!(Path::new(MODULES).exists(), "the browser tests need tests/node_modules; `.ci/test` sets them up");
    let log = TempDir::new().expect("a temporary folder");
    let path = log.path().join("log");
    let file = fs::File::create(&path).expect("a file in a temporary folder");
    let status = Command::new("node")
        .arg(format!("{SCRIPTS}/{script}"))
        .args(arguments)
        .stdout(file.try_clone().expect("the file can be shared"))
        .stderr(file)
        .status()
        .expect("the browser tests need node; `.ci/test` sets it up");
    let said = fs::read_to_string(&path).unwrap_or_default();
    assert!(status.success(), "{script} failed:\n{said}");
}

#[test]
fn a_browser_goes_from_sign_in_to_an_opened_share_and_every_page_is_accessible() {
    let demo = Demo::start();
    run("journey.mjs", &[&demo.portal, &demo.sheet()]);
}

#[test]
fn nothing_a_hostile_service_returns_runs_or_leaves_the_origin() {
    run("hostile.mjs", &[BINARY]);
}
