//! The document as people read it: operations by group, and the types that they are made of. Reads nothing but the document,
//! so that the page says what programs are told.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::WORDS;

/// Everything on the page.
pub(in crate::gateway) struct Guide {
    pub(in crate::gateway) words: String,
    /// What holds for every call.
    pub(in crate::gateway) rules: Vec<String>,
    pub(in crate::gateway) origin: String,
    /// Name and words of each way to call.
    pub(in crate::gateway) callers: Vec<(String, String)>,
    /// Answers that operations share, by status.
    pub(in crate::gateway) errors: Vec<AnswerTold>,
    pub(in crate::gateway) groups: Vec<Group>,
    pub(in crate::gateway) types: Vec<TypeTold>,
}

/// Operations that belong together.
pub(in crate::gateway) struct Group {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) operations: Vec<OperationTold>,
}

/// One operation.
pub(in crate::gateway) struct OperationTold {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) method: String,
    pub(in crate::gateway) path: String,
    pub(in crate::gateway) about: String,
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) is_public: bool,
    pub(in crate::gateway) parameters: Vec<FieldTold>,
    pub(in crate::gateway) body: Option<BodyTold>,
    /// Its own.
    pub(in crate::gateway) answers: Vec<AnswerTold>,
    /// Which of the shared ones it has.
    pub(in crate::gateway) errors: Vec<String>,
}

/// What an operation takes.
pub(in crate::gateway) struct BodyTold {
    pub(in crate::gateway) media: String,
    /// The named type, where it is one.
    pub(in crate::gateway) kind: Kind,
    pub(in crate::gateway) fields: Vec<FieldTold>,
    /// JSON to copy; empty when there is none.
    pub(in crate::gateway) example: String,
}

/// An answer of an operation.
pub(in crate::gateway) struct AnswerTold {
    pub(in crate::gateway) status: String,
    pub(in crate::gateway) words: String,
    /// Media types and what stands in them.
    pub(in crate::gateway) contents: Vec<(String, Kind)>,
}

/// A named type.
pub(in crate::gateway) struct TypeTold {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) words: String,
    /// What it is when it has no fields.
    pub(in crate::gateway) kind: Kind,
    pub(in crate::gateway) fields: Vec<FieldTold>,
}

/// A field or a parameter.
pub(in crate::gateway) struct FieldTold {
    pub(in crate::gateway) name: String,
    /// `path`, `query` or `header`; empty for fields of bodies.
    pub(in crate::gateway) place: String,
    pub(in crate::gateway) kind: Kind,
    pub(in crate::gateway) is_required: bool,
    pub(in crate::gateway) words: String,
}

/// What a value is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Kind {
    /// In words, such as `list of`, `text, 1 to 32 characters`.
    pub(in crate::gateway) words: String,
    /// The named types it is made of.
    pub(in crate::gateway) types: Vec<String>,
}

impl Guide {
    pub(super) fn of(document: &Value, rules: Vec<String>) -> Self {
        let reader = Reader { document };
        let schemes = members(at(document, "/components/securitySchemes"));
        Self {
            words: WORDS.replace('`', ""),
            rules: rules.into_iter().map(|rule| rule.replace('`', "")).collect(),
            errors: reader.errors(),
            origin: text(at(document, "/servers/0/url")),
            callers: schemes.map(|(name, scheme)| (name.to_owned(), text(&scheme["description"]))).collect(),
            groups: items(&document["tags"]).map(|tag| reader.group(tag)).filter(|group| !group.operations.is_empty()).collect(),
            types: members(at(document, "/components/schemas")).map(|(name, schema)| reader.named(name, schema)).collect(),
        }
    }
}

struct Reader<'a> {
    document: &'a Value,
}

