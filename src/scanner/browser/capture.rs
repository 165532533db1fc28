//! The session of one tab: cookies of its context, headers of its latest requests, storage of its origin. Secrets all of
//! it: goes to whoever asked over the link, nowhere else.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::address;
use super::devtools::{CommandError, DevTools};
use super::tabs::Tab;
use crate::contract::browsers::SessionInfo;

/// Requests whose headers are kept for each tab, and requests that are waited for.
const KEPT: usize = 20;
const AWAITED: usize = 64;
/// The longest address and header value kept, in bytes.
const LONGEST: usize = 8192;
/// Headers of one request that are kept.
const HEADERS: usize = 64;

/// What a tab sent with its documents and its own calls lately.
#[derive(Default)]
pub(super) struct Headers {
    kept: VecDeque<Sent>,
    /// Address and method by request id, until the headers come, or the other way round.
    awaited: VecDeque<(String, Awaited)>,
}

struct Sent {
    url: String,
    method: String,
    headers: Map<String, Value>,
}

enum Awaited {
    Request { url: String, method: String },
    Headers(Map<String, Value>),
}

impl Headers {
    /// Takes an event of the network in.
    pub(super) fn take_in(&mut self, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text("/requestId");
        match method {
            "Network.requestWillBeSent" => {
                let (url, method) = (text("/request/url"), text("/request/method"));
                let own = matches!(text("/type").as_str(), "Document" | "XHR" | "Fetch") && url.len() <= LONGEST;
                if !own {
                    return;
                }
                match self.partner(&id, |other| matches!(other, Awaited::Headers(_))) {
                    Some(Awaited::Headers(headers)) => self.keep(Sent { url, method, headers }),
                    _ => self.wait(id, Awaited::Request { url, method }),
                }
            }
            "Network.requestWillBeSentExtraInfo" => {
                let Some(headers) = params.get("headers").and_then(Value::as_object) else { return };
                let short = |(name, value): (&String, &Value)| {
                    let fits = name.len() <= LONGEST && value.as_str().is_some_and(|value| value.len() <= LONGEST);
                    (fits && !name.starts_with(':')).then(|| (name.clone(), value.clone()))
                };
                let headers = headers.iter().filter_map(short).take(HEADERS).collect();
                match self.partner(&id, |other| matches!(other, Awaited::Request { .. })) {
                    Some(Awaited::Request { url, method }) => self.keep(Sent { url, method, headers }),
                    _ => self.wait(id, Awaited::Headers(headers)),
                }
            }
            _ => {}
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The requests to `origin`, the latest first.
    fn of(&self, origin: &str) -> Vec<Value> {
        let own = |sent: &&Sent| address::origin(&sent.url).as_deref() == Some(origin);
        let told = |sent: &Sent| json!({"url": sent.url, "method": sent.method, "requestHeaders": sent.headers});
        self.kept.iter().rev().filter(own).map(told).collect()
    }

    fn partner(&mut self, id: &str, fits: impl Fn(&Awaited) -> bool) -> Option<Awaited> {
        let at = self.awaited.iter().position(|(other, awaited)| other == id && fits(awaited))?;
        self.awaited.remove(at).map(|(_, awaited)| awaited)
    }

    fn wait(&mut self, id: String, awaited: Awaited) {
        if self.awaited.len() == AWAITED {
            self.awaited.pop_front();
        }
        self.awaited.push_back((id, awaited));
    }

    fn keep(&mut self, sent: Sent) {
        // The same call again is the same line with newer headers.
        self.kept.retain(|other| other.url != sent.url || other.method != sent.method);
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(sent);
    }
}

/// `None` when the tab has no page.
pub(super) async fn session(devtools: &DevTools, tab: &Tab) -> Result<Option<SessionInfo>, CommandError> {
    let Some(origin) = address::origin(&tab.url) else { return Ok(None) };
    let context = json!({ "browserContextId": tab.context });
    let (cookies, local, session) = tokio::join!(
        devtools.call("", "Storage.getCookies", context),
        storage(devtools, &tab.session, &origin, true),
        storage(devtools, &tab.session, &origin, false),
    );
    let cookies = match cookies?.get_mut("cookies").map(Value::take) {
        Some(Value::Array(cookies)) => cookies,
        _ => Vec::new(),
    };
    Ok(Some(SessionInfo {
        cookies,
        headers: tab.headers.of(&origin),
        local_storage: Value::Object(local),
        session_storage: Value::Object(session),
    }))
}

/// Storage of an origin as an object. A page that failed to load has none.
async fn storage(devtools: &DevTools, session: &str, origin: &str, local: bool) -> Map<String, Value> {
    let id = json!({ "storageId": { "securityOrigin": origin, "isLocalStorage": local } });
    let Ok(items) = devtools.call(session, "DOMStorage.getDOMStorageItems", id).await else { return Map::new() };
    let pair = |item: &Value| Some((item.get(0)?.as_str()?.to_owned(), item.get(1)?.clone()));
    items.get("entries").and_then(Value::as_array).into_iter().flatten().filter_map(pair).collect()
}

/// Empties what the context of `tab` and its origins keep.
pub(super) fn clear(devtools: &DevTools, tab: &Tab, origins: &VecDeque<String>) {
    devtools.tell("", "Storage.clearCookies", json!({ "browserContextId": tab.context }));
    for origin in origins {
        devtools.tell(&tab.session, "Storage.clearDataForOrigin", json!({ "origin": origin, "storageTypes": "all" }));
        let id = json!({ "storageId": { "securityOrigin": origin, "isLocalStorage": false } });
        devtools.tell(&tab.session, "DOMStorage.clear", id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str, url: &str, kind: &str) -> Value {
        json!({"requestId": id, "type": kind, "request": {"url": url, "method": "GET"}})
    }

    fn extra(id: &str, value: &str) -> Value {
        json!({"requestId": id, "headers": {"authorization": value, ":path": "/"}})
    }

    #[test]
    fn headers_and_addresses_find_each_other_in_any_order_and_stay_with_their_origin() {
        let mut headers = Headers::default();
        headers.take_in("Network.requestWillBeSent", &request("1", "https://a.example/x", "XHR"));
        headers.take_in("Network.requestWillBeSentExtraInfo", &extra("1", "one"));
        headers.take_in("Network.requestWillBeSentExtraInfo", &extra("2", "two"));
        headers.take_in("Network.requestWillBeSent", &request("2", "https://a.example/", "Document"));
        headers.take_in("Network.requestWillBeSent", &request("3", "https://a.example/logo", "Image"));
        headers.take_in("Network.requestWillBeSentExtraInfo", &extra("3", "three"));
        headers.take_in("Network.requestWillBeSent", &request("4", "https://b.example/", "Document"));
        headers.take_in("Network.requestWillBeSentExtraInfo", &extra("4", "four"));
        let told = headers.of("https://a.example");
        let expected = json!([
            {"url": "https://a.example/", "method": "GET", "requestHeaders": {"authorization": "two"}},
            {"url": "https://a.example/x", "method": "GET", "requestHeaders": {"authorization": "one"}},
        ]);
        assert_eq!(Value::Array(told), expected);
    }

    #[test]
    fn what_is_kept_of_a_busy_page_is_bounded() {
        let mut headers = Headers::default();
        for number in 0..1000 {
            let (id, other) = (number.to_string(), format!("other-{number}"));
            headers.take_in("Network.requestWillBeSent", &request(&id, &format!("https://a.example/{number}"), "XHR"));
            headers.take_in("Network.requestWillBeSentExtraInfo", &extra(&id, "x"));
            headers.take_in("Network.requestWillBeSentExtraInfo", &extra(&other, "x"));
        }
        assert_eq!(headers.of("https://a.example").len(), KEPT);
        assert!(headers.awaited.len() <= AWAITED);
    }
}
