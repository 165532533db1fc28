//! Reads findings (WIRE 6, 18 #4).

use serde_json::Value;

use crate::gateway::domain::finding::{
    Advice, Component, Evidence, Finding, FindingRow, Fix, Place, Poc, Purchase, Reachability, Reference, Severity, Suggestion,
    Taint, Text,
};
use crate::platform::hostile::Hostile;

use super::{decimal, embedded, id, objects, plain, text, texts, unsigned, unwrapped};

/// A row of a result search; None without a usable id.
pub(in crate::gateway::upstream) fn finding_row(value: &Value) -> Option<FindingRow> {
    let purchase = text(value, &["purchaseStatus"]);
    let cves = texts(value, &["cveIds", "cves", "CVEs", "cveId"]);
    let category = text(value, &["category"]);
    let title = text(value, &["title", "name"]);
    let fixed_version = text(value, &["fixedVersion", "fixed_version"]);
    Some(FindingRow {
        id: id(value, &["vulId", "id"])?,
        task: id(value, &["taskId"]),
        severity: Severity::read(text(value, &["severity"]).raw()),
        title: if title.is_empty() { category.clone() } else { title },
        category,
        description: text(value, &["description"]),
        cwe: text(value, &["cweId", "cwe"]),
        cves,
        component: value.get("component").filter(|component| component.is_object()).map(component),
        fixed_version: (!fixed_version.is_empty()).then_some(fixed_version),
        confidence: text(value, &["confidence"]),
        reachability: Reachability::read(text(value, &["reachability"]).raw()),
        purchase: match purchase.raw().trim().to_ascii_uppercase().as_str() {
            "" | "PURCHASED" => Purchase::Open,
            _ => Purchase::Other(purchase),
        },
        raw: value.clone(),
    })
}

/// A finding in full; None without a usable id.
pub(in crate::gateway::upstream) fn finding(value: &Value) -> Option<Finding> {
    let value = unwrapped(value);
    Some(Finding {
        row: finding_row(value)?,
        lang: text(value, &["taskLang", "lang"]),
        location: text(value, &["location"]),
        api_path: text(value, &["apiPath"]),
        api_method: text(value, &["apiMethod"]),
        verify_result: text(value, &["verifyResult"]),
        aliases: texts(value, &["aliases"]),
        affected_range: text(value, &["affectedRange"]),
        published: text(value, &["published"]),
        evidence: objects(value, &["evidence"], |seen| {
            Some(Evidence { kind: text(seen, &["kind"]), path: text(seen, &["path"]), detail: text(seen, &["detail"]) })
        }),
        references: objects(value, &["references"], reference),
        fix: fix(value),
        poc: Poc {
            script: readable(value, &["pocScript", "poc_script"]),
            output: readable(value, &["pocScriptOutput", "poc_script_output"]),
        },
        source: value.get("source").and_then(taint),
        sink: value.get("sink").and_then(taint),
        flow: objects(value, &["codeFlow", "code_flow"], |step| place(step).or_else(|| told(step))),
        snippets: texts(value, &["codeSnippet", "code_snippet"]),
    })
}

pub(super) fn component(value: &Value) -> Component {
    Component {
        name: text(value, &["name"]),
        version: text(value, &["version"]),
        purl: text(value, &["purl"]),
        path: text(value, &["path"]),
    }
}

/// An address alone, or an object with title and kind.
fn reference(value: &Value) -> Option<Reference> {
    if value.is_object() {
        return Some(Reference {
            kind: text(value, &["type", "kind"]),
            title: text(value, &["title", "Title"]),
            url: text(value, &["url", "Url"]),
        });
    }
    let url = plain(value);
    (!url.is_empty()).then(|| Reference { kind: Hostile::default(), title: url.clone(), url })
}

/// The fix suggestion: JSON in a string, an object, or plain words.
pub(super) fn fix(value: &Value) -> Fix {
    let (words, parsed) = embedded(value, &["fixSuggestion", "fix_suggestion"]);
    match parsed {
        Some(found @ Value::Object(_)) => Fix::Suggestion(Box::new(suggestion(&found))),
        _ if words.is_empty() => Fix::None,
        _ => Fix::Text(words),
    }
}

fn suggestion(value: &Value) -> Suggestion {
    let example = value.get("code_example").or_else(|| value.get("codeExample")).unwrap_or(&Value::Null);
    let advice = |entry: &Value| {
        Some(Advice {
            title: text(entry, &["title"]),
            description: text(entry, &["description"]),
            note: text(entry, &["use_case", "urgency"]),
        })
    };
    Suggestion {
        principle: text(value, &["principle"]),
        method: text(value, &["fix_method", "fixMethod"]),
        confidence: decimal(value, &["confidence"]),
        before: text(example, &["before"]),
        after: text(example, &["after"]),
        explanation: text(example, &["explanation"]),
        alternatives: objects(value, &["alternatives"], advice),
        mitigations: objects(value, &["temp_mitigation", "tempMitigation"], advice),
        references: objects(value, &["references"], reference),
    }
}

fn readable(value: &Value, names: &[&str]) -> Text {
    let (text, json) = embedded(value, names);
    Text { text, json }
}

fn taint(value: &Value) -> Option<Taint> {
    value.is_object().then(|| Taint {
        file: text(value, &["file"]),
        method: text(value, &["method"]),
        message: text(value, &["message"]),
        place: value.get("location").and_then(place),
        snippet: text(value, &["code_snippet", "codeSnippet"]),
    })
}

/// A place in the source (`file_uri`, `start_line`) or in a class (`className`, `method`, `line`, `path` of its archive).
pub(super) fn place(value: &Value) -> Option<Place> {
    value.is_object().then(|| Place {
        file: text(value, &["file_uri", "fileUri", "file"]),
        class: text(value, &["className", "class_name", "class"]),
        method: text(value, &["method", "methodName"]),
        archive: text(value, &["path", "archive"]),
        line: unsigned(value, &["start_line", "startLine", "line"]).unwrap_or(0),
        start_column: unsigned(value, &["start_column", "startColumn"]).unwrap_or(0),
        end_column: unsigned(value, &["end_column", "endColumn"]).unwrap_or(0),
    })
}

/// A step that is told in words.
fn told(value: &Value) -> Option<Place> {
    let method = plain(value);
    (!method.is_empty()).then(|| Place { method, ..Place::default() })
}
