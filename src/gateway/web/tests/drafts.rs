//! Drafts: begun, gone on with, changed from two tabs, over, and nobody else's.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::bench::XSS;
use super::scan_bench::Bench;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, sha256};

#[test]
fn a_form_without_script_uploads_and_a_scan_of_one_file_goes_straight_to_the_start() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let added = bench.add_file(&draft, "artifact", "shop.war", b"PK the bytes", &[]);
    assert_eq!((added.status, added.header("location")), (303, format!("{draft}/artifact")), "{}", added.text());
    let page = bench.get(&format!("{draft}/artifact")).text();
    assert!(page.contains("shop.war") && page.contains(&format!("href=\"{draft}/check\"")), "{page}");
    let check = bench.get(&format!("{draft}/check")).text();
    assert!(
        check.contains("shop.war") && !check.contains("name=\"sure\""),
        "without a target there is nothing to confirm: {check}"
    );
    let started = bench.step(&draft, "check", "");
    assert_eq!((started.status, started.header("location").as_str()), (303, "/tasks/new1"), "{}", started.text());
    let hash = hex(&sha256(b"PK the bytes"));
    assert_eq!(bench.service.files.lock().unwrap().as_slice(), std::slice::from_ref(&hash));
    let created = bench.service.created.lock().unwrap()[0].clone();
    assert_eq!(created, json!({"projectName": "shop.war", "lang": "JAVA", "primarySourceCode": hash}));
    assert_eq!(bench.get(&format!("{draft}/check")).status, 410, "a started draft is gone");
}

#[test]
fn a_draft_is_found_again_with_its_next_step_and_its_end() {
    let bench = Bench::new();
    let draft = bench.draft("My+%22shop%22");
    bench.add_file(&draft, "artifact", "shop.war", b"PK", &[]);
    let other_browser = bench.of("alice");
    let list = other_browser.get("/tasks/new").text();
    assert!(list.contains("My &#34;shop&#34;") && list.contains(&format!("href=\"{draft}/target\"")), "{list}");
    assert!(list.contains("Kept until") && list.contains("1 file"), "{list}");
    let skipped = bench.step(&draft, "skip", "step=target");
    assert_eq!((skipped.status, skipped.header("location")), (303, format!("{draft}/ownership")));
    let page = bench.get(&format!("{draft}/target")).text();
    assert!(page.contains("Skipped") && page.contains("aria-current=\"step\"") && page.contains(" UTC</time>"), "{page}");
    assert_eq!(bench.step(&draft, "skip", "step=nonsense").status, 400);
    let deleted = bench.post(&format!("{draft}/delete"), "");
    assert_eq!((deleted.status, deleted.header("location").as_str()), (303, "/tasks/new"));
    assert_eq!(bench.get(&format!("{draft}/target")).status, 404);
    assert!(!bench.get("/tasks/new").text().contains("My &#34;shop"));
}

#[test]
fn what_one_tab_entered_is_not_taken_back_by_another() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let old = bench.get(&format!("{draft}/options")).version();
    bench.add_file(&draft, "artifact", "shop.war", b"PK", &[]);
    for (step, form) in [
        ("options", "project=Other"),
        ("target", "url=https%3A%2F%2Fa.example"),
        ("skip", "step=source"),
        ("artifact/remove", "row=0"),
    ] {
        let stale = bench.post(&format!("{draft}/{step}"), &format!("v={old}&{form}"));
        assert_eq!(stale.status, 409, "{step}: {}", stale.text());
        assert!(
            stale.text().contains("changed in another tab") && stale.text().contains(&format!("href=\"{draft}/")),
            "{}",
            stale.text()
        );
    }
    let before = bench.service.received.load(Ordering::SeqCst);
    let fields = [("csrf", bench.csrf.as_str()), ("v", old.as_str())];
    let stale = bench.multipart(&format!("{draft}/artifact"), "", &fields, "late.war", b"PK late");
    assert_eq!(stale.status, 409, "{}", stale.text());
    assert_eq!(bench.service.received.load(Ordering::SeqCst), before, "a file of a stale form is not sent on");
    assert_eq!(bench.post(&format!("{draft}/check"), &format!("v={old}")).status, 409);
    assert!(bench.service.created.lock().unwrap().is_empty());
    let page = bench.get(&format!("{draft}/check")).text();
    assert!(page.contains("shop.war") && !page.contains("Other") && !page.contains("a.example"), "{page}");
}