impl Reader<'_> {
    fn group(&self, tag: &Value) -> Group {
        let mut operations = Vec::new();
        for (path, item) in members(&self.document["paths"]) {
            for (method, operation) in members(item) {
                if items(&operation["tags"]).any(|its| *its == tag["name"]) {
                    operations.push(self.operation(method, path, operation));
                }
            }
        }
        Group { name: text(&tag["name"]), words: text(&tag["description"]), operations }
    }

    fn operation(&self, method: &str, path: &str, operation: &Value) -> OperationTold {
        OperationTold {
            name: text(&operation["operationId"]),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            about: text(&operation["summary"]),
            words: text(&operation["description"]),
            is_public: items(&operation["security"]).next().is_none(),
            parameters: items(&operation["parameters"]).map(parameter).collect(),
            body: members(at(operation, "/requestBody/content")).next().map(|(media, content)| self.body(media, content)),
            answers: members(&operation["responses"])
                .filter(|(_, answer)| !is_shared(answer))
                .map(|(status, answer)| self.answer(status, answer))
                .collect(),
            errors: shared(operation).map(|(status, _)| status.to_owned()).collect(),
        }
    }

    /// What operations answer by reference, once for each status.
    fn errors(&self) -> Vec<AnswerTold> {
        let operations = members(&self.document["paths"]).flat_map(|(_, item)| members(item));
        let all: BTreeMap<&str, &Value> = operations.flat_map(|(_, operation)| shared(operation)).collect();
        all.into_iter().map(|(status, answer)| self.answer(status, answer)).collect()
    }

    fn body(&self, media: &str, content: &Value) -> BodyTold {
        let example = content.get("example").and_then(|example| serde_json::to_string_pretty(example).ok()).unwrap_or_default();
        BodyTold { media: media.to_owned(), kind: kind(&content["schema"]), fields: self.fields(&content["schema"]), example }
    }

    fn answer(&self, status: &str, answer: &Value) -> AnswerTold {
        let answer = self.meant(answer);
        let contents = members(&answer["content"]).map(|(media, content)| (media.to_owned(), kind(&content["schema"])));
        AnswerTold { status: status.to_owned(), words: text(&answer["description"]), contents: contents.collect() }
    }

    fn named(&self, name: &str, schema: &Value) -> TypeTold {
        let (fields, kind) = (self.fields(schema), kind(schema));
        TypeTold { name: name.to_owned(), words: self.words(schema), kind, fields }
    }

    /// What a reference stands for.
    fn meant<'v>(&'v self, value: &'v Value) -> &'v Value {
        let pointer = value.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(value)
    }

    /// The fields of an object, those of its parts first.
    fn fields(&self, schema: &Value) -> Vec<FieldTold> {
        let schema = self.meant(schema);
        let mut all: Vec<FieldTold> = items(&schema["allOf"]).flat_map(|part| self.fields(part)).collect();
        all.extend(members(&schema["properties"]).map(|(name, field)| FieldTold {
            name: name.to_owned(),
            place: String::new(),
            kind: kind(field),
            is_required: items(&schema["required"]).any(|required| required == name),
            words: self.words(field),
        }));
        all
    }

    /// What is said of a field, or of the one type it is where it is not null.
    fn words(&self, field: &Value) -> String {
        let parts =
            ["oneOf", "anyOf", "allOf"].iter().flat_map(|word| items(&field[*word])).filter(|part| part["type"] != "null");
        let told = std::iter::once(field).chain(parts).flat_map(|part| [part, self.meant(part)]);
        told.map(|part| text(&part["description"])).find(|words| !words.is_empty()).unwrap_or_default()
    }
}

fn is_shared(answer: &Value) -> bool {
    answer.get("$ref").is_some()
}

/// The answers of an operation that are told elsewhere, by status.
fn shared(operation: &Value) -> impl Iterator<Item = (&str, &Value)> {
    members(&operation["responses"]).filter(|(_, answer)| is_shared(answer))
}

fn parameter(parameter: &Value) -> FieldTold {
    FieldTold {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        kind: kind(&parameter["schema"]),
        is_required: parameter["required"] == true,
        words: text(&parameter["description"]),
    }
}

/// What a schema is, in words.
fn kind(schema: &Value) -> Kind {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next()) {
        return Kind { words: String::new(), types: vec![name.to_owned()] };
    }
    let parts: Vec<&Value> = ["oneOf", "anyOf", "allOf"].iter().flat_map(|word| items(&schema[*word])).collect();
    if !parts.is_empty() {
        return joined(parts.into_iter().filter(|part| part["type"] != "null").map(kind), &nullable(schema));
    }
    let single = single(schema);
    if single == "array" {
        let inner = kind(&schema["items"]);
        let words = if inner.words.is_empty() { "list of".to_owned() } else { format!("list of {}", inner.words) };
        return Kind { words: format!("{words}{}", bounds(schema, "minItems", "maxItems", "")), types: inner.types };
    }
    let word = match single {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "true or false",
        "" => "anything",
        other => other,
    };
    let values: Vec<String> =
        items(&schema["enum"]).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    let format = schema.get("format").and_then(Value::as_str).filter(|format| !format.starts_with("int"));
    let mut words = word.to_owned();
    if let Some(format) = format {
        words = format!("{words} ({format})");
    }
    if !values.is_empty() {
        words = format!("one of {}", values.join(", "));
    }
    words.push_str(&bounds(schema, "minLength", "maxLength", " characters"));
    words.push_str(&bounds(schema, "minimum", "maximum", ""));
    words.push_str(&nullable(schema));
    Kind { words, types: Vec::new() }
}

fn joined(parts: impl Iterator<Item = Kind>, end: &str) -> Kind {
    let mut all = Kind::default();
    for part in parts {
        if !part.words.is_empty() && part.words != "object" && !all.words.contains(&part.words) {
            all.words = if all.words.is_empty() { part.words } else { format!("{} or {}", all.words, part.words) };
        }
        all.types.extend(part.types);
    }
    if all.words.is_empty() && all.types.is_empty() {
        "object".clone_into(&mut all.words);
    }
    all.words.push_str(end);
    all
}

/// The type that is not null.
fn single(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(word) => word,
        Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or_default(),
        _ => "",
    }
}

fn nullable(schema: &Value) -> String {
    let in_type = items(&schema["type"]).any(|word| word == "null");
    let in_parts = ["oneOf", "anyOf"].iter().flat_map(|word| items(&schema[*word])).any(|part| part["type"] == "null");
    if in_type || in_parts { ", or null".to_owned() } else { String::new() }
}

fn bounds(schema: &Value, least: &str, most: &str, unit: &str) -> String {
    match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) if least == most => format!(", exactly {most}{unit}"),
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Words without the marks of Markdown, which the document may have and the page does not read.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('`', "")
}
