//! Tasks that were made together, on one page and under one hand.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::scan_bench::Bench;

fn task(id: &str, group: Option<&str>, service: &str, status: &str) -> Value {
    json!({"taskId": id, "projectName": format!("shop {id}"), "taskStatus": status, "lang": "JAVA", "groupId": group, "serviceName": service,
        "createdAt": format!("2026-11-28T01:00:0{}Z", id.len()), "errDetail": if status == "FAILED" { "the <b>file</b> is damaged" } else { "" },
        "resultsStat": {"total": 2, "criticalCount": 1, "lowCount": 1, "clearedCount": 3}})
}

fn shop() -> Bench {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![
        task("alone", None, "", "SUCCESS"),
        task("c", Some("g1"), "payments", "SUCCESS"),
        task("bb", Some("g1"), "orders", "FAILED"),
        task("aaa", Some("g1"), "web", "RUNNING"),
        task("other", Some("g2"), "x", "RUNNING"),
    ];
    bench
}

#[test]
fn a_group_is_one_page_with_numbers_of_all_and_a_status_of_each() {
    let bench = shop();
    for plain in [false, true] {
        bench.service.plain.store(plain, Ordering::SeqCst);
        let page = bench.get("/groups/g1").text();
        assert!(page.contains("3 tasks: 1 finished, 1 failed, 1 running"), "{page}");
        assert!(page.contains("6 findings") && page.contains("3 Critical") && page.contains("9 cleared"), "{page}");
        assert!(page.contains("the &#60;b&#62;file&#60;/b&#62; is damaged") && page.contains("1 scan did not finish"), "{page}");
        assert!(page.contains(">payments</a>") && !page.contains("/tasks/other") && !page.contains("/tasks/alone"));
        assert!(page.contains("/tasks/c/report?type=pdf") && !page.contains("/tasks/aaa/report"), "{page}");
    }
    assert_eq!(bench.get("/groups/unknown").status, 404);
    assert_eq!(bench.get(&format!("/groups/{}", "x".repeat(129))).status, 404);
}

#[test]
fn parts_without_a_service_name_are_told_apart_by_their_files() {
    let bench = Bench::new();
    let part = |id: &str, file: &str| {
        let mut part = task(id, Some("g1"), "", "SUCCESS");
        part["projectName"] = json!("shop");
        part["params"] = json!({"originRequestData": {"primarySourceCodeFileName": file}});
        part
    };
    *bench.service.tasks.lock().unwrap() = vec![part("a", "orders<b>.war"), part("bb", "payments.jar"), part("ccc", "")];
    for path in ["/groups/g1", "/groups/g1/delete"] {
        let page = bench.get(path).text();
        assert!(page.contains("orders&#60;b&#62;.war") && page.contains("payments.jar"), "{page}");
        assert_eq!(page.matches(">shop<").count(), 3, "the project stands beside each: {page}");
    }
    let named = {
        let mut named = part("d", "web.war");
        named["serviceName"] = json!("web");
        named
    };
    bench.service.tasks.lock().unwrap().push(named);
    let page = bench.get("/groups/g1").text();
    assert!(page.contains(">web</a><br><span class=\"quiet small\">web.war</span>"), "{page}");
}

#[test]
fn the_list_shows_which_tasks_belong_together_and_can_be_narrowed_to_them() {
    let bench = shop();
    let all = bench.get("/tasks").text();
    assert!(all.contains("<a class=\"group-badge\" href=\"/groups/g1\">Group: payments</a>"), "{all}");
    assert_eq!(all.matches("group-badge").count(), 4);
    let some = bench.get("/tasks?group=g1&status=running").text();
    assert!(
        some.contains("1 task") && some.contains("created together as group g1") && some.contains("name=\"group\" value=\"g1\""),
        "{some}"
    );
    let own = bench.get("/tasks/aaa").text();
    assert!(own.contains("It is about the service <strong>web</strong>") && own.contains("href=\"/groups/g1\""), "{own}");
}

