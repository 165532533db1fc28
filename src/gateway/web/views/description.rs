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
    guide: &'a guide::Guide,
    document: &'static str,
    examples: Vec<Vec<String>>,
}

impl<'a> Guide<'a> {
    pub(in crate::gateway) fn new(page: &Page, guide: &'a guide::Guide) -> Self {
        let examples = guide.groups.iter().map(|group| group.operations.iter().map(|one| curl(&guide.origin, one)).collect());
        let chrome = page.chrome("For developers", "developers");
        Self { chrome, guide, document: urls::DESCRIPTION, examples: examples.collect() }
    }

    fn example(&self, group: &usize, operation: &usize) -> &str {
        self.examples.get(*group).and_then(|all| all.get(*operation)).map_or("", String::as_str)
    }
}

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
        lines.push("-OJ".to_owned());
    }
    lines.push(format!("'{origin}{}'", filled(&operation.path, &operation.parameters)));
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
