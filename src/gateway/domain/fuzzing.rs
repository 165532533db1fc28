//! What the fuzz targets `path` and `headers` call: what callers of the API may have crafted, and must not get past the lists.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::api_path::{Decision, Found, LONGEST_PATH, decide};
use super::forwarding::{ANSWER, REQUEST, of_one_hop, passing, trace};
use super::route_table::Under;
use crate::contract::paths;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "get"];
/// Whatever the lists say, these never pass.
const NEVER: [&str; 10] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "forwarded",
    "host",
    "set-cookie",
    "transfer-encoding",
    "x-forwarded-for",
    "x-request-id",
];

/// The first byte chooses the method, and whether there are additions; a path follows.
///
/// # Panics
/// When the path that would go to the service leads to something else than the one that came: that is the finding.
pub fn path(bytes: &[u8]) {
    let Some((choice, path)) = bytes.split_first() else { return };
    let Ok(path) = std::str::from_utf8(path) else { return };
    let method = METHODS.get(usize::from(*choice) % METHODS.len()).copied().unwrap_or("GET");
    let additions = choice & 0x80 != 0;
    match decide(method, path, additions) {
        Decision::Found(found) => same_again(&found, method, additions),
        Decision::WrongMethod(allowed) => {
            assert!(!allowed.contains(&method) || method == "OPTIONS", "refused and allowed");
            for other in allowed.into_iter().filter(|other| *other != "OPTIONS") {
                let decided = decide(other, path, additions);
                assert!(matches!(decided, Decision::Found(_) | Decision::BadParameter(_)), "allowed and refused");
            }
        }
        Decision::Ambiguous(_) | Decision::TooLong(_) | Decision::BadParameter(_) | Decision::Unknown => {}
    }
}

fn same_again(found: &Found, method: &str, additions: bool) {
    let path = found.path();
    assert_eq!(path.split('/').count(), found.route.path.split('/').count(), "a parameter is more than a segment");
    assert!(path.split('/').skip(1).all(|segment| !matches!(segment, "" | "." | "..")), "a segment that is none");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/%-_.~".contains(&byte);
    assert!(path.bytes().all(plain), "a character that is not encoded");
    let prefix = if found.route.under == Under::Prefix { paths::PREFIX } else { "" };
    let path = format!("{prefix}{path}");
    // Encoded, a path of allowed length may be longer than allowed.
    if path.len() <= LONGEST_PATH {
        let again = decide(method, &path, additions);
        let is_same = |again: &Found| {
            (again.route.name, &again.parameters, again.is_head) == (found.route.name, &found.parameters, found.is_head)
        };
        assert!(matches!(&again, Decision::Found(again) if is_same(again)), "{path} leads elsewhere: {again:?}");
    }
}

/// Each line is one header.
///
/// # Panics
/// When something passes that is not on the list, or less than what came: that is the finding.
pub fn headers(bytes: &[u8]) {
    let mut all = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n').take(1000) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value.trim_ascii())) {
            all.append(name, value);
        }
    }
    let named: Vec<&str> = all.get_all("connection").iter().flat_map(|value| of_one_hop(value.as_bytes())).collect();
    let is_of_one_hop = |name: &HeaderName| named.iter().any(|one| one.eq_ignore_ascii_case(name.as_str()));
    for list in [&REQUEST, &ANSWER] {
        let out = passing(list, all.iter().map(|(name, value)| (name.as_str(), value)));
        assert!(out.keys().all(|name| list.contains(name) && !NEVER.contains(&name.as_str())), "a name that is not listed");
        let (here, rest): (Vec<_>, Vec<_>) = list.iter().partition(|name| is_of_one_hop(name));
        assert!(here.into_iter().all(|name| !out.contains_key(name)), "a name that is for the next hop only");
        assert!(rest.into_iter().all(|name| out.get_all(name).iter().eq(all.get_all(name))), "other values than came");
    }
    let text = |name: &str| all.get(name).and_then(|value| value.to_str().ok());
    let mut out = HeaderMap::new();
    trace(text("traceparent"), text("tracestate"), "0123456789abcdef0123456789abcdef", &mut out);
    assert!(out.keys().all(|name| matches!(name.as_str(), "traceparent" | "tracestate")), "more than a trace");
    let parent = out.get("traceparent").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let lengths: Vec<usize> = parent.split('-').map(str::len).collect();
    assert_eq!(lengths, [2, 32, 16, 2], "no trace: {parent}");
    assert!(parent.bytes().all(|byte| byte == b'-' || matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "no trace: {parent}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::route_table::TABLE;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn no_path_is_a_finding(choice: u8, row in 0..TABLE.len(), at in 0..100_usize, odd in "(%[0-9a-fA-F]{2}|[ -~]|\\PC|/){0,4}") {
            let mut bytes = vec![choice];
            let path = TABLE[row].public_path().replace(['{', '}'], "");
            let at = at % (path.len() + 1);
            bytes.extend_from_slice(&path.as_bytes()[..at]);
            bytes.extend_from_slice(odd.as_bytes());
            bytes.extend_from_slice(&path.as_bytes()[at..]);
            super::path(&bytes);
        }

        #[test]
        fn a_letter_of_a_path_that_is_encoded_leads_nowhere_else(choice: u8, row in 0..TABLE.len(), at in 0..100_usize) {
            let path = TABLE[row].public_path().replace(['{', '}'], "");
            let at = 1 + at % (path.len() - 1);
            let encoded = format!("{}%{:02x}{}", &path[..at], path.as_bytes()[at], &path[at + 1..]);
            super::path(&[&[choice][..], encoded.as_bytes()].concat());
        }

        #[test]
        fn no_headers_are_a_finding(
            text in "((traceparent|tracestate|range|etag|cookie|x-a): ?(00-[0-9a-f]{32}-[0-9a-f]{16}-01|[!-~]{0,8})\n){0,6}",
        ) {
            super::headers(text.as_bytes());
        }
    }
}
