//! Logins of a target: captured by the embedded browser or typed in. What was captured is a secret: it prints nowhere and is
//! told by counts only.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroizing;

use crate::contract::browsers::SessionInfo;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// The longest name of a role, in characters.
pub(crate) const MAX_ROLE: usize = 40;
/// Most cookies, headers and stored entries of one session, each.
const MOST: usize = 1000;

/// One login.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    pub role: Hostile,
    /// The address the session belongs to.
    pub url: String,
    pub captured: Captured,
    pub holds: Holds,
    pub at: Timestamp,
    /// Typed by hand, not captured by the embedded browser.
    pub typed: bool,
}

/// A session as JSON of [`SessionInfo`]. Leaves memory when it is dropped; goes out to the service only.
#[derive(Clone)]
pub(crate) struct Captured(Zeroizing<String>);

/// How much a session holds: all that is ever shown of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holds {
    pub cookies: usize,
    pub headers: usize,
    pub stored: usize,
}

impl Captured {
    fn new(info: &SessionInfo) -> Result<Self, &'static str> {
        serde_json::to_string(info).map(|text| Self(Zeroizing::new(text))).map_err(|_| "The session cannot be kept.")
    }

    /// The session as the service takes it.
    pub(crate) fn reveal(&self) -> Result<SessionInfo, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("[secret]")
    }
}

// Only a sealed draft is ever made of this.
impl Serialize for Captured {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Captured {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(from)?);
        // What was in `text` must not get into an error.
        serde_json::from_str::<SessionInfo>(&text).map_err(|_| D::Error::custom("a captured session is damaged"))?;
        Ok(Self(text))
    }
}

/// A role as it was typed.
pub(crate) fn role(text: &str) -> Result<Hostile, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("Choose a role.");
    }
    if text.chars().count() > MAX_ROLE || text.chars().any(char::is_control) {
        return Err("Use at most 40 characters for the role.");
    }
    Ok(Hostile::from(text))
}

/// A session from the embedded browser (WIRE 9, `getSession`). Headers come as objects and go out as lists.
pub(crate) fn from_browser(info: &Value) -> Result<(Captured, Holds), &'static str> {
    const STRANGE: &str = "The browser gave a session that cannot be read. Sign in there once more, then save again.";
    if !info.is_object() {
        return Err("The browser has no session to save yet. Sign in there first.");
    }
    let mut info: SessionInfo = serde_json::from_value(info.clone()).map_err(|_| STRANGE)?;
    let named =
        |cookie: &Value| cookie.get("name").is_some_and(Value::is_string) && cookie.get("value").is_some_and(Value::is_string);
    if !info.cookies.iter().all(named) || !info.headers.iter().all(Value::is_object) {
        return Err(STRANGE);
    }
    let storage =
        |value: &Value| value.as_object().map_or(Some(0), |map| Some(map.len())).filter(|_| value.is_null() || value.is_object());
    let stored = storage(&info.local_storage).ok_or(STRANGE)? + storage(&info.session_storage).ok_or(STRANGE)?;
    let holds = Holds { cookies: info.cookies.len(), headers: info.headers.len(), stored };
    if holds.cookies > MOST || holds.headers > MOST || holds.stored > MOST {
        return Err("The session holds more cookies, headers or stored entries than are taken here.");
    }
    if holds == Holds::default() {
        return Err("The browser has no session to save yet. Sign in there first.");
    }
    info.headers.iter_mut().for_each(headers_as_list);
    for storage in [&mut info.local_storage, &mut info.session_storage] {
        if storage.is_null() {
            *storage = json!({});
        }
    }
    Ok((Captured::new(&info)?, holds))
}

fn headers_as_list(entry: &mut Value) {
    if let Some(headers) = entry.get_mut("requestHeaders")
        && let Some(map) = headers.as_object()
    {
        *headers = map.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    }
}

/// What is wrong with a line that was typed; says nothing of what stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineProblem {
    /// `cookies` or `headers`.
    pub field: &'static str,
    /// From 1.
    pub line: usize,
    pub words: &'static str,
}

/// A session from lines `name=value` and `Header: value`, good for the host of `url`. All problems at once.
pub(crate) fn typed(cookies: &str, headers: &str, url: &str) -> Result<(Captured, Holds), Vec<LineProblem>> {
    let mut problems = Vec::new();
    let cookies = lines("cookies", cookies, cookie, &mut problems);
    let headers = lines("headers", headers, header, &mut problems);
    if problems.is_empty() && cookies.is_empty() && headers.is_empty() {
        problems.push(LineProblem { field: "cookies", line: 1, words: "give at least one cookie or header." });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let holds = Holds { cookies: cookies.len(), headers: headers.len(), stored: 0 };
    let parsed = Url::parse(url).ok();
    let domain = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let secure = parsed.as_ref().is_some_and(|url| url.scheme() == "https");
    let cookie = |(name, value): (&str, &str)| {
        json!({ "name": name, "value": value, "domain": domain, "path": "/", "size": name.len() + value.len(),
            "secure": secure, "session": true, "expires": -1, "httpOnly": false })
    };
    let list: Vec<Value> = headers.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let info = SessionInfo {
        cookies: cookies.into_iter().map(cookie).collect(),
        headers: if list.is_empty() { Vec::new() } else { vec![json!({ "url": url, "method": "GET", "requestHeaders": list })] },
        local_storage: Value::Object(Map::new()),
        session_storage: Value::Object(Map::new()),
    };
    let captured = Captured::new(&info).map_err(|words| vec![LineProblem { field: "cookies", line: 1, words }])?;
    Ok((captured, holds))
}

type Pair<'t> = (&'t str, &'t str);

fn lines<'t>(
    field: &'static str,
    text: &'t str,
    read: impl Fn(&'t str) -> Result<Pair<'t>, &'static str>,
    problems: &mut Vec<LineProblem>,
) -> Vec<Pair<'t>> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read(line.trim()) {
            Ok(_) if found.len() == MOST => {
                problems.push(LineProblem { field, line: number + 1, words: "there are more lines than are taken here." });
                break;
            }
            Ok(pair) => found.push(pair),
            Err(words) => problems.push(LineProblem { field, line: number + 1, words }),
        }
    }
    found
}

