//! Which headers pass between a caller and the scanning service. Both lists are closed: a name that is not in them does not
//! pass, however it is spelled, so cookies, credentials, identities, forwarding headers and what belongs to one connection
//! only (RFC 9110, 7.6.1) never do.

use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

const X_USER_LANGUAGE: HeaderName = HeaderName::from_static("x-user-language");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// What a caller may tell the service. `Accept-Encoding` only where an answer is passed on as it comes.
pub(in crate::gateway) static REQUEST: [HeaderName; 12] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_RANGE,
    header::IF_UNMODIFIED_SINCE,
    header::RANGE,
    X_USER_LANGUAGE,
    LAST_EVENT_ID,
];

/// What the service may tell a caller.
pub(in crate::gateway) static ANSWER: [HeaderName; 12] = [
    header::ACCEPT_RANGES,
    header::CONTENT_DISPOSITION,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::RETRY_AFTER,
    header::VARY,
    header::WWW_AUTHENTICATE,
    HeaderName::from_static("x-user-language"),
];

/// The headers of `all` that pass, with all values of each in their order, less those that a `Connection` among them names. Names and values come as whoever has them knows headers;
/// names are in lower case.
pub(in crate::gateway) fn passing<'a, V: TryInto<HeaderValue>>(
    list: &'static [HeaderName],
    all: impl IntoIterator<Item = (&'a str, V)>,
) -> HeaderMap {
    let (mut out, mut connection) = (HeaderMap::new(), Vec::new());
    for (theirs, value) in all {
        if theirs == header::CONNECTION.as_str() {
            connection.extend(value.try_into().ok());
        } else if let Some(name) = list.iter().find(|name| name.as_str() == theirs)
            && let Ok(value) = value.try_into()
        {
            out.append(name, value);
        }
    }
    for name in connection.iter().flat_map(|value| of_one_hop(value.as_bytes())) {
        out.remove(name);
    }
    out
}

/// The names in a `Connection`: these headers are for whoever reads it and nobody behind (RFC 9110, 7.6.1).
pub(in crate::gateway) fn of_one_hop(connection: &[u8]) -> impl Iterator<Item = &str> {
    connection.split(|byte| *byte == b',').filter_map(|name| std::str::from_utf8(name.trim_ascii()).ok())
}

/// Leaves of the challenges of an answer those that are for programs: with 401, and of the scheme `Bearer`. At any other a browser
/// would ask for a password, which is then the service's, or whoever's writes the answer.
pub(in crate::gateway) fn challenges(status: StatusCode, headers: &mut HeaderMap) {
    let all: Vec<HeaderValue> = headers.get_all(header::WWW_AUTHENTICATE).iter().cloned().collect();
    headers.remove(header::WWW_AUTHENTICATE);
    if all.is_empty() || status != StatusCode::UNAUTHORIZED {
        return;
    }
    for value in all.into_iter().filter(|value| value.to_str().is_ok_and(is_bearer)) {
        headers.append(header::WWW_AUTHENTICATE, value);
    }
    // 401 is not without one.
    headers.entry(header::WWW_AUTHENTICATE).or_insert(HeaderValue::from_static("Bearer"));
}

/// Whether a challenge is one of `Bearer` and nothing besides, whoever reads it.
fn is_bearer(challenge: &str) -> bool {
    let (scheme, parameters) = challenge.trim().split_once(' ').unwrap_or((challenge.trim(), ""));
    let mut is_quoted = false;
    let ends = |c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    let is_token =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let is_plain = |text: &str| !text.contains(['"', '\\']);
    let is_one = |parameter: &str| {
        let Some((name, value)) = parameter.trim().split_once('=') else { return false };
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        is_token(name) && quoted.map_or_else(|| is_token(value), is_plain)
    };
    scheme.eq_ignore_ascii_case("bearer") && (parameters.is_empty() || parameters.split(ends).all(is_one))
}

/// The trace a request belongs to (W3C Trace Context): the caller's, or one that begins here. `request_id` is 32 hexadecimal
/// characters and names our part of it.
pub(in crate::gateway) fn trace(parent: Option<&str>, state: Option<&str>, request_id: &str, out: &mut HeaderMap) {
    let span = request_id.get(..16).unwrap_or_default();
    let theirs = parent.and_then(trace_of);
    let (trace, flags) = theirs.unwrap_or((request_id, "00"));
    if let Ok(value) = HeaderValue::try_from(format!("00-{trace}-{span}-{flags}")) {
        out.insert(TRACEPARENT, value);
    }
    if let (Some(_), Some(Ok(value))) = (theirs, state.filter(|state| state.len() <= 512).map(HeaderValue::from_str)) {
        out.insert(TRACESTATE, value);
    }
}