#[test]
fn nobody_else_finds_a_draft() {
    let bench = Bench::new();
    let draft = bench.draft("Secret+project");
    let version = bench.get(&format!("{draft}/artifact")).version();
    let bob = bench.of("bob");
    assert!(!bob.get("/tasks/new").text().contains("Secret project"));
    for step in
        ["artifact", "target", "target/stages", "ownership", "ownership/hash.txt", "source", "accounts", "options", "check"]
    {
        assert_eq!(bob.get(&format!("{draft}/{step}")).status, 404, "{step}");
    }
    for (step, form) in [
        ("options", "project=x"),
        ("skip", "step=target"),
        ("target", "url=https%3A%2F%2Fa.example"),
        ("target/check", ""),
        ("ownership", "origin=x"),
        ("check", ""),
        ("accounts/remove", "row=0"),
        ("delete", ""),
    ] {
        assert_eq!(bob.post(&format!("{draft}/{step}"), &format!("v={version}&{form}")).status, 404, "{step}");
    }
    assert_eq!(bench.get(&format!("{draft}/artifact")).status, 200);
    for odd in ["/tasks/new/x/artifact", "/tasks/new/..%2f..%2f/artifact", "/tasks/new/aaaaaaaaaaaaaaaaaaaaaa/artifact"] {
        assert_eq!(bench.get(odd).status, 404, "{odd}");
    }
}

#[test]
fn every_change_needs_the_session_s_token() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let version = bench.get(&format!("{draft}/artifact")).version();
    for step in [
        "delete",
        "skip",
        "artifact/remove",
        "target",
        "target/check",
        "ownership",
        "source/remove",
        "accounts",
        "accounts/remove",
        "options",
        "check",
    ] {
        let body = format!("csrf=other&v={version}&row=0&step=target");
        let more = format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n", body.len());
        let answer = bench.send(&bench.head("POST", &format!("{draft}/{step}"), &more), body.as_bytes());
        assert_eq!(answer.status, 403, "{step}");
    }
    for step in ["accounts/browser", "accounts/session", "target/repeat"] {
        assert_eq!(bench.script(&format!("{draft}/{step}"), "other", "{}").status, 403, "{step}");
    }
    assert_eq!(bench.get(&format!("{draft}/artifact")).version(), version);
}

#[test]
fn a_draft_ends_on_its_day_and_a_person_has_only_so_many() {
    let clock = Clock::manual(Timestamp(1_795_828_230_250));
    let bench = Bench::at(clock.clone());
    let first = bench.draft("first");
    for _ in 0..2 {
        bench.draft("more");
    }
    let full = bench.post("/tasks/new", "project=fourth");
    assert_eq!(full.status, 409);
    assert!(full.text().contains("You have 3 drafts") && full.text().contains("value=\"fourth\""), "{}", full.text());
    assert!(bench.of("bob").draft("own").starts_with("/tasks/new/"), "others have their own");
    clock.advance(Duration::from_hours(24 * 14));
    let later = bench.of("alice");
    assert_eq!(later.get(&format!("{first}/artifact")).status, 404);
    assert!(!later.get("/tasks/new").text().contains("Your drafts"));
    assert!(later.draft("fresh").starts_with("/tasks/new/"));
}

