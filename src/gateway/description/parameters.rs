//! Parameters of paths, queries and headers with their types and bounds.

use serde_json::json;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::contract::reports::{LANGUAGE_HEADER, ReportLanguage, ReportType};
use crate::gateway::domain::route_table::{Answer, Route};

/// Ids as they may stand in a path. `/`, `\`, `;` and `%` are read in one way here and in another there, so a path that
/// holds them, encoded or not, is refused; so are segments of dots.
const IN_A_PATH: &str = r"^(?!\.{1,2}$)[!-$&-.0-:<-\[\]-~]+$";
const HASH: &str = "^[0-9a-fA-F]{64}$";

/// All parameters of an operation.
pub(super) fn of(route: &Route) -> Vec<Parameter> {
    let of_path = route.parameters().map(|name| required(name, in_path(name)));
    let of_query = route.query.iter().map(|name| optional(name, ParameterIn::Query, in_query(name)));
    let language = (route.answer == Answer::Stream && route.query.contains(&"type")).then(|| {
        let words = "The language of a report, as a language tag; anything but these is English.";
        let languages = [ReportLanguage::English, ReportLanguage::Chinese].map(ReportLanguage::as_str);
        let schema = text().examples(languages).default(Some(json!(ReportLanguage::English.as_str())));
        optional(LANGUAGE_HEADER, ParameterIn::Header, (words, schema.into()))
    });
    of_path.chain(of_query).chain(language).collect()
}

type Told = (&'static str, Schema);

fn in_path(name: &str) -> Told {
    let id = |longest| text().min_length(Some(1)).max_length(Some(longest)).pattern(Some(IN_A_PATH)).into();
    match name {
        "taskId" => ("The task, as its create answered it.", id(32)),
        "sha256" => ("The SHA-256 of the file.", hash()),
        "vulId" => ("The finding or the exploit chain, as a list names it.", id(256)),
        "shareId" => ("The share.", id(128)),
        _ => ("The check, as its create answered it.", id(128)),
    }
}

fn in_query(name: &str) -> Told {
    match name {
        "sha256" => ("What the bytes of the file have to add up to; they are refused otherwise.", hash()),
        "forceUpload" => (
            "Whether a file that is there already is replaced.",
            ObjectBuilder::new().schema_type(Type::Boolean).default(Some(json!(false))).into(),
        ),
        _ => {
            let forms = [ReportType::Pdf, ReportType::Html, ReportType::CycloneDx, ReportType::Spdx].map(ReportType::as_str);
            ("The form of the report.", text().enum_values(Some(forms)).default(Some(json!(ReportType::Pdf.as_str()))).into())
        }
    }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn hash() -> Schema {
    text().min_length(Some(64)).max_length(Some(64)).pattern(Some(HASH)).into()
}

fn required(name: &str, told: Told) -> Parameter {
    told_of(name, ParameterIn::Path, told).required(Required::True).build()
}

fn optional(name: &str, place: ParameterIn, told: Told) -> Parameter {
    told_of(name, place, told).required(Required::False).build()
}

fn told_of(name: &str, place: ParameterIn, (words, schema): Told) -> ParameterBuilder {
    ParameterBuilder::new().name(name).parameter_in(place).description(Some(words)).schema(Some(schema))
}
