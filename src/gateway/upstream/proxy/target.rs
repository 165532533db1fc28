//! Where a tenant's service is, read once from its settings.

use std::sync::Arc;

use http::HeaderValue;
use http::uri::PathAndQuery;
use url::{Host, Url};

use crate::gateway::upstream::error::UpstreamError;

/// The address of one tenant's service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Target(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    is_tls: bool,
    host: String,
    port: u16,
    authority: HeaderValue,
    /// Scheme and authority: connections to the same one are shared by tenants.
    key: Arc<str>,
    /// Path of the base address, without a trailing slash.
    base: String,
    /// Base and prefix.
    prefix: String,
}

impl Target {
    /// `base` is `{base_url}` of the interface, `prefix` what most paths stand below.
    pub(crate) fn new(base: &str, prefix: &str) -> Result<Self, UpstreamError> {
        let wrong = || UpstreamError::ours("the address of the scanning service must be an http or https address");
        let url = Url::parse(base).map_err(|_| wrong())?;
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(wrong()),
        };
        let host = match url.host().ok_or_else(wrong)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let named = url.host_str().ok_or_else(wrong)?;
        let authority = url.port().map_or_else(|| named.to_owned(), |port| format!("{named}:{port}"));
        let base = url.path().trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Inner {
            is_tls,
            host,
            port: url.port_or_known_default().ok_or_else(wrong)?,
            key: format!("{}://{authority}", url.scheme()).into(),
            authority: HeaderValue::try_from(authority).map_err(|_| wrong())?,
            prefix: format!("{base}{}", prefix.trim_end_matches('/')),
            base,
        })))
    }

    /// The request target for `path` (encoded) below the prefix, or at the base; `query` goes along byte by byte.
    pub(crate) fn path(&self, path: &str, below_prefix: bool, query: Option<&str>) -> Result<PathAndQuery, UpstreamError> {
        let start = if below_prefix { &self.0.prefix } else { &self.0.base };
        let mut text = String::with_capacity(start.len() + path.len() + query.map_or(0, |query| query.len() + 1));
        text.push_str(start);
        text.push_str(path);
        if let Some(query) = query {
            text.push('?');
            text.push_str(query);
        }
        PathAndQuery::try_from(text).map_err(|_| UpstreamError::ours("no address comes of this path"))
    }

    pub(super) fn is_tls(&self) -> bool {
        self.0.is_tls
    }

    pub(super) fn host(&self) -> &str {
        &self.0.host
    }

    pub(super) fn port(&self) -> u16 {
        self.0.port
    }

    pub(super) fn authority(&self) -> &HeaderValue {
        &self.0.authority
    }

    pub(super) fn key(&self) -> &Arc<str> {
        &self.0.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_once_and_paths_are_built_on_it() {
        let target = Target::new("https://scan.example:8443/v/", "/scanner/").unwrap();
        assert_eq!((target.host(), target.port(), target.is_tls()), ("scan.example", 8443, true));
        assert_eq!(target.authority(), "scan.example:8443");
        assert_eq!(
            target.path("/api/v1/tasks/a%20b", true, Some("x=%2B+&x=&")).unwrap(),
            "/v/scanner/api/v1/tasks/a%20b?x=%2B+&x=&"
        );
        assert_eq!(target.path("/biz/x", false, None).unwrap(), "/v/biz/x");
        let plain = Target::new("http://[::1]", "").unwrap();
        assert_eq!((plain.host(), plain.port(), plain.authority().to_str().unwrap()), ("::1", 80, "[::1]"));
        for bad in ["ftp://x", "nothing", "mailto:a@b"] {
            assert!(Target::new(bad, "/scanner").is_err(), "{bad}");
        }
    }
}
