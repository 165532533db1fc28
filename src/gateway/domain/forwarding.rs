//! Which headers pass between a caller and the scanning service. Both lists are closed: a name that is not in them does not
//! pass, however it is spelled, so cookies, credentials, identities, forwarding headers and what belongs to one connection
//! only (RFC 9110, 7.6.1) never do.

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

/// The headers of `all` that pass, with all values of each in their order. Names and values come as whoever has them knows headers;
/// names are in lower case.
pub(in crate::gateway) fn passing<'a, V: TryInto<HeaderValue>>(
    list: &'static [HeaderName],
    all: impl IntoIterator<Item = (&'a str, V)>,
) -> HeaderMap {
    let mut out = HeaderMap::new();
    for (theirs, value) in all {
        if let Some(name) = list.iter().find(|name| name.as_str() == theirs)
            && let Ok(value) = value.try_into()
        {
            out.append(name, value);
        }
    }
    out
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
