//! Exploit chains of a task: found, not found, not offered, hostile and endless.

use serde_json::{Value, json};

use super::scan_bench::Bench;

fn chain(id: &str, steps: usize) -> Value {
    let step = |at: usize| {
        json!({"order": at, "kind": if at == 0 { "entry" } else if at + 1 == steps { "sink" } else { "call" }, "category": "Call",
            "severity": "critical", "apiMethod": if at == 0 { "POST" } else { "" }, "apiPath": if at == 0 { "/orders/{id}" } else { "" },
            "description": "calls the next", "className": format!("org.example.Step{at}"), "method": "run(String, int)",
            "path": "app.war!/WEB-INF/lib/x.jar", "file": format!("Step{at}.java"), "line": at + 10,
            "vulId": if at + 1 == steps { json!("v1") } else { Value::Null }})
    };
    json!({"vulId": id, "taskId": "t0", "title": format!("Chain {id}"), "category": "Deserialization", "severity": "critical",
        "description": "derived", "stepCount": steps, "vulIds": ["v1"], "steps": (0..steps).map(step).collect::<Vec<_>>(),
        "createdAt": "2026-11-28T01:00:00Z", "impact": "Code is executed", "precondition": "A signed-in user", "fixSuggestion": "Upgrade it"})
}

fn shop(chains: Option<Vec<Value>>) -> Bench {
    let bench = Bench::new();
    *bench.service.tasks.lock().unwrap() = vec![json!({"taskId": "t0", "projectName": "shop", "taskStatus": "SUCCESS",
        "createdAt": "2026-11-28T01:00:00Z", "resultsStat": {"total": 1, "criticalCount": 1}})];
    *bench.service.findings.lock().unwrap() = vec![
        json!({"vulId": "v1", "severity": "critical", "title": "Flaw one", "reachability": "REACHABLE"}),
        json!({"vulId": "v2", "severity": "low", "title": "Flaw two"}),
    ];
    *bench.service.chains.lock().unwrap() = chains;
    bench
}

#[test]
fn a_chain_is_an_ordered_list_first_and_a_drawing_second() {
    let bench = shop(Some(vec![chain("other", 2), chain("c1", 3)]));
    let list = bench.get("/tasks/t0/chains").text();
    assert!(list.contains("2 exploit chains") && list.contains("href=\"/tasks/t0/chains/c1\""), "{list}");
    assert!(list.contains("<code>POST /orders/{id}</code>"), "{list}");
    let page = bench.get("/tasks/t0/chains/c1").text();
    for words in [
        "Derived from bytecode, not executed",
        "org.example.Step0.run(String, int):10",
        "Step2.java in app.war!/WEB-INF/lib/x.jar",
        "Code is executed",
        "A signed-in user",
        "Upgrade it",
        "href=\"/tasks/t0/findings/v1\">Flaw one</a>",
        "href=\"/shares/new?task=t0&#38;vul=v1\">Share this chain</a>",
        "role=\"img\" aria-labelledby=\"drawing-title drawing-words\"",
        "1. Entry point: POST /orders/{id}",
        "Step1.run</text>",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    assert!(page.find("<ol class=\"chain\">").unwrap() < page.find("<svg").unwrap());
    assert!(page.find("org.example.Step0").unwrap() < page.find("org.example.Step2").unwrap());
    assert_eq!(bench.get("/tasks/t0/chains/unknown").status, 404);
}

#[test]
fn findings_and_chains_lead_to_each_other() {
    let bench = shop(Some(vec![chain("c1", 3)]));
    assert!(bench.get("/tasks/t0/findings/v1").text().contains("href=\"/tasks/t0/chains/c1\">Chain c1</a>"));
    assert!(!bench.get("/tasks/t0/findings/v2").text().contains("/tasks/t0/chains/c1"));
}

#[test]
fn a_task_without_chains_says_why_and_a_service_without_them_too() {
    let none = shop(Some(Vec::new()));
    let page = none.get("/tasks/t0/chains").text();
    assert!(page.contains("No exploit chain was found") && page.contains("no proof that there is none"), "{page}");
    assert!(page.contains("Exploit chains <span class=\"tally\">0</span>"), "{page}");
    let unknown = shop(None);
    assert!(unknown.get("/tasks/t0/chains").text().contains("looks for no exploit chains"));
    assert_eq!(unknown.get("/tasks/t0/chains/c1").status, 404);
    let task = unknown.get("/tasks/t0").text();
    assert!(task.contains("/tasks/t0/findings") && !task.contains("/tasks/t0/chains"), "{task}");
    assert_eq!(unknown.get("/tasks/unknown/chains").status, 404);
}

#[test]
fn a_chain_of_thousands_of_steps_and_names_without_end_stays_a_page() {
    let mut long = chain("long", 3_000);
    long["steps"][1]["className"] = json!("x".repeat(50_000));
    long["steps"][2]["className"] = json!("</text><script>alert(1)</script>\u{202e}");
    long["steps"][3]["kind"] = json!("<img src=x>");
    let bench = shop(Some(vec![long]));
    let page = bench.get("/tasks/t0/chains/long");
    let text = page.text();
    assert!(page.status == 200 && page.body.len() < 600_000, "{}", page.body.len());
    assert!(text.contains("2,500 more steps are not shown") || text.contains("2500 more steps are not shown"));
    assert!(text.contains("2988 steps more: see the list") && text.matches("<rect class=\"node").count() == 12);
    assert!(!text.contains("<script>alert") && !text.contains("<img src=x") && !text.contains('\u{202e}'));
}

#[test]
fn many_chains_are_paged() {
    let bench = shop(Some((0..120).map(|at| chain(&format!("c{at}"), 2)).collect()));
    let second = bench.get("/tasks/t0/chains?page=2").text();
    assert!(second.contains("120 exploit chains, page 2 of 3") && second.contains("Chain c50<"), "{second}");
    assert_eq!(bench.get("/tasks/t0/chains?page=9").header("location"), "/tasks/t0/chains?page=3");
    assert!(bench.get("/tasks/t0/chains/c119").text().contains("Chain c119"));
}
