//! Captured sessions of a create (`sandboxAuthInfos`, WIRE 5.2): checked, put in one form, and handed on as a secret. What
//! may be told of them is role and address; no refusal repeats anything of their content.

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::admission::{named, web_address};
use super::error::Failure;
use crate::config::scanner::Sessions;
use crate::contract::browsers::SessionInfo;
use crate::contract::tasks::{AccountEcho, AuthInfo};

/// The longest role, in characters.
const LONGEST_ROLE: usize = 100;
/// The longest address of a login page, in characters.
const LONGEST_ADDRESS: usize = 2048;

/// Logins of one create.
#[derive(Clone, Default)]
pub(super) struct Logins {
    pub(super) accounts: Vec<AccountEcho>,
    /// All of them as JSON; `None` without any.
    pub(super) sessions: Option<Zeroizing<Vec<u8>>>,
}

/// Reads the logins of a create body.
pub(super) fn read(given: Option<&Value>, limits: &Sessions) -> Result<Logins, Failure> {
    let list = match given {
        None | Some(Value::Null) => return Ok(Logins::default()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Failure::bad("sandboxAuthInfos must be a list of logins.")),
    };
    if list.is_empty() {
        return Ok(Logins::default());
    }
    if list.len() > limits.max_count {
        return Err(Failure::bad(format!("sandboxAuthInfos holds too many logins: at most {} are taken.", limits.max_count)));
    }
    let infos = list.iter().zip(0..).map(|(info, place)| login(info, place)).collect::<Result<Vec<_>, _>>()?;
    let sessions = Zeroizing::new(serde_json::to_vec(&infos).map_err(|_| Failure::internal("captured sessions are no JSON"))?);
    if sessions.len() > limits.max_bytes {
        let words = format!("sandboxAuthInfos is too large: all logins together take at most {} bytes.", limits.max_bytes);
        return Err(Failure::bad(words));
    }
    Ok(Logins { accounts: infos.iter().map(echo).collect(), sessions: Some(sessions) })
}

fn login(info: &Value, place: usize) -> Result<AuthInfo, Failure> {
    let wrong = |what: &str| Failure::bad(format!("sandboxAuthInfos[{place}].{what}"));
    let info = info.as_object().ok_or_else(|| Failure::bad(format!("sandboxAuthInfos[{place}] must be an object.")))?;
    let role = text(info, "roleName").filter(|role| named(role, LONGEST_ROLE));
    let role = role.ok_or_else(|| wrong(&format!("roleName must be a text of 1 to {LONGEST_ROLE} characters.")))?;
    let address = text(info, "loginUrl").filter(|url| url.chars().count() <= LONGEST_ADDRESS && web_address(url).is_some());
    let address = address.ok_or_else(|| wrong("loginUrl must be an http or https address."))?;
    let session = info.get("originRequestData").and_then(Value::as_object);
    let session = session.ok_or_else(|| wrong("originRequestData must be an object with the captured session."))?;
    Ok(AuthInfo {
        role_name: role.to_owned(),
        login_url: address.to_owned(),
        origin_request_data: SessionInfo {
            cookies: objects(session, "cookies").ok_or_else(|| wrong("originRequestData.cookies must be a list of objects."))?,
            headers: headers(session).ok_or_else(|| {
                wrong("originRequestData.headers must be a list of {url, method, requestHeaders}; requestHeaders is an object or a list of {name, value}.")
            })?,
            local_storage: storage(session, "localStorage")
                .ok_or_else(|| wrong("originRequestData.localStorage must be an object."))?,
            session_storage: storage(session, "sessionStorage")
                .ok_or_else(|| wrong("originRequestData.sessionStorage must be an object."))?,
        },
    })
}

fn text<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    object.get(name)?.as_str().map(str::trim)
}

/// A list of objects; absent is empty.
fn objects(object: &Map<String, Value>, name: &str) -> Option<Vec<Value>> {
    match object.get(name) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(list)) => list.iter().all(Value::is_object).then(|| list.clone()),
        Some(_) => None,
    }
}

/// An object; absent is an empty one.
fn storage(object: &Map<String, Value>, name: &str) -> Option<Value> {
    match object.get(name) {
        None | Some(Value::Null) => Some(json!({})),
        Some(value) => value.is_object().then(|| value.clone()),
    }
}

/// Headers of requests, `requestHeaders` always as a list.
fn headers(session: &Map<String, Value>) -> Option<Vec<Value>> {
    objects(session, "headers")?
        .into_iter()
        .map(|mut entry| {
            let pairs = match entry.get("requestHeaders") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Object(pairs)) => pairs
                    .iter()
                    .map(|(name, value)| value.is_string().then(|| json!({"name": name, "value": value})))
                    .collect::<Option<_>>()?,
                Some(Value::Array(list)) => list.iter().all(is_pair).then(|| list.clone())?,
                Some(_) => return None,
            };
            entry.as_object_mut()?.insert("requestHeaders".to_owned(), Value::Array(pairs));
            Some(entry)
        })
        .collect()
}

