//! Components of a task and the plan of upgrades, whatever the service tells or does not know.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::scan_bench::Bench;

fn task() -> Value {
    json!({"taskId": "t0", "projectName": "shop", "taskStatus": "SUCCESS", "lang": "JAVA", "createdAt": "2026-11-28T01:00:00Z",
        "resultsStat": {"total": 3, "criticalCount": 2, "lowCount": 1, "clearedCount": 1}})
}

fn component(name: &str, more: &Value) -> Value {
    let mut row = json!({"name": name, "version": "1.0", "purl": format!("pkg:maven/{}@1.0", name.replace(':', "/")),
        "path": format!("app.war!/lib/{}.jar", name.replace(':', "-")), "ecosystem": "Maven", "identifiedBy": "pom.properties",
        "counts": {"total": 0}, "vulIds": []});
    for (key, value) in more.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn finding(id: &str, severity: &str, component: &Value, fixed: Option<&str>, reachability: &str) -> Value {
    json!({"vulId": id, "taskId": "t0", "severity": severity, "title": format!("Flaw {id}"), "cveIds": [format!("CVE-2026-{id}")],
        "component": component, "fixedVersion": fixed, "reachability": reachability})
}

fn shop() -> Bench {
    let bench = Bench::new();
    let worst = component(
        "org.example:worst",
        &json!({"counts": {"total": 2, "criticalCount": 2, "clearedCount": 1},
        "vulIds": ["a", "b", "c"], "reachability": "REACHABLE"}),
    );
    let small = component(
        "org.example:small",
        &json!({"counts": {"total": 1, "lowCount": 1}, "vulIds": ["d"], "upgradeTo": "1.5",
        "reachability": "PRESENT_NO_PATH"}),
    );
    *bench.service.tasks.lock().unwrap() = vec![task()];
    *bench.service.findings.lock().unwrap() = vec![
        finding("a", "critical", &worst, Some("1.2.17"), "REACHABLE"),
        finding("c", "critical", &worst, Some("9.9"), "NOT_PRESENT"),
        finding("b", "critical", &worst, None, "UNKNOWN"),
        finding("d", "low", &small, Some("1.5"), "PRESENT_NO_PATH"),
    ];
    let clean = component("org.example:clean", &json!({}));
    *bench.service.components.lock().unwrap() = Some(vec![clean, small, worst]);
    bench
}

fn at(page: &str, words: &str) -> usize {
    page.find(words).unwrap_or_else(|| panic!("no {words} in {page}"))
}

#[test]
fn components_stand_with_what_is_known_and_what_to_do() {
    let bench = shop();
    for plain in [false, true] {
        bench.service.plain.store(plain, Ordering::SeqCst);
        let page = bench.get("/tasks/t0/components").text();
        assert!(at(&page, "<wbr>worst</span>") < at(&page, "<wbr>small</span>"), "the worst first");
        assert!(at(&page, "<wbr>small</span>") < at(&page, "<wbr>clean</span>"));
        assert!(page.contains("Upgrade to 1.2.17</strong>: clears 1 of 2 findings"), "{page}");
        assert!(page.contains("Without a fix: <a href=\"/tasks/t0/findings/b\">CVE-2026-b</a>"), "{page}");
        assert!(page.contains("Upgrade to 1.5</strong>: clears its 1 finding"), "{page}");
        assert!(page.contains("1 cleared</a>") && page.contains("None known"), "{page}");
        assert!(page.contains("Components <span class=\"tally\">3</span>"), "{page}");
    }
}

#[test]
fn the_numbers_of_a_component_lead_to_just_its_findings() {
    let bench = shop();
    let page = bench.get("/tasks/t0/components").text();
    let link = page.split("href=\"").find(|part| part.contains("severity=critical")).unwrap().split('"').next().unwrap();
    let link = link.replace("&#38;", "&").replace("&amp;", "&");
    let found = bench.get(&link).text();
    assert!(found.contains("3 findings, most severe first, 1 of them cleared and listed last"), "{found}");
    assert!(found.contains("component is pkg:maven/org.example/worst@1.0") && !found.contains("Flaw d"), "{found}");
    assert!(found.contains("name=\"component\" value=\"pkg:maven/org.example/worst@1.0\""));
}

#[test]
fn components_are_filtered_by_the_address() {
    let bench = shop();
    let only = bench.get("/tasks/t0/components?vulnerable=1&name=SMALL").text();
    assert!(only.contains("1 component, those") && !only.contains("<wbr>worst</span>"), "{only}");
    assert!(only.contains("value=\"SMALL\"") && only.contains("only with open findings"));
    let other = bench.get("/tasks/t0/components?ecosystem=npm").text();
    assert!(other.contains("No component fits these filters") && other.contains("ecosystem is npm"), "{other}");
    let strange = bench.get("/tasks/t0/components?ecosystem=%3Cscript%3E").text();
    assert!(!strange.contains("<script>") && strange.contains("value=\"&#60;script&#62;\" checked"), "{strange}");
    assert_eq!(bench.get("/tasks/t0/components?vulnerable=perhaps").status, 400);
}

#[test]
fn the_plan_puts_first_what_clears_most_and_names_what_has_no_fix() {
    let bench = shop();
    let mut copy = component(
        "org.example:small",
        &json!({"counts": {"total": 2, "highCount": 2}, "vulIds": ["e", "f"], "upgradeTo": "1.5"}),
    );
    copy["path"] = json!("second.jar");
    bench.service.components.lock().unwrap().as_mut().unwrap().push(copy);
    let plan = bench.get("/tasks/t0/components/upgrades").text();
    assert!(plan.contains("2 components to change"), "{plan}");
    assert!(at(&plan, "<wbr>small</span>") < at(&plan, "<wbr>worst</span>"), "three are cleared by the first, one by the second");
    assert!(plan.contains("clears all 3 findings") && plan.contains("second.jar"), "{plan}");
    assert!(plan.contains("clears 1 of 2 findings") && plan.contains("CVE-2026-b</a>") && !plan.contains("<wbr>clean</span>"));
    bench.service.components.lock().unwrap().as_mut().unwrap().clear();
    assert!(bench.get("/tasks/t0/components/upgrades").text().contains("Nothing has to be upgraded"));
}

#[test]
fn thousands_of_components_are_walked_page_by_page() {
    let bench = shop();
    let row = |at: usize| component(&format!("org.example:part{at:04}"), &json!({}));
    for (many, last) in [(1_999, 40), (6_000, 120)] {
        *bench.service.components.lock().unwrap() = Some((0..many).map(row).collect());
        let first = bench.get("/tasks/t0/components");
        let words = if many == 6_000 { "6,000 components, page 1 of 120" } else { "1,999 components, page 1 of 40" };
        assert!(first.text().contains(words) && first.body.len() < 300_000, "{}", first.text());
        let end = bench.get(&format!("/tasks/t0/components?page={last}")).text();
        assert!(end.contains(&format!("<wbr>part{:04}</span>", many - 1)) && !end.contains("rel=\"next\""));
        let beyond = bench.get(&format!("/tasks/t0/components?page={}&ecosystem=Maven", last + 1));
        let to = format!("/tasks/t0/components?ecosystem=Maven&page={last}");
        assert_eq!((beyond.status, beyond.header("location")), (303, to));
    }
    let one = bench.get("/tasks/t0/components?name=part5999").text();
    assert!(one.contains("1 component,"), "{one}");
}

#[test]
fn a_service_without_components_costs_a_tab_and_nothing_more() {
    let bench = shop();
    *bench.service.components.lock().unwrap() = None;
    let task = bench.get("/tasks/t0");
    assert!(task.status == 200 && !task.text().contains("/tasks/t0/components") && task.text().contains("/tasks/t0/findings"));
    for path in ["/tasks/t0/components", "/tasks/t0/components/upgrades"] {
        let page = bench.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text().contains("gives no list of components"), "{}", page.text());
    }
    assert!(!bench.get("/tasks/t0/downloads").text().contains("SBOM"));
    assert_eq!(bench.get("/tasks/unknown/components").status, 404);
}

