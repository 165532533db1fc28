//! Bodies of searches: which fields a list can be filtered and sorted by differs from list to list.

use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AnyOfBuilder, ArrayBuilder, KnownFormat, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type,
};

use super::shapes::Schemas;
use crate::contract::limits::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE};
use crate::contract::results::Severity;
use crate::contract::searches::{CHAINS, COMPONENTS, FARTHEST, Kind, RESULTS, SHARES, TASKS};

/// Name and kind.
type Field = (&'static str, Kind);

pub(super) fn tasks(into: &mut Schemas) -> RefOr<Schema> {
    into.add("TaskSearch", search(TASKS))
}

pub(super) fn results(into: &mut Schemas) -> RefOr<Schema> {
    into.add("ResultSearch", search(RESULTS))
}

pub(super) fn chains(into: &mut Schemas) -> RefOr<Schema> {
    into.add("ExploitChainSearch", search(CHAINS))
}

pub(super) fn components(into: &mut Schemas) -> RefOr<Schema> {
    into.add("ComponentSearch", search(COMPONENTS))
}

pub(super) fn shares(into: &mut Schemas) -> RefOr<Schema> {
    // What tells the order of ids tells ids, and nobody is told all of them.
    let fields: Vec<_> = SHARES.iter().copied().filter(|(name, _)| *name != "shareId").collect();
    into.add("ShareSearch", search(&fields))
}

fn search(fields: &[Field]) -> RefOr<Schema> {
    let sorts: Vec<String> = fields.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("-{name}")]).collect();
    let sort = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(sorts));
    let list = |items: RefOr<Schema>, words: &str| Schema::from(ArrayBuilder::new().items(items).description(Some(words)));
    ObjectBuilder::new()
        .description(Some("Which rows, in which order, and which page of them. All of it may be left out."))
        .property("page", number("From 0.", 0, u32::MAX, 0))
        .property("size", number("Rows on a page.", 1, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE))
        .property("filters", list(filter(fields), &filters_in_words(fields)))
        .property("sorts", list(sort.into(), "The first field counts most; a leading `-` is descending."))
        .into()
}

fn number(words: &str, least: u32, most: u32, default: u32) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Integer, Type::Null]))
        .description(Some(words))
        .minimum(Some(least))
        .maximum(Some(most))
        .default(Some(json!(default)))
        .build()
}

fn filters_in_words(fields: &[Field]) -> String {
    let of = |kind| fields.iter().filter(move |(_, its)| *its == kind).map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let kinds = [
        (of(Kind::Text), "EQ or LIKE with a text, IN with a list of them"),
        (of(Kind::Severity), "EQ with critical, high, medium or low, IN with a list of them"),
        (of(Kind::Time), "EQ, GE or LE with a time, BETWEEN with a list of two"),
    ];
    let told = kinds.into_iter().filter(|(names, _)| !names.is_empty()).map(|(names, how)| format!("{names}: {how}."));
    format!(
        "What rows have to be; all of it. Each is an object of field, operator and value. {}",
        told.collect::<Vec<_>>().join(" ")
    )
}

/// One filter: by what its field holds.
fn filter(fields: &[Field]) -> RefOr<Schema> {
    let of = |kind| fields.iter().filter(move |(_, its)| *its == kind).map(|(name, _)| *name).collect::<Vec<_>>();
    let kinds = [
        (Kind::Text, "Without regard to case. LIKE is a part of the text.", vec!["EQ", "LIKE"], "IN", plain as fn() -> Schema),
        (Kind::Severity, "", vec!["EQ"], "IN", severity),
        (Kind::Time, "A date alone is the whole day, in UTC.", vec!["EQ", "GE", "LE"], "BETWEEN", time),
    ];
    let mut all = OneOfBuilder::new();
    for (kind, words, single, several, value) in kinds {
        let names = of(kind);
        if names.is_empty() {
            continue;
        }
        let mut list = ArrayBuilder::new().items(RefOr::T(value()));
        if several == "BETWEEN" {
            list = list.min_items(Some(2)).max_items(Some(2)).description(Some("The first and the last instant."));
        }
        all = all.item(one(words, &names, single, value())).item(one(words, &names, vec![several], list.into()));
    }
    Schema::from(all).into()
}

fn one(words: &str, names: &[&'static str], operators: Vec<&'static str>, value: Schema) -> Object {
    let word = |values: Vec<&'static str>| ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values));
    ObjectBuilder::new()
        .description(Some(words).filter(|words| !words.is_empty()))
        .property("field", word(names.to_vec()))
        .property("operator", word(operators))
        .property("value", value)
        .required("field")
        .required("operator")
        .required("value")
        .build()
}

fn plain() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).into()
}

fn severity() -> Schema {
    let bands: Vec<Value> = Severity::ALL.iter().map(|band| json!(band.as_str())).collect();
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(bands)).into()
}

fn time() -> Schema {
    let text = |format| ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
    let milliseconds = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(-FARTHEST))
        .maximum(Some(FARTHEST))
        .description(Some("Milliseconds since 1970."));
    AnyOfBuilder::new().item(text(KnownFormat::DateTime)).item(text(KnownFormat::Date)).item(milliseconds).into()
}
