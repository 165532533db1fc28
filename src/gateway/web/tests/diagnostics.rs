//! The network check of a target: stage by stage, asked once for all tabs, and never a reason to stay signed in.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::scan_bench::Bench;
use crate::platform::clock::{Clock, Timestamp};

fn stages(status: &str, last: &str) -> Value {
    json!({"diagId": "d1", "testUrl": "https://a.example/", "status": status, "stageCount": 3, "nextStage": "TLS", "stages": [
        {"stageName": "DNS", "description": "Does the name have an address?", "status": "PASS", "resultInfo": "192.0.2.7\n<b>", "durationMs": 12},
        {"stageName": "TCP", "description": "", "status": last, "resultInfo": "no answer", "hint": "Open port <443>", "durationMs": 900}]})
}

fn target(bench: &Bench) -> String {
    let draft = bench.draft("");
    let saved = bench.step(&draft, "target", "url=https%3A%2F%2Fa.example&login_url=");
    assert_eq!((saved.status, saved.header("location")), (303, format!("{draft}/target")), "{}", saved.text());
    draft
}

#[test]
fn a_check_is_shown_stage_by_stage_with_what_was_seen_and_what_to_do() {
    let bench = Bench::new();
    *bench.service.diagnosis.lock().unwrap() = stages("IN_PROGRESS", "PASS");
    let draft = target(&bench);
    assert_eq!(bench.service.diagnoses.lock().unwrap()[0], json!({"testUrl": "https://a.example/"}));
    let page = bench.get(&format!("{draft}/target")).text();
    assert!(page.contains("data-state=\"running\"") && page.contains("Now: TLS") && page.contains("12 ms"), "{page}");
    assert!(page.contains("192.0.2.7\n&#60;b&#62;") && page.contains("Look again"), "{page}");
    *bench.service.diagnosis.lock().unwrap() = stages("FINISHED", "FAIL");
    let alone = || bench.get(&format!("{draft}/target/stages")).text();
    // The answer of a moment ago may still be shown.
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while !alone().contains("data-state=\"failed\"") {
        assert!(std::time::Instant::now() < until, "{}", alone());
    }
    let failed = alone();
    assert!(failed.contains("Open port &#60;443&#62;") && !failed.contains("<html"), "{failed}");
    assert_eq!(bench.post(&format!("{draft}/target/check"), "").status, 303);
    assert_eq!(bench.script(&format!("{draft}/target/repeat"), &bench.csrf, "").status, 200);
    assert_eq!(bench.service.diagnoses.lock().unwrap().len(), 3);
}

#[test]
fn an_address_that_is_none_and_a_check_that_cannot_start_lose_nothing() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let wrong = bench.step(&draft, "target", "url=staging.example&login_url=https%3A%2F%2Fid.example%2Fin");
    assert!(wrong.status == 422 && wrong.text().contains("value=\"staging.example\""), "{}", wrong.text());
    assert!(wrong.text().contains("value=\"https://id.example/in\"") && wrong.text().contains("url-error"));
    assert_eq!(bench.step(&draft, "target", "url=&login_url=https%3A%2F%2Fid.example").status, 422);
    *bench.service.diagnosis_answer.lock().unwrap() = Some((429, json!({"message": "too many"})));
    let busy = bench.step(&draft, "target", "url=https%3A%2F%2Fa.example&login_url=");
    assert!(busy.status == 429 && busy.text().contains("The address is kept"), "{}", busy.text());
    assert!(busy.text().contains("value=\"https://a.example/\"") && busy.text().contains("Not checked"));
    assert_eq!(bench.post(&format!("{}/target/check", bench.draft("")), "").status, 400, "no target yet");
}

#[test]
fn a_result_that_is_no_longer_kept_and_a_service_that_is_down_are_told_on_the_page() {
    let bench = Bench::new();
    let draft = target(&bench);
    let page = bench.get(&format!("{draft}/target")).text();
    assert!(page.contains("data-state=\"gone\""), "{page}");
    *bench.service.diagnosis.lock().unwrap() = json!({"status": "BOGUS <i>"});
    bench.post(&format!("{draft}/target/check"), "");
    let odd = bench.get(&format!("{draft}/target")).text();
    assert!(odd.contains("BOGUS &#60;i&#62;"), "{odd}");
    bench.step(&draft, "target", "url=https%3A%2F%2Fb.example&login_url=");
    bench.step(&draft, "target", "url=&login_url=");
    assert!(!bench.get(&format!("{draft}/target")).text().contains("data-checks"), "without a target there is no check");
}

#[test]
fn many_tabs_that_look_at_once_are_one_question_to_the_service() {
    let bench = Bench::new();
    *bench.service.diagnosis.lock().unwrap() = stages("IN_PROGRESS", "PASS");
    let draft = target(&bench);
    bench.service.look_takes.store(300, Ordering::SeqCst);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| assert!(bench.get(&format!("{draft}/target/stages")).text().contains("Now: TLS")));
        }
    });
    let looks = bench.service.looks.load(Ordering::SeqCst);
    assert!((1..=2).contains(&looks), "12 looks were {looks} questions");
}

#[test]
fn what_a_page_asks_by_itself_keeps_no_session_alive() {
    let clock = Clock::manual(Timestamp(1_795_828_230_250));
    let bench = Bench::at(clock.clone());
    *bench.service.diagnosis.lock().unwrap() = stages("IN_PROGRESS", "FAIL");
    let draft = target(&bench);
    let polled = bench.of("alice");
    let used = bench.of("alice");
    for _ in 0..3 {
        clock.advance(Duration::from_mins(9));
        assert_eq!(polled.get(&format!("{draft}/target/stages")).status, 200);
        assert_eq!(polled.script(&format!("{draft}/target/repeat"), &polled.csrf, "").status, 200);
        assert_eq!(used.get(&format!("{draft}/target")).status, 200);
    }
    clock.advance(Duration::from_mins(9));
    assert_eq!(polled.get(&format!("{draft}/target/stages")).status, 303, "36 minutes without a page");
    assert_eq!(used.get(&format!("{draft}/target")).status, 200, "pages are use");
}
