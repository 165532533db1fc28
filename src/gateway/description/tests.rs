//! The document against the table, the contract and what the gateway really answers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{About, Bounds, Description};
use crate::contract::limits::{MAX_PAGE_SIZE, MAX_PROJECT_NAME, MAX_SOURCES};
use crate::gateway::domain::route_table::{Answer, Body, TABLE};

fn about() -> About<'static> {
    About {
        name: "Acme",
        origin: "https://portal.acme.example",
        cookie: "__Host-cardea",
        has_additions: true,
        takes_access_tokens: true,
        bounds: Bounds { json_bytes: 1000, upload_bytes: 2000, uri_bytes: 3000, head_bytes: 4000, head_fields: 50 },
    }
}

fn document(about: &About<'_>) -> Value {
    serde_json::from_slice(&Description::of(about).unwrap().json).unwrap()
}

/// `operationId` with method, path and the operation.
fn operations(document: &Value) -> BTreeMap<String, (String, String, Value)> {
    let mut all = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let told = (method.to_uppercase(), path.clone(), operation.clone());
            assert!(all.insert(operation["operationId"].as_str().unwrap().to_owned(), told).is_none(), "twice: {operation}");
        }
    }
    all
}

#[test]
fn every_row_of_the_table_is_described_and_nothing_else() {
    for has_additions in [true, false] {
        let all = operations(&document(&About { has_additions, ..about() }));
        let served: Vec<_> = TABLE.iter().filter(|route| has_additions || !route.is_addition).collect();
        assert_eq!(all.len(), served.len());
        for route in served {
            let (method, path, operation) = &all[route.name];
            assert_eq!((method.as_str(), path), (route.verb.as_str(), &route.public_path()));
            let named = |place: &str| -> Vec<&str> {
                let all = operation["parameters"].as_array().into_iter().flatten();
                all.filter(|one| one["in"] == place).map(|one| one["name"].as_str().unwrap()).collect()
            };
            assert_eq!(named("path"), route.parameters().collect::<Vec<_>>(), "{}", route.name);
            assert_eq!(named("query"), route.query, "{}", route.name);
            let media = operation.pointer("/requestBody/content").and_then(Value::as_object);
            let media: Vec<_> = media.into_iter().flat_map(|content| content.keys().map(String::as_str)).collect();
            let wanted: &[&str] = match route.body {
                Body::Nothing => &[],
                Body::Json => &["application/json"],
                Body::Multipart => &["multipart/form-data"],
            };
            assert_eq!(media, wanted, "{}", route.name);
        }
    }
}

#[test]
fn what_takes_json_says_which_with_an_example_and_what_answers_json_says_which() {
    let document = document(&about());
    for route in TABLE {
        let (_, _, operation) = &operations(&document)[route.name];
        if route.body == Body::Json {
            let content = &operation["requestBody"]["content"]["application/json"];
            assert!(content["schema"]["$ref"].is_string() && content["example"].is_object(), "{}", route.name);
            let may_be_absent =
                route.name.starts_with("search") || route.name.starts_with("extract") || route.name == "updateShare";
            assert_eq!(operation["requestBody"]["required"], !may_be_absent, "{}", route.name);
        }
        let answers_json = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].is_string();
        assert!(answers_json || route.answer != Answer::Json, "{}", route.name);
        for status in ["400", "401", "403", "404", "405", "408", "414", "421", "429", "431", "500", "502", "503", "504"] {
            assert!(operation["responses"][status].is_object(), "{} {status}", route.name);
        }
    }
}

#[test]
fn what_is_left_is_told_with_every_refusal_that_counts_and_with_no_other() {
    let document = document(&about());
    for (name, counts) in [
        ("BadRequest", true),
        ("Unauthorized", true),
        ("Forbidden", true),
        ("NotFound", true),
        ("TooManyRequests", true),
        ("UriTooLong", false),
        ("RequestTimeout", false),
        ("MisdirectedRequest", false),
        ("RequestHeaderFieldsTooLarge", false),
    ] {
        let headers = &document["components"]["responses"][name]["headers"];
        assert!(headers["X-Request-Id"].is_object(), "{name}");
        assert_eq!(headers["RateLimit"].is_object(), counts, "{name}");
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_type_is_used() {
    fn references(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                into.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| references(value, into));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, into)),
            _ => {}
        }
    }
    for has_additions in [true, false] {
        let document = document(&About { has_additions, ..about() });
        let mut all = BTreeSet::new();
        references(&document, &mut all);
        for reference in &all {
            assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
        }
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert!(all.contains(&format!("#/components/schemas/{name}")), "{name} is used by nothing");
        }
    }
}

