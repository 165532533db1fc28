//! What a task was created with, in plain words: names and values of the interface as a list of definitions. All of it came
//! from outside.

use serde_json::{Map, Value};

use super::words::address;
use crate::gateway::domain::task::Task;
use crate::platform::hostile::Hostile;

/// Characters of one value, and values of one setting.
const LONGEST: usize = 500;
const MOST: usize = 200;

/// A setting with its values, one a line.
pub(in crate::gateway) struct Setting {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) values: Vec<String>,
    /// Values that are not shown.
    pub(in crate::gateway) left_out: usize,
}

/// All settings of a task that hold something.
pub(in crate::gateway) fn settings(task: &Task) -> Vec<Setting> {
    let setting = |(name, value): &(Hostile, Value)| {
        let all = match value {
            Value::Array(items) => items.iter().map(words).collect(),
            one => vec![words(one)],
        };
        let mut values: Vec<String> = all.into_iter().filter(|words| !words.trim().is_empty()).collect();
        let left_out = values.len().saturating_sub(MOST);
        values.truncate(MOST);
        (!values.is_empty()).then(|| Setting { name: label(name.raw()), values, left_out })
    };
    task.params.iter().filter_map(setting).collect()
}

/// A value in one line.
fn words(value: &Value) -> String {
    let line = match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => return text_of(text),
        Value::Array(items) => joined(items.iter().map(words), ", "),
        Value::Object(members) => joined(members.iter().map(|(name, value)| member(members, name, value)), "; "),
    };
    Hostile::from(line).short(LONGEST)
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).take(MOST).collect::<Vec<_>>().join(between)
}

/// `File: code.zip`; nothing for a member without a value, and for the hash of a file that is named beside it.
fn member(all: &Map<String, Value>, name: &str, value: &Value) -> String {
    let words = words(value);
    if words.trim().is_empty() || (name == "sourceCode" && all.contains_key("fileName")) {
        return String::new();
    }
    format!("{}: {words}", label(name))
}

/// Words of the interface in plain ones, addresses without what may be secret, all else as it is.
pub(in crate::gateway) fn text_of(text: &str) -> String {
    match text {
        "JAVA" => "Java".to_owned(),
        "BACKEND" => "Backend".to_owned(),
        "FRONTEND" => "Frontend".to_owned(),
        _ if text.starts_with("https://") || text.starts_with("http://") => address(text, LONGEST),
        _ => Hostile::from(text).short(LONGEST),
    }
}

/// Names of the interface in plain words; of others the words they are put together from.
fn label(name: &str) -> String {
    match name {
        "primarySourceCode" | "javaPackage" | "sourceCode" => "SHA-256 of the file".to_owned(),
        "primarySourceCodeFileName" | "javaPackageFileName" | "fileName" => "File".to_owned(),
        "sandboxHomePageUrl" => "Address of the deployed service".to_owned(),
        "sandboxTargetServiceUrl" => "Target address".to_owned(),
        "projectName" => "Project".to_owned(),
        "lang" => "Language".to_owned(),
        "serviceName" => "Service".to_owned(),
        "sourceCodeInfos" => "Source code".to_owned(),
        "type" => "Part".to_owned(),
        "browserBoxId" => "Embedded browser".to_owned(),
        "enableStaticVerification" => "Static verification".to_owned(),
        _ => apart(name),
    }
}

/// `someOtherName` as `Some other name`.
fn apart(name: &str) -> String {
    let mut words = String::new();
    for (at, letter) in Hostile::from(name).short(80).chars().enumerate() {
        match letter {
            _ if at == 0 => words.extend(letter.to_uppercase()),
            '_' => words.push(' '),
            _ if letter.is_ascii_uppercase() && words.ends_with(|before: char| before.is_ascii_lowercase()) => {
                words.push(' ');
                words.push(letter.to_ascii_lowercase());
            }
            _ => words.push(letter),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_shape_become_lines_and_names_become_words() {
        let line = |text: &str| words(&serde_json::from_str(text).unwrap());
        assert_eq!(line(r#"{"type":"BACKEND","sourceCode":"00","fileName":"code.zip"}"#), "Part: Backend; File: code.zip");
        assert_eq!(line(r#"{"type":"BACKEND","sourceCode":"00"}"#), "Part: Backend; SHA-256 of the file: 00");
        assert_eq!(line(r#"[1,true,null,["a"],{"deepOne":false}]"#), "1, yes, a, Deep one: no");
        assert_eq!(line(r#""https://a.example/?token=s3cr3t""#), "https://a.example/ (with a query that is not shown)");
        assert_eq!(
            (label("maxRequestCount"), label("snake_case"), label("URL")),
            ("Max request count".to_owned(), "Snake case".to_owned(), "URL".to_owned())
        );
        assert!(line(&format!("\"{}\"", "x".repeat(10_000))).chars().count() <= LONGEST + 1);
    }
}
