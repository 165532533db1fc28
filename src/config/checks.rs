//! What a value has to look like: addresses, hosts, networks, colours, keys. Pure yes-or-no rules.

use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::{Host, Url};

use crate::platform::digits::whole;

/// What [`web_address`] expects, for people.
pub(super) const WEB_ADDRESS: &str = "an http or https address without user, query and trailing slash: https://id.example.com";

/// What [`listen`] expects, for people.
pub(super) const LISTEN: &str = "an address and port such as 127.0.0.1:8080";

/// What [`id`] expects, for people.
pub(super) const ID: &str = "1 to 32 lower-case letters, digits and dashes, no dash at either end";

/// An address of a service: http(s), a host, no user, no query, no fragment, no trailing slash.
pub(super) fn web_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    (matches!(url.scheme(), "http" | "https") && url.has_host() && plain && !text.ends_with('/')).then_some(url)
}

/// An origin: scheme, host and port, nothing after them.
pub(super) fn origin(text: &str) -> Option<Url> {
    web_address(text).filter(|url| url.path() == "/" && url.origin().ascii_serialization() == text)
}

/// An address a browser may be sent back to: http(s) or another scheme, without fragment (RFC 6749, 3.1.2).
pub(super) fn redirect_uri(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.fragment().is_none() && url.username().is_empty())
}

/// Whether the host of `url` never leaves this machine: `localhost`, names below it, loopback addresses.
pub(super) fn on_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A host as browsers send it: lower case, with its port when that is not the scheme's own.
pub(super) fn host(text: &str) -> bool {
    Url::parse(&format!("http://{text}/")).is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default();
        let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        // `:80` is the scheme's own for http, yet a portal may be served by https on that port.
        (name == text || format!("{name}:80") == text) && url.path() == "/" && url.username().is_empty()
    })
}

/// A network such as `10.0.0.0/8` or a single address.
pub(super) fn network(text: &str) -> bool {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let most: u8 = if address.is_ipv4() { 32 } else { 128 };
    bits.is_none_or(|bits| whole(bits).is_some_and(|bits: u8| bits <= most))
}

/// `#rrggbb`.
pub(super) fn colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Ids of tenants, accounts and organizations: they are parts of keys and log lines.
pub(super) fn id(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// 32 bytes in base64.
pub(super) fn sealing_key(text: &str) -> bool {
    STANDARD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// A cookie name (RFC 6265: a token).
pub(super) fn cookie_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// An address and port to listen on.
pub(super) fn listen(text: &str) -> Option<SocketAddr> {
    text.parse().ok()
}

/// The address of a server: host and port.
pub(super) fn node(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && whole(port).is_some_and(|port: u16| port > 0))
}

/// A dotted path of claims: `organization`, `realm_access.roles`.
pub(super) fn claim_path(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lower_case_names_with_an_optional_port() {
        for good in ["portal.example.com", "localhost:8080", "acme.localhost:8080", "127.0.0.1", "[::1]:8080", "a:80"] {
            assert!(host(good), "{good}");
        }
        for bad in ["", "Portal.example.com", "a/b", "https://a", "a b", "user@a", "a:99999", "a?b"] {
            assert!(!host(bad), "{bad}");
        }
    }

    #[test]
    fn networks_are_addresses_with_at_most_their_own_bits() {
        for good in ["10.0.0.0/8", "::1", "fd00::/8", "192.0.2.1/32", "0.0.0.0/0"] {
            assert!(network(good), "{good}");
        }
        for bad in ["10.0.0.0/33", "10.0.0/8", "a/8", "10.0.0.0/", "10.0.0.0/+8", "::/129"] {
            assert!(!network(bad), "{bad}");
        }
    }

    #[test]
    fn a_server_has_a_port_of_digits() {
        assert!(node("redis:6379") && node("[::1]:1"));
        for bad in ["redis", "redis:", ":6379", "redis:0", "redis:65536", "redis:+6379", "redis: 6379"] {
            assert!(!node(bad), "{bad}");
        }
    }

    #[test]
    fn an_origin_has_nothing_after_its_port() {
        for good in ["https://portal.example.com", "http://localhost:8080"] {
            assert!(origin(good).is_some(), "{good}");
        }
        for bad in ["https://a/", "https://a/b", "https://a:443", "ftp://a", "https://A", "https://u:p@a", "portal"] {
            assert!(origin(bad).is_none(), "{bad}");
        }
    }
}