fn is_pair(pair: &Value) -> bool {
    ["name", "value"].iter().all(|field| pair.get(field).is_some_and(Value::is_string))
}

/// Role and address, without what an address can carry of a session.
fn echo(info: &AuthInfo) -> AccountEcho {
    let address = web_address(&info.login_url).map(|mut url| {
        url.set_query(None);
        url.set_fragment(None);
        String::from(url)
    });
    AccountEcho { role_name: info.role_name.clone(), login_url: address.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Sessions = Sessions { max_count: 2, max_bytes: 4000 };

    fn admin() -> Value {
        json!({
            "roleName": "admin", "loginUrl": "https://u:pw@shop.example/login?ticket=live#frag",
            "originRequestData": {
                "cookies": [{"name": "sid", "value": "live", "anything": [1, {}]}],
                "headers": [{"url": "https://shop.example/", "method": "GET", "requestHeaders": {"Authorization": "live"}}],
                "localStorage": {"token": "live"}, "sessionStorage": null, "roleName": "admin"
            }
        })
    }

    #[test]
    fn what_is_told_of_a_login_is_its_role_and_its_bare_address() {
        let logins = read(Some(&json!([admin()])), &LIMITS).ok().unwrap();
        let told = AccountEcho { role_name: "admin".to_owned(), login_url: "https://shop.example/login".to_owned() };
        assert_eq!(logins.accounts, [told]);
        let kept: Value = serde_json::from_slice(&logins.sessions.unwrap()).unwrap();
        let session = &kept[0]["originRequestData"];
        assert_eq!(session["headers"][0]["requestHeaders"], json!([{"name": "Authorization", "value": "live"}]));
        assert_eq!((&session["cookies"][0]["value"], &session["sessionStorage"]), (&json!("live"), &json!({})));
    }

    #[test]
    fn request_headers_are_read_as_an_object_or_as_a_list() {
        let mut listed = admin();
        listed["originRequestData"]["headers"][0]["requestHeaders"] = json!([{"name": "Authorization", "value": "live"}]);
        let read = |info| read(Some(&json!([info])), &LIMITS).ok().unwrap().sessions.unwrap();
        assert_eq!(read(admin()), read(listed));
    }

    #[test]
    fn nothing_given_is_no_login() {
        for given in [None, Some(json!(null)), Some(json!([]))] {
            let logins = read(given.as_ref(), &LIMITS).ok().unwrap();
            assert!(logins.accounts.is_empty() && logins.sessions.is_none());
        }
    }

    #[test]
    fn a_login_that_is_not_right_is_refused_with_its_place_and_without_its_content() {
        for (pointer, value, field) in [
            ("", json!("live"), "sandboxAuthInfos[1]"),
            ("/roleName", json!(""), "roleName"),
            ("/roleName", json!("r".repeat(101)), "roleName"),
            ("/roleName", json!("live\u{7}"), "roleName"),
            ("/loginUrl", json!("javascript:live"), "loginUrl"),
            ("/loginUrl", json!(format!("https://a.example/{}", "x".repeat(2048))), "loginUrl"),
            ("/originRequestData", json!("live"), "originRequestData"),
            ("/originRequestData/cookies", json!({"sid": "live"}), "cookies"),
            ("/originRequestData/cookies/0", json!("sid=live"), "cookies"),
            ("/originRequestData/headers/0/requestHeaders", json!("live"), "headers"),
            ("/originRequestData/headers/0/requestHeaders", json!({"a": 1}), "headers"),
            ("/originRequestData/headers/0/requestHeaders", json!([{"name": "live"}]), "headers"),
            ("/originRequestData/localStorage", json!(["live"]), "localStorage"),
            ("/originRequestData/sessionStorage", json!("live"), "sessionStorage"),
        ] {
            let mut wrong = admin();
            *wrong.pointer_mut(pointer).unwrap() = value;
            let words = read(Some(&json!([admin(), wrong])), &LIMITS).err().unwrap().to_string();
            assert!(words.contains(field) && words.contains("[1]"), "{pointer}: {words}");
            assert!(!words.contains("live"), "{pointer}: {words}");
        }
    }

    #[test]
    fn too_many_and_too_large_logins_are_refused() {
        let words = |given: Value| read(Some(&given), &LIMITS).err().unwrap().to_string();
        assert!(words(json!([admin(), admin(), admin()])).contains("at most 2"));
        assert!(words(json!("live")).contains("a list"));
        let mut large = admin();
        large["originRequestData"]["localStorage"]["token"] = json!("x".repeat(4000));
        assert!(words(json!([large])).contains("at most 4000 bytes"));
    }
}
