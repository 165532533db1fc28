//! From a draft to scans: what is sent, what comes back, what stays.

use serde_json::json;

use super::scan_bench::Bench;
use crate::platform::digest::{hex, sha256};

fn hash(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

#[test]
fn everything_that_was_entered_is_sent_as_one_group() {
    let bench = Bench::new();
    let draft = bench.draft("Shop");
    bench.add_file(&draft, "artifact", "cart.war", b"cart", &[("service", "cart")]);
    bench.add_file(&draft, "artifact", "pay.jar", b"pay", &[("service", "pay"), ("target", "https://pay.example/")]);
    bench.add_file(&draft, "source", "code.zip", b"code", &[("kind", "FRONTEND")]);
    *bench.service.diagnosis.lock().unwrap() = json!({"status": "FINISHED", "stages": []});
    assert_eq!(
        bench.step(&draft, "target", "url=https%3A%2F%2Fstaging.example%2Fapp&login_url=https%3A%2F%2Fid.example%2Flogin").status,
        303
    );
    bench.step(&draft, "accounts", "role=normal&url=https%3A%2F%2Fid.example&cookies=sid%3D1&headers=");
    let unsure = bench.step(&draft, "check", "");
    assert!(unsure.status == 422 && unsure.text().contains("Confirm this first."), "{}", unsure.text());
    assert!(unsure.text().contains("production") && unsure.text().contains("Start 2 scans as a group"));
    *bench.service.create_answer.lock().unwrap() = Some((200, json!({"taskId": "g1", "taskIds": ["g1", "g2"], "groupId": "g"})));
    let started = bench.step(&draft, "check", "sure=yes");
    assert_eq!((started.status, started.header("location").as_str()), (303, "/groups/g"), "{}", started.text());
    let sent = bench.service.created.lock().unwrap()[0].clone();
    assert_eq!((&sent["projectName"], &sent["sandboxHomePageUrl"]), (&json!("Shop"), &json!("https://staging.example/app")));
    assert_eq!((&sent["primarySourceCode"], &sent["serviceName"]), (&json!(hash(b"cart")), &json!("cart")));
    assert_eq!(
        sent["primarySourceCodes"],
        json!([{"sourceCode": hash(b"pay"), "fileName": "pay.jar", "serviceName": "pay", "sandboxTargetServiceUrl": "https://pay.example/"}])
    );
    assert_eq!(sent["sourceCodeInfos"], json!([{"type": "FRONTEND", "sourceCode": hash(b"code"), "fileName": "code.zip"}]));
    let info = &sent["sandboxAuthInfos"][0];
    assert_eq!((&info["roleName"], &info["loginUrl"]), (&json!("normal"), &json!("https://id.example/")));
    assert_eq!(info["originRequestData"]["cookies"][0]["value"], json!("1"));
}

#[test]
fn artifacts_that_were_refused_stay_with_the_reason_and_can_be_started_again() {
    let bench = Bench::new();
    let draft = bench.draft("");
    bench.add_file(&draft, "artifact", "good.jar", b"good", &[]);
    bench.add_file(&draft, "artifact", "bad.jar", b"bad", &[]);
    let answer = json!({"taskId": "g1", "taskIds": ["g1"], "groupId": "g",
        "failures": [{"index": 1, "fileName": "bad.jar", "errCode": 4001, "errDetail": "unknown <file>"}]});
    *bench.service.create_answer.lock().unwrap() = Some((200, answer));
    let partly = bench.step(&draft, "check", "");
    assert_eq!((partly.status, partly.header("location")), (303, format!("{draft}/check")), "{}", partly.text());
    let page = bench.get(&format!("{draft}/check")).text();
    assert!(
        page.contains("href=\"/tasks/g1\"") && page.contains("unknown &#60;file&#62;") && page.contains("Start the scan"),
        "{page}"
    );
    *bench.service.create_answer.lock().unwrap() = None;
    assert_eq!(bench.step(&draft, "check", "").header("location"), "/tasks/new1");
    assert_eq!(bench.service.created.lock().unwrap()[1]["primarySourceCode"], json!(hash(b"bad")));
}

#[test]
fn a_refusal_is_told_on_the_page_and_the_draft_is_kept() {
    let bench = Bench::new();
    let draft = bench.draft("");
    assert_eq!(bench.step(&draft, "check", "").status, 400, "nothing to scan");
    bench.add_file(&draft, "artifact", "a.jar", b"a", &[]);
    *bench.service.create_answer.lock().unwrap() =
        Some((400, json!({"message": "no <b>such</b> file", "data": {"errCode": 4001}})));
    let refused = bench.step(&draft, "check", "");
    assert!(refused.status == 422 && refused.text().contains("no &#60;b&#62;such"), "{}", refused.text());
    *bench.service.create_answer.lock().unwrap() = Some((400, json!({"message": "prove it", "data": {"errCode": 4002}})));
    let proof = bench.step(&draft, "check", "");
    assert_eq!((proof.status, proof.header("location")), (303, format!("{draft}/ownership?missing=1")));
    let page = bench.get(&proof.header("location")).text();
    assert!(page.contains("wants proof") && page.contains("Name a target"), "{page}");
    *bench.service.create_answer.lock().unwrap() = Some((503, json!({})));
    let down = bench.step(&draft, "check", "");
    assert!(down.status == 502 && down.text().contains(&format!("href=\"{draft}/check\"")), "{}", down.text());
    assert_eq!(bench.get(&format!("{draft}/check")).status, 200);
}