#[test]
fn a_bill_of_materials_comes_as_a_file_of_its_own_kind() {
    let bench = shop();
    let offer = bench.get("/tasks/t0/downloads").text();
    assert!(offer.contains("/tasks/t0/report?type=cyclonedx") && offer.contains("/tasks/t0/report?type=spdx"), "{offer}");
    for (form, media_type, ending, sent) in [
        ("cyclonedx", "application/vnd.cyclonedx+json; version=1.6", "cdx.json", "application/vnd.cyclonedx+json"),
        ("spdx", "application/spdx+json", "spdx.json", "application/json"),
    ] {
        *bench.service.report.lock().unwrap() = (sent.to_owned(), "{\"x\":\"<script>\"}".to_owned());
        let file = bench.get(&format!("/tasks/t0/report?type={form}"));
        assert_eq!((file.status, file.header("content-type").as_str()), (200, media_type));
        assert_eq!(file.header("content-disposition"), format!("attachment; filename=\"r.exe.{ending}\""));
        assert_eq!(file.header("content-security-policy"), "sandbox");
        assert!(bench.service.asked.lock().unwrap().last().unwrap().ends_with(&format!("?type={form}")));
        *bench.service.report.lock().unwrap() = ("text/html".to_owned(), "<script>1</script>".to_owned());
        assert_eq!(bench.get(&format!("/tasks/t0/report?type={form}")).status, 502);
    }
}

