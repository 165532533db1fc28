//! The portal in a real browser. The steps are in tests/browser; here the built binary is started for them and their verdict is passed on.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::demo::Demo;

const BINARY: &str = env!("CARGO_BIN_EXE_cardea");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node_modules/playwright-core");

/// Runs one script of tests/browser; gives what it said, or fails with it.
pub(crate) fn run(script: &str, arguments: &[&str]) -> String {
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
    said
}

#[test]
fn a_browser_goes_from_sign_in_to_an_opened_share_and_every_page_is_accessible() {
    let demo = Demo::start();
    let sheet = demo.data().join("demo.json");
    run("journey.mjs", &[&demo.portal, sheet.to_str().expect("a plain path")]);
}

#[test]
fn every_step_of_a_new_scan_works_with_script_and_without() {
    run("new-scan.mjs", &[BINARY]);
}

#[test]
fn nothing_typed_into_a_draft_is_lost_and_every_page_of_a_refusal_is_accessible() {
    run("refusals.mjs", &[BINARY]);
}

#[test]
fn a_new_scan_is_checked_proved_and_signed_in_before_the_real_service() {
    run("new-scan-real.mjs", &[BINARY]);
}

#[test]
fn nothing_a_hostile_service_returns_runs_or_leaves_the_origin() {
    run("hostile.mjs", &[BINARY]);
}

#[test]
fn components_chains_and_groups_are_read_in_a_browser_and_every_page_is_accessible() {
    run("parts.mjs", &[BINARY]);
}

#[test]
fn shares_are_chosen_looked_at_made_changed_and_ended_in_a_browser_and_every_page_is_accessible() {
    run("own-shares.mjs", &[BINARY]);
}

#[test]
fn sessions_are_seen_and_ended_in_a_browser_and_every_page_is_accessible() {
    run("sessions.mjs", &[BINARY]);
}

#[test]
fn administration_is_used_in_a_browser_and_every_page_is_accessible() {
    run("administration.mjs", &[BINARY]);
}

#[test]
fn keys_and_the_audit_log_stay_in_the_hands_of_administrators_in_a_browser() {
    run("control.mjs", &[BINARY]);
}

#[test]
fn a_remote_browser_signs_in_twice_and_refuses_what_it_must() {
    run("remote.mjs", &[BINARY]);
}

/// Frames a second of one animated page at 1280 x 800, painted in a second browser on the same machine.
#[test]
#[ignore = "measures; run by hand on an idle machine, with --release for the figure that counts"]
fn frames_per_second_of_a_remote_browser() {
    println!("{}", run("remote-speed.mjs", &[BINARY]));
}
