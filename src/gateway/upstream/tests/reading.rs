//! Tolerant reading, rule by rule (WIRE "Reading rules for all answers").

use serde_json::{Value, json};

use super::super::reading;
use crate::contract::results::{Reachability as Reach, Severity as Known};
use crate::gateway::domain::chain::StepKind;
use crate::gateway::domain::finding::{Fix, Purchase, Reachability, Severity};
use crate::gateway::domain::share::Kind;
use crate::gateway::domain::task::Status;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

#[test]
fn envelopes_and_lists_come_in_many_forms() {
    for value in [
        json!([{ "taskId": "a" }]),
        json!({ "data": [{ "taskId": "a" }] }),
        json!({ "list": [{ "taskId": "a" }], "total": "1" }),
        json!({ "items": [{ "taskId": "a" }], "totalCount": 1 }),
        json!({ "records": [{ "taskId": "a" }] }),
        json!({ "success": true, "data": { "data": [{ "taskId": "a" }], "total": 1 } }),
        json!({ "success": true, "message": "ok", "data": { "records": [{ "taskId": "a" }] } }),
    ] {
        let page = reading::list(&value, &[]);
        assert_eq!((page.items.len(), page.total), (1, 1), "{value}");
    }
    assert_eq!(reading::list(&json!({ "data": [1, 2], "total": 40 }), &[]).total, 40);
    assert_eq!(reading::list(&json!("nothing"), &[]).total, 0);
}

#[test]
fn times_come_in_many_forms() {
    let expected = Some(Timestamp(1_732_756_230_000));
    for text in [
        json!("2024-11-28T01:10:30Z"),
        json!("2024-11-28T01:10:30.000Z"),
        json!("2024-11-28T01:10:30"),
        json!("2024-11-28 01:10:30"),
        json!("2024-11-28T02:10:30+01:00"),
        json!("2024-11-28T01:10:30.000+0000"),
        json!("2024-11-27T20:10:30-05"),
        json!(1_732_756_230_000_i64),
        json!("1732756230000"),
    ] {
        assert_eq!(reading::time(&json!({ "t": text }), &["t"]), expected, "{text}");
    }
    assert_eq!(reading::time(&json!({ "t": "2024-11-28" }), &["t"]), Some(Timestamp(1_732_752_000_000)));
    for text in [json!("soon"), json!(""), json!("2024-13-45T99:99:99Z"), json!({}), json!("é2024-11-2"), Value::Null] {
        assert_eq!(reading::time(&json!({ "t": text }), &["t"]), None, "{text}");
    }
}

#[test]
fn a_task_is_read_with_other_names_numbers_as_text_and_unknown_words() {
    let task = reading::task(&json!({
        "success": true,
        "data": {
            "taskId": "t1", "projectName": "p", "lang": "java", "taskStatus": "Scanning", "createTime": "2024-11-28 01:10:30",
            "errorCode": "5000", "errorDetail": "boom", "resultsStat": { "highCount": "2", "lowCount": 1 }, "progress": 250,
            "new": { "field": 1 },
        }
    }))
    .unwrap();
    assert_eq!(task.status, Status::Other("Scanning".into()));
    assert!(!task.status.has_ended());
    assert_eq!((task.err_code, task.err_detail.raw()), (Some(5000), "boom"));
    let counts = task.counts.unwrap();
    assert_eq!((counts.total, counts.high, counts.low, counts.critical), (3, 2, 1, 0));
    assert_eq!((task.progress, task.created.is_some()), (Some(100), true));
    assert_eq!(task.raw["new"]["field"], 1);
    for (word, status) in [("finished", Status::Done), ("SUCCESS", Status::Done), ("canceled", Status::Terminated)] {
        assert_eq!(Status::read(word), status);
    }
    assert!(reading::task(&json!({ "taskStatus": "RUNNING" })).is_none());
}

#[test]
fn captured_sessions_never_leave_the_reader() {
    let task = reading::task(&json!({
        "taskId": "t1",
        "params": {
            "originRequestData": {
                "projectName": "p", "empty": [], "sandboxAuthInfos": [{ "cookies": "c00kie" }],
                "text": "{\"sandboxAuthInfos\":[\"c00kie\"],\"kept\":1}", "half": "sandboxAuthHeaders: c00kie",
            },
            "poc": { "sandboxAuthHeaders": "c00kie", "sandboxUrl": "https://t.example" },
        },
    }))
    .unwrap();
    assert!(!format!("{task:?}").contains("c00kie"));
    assert_eq!(task.raw["params"]["originRequestData"]["text"], "{\"kept\":1}");
    assert_eq!(task.raw["params"]["poc"]["sandboxUrl"], "https://t.example");
    assert!(task.params.iter().any(|(name, value)| name.raw() == "projectName" && value == "p"));
    assert!(!task.params.iter().any(|(name, _)| name.raw() == "empty"));
}

