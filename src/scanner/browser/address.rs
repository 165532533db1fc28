//! Which addresses a remote browser may be sent to: web pages and the empty page, nothing of the machine or of the browser
//! itself. Where they lead on the network is the dialer's to decide.

use url::{Host, Url};

/// The empty page.
pub(super) const BLANK: &str = "about:blank";
/// The longest address, in bytes.
const LONGEST: usize = 8192;

/// Why an address is not opened, in plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("This is not an address. Type one like https://shop.example.com.")]
    NoAddress,
    #[error("Only web addresses (http and https) can be opened here.")]
    Scheme,
}

/// An address of a command: complete, with its scheme. An empty one is the empty page.
pub(super) fn given(text: &str) -> Result<String, Refused> {
    let text = text.trim();
    if text.is_empty() || text == BLANK {
        return Ok(BLANK.to_owned());
    }
    if text.len() > LONGEST {
        return Err(Refused::NoAddress);
    }
    let url = Url::parse(text).map_err(|_| Refused::NoAddress)?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url.into()),
        "http" | "https" => Err(Refused::NoAddress),
        _ => Err(Refused::Scheme),
    }
}

/// What somebody typed: the scheme may be missing. Names get https; this machine, plain addresses and ports get http.
pub(super) fn typed(text: &str) -> Result<String, Refused> {
    let text = text.trim();
    let has_scheme = text.split_once(':').is_some_and(|(scheme, rest)| {
        let letters = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        // `localhost:8080/x` has a port, `mailto:x` a scheme.
        let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
        letters
            && !scheme.is_empty()
            && (rest.starts_with("//") || port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()))
    });
    if has_scheme || text.is_empty() {
        return given(text);
    }
    let url = Url::parse(&format!("https://{text}")).map_err(|_| Refused::NoAddress)?;
    let named = match url.host() {
        Some(Host::Domain(name)) => name.contains('.') && !name.ends_with(".localhost") && url.port().is_none(),
        _ => false,
    };
    given(&if named { url.into() } else { format!("http://{text}") })
}

/// Whether a page that is open may stay: pages make some addresses of their own.
pub(super) fn may_stay(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    url.is_empty()
        || url == BLANK
        || url.starts_with("about:blank#")
        || matches!(scheme, "http" | "https" | "blob" | "data" | "chrome-error")
        || url == "about:srcdoc"
}

/// The origin of a page's address; `None` when it has none to keep anything for.
pub(super) fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        assert_eq!(given("https://shop.example.com/a?b#c").unwrap(), "https://shop.example.com/a?b#c");
        assert_eq!(given("").unwrap(), BLANK);
        for bad in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            " chrome://settings",
            "view-source:https://a.example",
            "devtools://devtools/bundled/inspector.html",
            "javascript:alert(1)",
            "data:text/html,x",
            "about:version",
            "ftp://a.example",
            "blob:https://a.example/1",
        ] {
            assert_eq!(given(bad), Err(Refused::Scheme), "{bad}");
            assert_eq!(typed(bad), Err(Refused::Scheme), "{bad}");
        }
        assert_eq!(given("shop"), Err(Refused::NoAddress));
    }

    #[test]
    fn what_is_typed_gets_the_scheme_it_needs() {
        for (text, url) in [
            ("shop.example.com", "https://shop.example.com/"),
            ("localhost:8080/x", "http://localhost:8080/x"),
            ("127.0.0.1", "http://127.0.0.1/"),
            ("acme.localhost", "http://acme.localhost/"),
            ("[::1]:8080", "http://[::1]:8080/"),
            ("http://a.example", "http://a.example/"),
        ] {
            assert_eq!(typed(text).as_deref(), Ok(url), "{text}");
        }
        assert!(typed("two words").is_err());
    }
}