fn cookie(line: &str) -> Result<Pair<'_>, &'static str> {
    let (name, value) = line.split_once('=').ok_or("write name=value, one cookie a line.")?;
    let (name, value) = (name.trim(), value.trim());
    if !is_token(name) {
        return Err("the name before the = is not one that a cookie can have.");
    }
    if value.contains(';') {
        return Err("one cookie a line, without ; and attributes.");
    }
    if value.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) {
        return Err("the value holds characters that no cookie can have.");
    }
    Ok((name, value))
}

fn header(line: &str) -> Result<Pair<'_>, &'static str> {
    let (name, value) = line.split_once(':').ok_or("write Header: value, one header a line.")?;
    let (name, value) = (name.trim_end(), value.trim());
    if !is_token(name) {
        return Err("the name before the : is not one that a header can have.");
    }
    if value.is_empty() {
        return Err("the header has no value.");
    }
    if value.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) {
        return Err("the value holds characters that no header can have.");
    }
    let lower = name.to_ascii_lowercase();
    if matches!(&*lower, "cookie" | "set-cookie") {
        return Err("cookies go into their own field.");
    }
    if matches!(&*lower, "host" | "content-length" | "transfer-encoding" | "connection") {
        return Err("this header is set by the connection itself; leave it out.");
    }
    Ok((name, value))
}

/// RFC 9110 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_lines_become_a_session_of_the_host() {
        let (captured, holds) =
            typed("sid = abc=1\n\n theme=dark\n", "Authorization: Bearer x:y", "https://a.example/app").unwrap();
        assert_eq!(holds, Holds { cookies: 2, headers: 1, stored: 0 });
        assert_eq!(format!("{captured:?}"), "[secret]");
        let info = captured.reveal().unwrap();
        assert_eq!((&info.cookies[0]["name"], &info.cookies[0]["value"]), (&json!("sid"), &json!("abc=1")));
        assert_eq!((&info.cookies[0]["domain"], &info.cookies[0]["secure"]), (&json!("a.example"), &json!(true)));
        assert_eq!(info.headers[0]["requestHeaders"], json!([{"name": "Authorization", "value": "Bearer x:y"}]));
    }

    #[test]
    fn every_wrong_line_is_told_by_its_number_and_not_by_its_content() {
        let problems =
            typed("good=1\nno equals\n\nbad name=2\na=b; Path=/", "Cookie: a=b\nX\nHost: a\n: v\nX-Y:", "https://a.example")
                .unwrap_err();
        let at: Vec<_> = problems.iter().map(|problem| (problem.field, problem.line)).collect();
        assert_eq!(
            at,
            [
                ("cookies", 2),
                ("cookies", 4),
                ("cookies", 5),
                ("headers", 1),
                ("headers", 2),
                ("headers", 3),
                ("headers", 4),
                ("headers", 5)
            ]
        );
        assert_eq!(typed(" \n", "", "https://a.example").unwrap_err().len(), 1);
        assert!(typed("a=\u{7}", "", "https://a.example").is_err() && typed("ä=1", "", "https://a.example").is_err());
    }

    #[test]
    fn a_session_of_the_browser_keeps_unknown_fields_and_turns_headers_into_lists() {
        let info = json!({"cookies": [{"name": "sid", "value": "s", "priority": "High"}],
            "headers": [{"url": "https://a", "method": "GET", "requestHeaders": {"X-A": "1"}}], "localStorage": {"k": "v"}});
        let (captured, holds) = from_browser(&info).unwrap();
        assert_eq!(holds, Holds { cookies: 1, headers: 1, stored: 1 });
        let kept = captured.reveal().unwrap();
        assert_eq!(kept.cookies[0]["priority"], json!("High"));
        assert_eq!(kept.headers[0]["requestHeaders"], json!([{"name": "X-A", "value": "1"}]));
        for bad in [
            json!(null),
            json!("x"),
            json!({}),
            json!({"cookies": [1]}),
            json!({"cookies": [{"name": "a"}]}),
            json!({"localStorage": "x"}),
        ] {
            assert!(from_browser(&bad).is_err(), "{bad}");
        }
    }
}
