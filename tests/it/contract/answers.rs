//! The table against the reference service: success, every documented error, other accounts, and that nothing is left out.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use serde_json::Value;

use super::operation::{Cause, Foreign, Gives, Operation};
use super::rows;
use super::world::World;
use crate::support::scanner::{ACME, GLOBEX, TestScanner, answer, assert_refused};

const DOCUMENTED: [u16; 5] = [400, 401, 403, 404, 500];

pub(super) async fn succeeds(scanner: &TestScanner, operation: &Operation) {
    let (name, bearer) = (operation.name, (!operation.public).then_some(ACME));
    let response = operation.ask.request(scanner, bearer).send().await.unwrap();
    let (status, kind) = (response.status(), response.headers().get("content-type").cloned());
    let bytes = response.bytes().await.unwrap();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
    if name == "BROWSERS" && status == StatusCode::NOT_FOUND && shown.contains("4042") {
        // A machine without Chromium: the service says so, and nothing else is to be had.
        return;
    }
    assert_eq!(status, StatusCode::OK, "{name}: {shown}");
    let json = || -> Value {
        assert_eq!(kind.as_ref().unwrap(), "application/json", "{name}");
        serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{name}: {error}: {shown}"))
    };
    let holds = |object: &Value, fields: &[&str]| {
        for field in fields {
            assert!(object.get(field).is_some(), "{name} lacks {field}: {object}");
        }
    };
    match operation.gives {
        Gives::Empty => assert!(bytes.is_empty(), "{name}: {shown}"),
        Gives::Object(fields) => holds(&json(), fields),
        Gives::List(fields) => {
            let list = json();
            let rows = list["data"].as_array().unwrap();
            assert!(list["total"].as_u64().unwrap() >= rows.len() as u64, "{name}: {list}");
            assert!(!rows.is_empty(), "{name} lists nothing");
            for row in rows {
                holds(row, fields);
            }
        }
        Gives::Text => assert!(json().is_string(), "{name}: {shown}"),
        Gives::Bytes(start) => assert!(bytes.starts_with(start), "{name}: {shown}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_succeeds_with_what_the_interface_says() {
    let world = World::new().await;
    for operation in &rows::all(&world) {
        succeeds(&world.scanner, operation).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_error_is_answered_as_such() {
    errors(&World::new().await, |_, status, code| (status, code)).await;
}

/// `differs` tells where whoever is asked answers something else than the table says.
pub(super) async fn errors(world: &World, differs: fn(&Operation, u16, u32) -> (u16, u32)) {
    for operation in &rows::all(world) {
        for (status, cause) in &operation.errors {
            if let Cause::Asked(bearer, ask, code) = cause {
                let (status, code) = differs(operation, *status, *code);
                let (got, body) = answer(ask.request(&world.scanner, *bearer)).await;
                assert_eq!(got.as_u16(), status, "{} {}: {body}", operation.name, ask.path);
                assert_refused((got, body), status, code);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_account_does_not_exist() {
    foreign(&World::new().await).await;
}

pub(super) async fn foreign(world: &World) {
    for operation in &rows::all(world) {
        for bearer in [GLOBEX, "carol"] {
            let (status, body) = answer(operation.ask.request(&world.scanner, Some(bearer))).await;
            match operation.foreign {
                Foreign::Refused(expected, code) => {
                    assert_eq!(status.as_u16(), expected, "{} as {bearer}: {body}", operation.name);
                    assert_refused((status, body), expected, code);
                }
                Foreign::EmptyList => {
                    assert_eq!((status, &body["total"]), (StatusCode::OK, &Value::from(0)), "{}", operation.name);
                }
                Foreign::Nothing => assert!(!body.to_string().contains(&world.task) || operation.public, "{}", operation.name),
            }
        }
    }
    let (_, kept) = world.scanner.get(ACME, &format!("/api/v1/tasks/{}", world.doomed)).await;
    assert_eq!(kept["taskStatus"], "SUCCESS", "what others ask for changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_holds_every_path_of_the_interface_and_every_documented_status() {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/contract/paths.rs")).unwrap();
    let items = syn::parse_file(&source).unwrap().items;
    let is_text =
        |item: &syn::ItemConst| matches!(&*item.ty, syn::Type::Reference(_)) && item.ident != "PREFIX" && item.ident != "SEGMENT";
    let paths: BTreeSet<String> = items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Const(item) if is_text(item) => Some(item.ident.to_string()),
            _ => None,
        })
        .collect();
    let world = World::new().await;
    let table = rows::all(&world);
    let named: BTreeSet<String> = table.iter().map(|operation| operation.name.to_owned()).collect();
    assert_eq!(named, paths);
    for operation in &table {
        let told: BTreeSet<u16> = operation.errors.iter().map(|(status, _)| *status).collect();
        assert_eq!(told, DOCUMENTED.into(), "{}", operation.name);
        let reasons = operation.errors.iter().filter_map(|(_, cause)| match cause {
            Cause::Never(why) => Some(*why),
            Cause::Asked(..) => None,
        });
        assert!(reasons.into_iter().all(|why| why.len() > 10), "{}", operation.name);
    }
}
