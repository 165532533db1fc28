//! Filters: reading, writing back, refusing.

use super::*;

#[test]
fn an_address_alone_reproduces_a_list() {
    let read = TaskFilter::read(
        "project=%E8%AE%A2%E5%8D%95+a%26b&status=running&status=failed&status=running&from=2026-01-02&to=2026-02-03&page=7&utm=x",
    )
    .unwrap();
    assert_eq!(read.project, "订单 a&b");
    assert_eq!(read.states, [State::Running, State::Failed]);
    assert_eq!(read.page, 7);
    assert_eq!(TaskFilter::read(&read.query(7)).unwrap(), read);
    assert_eq!(TaskFilter::default().query(1), "");

    let read = FindingFilter::read("severity=critical&severity=low&q=log4j%22%3E&page=2").unwrap();
    assert_eq!(FindingFilter::read(&read.query(2)).unwrap(), read);
}

#[test]
fn empty_fields_of_a_form_narrow_nothing() {
    let read = TaskFilter::read("project=&from=&to=&status=&page=").unwrap();
    assert_eq!(read, TaskFilter::default());
    assert!(read.wire().is_empty() && read.words().is_empty());
    assert_eq!(FindingFilter::read("q=++&severity=").unwrap(), FindingFilter::default());
}

#[test]
fn an_unknown_value_is_refused_and_named() {
    for (query, named) in [
        ("status=bogus", "bogus"),
        ("from=31.01.2026", "31.01.2026"),
        ("to=2026-02-30", "2026-02-30"),
        ("to=%2B2026-02-03", "+2026-02-03"),
        ("page=%2B7", "+7"),
        ("page=0", "“0”"),
        ("page=-1", "-1"),
        ("page=9999999999", "9999999999"),
        ("from=2026-02-02&to=2026-02-01", "after the last day"),
        ("status=%E2%80%AEevil", "[U+202E]evil"),
    ] {
        let Refused(words) = TaskFilter::read(query).unwrap_err();
        assert!(words.contains(named), "{query}: {words}");
    }
    assert!(FindingFilter::read("severity=awful").unwrap_err().0.contains("awful"));
    assert!(FindingFilter::read(&format!("q={}", "x".repeat(201))).is_err());
}

#[test]
fn days_are_whole_days_in_utc() {
    let filter = TaskFilter::read("from=2026-01-31&to=2026-01-31").unwrap();
    let [one] = <[Filter; 1]>::try_from(filter.wire()).unwrap();
    assert_eq!(one.operator, Operator::Between);
    let times: Vec<Timestamp> =
        one.value.as_array().unwrap().iter().map(|time| Timestamp::parse_rfc3339(time.as_str().unwrap()).unwrap()).collect();
    assert_eq!(times, [Timestamp(1_769_817_600_000), Timestamp(1_769_903_999_999)]);
}

#[test]
fn a_group_a_component_and_reachability_stand_in_an_address_too() {
    let read = TaskFilter::read("group=g%201&page=2").unwrap();
    assert_eq!(TaskFilter::read(&read.query(2)).unwrap(), read);
    let [one] = <[Filter; 1]>::try_from(read.wire()).unwrap();
    assert_eq!((one.field.as_str(), one.operator, one.value), ("groupId", Operator::Eq, "g 1".into()));
    assert!(TaskFilter::read(&format!("group={}", "x".repeat(129))).is_err());
    assert_eq!(TaskFilter::read("group=").unwrap(), TaskFilter::default());

    let query = "reach=reachable&reach=cleared&component=pkg%3Amaven%2Fa%2Fb%401&place=x.jar&page=2";
    let read = FindingFilter::read(query).unwrap();
    assert_eq!(read.query(2), query);
    assert!(read.is_active() && !read.is_all_wire() && read.words().len() == 3);
    let [one] = <[Filter; 1]>::try_from(read.wire()).unwrap();
    assert_eq!((one.field.as_str(), one.value), ("reachability", vec!["REACHABLE", "NOT_PRESENT"].into()));
    assert!(FindingFilter::read("reach=sometimes").is_err());
    assert!(FindingFilter::read(&format!("place={}", "x".repeat(2001))).is_err());
    assert!(!FindingFilter { page: 7, ..FindingFilter::default() }.is_active());
}
