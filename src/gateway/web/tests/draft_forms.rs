//! Forms of a draft that cannot be saved as they were sent: nothing that was typed is lost, and what to do is said.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::scan_bench::{Answer, Bench};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{hex, sha256};

fn has(answer: &Answer, status: u16, words: &[&str]) {
    let page = answer.text();
    assert_eq!(answer.status, status, "{page}");
    for one in words {
        assert!(page.contains(one), "{one:?} in {page}");
    }
}

/// A draft with a file, and the version of a page that is older than its target.
fn changed_meanwhile(bench: &Bench) -> (String, String) {
    let draft = bench.draft("");
    bench.add_file(&draft, "artifact", "shop.war", b"PK", &[]);
    *bench.service.diagnosis.lock().unwrap() = json!({"status": "FINISHED", "stages": []});
    let old = bench.get(&format!("{draft}/options")).version();
    let form = "url=https%3A%2F%2Fkept.example%2F%3Fkey%3DTOPSECRET&login_url=";
    assert_eq!(bench.step(&draft, "target", form).status, 303);
    (draft, old)
}

#[test]
fn a_form_of_an_older_page_keeps_its_entry_and_says_what_changed_and_how_to_save_it() {
    let bench = Bench::new();
    let (draft, old) = changed_meanwhile(&bench);
    let form = "url=https%3A%2F%2Ftyped.example%2F&login_url=https%3A%2F%2Fid.example%2F";
    let stale = bench.post(&format!("{draft}/target"), &format!("v={old}&{form}"));
    let words = [
        "The target was changed in another tab or window",
        "value=\"https://typed.example/\"",
        "value=\"https://id.example/\"",
        "“Save and check the connection” once more",
        "<dt>Target address now</dt><dd>https://kept.example/ (with a query that is not shown)</dd>",
        "<title>Error: Target",
    ];
    has(&stale, 409, &words);
    let accounts =
        format!("v={old}&role=own&own_role=Auditor&url=https%3A%2F%2Fb.example&cookies=sid%3DTYPED99&headers=X-A%3A+1");
    let stale_account = bench.post(&format!("{draft}/accounts"), &accounts);
    has(
        &stale_account,
        409,
        &["value=\"Auditor\"", "value=\"https://b.example\"", "\nsid=TYPED99</textarea>", "\nX-A: 1</textarea>", "fold\" open"],
    );
    assert!(stale_account.header("content-security-policy").contains("frame-src "), "the browser may still be embedded");
    let file = hex(&sha256(b"PK"));
    let names = format!(
        "v={old}&project=Typed&file={file}&service=cart&target=https%3A%2F%2Fown.example&file={}&service=lost",
        "0".repeat(64)
    );
    let stale_names = bench.post(&format!("{draft}/options"), &names);
    has(
        &stale_names,
        409,
        &["value=\"Typed\"", "value=\"cart\"", "value=\"https://own.example\"", "in this draft no longer", "<li>lost</li>"],
    );
    has(
        &bench.post(&format!("{draft}/check"), &format!("v={old}&sure=yes")),
        409,
        &["Nothing was started.", "https://kept.example/"],
    );
    assert!(!bench.get(&format!("{draft}/accounts")).text().contains("TYPED99"), "what was not saved is shown once");
    // The page that came back is one of the draft as it is now: its form saves.
    let saved = bench.post(&format!("{draft}/target"), &format!("v={}&{form}", stale.hidden("v")));
    assert_eq!(saved.status, 303, "{}", saved.text());
    has(&bench.get(&format!("{draft}/target")), 200, &["value=\"https://typed.example/\""]);
}

#[test]
fn wrong_fields_of_an_older_page_do_not_hide_that_it_is_older() {
    let bench = Bench::new();
    let (draft, old) = changed_meanwhile(&bench);
    let stale = bench.post(&format!("{draft}/target"), &format!("v={old}&url=nonsense&login_url="));
    has(&stale, 409, &["changed in another tab", "value=\"nonsense\"", "Use a complete address"]);
    let unsure = bench.post(&format!("{draft}/check"), &format!("v={old}"));
    has(&unsure, 409, &["changed in another tab", "Confirm this first."]);
    let unknown = bench.post(&format!("{draft}/options"), "v=0&project=Typed");
    has(&unknown, 409, &["The draft was changed in another tab", "value=\"Typed\""]);
}

