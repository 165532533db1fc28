//! Which operation a request is for, decided on the bytes of its path as they came. A path that could be read in two ways is
//! refused, never cleaned; what goes to the service is built anew from the parameters, so that both sides see the same path.

use std::sync::LazyLock;

use percent_encoding::percent_decode_str;

use super::route_table::{Route, TABLE, Under, Verb};
use crate::contract::ids::{Sha256, ShareId, TaskId, VulId};
use crate::contract::paths;

/// The longest path that is looked at, in bytes.
pub(in crate::gateway) const LONGEST_PATH: usize = 2048;
/// The most parameters a path has.
const PARAMETERS: usize = 2;

/// What a path and a method lead to.
#[derive(Debug)]
pub(in crate::gateway) enum Decision {
    Found(Found),
    /// 400: words for the caller.
    Ambiguous(&'static str),
    /// 414: words for the caller.
    TooLong(&'static str),
    /// 400: a parameter is not what it has to be; words for the caller.
    BadParameter(&'static str),
    /// 404.
    Unknown,
    /// 405, with the methods that there are; for `OPTIONS` they are the answer.
    WrongMethod(Vec<&'static str>),
}

/// An operation with the parameters of its path.
#[derive(Debug)]
pub(in crate::gateway) struct Found {
    pub(in crate::gateway) route: &'static Route,
    /// Decoded, in the order of the pattern.
    pub(in crate::gateway) parameters: Vec<String>,
    /// `HEAD` where the row says `GET`.
    pub(in crate::gateway) is_head: bool,
}

impl Found {
    /// The path for the service, without its prefix.
    pub(in crate::gateway) fn path(&self) -> String {
        let values: Vec<&str> = self.parameters.iter().map(String::as_str).collect();
        paths::fill(self.route.path, &values)
    }

    /// The parameter of this name.
    #[cfg(test)]
    pub(in crate::gateway) fn parameter(&self, name: &str) -> Option<&str> {
        let at = self.route.parameters().position(|parameter| parameter == name)?;
        self.parameters.get(at).map(String::as_str)
    }
}

/// Decides on `path` as it stands in the request line, without the query. `additions`: whether rows count that are not in
/// the interface's tables.
pub(in crate::gateway) fn decide(method: &str, path: &str, additions: bool) -> Decision {
    if path.len() > LONGEST_PATH {
        return Decision::TooLong("The path is longer than 2048 bytes.");
    }
    if let Some(words) = ambiguity(path) {
        return Decision::Ambiguous(words);
    }
    let (under, rest) = match path.strip_prefix(paths::PREFIX).filter(|rest| rest.starts_with('/')) {
        Some(rest) => (Under::Prefix, rest),
        None => (Under::Base, path),
    };
    let counts = |row: &Route| row.under == under && (additions || !row.is_addition);
    // A fixed path stands before a pattern that matches it, whatever its method.
    let pattern = |path: &str| {
        let given: Vec<&str> = path.split('/').collect();
        PATTERNS.iter().find(|pattern| pattern.matches(&given) && counts(pattern.row)).map(|pattern| pattern.row.path)
    };
    let Some(found) = pattern(rest) else { return Decision::Unknown };
    if rest.contains('%') && pattern(&percent_decode_str(rest).decode_utf8_lossy()) != Some(found) {
        return Decision::Ambiguous("The path holds an encoded word that means something else when it is not encoded.");
    }
    let same_path = || TABLE.iter().filter(|row| counts(row) && row.path == found);
    let (verb, is_head) = match method {
        "GET" => (Verb::Get, false),
        "HEAD" => (Verb::Get, true),
        "POST" => (Verb::Post, false),
        "PATCH" => (Verb::Patch, false),
        _ => return Decision::WrongMethod(allowed(same_path())),
    };
    match same_path().find(|row| row.verb == verb) {
        Some(route) => parameters(route, rest)
            .map_or_else(Decision::BadParameter, |parameters| Decision::Found(Found { route, parameters, is_head })),
        None => Decision::WrongMethod(allowed(same_path())),
    }
}

fn allowed(rows: impl Iterator<Item = &'static Route>) -> Vec<&'static str> {
    let mut allowed = Vec::new();
    for row in rows {
        allowed.push(row.verb.as_str());
        if row.verb == Verb::Get {
            allowed.push("HEAD");
        }
    }
    allowed.push("OPTIONS");
    allowed
}

/// Why a path can be read in two ways; `None` when it cannot.
fn ambiguity(path: &str) -> Option<&'static str> {
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let Some(decoded) = digit(bytes.next()).zip(digit(bytes.next())).map(|(high, low)| high * 16 + low) else {
                    return Some("The path holds a percent sign that stands for nothing.");
                };
                // An encoded dot, slash, backslash, percent sign or semicolon is read in one way here and in another there.
                if matches!(decoded, 0..=0x1f | 0x7f | 0x25 | 0x2e | 0x2f | 0x3b | 0x5c) {
                    return Some("The path holds an encoded character that is not allowed in a path.");
                }
            }
            b'\\' | b';' | 0..=0x20 | 0x7f.. => return Some("The path holds a character that is not allowed in a path."),
            _ => {}
        }
    }
    let mut segments = path.split('/').skip(1);
    segments
        .any(|segment| matches!(segment, "" | "." | ".."))
        .then_some("The path holds an empty segment or one of dots.")
        .or_else(|| {
            let is_text = !path.contains('%') || percent_decode_str(path).decode_utf8().is_ok();
            (!is_text).then_some("The path is not UTF-8.")
        })
}

/// The rows with their patterns in pieces: this is asked for every call.
static PATTERNS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| TABLE.iter().map(|row| Pattern { row, segments: row.path.split('/').collect() }).collect());