#[test]
fn findings_that_are_cleared_come_last_and_are_counted_apart() {
    let bench = shop();
    let list = bench.get("/tasks/t0/findings").text();
    let order: Vec<usize> = ["Flaw a", "Flaw b", "Flaw d", "Flaw c"].into_iter().map(|words| at(&list, words)).collect();
    assert!(order.is_sorted(), "{order:?} in {list}");
    assert!(list.contains("3: 2 critical, 1 low; 1 cleared."), "{list}");
    assert!(list.contains("<tr class=\"cleared\">") && list.contains("class=\"reach reachable\">Reachable<"));
    for (query, found) in [("reachable", "Flaw a"), ("no-path", "Flaw d"), ("unknown", "Flaw b"), ("cleared", "Flaw c")] {
        let only = bench.get(&format!("/tasks/t0/findings?reach={query}")).text();
        assert!(only.contains("1 finding,") && only.contains(found), "{query}: {only}");
    }
    assert_eq!(bench.get("/tasks/t0/findings?reach=bogus").status, 400);
    let one = bench.get("/tasks/t0/findings/c").text();
    assert!(one.contains("Finding 4 of 4") && one.contains("is not in the artifact. The finding is cleared"), "{one}");
    let task = bench.get("/tasks/t0").text();
    assert!(task.contains("All findings (3)") && task.contains("1 finding is cleared") && task.contains("2 critical"), "{task}");
}

#[test]
fn a_way_to_vulnerable_code_is_an_ordered_list_and_words_nobody_knows_are_shown() {
    let bench = shop();
    bench.service.findings.lock().unwrap()[0]["codeFlow"] = json!([
        {"className": "org.example.Web", "method": "get(String)", "file": "Web.java", "line": 12, "path": "app.war!/WEB-INF/classes"},
        {"className": "org.example.<script>", "method": "run\u{202e}", "line": "40"},
        "then something told in words",
    ]);
    bench.service.findings.lock().unwrap()[0]["reachability"] = json!("VIA_<b>MOON</b>");
    let page = bench.get("/tasks/t0/findings/a").text();
    assert!(page.contains("Path of calls to the vulnerable code"), "{page}");
    assert!(page.contains(
        "<code>org.example.Web.get(String):12</code> <span class=\"quiet small\">Web.java in app.war!/WEB-INF/classes"
    ));
    assert!(
        page.contains("org.example.&#60;script&#62;.run[U+202E]:40") && page.contains("then something told in words"),
        "{page}"
    );
    assert!(page.contains("VIA_&#60;b&#62;MOON&#60;/b&#62;"), "{page}");
}
