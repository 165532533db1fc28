//! What the fuzz target `cookies` calls: headers that somebody may have crafted, read as pages and as API calls read them.

use actix_web::http::header::{COOKIE, HeaderValue};
use actix_web::test::TestRequest;

use super::cookie::{find, tidy};

/// Each line is one `Cookie` header.
///
/// # Panics
/// When pages and API calls see different sessions, or one whose name does not stand there as it is: those are the findings.
pub fn cookies(bytes: &[u8]) {
    let lines: Vec<HeaderValue> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| HeaderValue::from_bytes(line).ok()).collect();
    for name in ["__Host-cardea", "cardea"] {
        let mut request = TestRequest::default().to_srv_request();
        for line in &lines {
            request.headers_mut().append(COOKIE, line.clone());
        }
        let seen = find(request.headers(), name).map(|cookie| cookie.value().to_owned());
        assert!(seen.is_none() || lines.iter().any(|line| spells(line, name)), "a cookie under a name that is not there");
        tidy(request.headers_mut());
        let page = request.cookie(name).map(|cookie| cookie.value().to_owned());
        assert_eq!(page, seen, "pages and API calls see different cookies");
        let tidied: Vec<HeaderValue> = request.headers().get_all(COOKIE).cloned().collect();
        tidy(request.headers_mut());
        assert!(request.headers().get_all(COOKIE).eq(&tidied), "tidied twice is something else");
    }
}

fn spells(line: &HeaderValue, name: &str) -> bool {
    let mut pairs = line.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    pairs.any(|pair| pair.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_headers_are_a_finding(text in "(__Host-cardea|cardea|%63ardea|[\u{a0}\u{2003} \t;=%\"a-c4-6\n\u{e4}]){0,12}") {
            super::cookies(text.as_bytes());
        }
    }
}