#[test]
fn bounds_are_those_of_the_contract() {
    let document = document(&about());
    let schema = |pointer: &str| document.pointer(&format!("/components/schemas/{pointer}")).unwrap().as_u64().unwrap();
    assert_eq!(schema("TaskSearch/properties/size/maximum"), u64::from(MAX_PAGE_SIZE));
    assert_eq!(schema("CreateTask/properties/projectName/maxLength"), MAX_PROJECT_NAME as u64);
    assert_eq!(schema("CreateTask/properties/sourceCodeInfos/maxItems"), MAX_SOURCES as u64);
    assert_eq!(schema("TaskId/maxLength"), 32);
}

#[test]
fn a_tenant_is_told_of_its_own_address_and_of_the_credentials_that_it_takes() {
    let with = document(&about());
    assert_eq!(with["openapi"], "3.1.0");
    assert_eq!(with["servers"][0]["url"], "https://portal.acme.example");
    let schemes = |document: &Value| -> Vec<String> {
        document["components"]["securitySchemes"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(schemes(&with), ["accessToken", "apiKey", "csrfToken", "session"]);
    assert_eq!(with["components"]["securitySchemes"]["session"]["name"], "__Host-cardea");
    let without = document(&About { takes_access_tokens: false, ..about() });
    assert_eq!(schemes(&without), ["apiKey", "csrfToken", "session"]);
    assert!(!without["paths"].to_string().contains("accessToken"));
    let all = operations(&with);
    assert_eq!(all["getSharedContent"].2["security"], serde_json::json!([]));
    assert_eq!(all["createTask"].2["security"][1], serde_json::json!({"csrfToken": [], "session": []}));
}

#[test]
fn the_same_tenant_gets_the_same_document_and_another_one_another() {
    let tag = |about: &About<'_>| Description::of(about).unwrap().tag;
    assert_eq!(tag(&about()), tag(&about()));
    assert_ne!(tag(&about()), tag(&About { name: "Globex", ..about() }));
}

#[test]
fn people_read_of_the_same_operations() {
    let guide = Description::of(&about()).unwrap().guide;
    let told: BTreeSet<&str> = guide.groups.iter().flat_map(|group| &group.operations).map(|one| one.name.as_str()).collect();
    assert_eq!(told, TABLE.iter().map(|route| route.name).collect());
    let errors: Vec<&str> = guide.errors.iter().map(|error| error.status.as_str()).collect();
    assert_eq!(errors.len(), errors.iter().collect::<BTreeSet<_>>().len(), "each is told once: {errors:?}");
    for operation in guide.groups.iter().flat_map(|group| &group.operations) {
        assert!(operation.errors.iter().all(|status| errors.contains(&status.as_str())), "{}", operation.name);
        assert!(operation.answers.iter().all(|answer| answer.status.as_str() < "400" || answer.status == "416"));
    }
    for (bound, rule) in [("1000", "Size"), ("2000", "Size"), ("csrf", "From a page"), ("RateLimit", "Pace")] {
        assert!(guide.rules.iter().any(|told| told.starts_with(rule) && told.contains(bound)), "{bound}");
    }
    let names: BTreeSet<&str> = guide.types.iter().map(|one| one.name.as_str()).collect();
    let fields = guide.types.iter().flat_map(|one| &one.fields);
    let bodies = guide.groups.iter().flat_map(|group| &group.operations).filter_map(|one| one.body.as_ref());
    for kind in fields.map(|field| &field.kind).chain(bodies.map(|body| &body.kind)) {
        assert!(kind.types.iter().all(|name| names.contains(name.as_str())), "{kind:?}");
    }
}

#[test]
fn every_type_every_field_and_every_parameter_is_told_in_words() {
    let guide = Description::of(&about()).unwrap().guide;
    let mut silent = Vec::new();
    for told in &guide.types {
        if told.words.is_empty() {
            silent.push(told.name.clone());
        }
        silent.extend(
            told.fields.iter().filter(|field| field.words.is_empty()).map(|field| format!("{}.{}", told.name, field.name)),
        );
    }
    for one in guide.groups.iter().flat_map(|group| &group.operations) {
        let fields = one.parameters.iter().chain(one.body.iter().flat_map(|body| &body.fields));
        silent.extend(fields.filter(|field| field.words.is_empty()).map(|field| format!("{}: {}", one.name, field.name)));
    }
    assert!(silent.is_empty(), "nothing is said of {silent:?}");
    let all: Vec<&str> = guide.types.iter().flat_map(|told| &told.fields).map(|field| field.words.as_str()).collect();
    for words in &all {
        assert!(words.len() < 300 && !words.contains("WIRE") && !words.contains("added field"), "{words}");
    }
}
