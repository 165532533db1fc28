//! Parameters of the protocol, from a query or a form. One that comes twice is none (RFC 6749 3.1).

use actix_web::http::header::{CONTENT_TYPE, HeaderMap};

/// Names and values in order.
pub(super) struct Params(Vec<(String, String)>);

/// A parameter came more than once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeated;

impl Params {
    /// Reads `name=value&…`.
    pub(super) fn read(encoded: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(encoded).into_owned().collect())
    }

    /// Reads a form body; none when the body is something else.
    pub(super) fn form(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/x-www-form-urlencoded").then(|| Self::read(body))
    }

    /// The value of a parameter; an empty one is none (RFC 6749 3.1).
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Repeated> {
        let mut found = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Repeated),
            (value, None) => Ok(value.filter(|value| !value.is_empty())),
        }
    }

    /// As [`Params::get`], where it does not matter why there is no value.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.get(name).ok().flatten()
    }
}
