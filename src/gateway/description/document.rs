//! The document: one operation for each row of the route table that a tenant is served.

use serde_json::Value;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, PathItem, PathsBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{ComponentsBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Content, ExternalDocs, InfoBuilder, OpenApi, OpenApiBuilder, Required, Server};

use super::shapes::{Schemas, Types};
use super::{About, answers, callers, parameters, rules, shapes};
use crate::gateway::domain::route_table::{Body, OpenTo, Route, TABLE, Verb};

pub(super) const WORDS: &str = "The scanning service's operations at its own paths, on this portal's address. A call carries an API key as \
`Authorization: Bearer …`, or the session of a signed-in person; never both. Anything that is not described here is 404, and a \
path that could be read in two ways is 400. Wherever there is GET there is HEAD. Unknown fields of answers are to be passed over.";

/// Groups of operations: by how their paths begin.
const GROUPS: [(&str, &str); 6] = [
    ("Tasks", "Scans and what they found."),
    ("Files", "Artifacts to be scanned."),
    ("Before a scan", "Whether a target can be reached, whose it is, and how one signs in to it."),
    ("Shares", "Findings and reports for people without an account: the owner's side."),
    ("Shared content", "The recipient's side of shares. No credential."),
    ("Other", "What stands for itself."),
];

/// Describes what a tenant is served.
pub(super) fn document(about: &About<'_>) -> OpenApi {
    let mut schemas = Schemas::default();
    let mut paths = PathsBuilder::new();
    for route in TABLE.iter().filter(|route| about.has_additions || !route.is_addition) {
        paths = paths.path(route.public_path(), PathItem::new(method(route.verb), operation(route, about, &mut schemas)));
    }
    let refusals = answers::refusals(&mut schemas);
    let components = callers::schemes(about)
        .into_iter()
        .fold(ComponentsBuilder::new().responses_from_iter(refusals).schemas_from_iter(schemas.0), |all, (name, scheme)| {
            all.security_scheme(name, scheme)
        });
    let info = InfoBuilder::new()
        .title(format!("{}: scanning", about.name))
        // Of the interface (section 9); the gateway adds to it and changes nothing.
        .version("1.0.0")
        .description(Some(format!("{WORDS} {}", rules::of(about).join(" "))));
    let mut people = ExternalDocs::new(format!("{}/developers", about.origin));
    people.description = Some("The same for people.".to_owned());
    OpenApiBuilder::new()
        .info(info)
        .external_docs(Some(people))
        .servers(Some([Server::new(about.origin)]))
        .tags(Some(GROUPS.map(|(name, words)| TagBuilder::new().name(name).description(Some(words)).build())))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

const fn method(verb: Verb) -> HttpMethod {
    match verb {
        Verb::Get => HttpMethod::Get,
        Verb::Post => HttpMethod::Post,
        Verb::Patch => HttpMethod::Patch,
    }
}

fn operation(route: &Route, about: &About<'_>, into: &mut Schemas) -> Operation {
    let types = shapes::of_route(route.name).unwrap_or_default();
    let mut operation = OperationBuilder::new()
        .operation_id(Some(route.name))
        .summary(Some(route.about))
        .tag(group(route))
        .request_body(body(route, &types, into))
        .responses(answers::of_route(route, &types, into))
        .securities(Some(callers::of(route, about)));
    if route.is_addition {
        operation = operation.description(Some("Added to the interface; this company's service has it."));
    }
    for parameter in parameters::of(route) {
        operation = operation.parameter(parameter);
    }
    operation.build()
}

fn group(route: &Route) -> &'static str {
    let under = |start: &str| route.path.get("/api/v1/".len()..).is_some_and(|rest| rest.starts_with(start));
    match () {
        () if route.open_to == OpenTo::Everybody && under("shares") => "Shared content",
        () if under("tasks") => "Tasks",
        () if under("files") => "Files",
        () if under("network-diagnostics") || under("domain-ownership") || under("browsers") => "Before a scan",
        () if under("shares") => "Shares",
        () => "Other",
    }
}

fn body(route: &Route, types: &Types, into: &mut Schemas) -> Option<RequestBody> {
    let (media, content, required) = match route.body {
        Body::Nothing => return None,
        Body::Json => {
            let example = serde_json::from_str::<Value>(types.example).ok();
            let schema = types.takes.map(|shape| shape(into));
            let required = schema.as_ref().is_none_or(|schema| into.needs_something(schema));
            ("application/json", Content::builder().schema(schema).example(example).build(), required)
        }
        Body::Multipart => {
            let bytes = ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
                .description(Some("The bytes of the file, once."));
            let form = ObjectBuilder::new().property("file", bytes).required("file");
            ("multipart/form-data", Content::new(Some(form)), true)
        }
    };
    // Where an empty object is enough, no body is read as one.
    let required = if required { Required::True } else { Required::False };
    Some(RequestBodyBuilder::new().content(media, content).required(Some(required)).build())
}
