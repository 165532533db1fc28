//! Searches of lists against what a plain filter and sort over all rows gives, and lists of a database of an earlier run.

use redb::ReadableTableMetadata as _;
use serde_json::json;

use super::lists;
use super::query::{Field, Listed, Query, Test};
use super::results::Results;
use super::tasks::{NewTask, Outcome, TaskRecord};
use super::{Store, layout};
use crate::contract::components::ComponentRow;
use crate::contract::ids::TaskId;
use crate::contract::results::Severity;
use crate::contract::tasks::Page;
use crate::platform::clock::Timestamp;

fn task(nth: i64) -> TaskRecord {
    serde_json::from_value(json!({
        "id": format!("task{nth}"), "account": "acme", "project_name": format!("Shop {}", nth % 7), "lang": "JAVA",
        "artifact": "0".repeat(64), "file_name": "a.jar", "origin": {}, "status": "CREATED", "progress": 0, "created_by": "alice",
        "created_at": nth / 3, "updated_at": nth, "executed_at": null, "ended_at": null, "err_code": null, "err_detail": null,
        "stat": crate::contract::tasks::ResultsStat::default(),
    }))
    .unwrap()
}

fn component(nth: u32) -> ComponentRow {
    let band = |is: bool| u64::from(is);
    serde_json::from_value(json!({
        "name": format!("{}{}", if nth.is_multiple_of(2) { "Lib" } else { "lib" }, nth * 7919 % 50), "version": format!("1.{nth}"),
        "purl": "", "path": format!("a.jar!/{nth:04}"), "ecosystem": if nth.is_multiple_of(3) { "npm" } else { "Maven" },
        "identifiedBy": "manifest", "vulIds": [],
        "counts": {"total": 0, "purchased": 0, "criticalCount": band(nth.is_multiple_of(10)), "highCount": band(nth.is_multiple_of(4)),
            "mediumCount": 0, "lowCount": 0, "clearedCount": 0},
    }))
    .unwrap()
}

fn with_components(store: &Store, nth: i64, count: u32) -> TaskId {
    let record = task(nth);
    let id = record.id.clone();
    store.create_task(&id.to_string(), NewTask { record, sessions: None }).unwrap();
    let results = Results {
        findings: Vec::new(),
        components: (0..count).map(component).collect(),
        chains: Vec::new(),
        summary: serde_json::from_value(json!({})).unwrap_or_default(),
        stat: crate::contract::tasks::ResultsStat::default(),
    };
    store.end_task("acme", &id, Outcome::Success(Box::new(results)), Timestamp(1)).unwrap();
    id
}

fn names(page: &Page<ComponentRow>) -> Vec<&str> {
    page.data.iter().map(|row| row.component.path.as_str()).collect()
}

fn is_text(test: &Test, row: &ComponentRow, name: &str) -> bool {
    match (test, row.field(name)) {
        (Test::Contains(part), Some(Field::Text(content))) => content.to_lowercase().contains(part),
        (Test::OneOf(wanted), Some(field)) => wanted.contains(&field.encoded()),
        _ => false,
    }
}

#[test]
fn a_page_is_what_filtering_and_sorting_all_rows_gives() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), None).unwrap();
    let id = with_components(&store, 1, 137);
    with_components(&store, 2, 20);
    let at = |name: &str| ComponentRow::FIELDS.iter().position(|(field, _)| *field == name).unwrap();
    let severe = || Test::OneOf(vec![Field::Severity(Severity::Critical).encoded(), Field::Severity(Severity::High).encoded()]);
    let filters: [Vec<(&str, Test)>; 4] = [
        vec![],
        vec![("name", Test::Contains("lib1".to_owned()))],
        vec![("ecosystem", Test::OneOf(vec![Field::Text("NPM").encoded()]))],
        vec![("severity", severe()), ("name", Test::Contains("lib".to_owned()))],
    ];
    let sorts: [&[(&str, bool)]; 5] =
        [&[], &[("name", false)], &[("name", true)], &[("severity", false), ("name", true)], &[("severity", true)]];
    for filter in filters {
        for sort in sorts {
            let mut wanted: Vec<ComponentRow> = (0..137).map(component).collect();
            wanted.retain(|row| filter.iter().all(|(name, test)| is_text(test, row, name)));
            for (name, is_descending) in sort.iter().rev() {
                let key = |row: &ComponentRow| row.field(name).map_or_else(|| vec![0xff], Field::encoded);
                wanted.sort_by(|left, right| {
                    let order = key(left).cmp(&key(right));
                    if *is_descending { order.reverse() } else { order }
                });
            }
            let mut query = Query { size: 10, ..Query::default() };
            query.sorts = sort.iter().map(|(name, is_descending)| (at(name), *is_descending)).collect();
            for (name, test) in &filter {
                let same = match test {
                    Test::OneOf(all) => Test::OneOf(all.clone()),
                    Test::Contains(part) => Test::Contains(part.clone()),
                    Test::Span(from, to) => Test::Span(*from, *to),
                };
                query.tests.push((at(name), same));
            }
            for first in [0, 10, 130, 137, 200] {
                query.first = first;
                let page = store.page::<ComponentRow>(id.as_str(), &query).unwrap();
                assert_eq!(page.total, wanted.len() as u64);
                let here = wanted.iter().skip(usize::try_from(first).unwrap()).take(10);
                let here: Vec<&str> = here.map(|row| row.component.path.as_str()).collect();
                assert_eq!(names(&page), here, "{query:?}");
                assert_eq!(names(&lists::page((0..137).map(component).collect(), &query)), here);
            }
        }
    }
}