#[test]
fn a_finding_is_read_whole() {
    let finding = reading::finding(&json!({
        "vulId": "v1", "severity": "HIGH", "category": "Path Injection", "cweId": "cwe-22", "purchaseStatus": "WAITING",
        "component": { "name": "g:a", "version": "1" }, "cveIds": ["CVE-1", "CVE-2"], "aliases": "GHSA-1",
        "references": ["https://a.example", { "title": "t", "url": "javascript:alert(1)" }],
        "evidence": [{ "kind": "pom.xml", "path": "x.jar", "detail": "d" }],
        "fix_suggestion": "{\"principle\":\"p\",\"fix_method\":\"m\",\"confidence\":\"0.9\",\"code_example\":{\"before\":\"b\"}}",
        "pocScript": { "postData": "x" }, "pocScriptOutput": "plain text",
        "source": { "file": "A.java", "location": { "file_uri": "A.java", "start_line": "7" }, "code_snippet": "s" },
        "code_flow": [{ "file_uri": "A.java", "start_line": 7 }], "codeSnippet": "one block",
    }))
    .unwrap();
    assert_eq!(finding.row.severity, Severity::Known(Known::High));
    assert_eq!(finding.row.purchase, Purchase::Other("WAITING".into()));
    assert_eq!((finding.row.title.raw(), finding.row.cves.len(), finding.aliases.len()), ("Path Injection", 2, 1));
    assert_eq!(finding.references[0].url.link().as_deref(), Some("https://a.example/"));
    assert_eq!(finding.references[1].url.link(), None);
    let Fix::Suggestion(fix) = &finding.fix else { panic!("{:?}", finding.fix) };
    assert_eq!((fix.method.raw(), fix.confidence, fix.before.raw()), ("m", Some(0.9), "b"));
    assert_eq!(finding.poc.script.json, Some(json!({ "postData": "x" })));
    assert_eq!((finding.poc.output.text.raw(), &finding.poc.output.json), ("plain text", &None));
    assert_eq!(finding.source.unwrap().place.unwrap().line, 7);
    assert_eq!((finding.flow.len(), finding.snippets.len(), finding.evidence.len()), (1, 1, 1));

    let bare = reading::finding(&json!({ "vulId": "v1", "severity": 2, "fixSuggestion": "not { json" })).unwrap();
    assert_eq!((bare.row.severity, bare.fix), (Severity::Known(Known::High), Fix::Text("not { json".into())));
    assert_eq!(bare.row.purchase, Purchase::Open);
    let odd = reading::finding(&json!({ "vulId": 7, "severity": "awful", "references": 5, "evidence": {} })).unwrap();
    assert_eq!((odd.row.id.as_str(), odd.row.severity), ("7", Severity::Other("awful".into())));
}

#[test]
fn groups_shares_and_chains_are_read_in_their_forms() {
    for value in [
        json!({ "taskId": "a", "taskIds": ["a", "b"] }),
        json!({ "data": { "taskIds": ["a", "b"] } }),
        json!({ "tasks": [{ "taskId": "a" }, { "id": "b" }] }),
    ] {
        let created = reading::created(&value).unwrap();
        assert_eq!((created.id.as_str(), created.ids.len()), ("a", 2), "{value}");
    }
    let share = reading::public_share(
        &json!({
            "shareType": "report", "vulnerabilities": [{ "vulId": "v" }, { "no": "id" }], "expiresAt": "2030-01-01 00:00:00",
            "exploitChains": [{ "vulId": "c", "name": "n", "nodes": [{ "vulId": "v", "description": "d" }] }],
            "resultsStat": { "total": 1 },
        }),
        &"s".parse().unwrap(),
    )
    .unwrap();
    for nothing in [json!(null), json!([]), json!("x"), json!({}), json!({"status": 200})] {
        assert!(reading::public_share(&nothing, &"s".parse().unwrap()).is_none(), "{nothing} is no share");
    }
    assert_eq!((share.id.as_str(), &share.kind, share.findings.len()), ("s", &Kind::Report, 1));
    assert_eq!((share.counts.unwrap().total, share.expires.is_some()), (1, true));
    assert_eq!((share.chains[0].title.raw(), share.chains[0].steps.len()), ("n", 1));
    let row = reading::share_row(&json!({ "shareId": "s", "shareType": "ODD", "needExtractionCode": "true" })).unwrap();
    assert!(row.needs_code && row.kind == Kind::Other("ODD".into()));
    let stat = reading::statistics(&json!({ "data": { "resultsStat": { "lowCount": 1 } } }));
    assert_eq!(stat.counts.total, 1);
}