#[test]
fn all_that_runs_is_stopped_at_once_and_what_cannot_be_is_told() {
    let bench = shop();
    let answer = bench.post("/groups/g1/terminate", "");
    assert_eq!((answer.status, answer.header("location").as_str()), (303, "/groups/g1"));
    assert!(answer.header("set-cookie").starts_with("cardea-news=group-terminated"));
    let status = |id: &str| {
        let tasks = bench.service.tasks.lock().unwrap();
        tasks.iter().find(|task| task["taskId"] == id).unwrap()["taskStatus"].clone()
    };
    assert_eq!((status("aaa"), status("other"), status("bb")), (json!("TERMINATED"), json!("RUNNING"), json!("FAILED")));
    assert!(bench.post("/groups/g1/terminate", "").header("set-cookie").starts_with("cardea-news=group-had-ended"));
    {
        let mut tasks = bench.service.tasks.lock().unwrap();
        tasks.push(task("dddd", Some("g1"), "slow", "RUNNING"));
        tasks.last_mut().unwrap()["stuck"] = json!(true);
    }
    assert!(bench.post("/groups/g1/terminate", "").header("set-cookie").starts_with("cardea-news=group-partly-terminated"));
    assert_eq!(bench.post("/groups/unknown/terminate", "").status, 404);
}

#[test]
fn a_group_is_deleted_whole_after_it_was_asked_and_only_as_it_was_shown() {
    let bench = shop();
    let ask = bench.get("/groups/g1/delete").text();
    assert!(ask.contains("Either all are deleted or none") && ask.contains("name=\"tasks\" value=\"3\""), "{ask}");
    assert_eq!(bench.post("/groups/g1/delete", "tasks=2").status, 409);
    assert_eq!(bench.service.tasks.lock().unwrap().len(), 5);
    let deleted = bench.post("/groups/g1/delete", "tasks=3");
    assert_eq!((deleted.status, deleted.header("location").as_str()), (303, "/tasks"));
    assert_eq!(bench.service.tasks.lock().unwrap().len(), 2);
    assert_eq!(bench.get("/groups/g1").status, 404);
}

#[test]
fn accounts_of_a_target_show_role_and_address_and_nothing_that_was_captured() {
    let bench = shop();
    {
        let mut tasks = bench.service.tasks.lock().unwrap();
        tasks[0]["accounts"] = json!([
            {"roleName": "admin<script>", "loginUrl": "https://shop.example/login?session=TOPSECRET#TOPSECRET", "originRequestData": {"cookies": ["TOPSECRET"]}},
        ]);
        tasks[0]["params"] = json!({"originRequestData": {"sandboxAuthInfos": [{"roleName": "x", "cookies": "TOPSECRET"}]}});
    }
    let page = bench.get("/tasks/alone").text();
    assert!(page.contains("admin&#60;script&#62;") && page.contains("<code>https://shop.example/login</code>"), "{page}");
    assert!(!page.contains("TOPSECRET"), "{page}");
}

#[test]
fn the_error_page_of_a_form_leads_back_to_the_page_the_form_was_on_and_to_no_other_place() {
    let bench = shop();
    let send = |referer: &str| {
        let body = format!("csrf={}&tasks=2", bench.csrf);
        let more = format!(
            "referer: {referer}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n",
            body.len()
        );
        bench.send(&bench.head("POST", "/groups/g1/delete", &more), body.as_bytes())
    };
    let back = send("http://acme.example/groups/g1/delete");
    assert!(back.status == 409 && back.text().contains("href=\"/groups/g1/delete\">Back to the page"), "{}", back.text());
    for foreign in [
        "http://evil.example/x",
        "http://acme.example.evil.example/x",
        "http://acme.example//evil.example",
        "javascript:alert(1)",
    ] {
        let page = send(foreign).text();
        assert!(!page.contains("Back to the page") && !page.contains("evil.example"), "{page}");
    }
}