struct Pattern {
    row: &'static Route,
    segments: Vec<&'static str>,
}

impl Pattern {
    /// From the end, where paths differ most.
    fn matches(&self, given: &[&str]) -> bool {
        let mut pairs = self.segments.iter().zip(given).rev();
        self.segments.len() == given.len() && pairs.all(|(wanted, given)| wanted == given || wanted.starts_with('{'))
    }
}

fn parameters(route: &Route, path: &str) -> Result<Vec<String>, &'static str> {
    let mut found = Vec::with_capacity(PARAMETERS);
    for (wanted, given) in route.path.split('/').zip(path.split('/')) {
        let Some(name) = wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else { continue };
        let value = percent_decode_str(given).decode_utf8().map_err(|_| "The path is not UTF-8.")?;
        check(name, &value)?;
        found.push(value.into_owned());
    }
    Ok(found)
}

/// Whether a value has the type that its parameter's name stands for (interface section 8).
fn check(name: &str, value: &str) -> Result<(), &'static str> {
    let checked = match name {
        "taskId" => value.parse::<TaskId>().map(drop),
        // The interface's hash is lower case; the service takes others too and says what it thinks of them.
        "sha256" => value.to_ascii_lowercase().parse::<Sha256>().map(drop),
        "vulId" => value.parse::<VulId>().map(drop),
        _ => value.parse::<ShareId>().map(drop),
    };
    checked.map_err(|_| match name {
        "taskId" => "A task id has 1 to 32 characters.",
        "sha256" => "A sha256 has exactly 64 hexadecimal characters.",
        "vulId" => "The id of a finding has 1 to 256 characters.",
        _ => "An id has 1 to 128 characters.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(method: &str, path: &str) -> String {
        match decide(method, path, false) {
            Decision::Found(found) => format!("{} {}", found.route.name, found.path()),
            Decision::Ambiguous(_) => "ambiguous".to_owned(),
            Decision::TooLong(_) => "too long".to_owned(),
            Decision::BadParameter(_) => "bad parameter".to_owned(),
            Decision::Unknown => "unknown".to_owned(),
            Decision::WrongMethod(allowed) => allowed.join(","),
        }
    }

    #[test]
    fn every_row_is_found_at_its_own_path() {
        for route in TABLE {
            let hash = "a".repeat(64);
            let values: Vec<&str> = route.parameters().map(|name| if name == "sha256" { &*hash } else { "x" }).collect();
            let filled = paths::fill(&route.public_path(), &values);
            let Decision::Found(found) = decide(route.verb.as_str(), &filled, true) else { panic!("{filled}") };
            assert_eq!(found.route.name, route.name);
            assert_eq!(found.parameters, values);
            assert!(matches!(decide(route.verb.as_str(), &filled, false), Decision::Found(_)) != route.is_addition);
        }
    }

    #[test]
    fn a_path_that_could_be_read_in_two_ways_is_refused() {
        for path in [
            "/scanner/api/v1/tasks/..%2f..%2fbiz",
            "/scanner/api/v1/tasks/%2e%2e/x",
            "/scanner/api/v1/tasks/%2E%2E",
            "/scanner//api/v1/tasks/1",
            "/scanner/api/v1/../v1/tasks/1",
            "/scanner/api/v1/./tasks/1",
            "/scanner/api/v1/tasks/1/",
            "/scanner\\api/v1/tasks/1",
            "/scanner/api/v1/tasks/%5c",
            "/scanner/api/v1/tasks/%00",
            "/scanner/api/v1/tasks/%252e",
            "/scanner/api/v1/tasks/1;v=1",
            "/scanner/api/v1/tasks/1%3Bv=1",
            "/scanner/api/v1/tasks/%c0%af",
            "/scanner/api/v1/tasks/%e0%80%af",
            "/scanner/api/v1/tasks/%ff",
            "/scanner/api/v1/tasks/%zz",
            "/scanner/api/v1/tasks/%2",
            "/scanner/api/v1/tasks/a b",
            "/scanner/api/v1/tasks/%0d%0aX:1",
            "/scanner/api/v1/tasks/%73earch",
            "/scanner/api/v1/tasks/1/results/sta%74",
        ] {
            assert_eq!(name("GET", path), "ambiguous", "{path}");
        }
        assert_eq!(name("GET", &format!("/scanner/{}", "a".repeat(16_384))), "too long");
    }

    #[test]
    fn what_is_not_in_the_table_is_unknown_and_a_wrong_method_names_the_right_ones() {
        for path in ["/scanner", "/scannerx/api/v1/tasks/1", "/scanner/api/v1", "/scanner/api/v3/tasks", "/biz/api/v1/other"] {
            assert_eq!(name("GET", path), "unknown", "{path}");
        }
        assert_eq!(name("DELETE", "/scanner/api/v1/tasks/1"), "GET,HEAD,OPTIONS");
        assert_eq!(name("PUT", "/scanner/api/v1/shares/public/s"), "GET,HEAD,POST,OPTIONS");
        assert_eq!(name("GET", "/scanner/api/v1/tasks/search"), "POST,OPTIONS", "the fixed path, not a task of that name");
        assert_eq!(name("OPTIONS", "/scanner/api/v1/shares/s"), "PATCH,OPTIONS");
    }

    #[test]
    fn parameters_have_types_and_are_encoded_anew() {
        assert_eq!(name("GET", &format!("/scanner/api/v1/tasks/{}", "t".repeat(33))), "bad parameter");
        assert_eq!(
            name("GET", &format!("/scanner/api/v1/tasks/{}", "t".repeat(32))),
            format!("getTask /api/v1/tasks/{}", "t".repeat(32))
        );
        for bad in ["a".repeat(63), "a".repeat(65), "g".repeat(64)] {
            assert_eq!(name("POST", &format!("/scanner/api/v1/files/check-exist/{bad}")), "bad parameter");
        }
        assert_eq!(name("HEAD", "/scanner/api/v1/tasks/a%20%C3%A4+b"), "getTask /api/v1/tasks/a%20%C3%A4%2Bb");
        let Decision::Found(found) = decide("GET", "/scanner/api/v1/tasks/1/results/v%3A2", false) else { panic!() };
        assert_eq!((found.parameter("taskId"), found.parameter("vulId")), (Some("1"), Some("v:2")));
    }
}