#[test]
fn a_file_that_cannot_be_used_comes_back_with_what_was_typed_and_nothing_is_stored() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let long = "x".repeat(81);
    let refused = bench.add_file(&draft, "artifact", "shop.zip", b"PK", &[("service", &long), ("target", "\"ftp")]);
    assert_eq!(refused.status, 422);
    let page = refused.text();
    assert!(
        page.contains("Choose a .jar, .war or .ear file.") && page.contains(&long) && page.contains("value=\"&#34;ftp\""),
        "{page}"
    );
    assert!(page.contains("aria-invalid=\"true\"") && page.contains("<title>Error: Artifact"));
    let none = bench.add_file(&draft, "artifact", "", b"", &[]);
    assert!(none.status == 422 && none.text().contains("Choose a file."));
    let hash = "0".repeat(64);
    let version = bench.get(&format!("{draft}/artifact")).version();
    let known = [("csrf", bench.csrf.as_str()), ("v", &version), ("service", &long), ("sha256", &hash), ("file_name", "a.jar")];
    let kept = bench.multipart(&format!("{draft}/artifact"), "", &known, "", b"");
    assert!(kept.status == 422 && kept.text().contains("is uploaded already"), "{}", kept.text());
    assert!(bench.service.files.lock().unwrap().is_empty());
    let source = bench.add_file(&draft, "source", "code.rar", b"x", &[("kind", "FRONTEND")]);
    assert!(
        source.status == 422
            && source.text().contains("Choose a .zip file.")
            && source.text().contains("value=\"FRONTEND\" selected")
    );
    for at in 0..3_u8 {
        assert_eq!(bench.add_file(&draft, "artifact", "a.jar", &[at], &[]).status, 303);
    }
    let many = bench.add_file(&draft, "artifact", "b.jar", b"more", &[]);
    assert!(many.status == 400 && many.text().contains("at most 3 files"), "{}", many.text());
    let names = bench.step(
        &draft,
        "options",
        &format!("project={}&file={}&service=b&target=nonsense", "x".repeat(201), hex(&sha256(&[1]))),
    );
    assert_eq!(names.status, 422);
    assert!(names.text().contains("at most 200 characters") && names.text().contains("value=\"nonsense\""), "{}", names.text());
}

#[test]
fn nothing_that_is_typed_or_named_becomes_more_than_text() {
    let bench = Bench::new();
    let coded = |fields: &[(&str, &str)]| url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let begun = bench.post("/tasks/new", &coded(&[("project", XSS)]));
    let draft = begun.header("location").strip_suffix("/artifact").unwrap().to_owned();
    bench.add_file(&draft, "artifact", "<img src=x onerror=alert(2)>.jar", b"a", &[("service", "<script>alert(1)</script>")]);
    bench.add_file(&draft, "source", "<img src=x onerror=alert(2)>.zip", b"b", &[]);
    *bench.service.diagnosis.lock().unwrap() = json!({"status": "FINISHED", "stages": [
        {"stageName": XSS, "description": XSS, "status": "FAIL", "resultInfo": XSS, "hint": XSS}]});
    bench.step(&draft, "target", &coded(&[("url", "https://a.example/\"><script>alert(1)</script>"), ("login_url", "")]));
    bench.step(
        &draft,
        "accounts",
        &coded(&[
            ("role", "own"),
            ("own_role", "<script>alert(1)</script>"),
            ("url", "https://a.example/'><img src=x onerror=alert(2)>"),
            ("cookies", "a=<script>alert(1)</script>"),
        ]),
    );
    for page in ["artifact", "target", "target/stages", "ownership", "source", "accounts", "options", "check"] {
        let text = bench.get(&format!("{draft}/{page}")).text();
        for evil in ["<script>alert", "<img src=x", "href=\"javascript"] {
            assert!(!text.contains(evil), "{page} holds {evil}: {text}");
        }
        // A field that is edited holds what was typed, as it is.
        assert!(page == "options" || !text.contains('\u{202e}'), "{page} turns the direction of text: {text}");
    }
    assert!(!bench.get("/tasks/new").text().contains("<script>alert"));
}