#[test]
fn a_file_of_an_older_page_is_asked_for_again_and_all_else_is_kept() {
    let bench = Bench::new();
    let (draft, old) = changed_meanwhile(&bench);
    let before = bench.service.received.load(Ordering::SeqCst);
    let fields = [
        ("csrf", bench.csrf.as_str()),
        ("v", &old),
        ("service", "cart"),
        ("target", "https://own.example"),
        ("kind", "FRONTEND"),
    ];
    let stale = bench.multipart(&format!("{draft}/artifact"), "", &fields, "late.war", b"PK late");
    has(&stale, 409, &["The target was changed", "choose it again", "value=\"cart\"", "value=\"https://own.example\""]);
    let source = bench.multipart(&format!("{draft}/source"), "", &fields, "late.zip", b"PK late");
    has(&source, 409, &["choose it again", "value=\"FRONTEND\" selected"]);
    assert_eq!(bench.service.received.load(Ordering::SeqCst), before, "a file of a stale form is not sent on");
    let hash = "1".repeat(64);
    let sent = [("csrf", bench.csrf.as_str()), ("v", &old), ("service", "cart"), ("sha256", &hash), ("file_name", "late.war")];
    let kept = bench.multipart(&format!("{draft}/artifact"), "", &sent, "", b"");
    has(&kept, 409, &["is uploaded already", "late.war", &hash, "“Upload the file” once more"]);
}

#[test]
fn a_step_that_is_full_keeps_what_was_typed() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let account = |n: u8| format!("role=own&own_role=Role{n}&url=https%3A%2F%2Fa.example&cookies=sid%3D{n}&headers=");
    for n in 0..2 {
        assert_eq!(bench.step(&draft, "accounts", &account(n)).status, 303);
    }
    has(&bench.step(&draft, "accounts", &account(7)), 400, &["at most 2 accounts", "value=\"Role7\"", "\nsid=7</textarea>"]);
    for at in 0..3_u8 {
        assert_eq!(bench.add_file(&draft, "artifact", "a.jar", &[at], &[]).status, 303);
    }
    let before = bench.service.received.load(Ordering::SeqCst);
    has(
        &bench.add_file(&draft, "artifact", "b.jar", b"more", &[("service", "cart")]),
        400,
        &["at most 3 files", "value=\"cart\""],
    );
    assert_eq!(bench.service.received.load(Ordering::SeqCst), before, "there is no room, so it is not sent on");
}

#[test]
fn an_empty_file_and_one_that_is_there_already_are_told_at_once() {
    let bench = Bench::new();
    let draft = bench.draft("");
    for (step, name) in [("artifact", "shop.war"), ("source", "code.zip")] {
        has(
            &bench.add_file(&draft, step, name, b"", &[("service", "cart")]),
            422,
            &["The file is empty: it has 0 bytes", "aria-invalid"],
        );
        let nothing = hex(&sha256(b""));
        let known = bench.add_file(&draft, step, "", b"", &[("sha256", &nothing), ("file_name", name)]);
        has(&known, 422, &["The file is empty: it has 0 bytes"]);
    }
    let more = format!("x-csrf-token: {}\r\nsec-fetch-mode: cors\r\n", bench.csrf);
    let script = bench.multipart("/uploads", &more, &[], "shop.war", b"");
    has(&script, 400, &["The file is empty", "\"errCode\":4000"]);
    assert_eq!(bench.service.received.load(Ordering::SeqCst), 0);
    assert!(bench.service.files.lock().unwrap().is_empty(), "an empty file is not sent on");
    for (step, name) in [("artifact", "shop.war"), ("source", "code.zip")] {
        assert_eq!(bench.add_file(&draft, step, name, b"PK", &[]).status, 303);
        let again = bench.add_file(&draft, step, &format!("copy-{name}"), b"PK", &[("service", "cart")]);
        has(&again, 422, &["This file is in the draft already", "aria-invalid"]);
        let page = bench.get(&format!("{draft}/{step}")).text();
        assert!(page.contains(name) && !page.contains("copy-"), "{page}");
    }
    let version = bench.get(&format!("{draft}/artifact")).version();
    assert_eq!(bench.get(&format!("{draft}/source")).version(), version, "what was refused changed nothing");
}

