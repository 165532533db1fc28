//! The description of the API for people.

use askama::Template;

use super::layout::Chrome;
use crate::gateway::description::guide::{self, BodyTold, FieldTold, OperationTold};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// The page.
#[derive(Template)]
#[template(path = "description/guide.html")]
pub(in crate::gateway) struct Guide<'a> {
    chrome: Chrome,
    told: &'a guide::Guide,
    groups: Vec<Group<'a>>,
    document: &'static str,
    keys: &'static str,
}

struct Group<'a> {
    told: &'a guide::Group,
    operations: Vec<Operation<'a>>,
}

struct Operation<'a> {
    told: &'a OperationTold,
    /// A call to copy.
    example: String,
}

impl<'a> Guide<'a> {
    pub(in crate::gateway) fn new(page: &Page, told: &'a guide::Guide) -> Self {
        let operation = |one: &'a OperationTold| Operation { told: one, example: curl(&told.origin, one) };
        let group = |one: &'a guide::Group| Group { told: one, operations: one.operations.iter().map(operation).collect() };
        let groups = told.groups.iter().map(group).collect();
        Self { chrome: page.chrome("For developers", "developers"), told, groups, document: urls::DESCRIPTION, keys: urls::KEYS }
    }
}

/// What a shell makes of the file of the example.
const HASH_OF_FILE: &str = "$(sha256sum shop.war | cut -c1-64)";

/// A call to copy; the key and the ids in it stand for the reader's own.
fn curl(origin: &str, operation: &OperationTold) -> String {
    let mut lines = vec![match operation.method.as_str() {
        "GET" => "curl".to_owned(),
        method => format!("curl -X {method}"),
    }];
    if !operation.is_public {
        lines.push("-H 'Authorization: Bearer YOUR_API_KEY'".to_owned());
    }
    match &operation.body {
        Some(BodyTold { media, .. }) if media.starts_with("multipart/") => lines.push("-F 'file=@shop.war'".to_owned()),
        Some(BodyTold { media, example, .. }) => {
            lines.push(format!("-H 'Content-Type: {media}'"));
            lines.push(format!("-d '{}'", example.replace('\'', "'\\''")));
        }
        None => {}
    }
    if operation.answers.iter().flat_map(|answer| &answer.contents).any(|(media, _)| is_file(media)) {
        lines.push("-fOJ".to_owned());
    }
    let address = format!("{origin}{}", filled(&operation.path, &operation.parameters));
    let is_hashed = operation.parameters.iter().any(|parameter| parameter.place == "query" && parameter.name == "sha256");
    lines.push(if is_hashed { format!("\"{address}?sha256={HASH_OF_FILE}\"") } else { format!("'{address}'") });
    lines.join(" \\\n  ")
}

fn is_file(media: &str) -> bool {
    media == "application/pdf" || media == "application/zip"
}

/// The path with names in capitals where the reader's values go.
fn filled(path: &str, parameters: &[FieldTold]) -> String {
    parameters.iter().filter(|parameter| parameter.place == "path").fold(path.to_owned(), |path, parameter| {
        let mut name = String::from("YOUR_");
        for character in parameter.name.chars() {
            if character.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(character.to_ascii_uppercase());
        }
        path.replace(&format!("{{{}}}", parameter.name), &name)
    })
}