#[test]
fn tasks_are_listed_newest_first_through_changes_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), None).unwrap();
    for nth in 0..30 {
        store.create_task(&format!("request {nth}"), NewTask { record: task(nth), sessions: None }).unwrap();
    }
    let page = |first, size| store.page::<TaskRecord>("acme", &Query { first, size, ..Query::default() }).unwrap();
    let ids = |page: &Page<TaskRecord>| page.data.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    let first = page(0, 4);
    assert_eq!((ids(&first), first.total), (["task27", "task28", "task29", "task24"].map(str::to_owned).to_vec(), 30));
    let gone: Vec<TaskId> = first.data.iter().take(2).map(|task| task.id.clone()).collect();
    store.terminate_task("acme", &first.data[2].id, "alice", Timestamp(99)).unwrap();
    assert_eq!(store.delete_tasks("acme", &gone).unwrap(), None);
    let first = page(0, 2);
    assert_eq!((ids(&first), first.total), (["task29", "task24"].map(str::to_owned).to_vec(), 28));
    assert_eq!(first.data[0].status, crate::contract::tasks::TaskStatus::Terminated);
    assert_eq!(ids(&page(27, 5)), ["task2"]);
    assert_eq!(page(28, 5).data.len(), 0);
    assert_eq!(store.page::<TaskRecord>("globex", &Query { size: 5, ..Query::default() }).unwrap().total, 0);
}

#[test]
fn a_deleted_task_leaves_no_row_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), None).unwrap();
    let (kept, gone) = (with_components(&store, 1, 5), with_components(&store, 2, 7));
    store.delete_tasks("acme", std::slice::from_ref(&gone)).unwrap();
    let plain = Query { size: 10, ..Query::default() };
    assert_eq!(store.page::<ComponentRow>(gone.as_str(), &plain).unwrap().total, 0);
    assert_eq!(store.page::<ComponentRow>(kept.as_str(), &plain).unwrap().total, 5);
    let reading = store.reading().unwrap();
    let list = <ComponentRow as lists::Kept>::LIST;
    assert_eq!(reading.open_table(list.rows).unwrap().len().unwrap(), 5);
    assert_eq!(reading.open_table(list.index).unwrap().len().unwrap(), 5);
}

#[test]
fn lists_of_an_earlier_run_are_there_after_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), None).unwrap();
    let id = with_components(&store, 1, 12);
    store.write(|transaction| layout::take_back(transaction, &id, &(0..12).map(component).collect::<Vec<_>>())).unwrap();
    let plain = Query { size: 10, ..Query::default() };
    assert_eq!(store.page::<ComponentRow>(id.as_str(), &plain).unwrap().total, 0);
    drop(store);
    for _ in 0..2 {
        let store = Store::open(folder.path(), None).unwrap();
        let page = store.page::<ComponentRow>(id.as_str(), &plain).unwrap();
        assert_eq!((page.total, page.data.len(), names(&page)[0]), (12, 10, "a.jar!/0000"));
        assert_eq!(store.page::<TaskRecord>("acme", &plain).unwrap().total, 1);
    }
}