/// Trace id and flags of a `traceparent`; `None` when it is not what the recommendation says.
fn trace_of(parent: &str) -> Option<(&str, &str)> {
    let mut parts = parent.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let named = |text: &str| text.bytes().any(|byte| byte != b'0');
    let whole = version != "00" || parts.next().is_none();
    let good =
        hex(version, 2) && version != "ff" && hex(trace, 32) && named(trace) && hex(span, 16) && named(span) && hex(flags, 2);
    (good && whole).then_some((trace, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_but_what_is_on_the_list() {
        let mut all = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer x"),
            ("cookie", "a=b"),
            ("x-forwarded-user", "eve"),
            ("x_forwarded_user", "eve"),
            ("x-tenant-id", "globex"),
            ("forwarded", "for=1.2.3.4"),
            ("x-real-ip", "1.2.3.4"),
            ("connection", "x-foo"),
            ("x-foo", "1"),
            ("te", "trailers"),
            ("proxy-authorization", "x"),
            ("upgrade", "h2c"),
            ("set-cookie", "a=b"),
            ("server", "x"),
            ("alt-svc", "x"),
            ("transfer-encoding", "chunked"),
            ("content-length", "7"),
            ("traceparent", "x"),
            ("accept", "application/json"),
            ("range", "bytes=0-1"),
        ] {
            all.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_static(value));
        }
        let names = |list| {
            passing(list, all.iter().map(|(name, value)| (name.as_str(), value)))
                .keys()
                .map(|name| name.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&REQUEST), ["accept", "range"]);
        assert!(names(&ANSWER).is_empty());
    }

    #[test]
    fn what_connection_names_passes_in_neither_direction() {
        let lines = [
            ("accept", "application/json"),
            ("range", "bytes=0-1"),
            ("etag", "\"1\""),
            ("last-event-id", "7"),
            ("connection", "keep-alive,RANGE , x-foo"),
            ("connection", "Last-Event-Id"),
            ("connection", "etag"),
            ("retry-after", "1"),
        ];
        let names = |list| {
            let out = passing(list, lines.map(|(name, value)| (name, HeaderValue::from_static(value))));
            out.keys().map(|name| name.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!((names(&REQUEST), names(&ANSWER)), (vec!["accept".to_owned()], vec!["retry-after".to_owned()]));
    }

    #[test]
    fn no_challenge_passes_at_which_a_browser_would_ask_for_a_password() {
        let left = |status, lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(line));
            }
            challenges(status, &mut headers);
            let all = headers.get_all(header::WWW_AUTHENTICATE).iter();
            all.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let good = r#"Bearer realm="a, b", error=invalid_token,error_description="it is over""#;
        assert_eq!(left(StatusCode::UNAUTHORIZED, &[good]), [good]);
        assert_eq!(left(StatusCode::UNAUTHORIZED, &["Basic realm=x", good]), [good]);
        for bad in [
            "Basic realm=\"x\"",
            "Negotiate",
            "NTLM",
            "Digest realm=x",
            "Bearer realm=x, Basic realm=y",
            "Bearer, Basic",
            "Bearer realm=\"x\\\", Basic realm=\"y\"",
            "Bearer realm=\"x, Basic realm=y",
            "Bearer\tBasic",
        ] {
            assert_eq!(left(StatusCode::UNAUTHORIZED, &[bad]), ["Bearer"], "{bad}");
        }
        assert!(left(StatusCode::UNAUTHORIZED, &[]).is_empty());
        for status in [StatusCode::OK, StatusCode::FORBIDDEN, StatusCode::PROXY_AUTHENTICATION_REQUIRED] {
            assert!(left(status, &[good]).is_empty(), "{status}");
        }
    }

    #[test]
    fn a_trace_goes_on_or_begins() {
        let id = "0123456789abcdef0123456789abcdef";
        let traced = |parent, state| {
            let mut out = HeaderMap::new();
            trace(parent, state, id, &mut out);
            let text = |name: &str| out.get(name).map(|value| value.to_str().unwrap().to_owned());
            (text("traceparent").unwrap(), text("tracestate"))
        };
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0b1902b7-01";
        let ours = format!("00-{id}-0123456789abcdef-00");
        assert_eq!(traced(Some(good), Some("a=1")).0, "00-4bf92f3577b34da6a3ce929d0e0e4736-0123456789abcdef-01");
        assert_eq!(traced(Some(good), Some("a=1")).1.as_deref(), Some("a=1"));
        let zero = "00-00000000000000000000000000000000-00f067aa0b1902b7-01";
        for bad in [None, Some(""), Some("x"), Some(zero), Some(&*format!("{good}-more")), Some(&*good.to_uppercase())] {
            assert_eq!(traced(bad, Some("a=1")), (ours.clone(), None), "{bad:?}");
        }
    }
}