#[test]
fn a_task_tells_its_group_and_the_accounts_of_its_target_without_what_was_captured() {
    let task = reading::task(&json!({
        "taskId": "t1", "groupId": "g 1", "serviceName": "orders", "groupTaskIds": ["t1", "", "t2"],
        "resultsStat": { "total": 1, "criticalCount": 1, "clearedCount": "4" },
        "accounts": [
            { "roleName": "admin", "loginUrl": "https://a.example/in?token=SECRET#SECRET", "originRequestData": { "cookies": ["SECRET"] } },
            {}, "SECRET", { "role": "other" },
        ],
    }))
    .unwrap();
    assert_eq!((task.group.unwrap().as_str(), task.service.raw(), task.group_tasks.len()), ("g 1", "orders", 2));
    let accounts: Vec<_> = task.accounts.iter().map(|account| (account.role.raw(), account.address.raw())).collect();
    assert_eq!(accounts, [("admin", "https://a.example/in"), ("other", "")]);
    assert_eq!((task.counts.unwrap().total, task.counts.unwrap().cleared), (1, 4));
    let alone = reading::task(&json!({ "taskId": "t1", "groupId": "", "accounts": "none" })).unwrap();
    assert!(alone.group.is_none() && alone.accounts.is_empty() && alone.group_tasks.is_empty());
}

#[test]
fn reachability_is_read_in_any_case_and_unknown_words_stay() {
    let of = |word: Value| reading::finding_row(&json!({ "vulId": "v", "reachability": word })).unwrap().reachability;
    assert_eq!(of(json!("reachable")), Some(Reachability::Known(Reach::Reachable)));
    assert_eq!(of(json!(" Present-No-Path ")), Some(Reachability::Known(Reach::PresentNoPath)));
    assert_eq!(of(json!("NOT PRESENT")), Some(Reachability::Known(Reach::NotPresent)));
    assert_eq!(of(json!("MAYBE")), Some(Reachability::Other("MAYBE".into())));
    assert_eq!((of(Value::Null), of(json!(""))), (None, None));
    let finding = reading::finding(&json!({ "vulId": "v", "codeFlow": [
        { "className": "a.B", "method": "c()", "line": "7", "file": "B.java", "path": "x.jar" }, "words", 3, {}, null,
    ] }))
    .unwrap();
    assert_eq!((finding.flow[0].class.raw(), finding.flow[0].line, finding.flow[0].archive.raw()), ("a.B", 7, "x.jar"));
    assert_eq!((finding.flow[1].method.raw(), finding.flow.len()), ("words", 4));
}

#[test]
fn a_component_is_read_flat_or_nested_and_needs_something_to_call_it_by() {
    let flat = json!({ "name": "g:a", "version": 1.5, "path": "x.jar", "ecosystem": "Maven", "identifiedBy": "manifest",
        "counts": { "highCount": "2", "clearedCount": 1 }, "vulIds": ["v1", "v2"], "upgradeTo": "2", "reachability": "UNKNOWN", "new": 1 });
    let nested = json!({ "component": { "name": "g:a", "version": "1.5", "path": "x.jar" }, "resultsStat": { "total": 2, "highCount": 2 } });
    let (flat, nested) = (reading::component_row(&flat).unwrap(), reading::component_row(&nested).unwrap());
    assert_eq!((flat.part.name.raw(), flat.part.version.raw(), nested.part.name.raw()), ("g:a", "1.5", "g:a"));
    assert_eq!((flat.counts.total, flat.counts.cleared, nested.counts.total), (2, 1, 2));
    assert_eq!((flat.findings.len(), flat.upgrade_to.as_ref().map(Hostile::raw)), (2, Some("2")));
    assert_eq!((nested.upgrade_to, nested.reachability, flat.raw["new"].clone()), (None, None, json!(1)));
    for nothing in [json!({}), json!("x"), json!(null), json!({ "version": "1" })] {
        assert!(reading::component_row(&nothing).is_none(), "{nothing}");
    }
}

#[test]
fn a_step_of_a_chain_is_read_with_what_it_tells() {
    let chain = reading::chain(&json!({ "chainId": "c", "nodes": [
        { "kind": "ENTRY", "apiMethod": "GET", "apiPath": "/x", "className": "a.B", "method": "c()", "file": "B.java", "line": 3, "path": "x.war" },
        { "kind": "teleport" }, {}, "nothing",
    ], "vulIds": ["v1", "v1"], "steps": null }))
    .unwrap();
    assert_eq!(
        (&chain.steps[0].kind, chain.steps[0].place.line, chain.steps[0].place.archive.raw()),
        (&StepKind::Entry, 3, "x.war")
    );
    assert_eq!((&chain.steps[1].kind, &chain.steps[2].kind), (&StepKind::Other("teleport".into()), &StepKind::Call));
    assert_eq!((chain.steps.len(), chain.leads_to().count()), (4, 1));
}