#[test]
fn a_row_or_step_that_is_not_there_is_refused_and_nothing_is_changed() {
    let bench = Bench::new();
    let draft = bench.draft("");
    bench.add_file(&draft, "artifact", "shop.war", b"PK", &[]);
    bench.add_file(&draft, "source", "code.zip", b"code", &[]);
    bench.step(&draft, "accounts", "role=admin&url=https%3A%2F%2Fa.example&cookies=sid%3D1&headers=");
    let version = bench.get(&format!("{draft}/artifact")).version();
    for step in ["artifact", "source", "accounts"] {
        for row in ["1", "99", "18446744073709551615"] {
            let refused = bench.step(&draft, &format!("{step}/remove"), &format!("row={row}"));
            has(&refused, 400, &["The row that was named is not in this draft", "<title>Error: "]);
        }
        for row in ["-1", "x", ""] {
            assert_eq!(bench.step(&draft, &format!("{step}/remove"), &format!("row={row}")).status, 400, "{row:?}");
        }
    }
    has(&bench.step(&draft, "skip", "step=check"), 400, &["cannot be left out"]);
    has(&bench.step(&draft, "skip", "step=artifact"), 400, &["cannot be left out"]);
    let names = format!("project=Typed&file={}&service=cart&target=", "0".repeat(64));
    has(&bench.step(&draft, "options", &names), 400, &["not in this draft", "value=\"Typed\"", "<li>cart</li>"]);
    assert_eq!(bench.get(&format!("{draft}/artifact")).version(), version);
    assert_eq!(bench.step(&draft, "accounts/remove", "row=0").status, 303);
}

#[test]
fn a_draft_that_was_started_leads_to_its_task_for_some_days() {
    let clock = Clock::manual(Timestamp(1_795_828_230_250));
    let bench = Bench::at(clock.clone());
    let draft = bench.draft("My+%3Cshop%3E");
    bench.add_file(&draft, "artifact", "shop.war", b"PK", &[]);
    let version = bench.get(&format!("{draft}/check")).version();
    let start = || bench.post(&format!("{draft}/check"), &format!("v={version}"));
    assert_eq!(start().header("location"), "/tasks/new1");
    let became = ["This draft has become task new1", "“My &#60;shop&#62;”", "href=\"/tasks/new1\"", "href=\"/tasks\""];
    has(&start(), 410, &became);
    for step in ["artifact", "target", "ownership", "source", "accounts", "options", "check"] {
        has(&bench.get(&format!("{draft}/{step}")), 410, &became);
    }
    has(&bench.post(&format!("{draft}/delete"), ""), 410, &became);
    let script = bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "");
    let told: Value = serde_json::from_slice(&script.body).unwrap();
    assert!(script.status == 410 && told["message"].as_str().unwrap().contains("task new1"), "{told}");
    assert_eq!(bench.service.created.lock().unwrap().len(), 1, "it was started once");
    assert!(!bench.get("/tasks/new").text().contains("Your drafts"));
    has(&bench.of("bob").get(&format!("{draft}/check")), 404, &["href=\"/tasks/new\"", "href=\"/tasks\""]);
    clock.advance(Duration::from_hours(24 * 14 - 1));
    assert_eq!(bench.of("alice").get(&format!("{draft}/check")).status, 410);
    clock.advance(Duration::from_hours(1));
    has(&bench.of("alice").get(&format!("{draft}/check")), 404, &["This draft is not here", "href=\"/tasks\""]);
}

#[test]
fn a_draft_that_became_a_group_leads_to_the_group_and_one_that_was_deleted_to_the_others() {
    let bench = Bench::new();
    let draft = bench.draft("Shop");
    bench.add_file(&draft, "artifact", "a.jar", b"a", &[]);
    bench.add_file(&draft, "artifact", "b.jar", b"b", &[]);
    *bench.service.create_answer.lock().unwrap() = Some((200, json!({"taskId": "g1", "taskIds": ["g1", "g2"], "groupId": "g"})));
    assert_eq!(bench.step(&draft, "check", "").header("location"), "/groups/g");
    has(
        &bench.get(&format!("{draft}/check")),
        410,
        &["has become a group of tasks", "href=\"/groups/g\"", "its first task is g1"],
    );
    let other = bench.draft("Other");
    assert_eq!(bench.post(&format!("{other}/delete"), "").status, 303);
    has(&bench.get(&format!("{other}/check")), 404, &["This draft is not here", "href=\"/tasks/new\""]);
}
