//! The two cookies of the portal: the session's handle and the short one that binds a sign-in to its browser. Both are
//! HttpOnly, SameSite=Lax and for the whole host; Secure with the `__Host-` prefix except on loopback.

use std::sync::Arc;

use actix_web::cookie::time::Duration as CookieDuration;
use actix_web::cookie::{Cookie, CookieJar, Key as SigningKey, SameSite};
use actix_web::http::header::{self, HeaderMap, HeaderValue};

use super::Sessions;
use crate::platform::seal::Ring;

const HOST: &str = "__Host-";

/// Name of the session cookie, and whether cookies are for https only.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct CookieSettings {
    /// `__Host-cardea`, or a name without prefix when `secure` is false.
    pub(in crate::gateway) name: String,
    /// False only for a portal on http on loopback.
    pub(in crate::gateway) secure: bool,
}

/// The cookie's name and Secure do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum BadCookie {
    /// Secure cookies must have the prefix that browsers enforce.
    #[error("the session cookie's name must start with __Host-")]
    Unprefixed,
    /// Browsers refuse the prefix on a cookie that is not Secure.
    #[error("without https the session cookie's name must not start with __Host- or __Secure-")]
    Prefixed,
    /// Other characters than letters, digits, dash and underscore, or none.
    #[error("the session cookie's name may hold letters, digits, - and _ only")]
    Name,
}

impl CookieSettings {
    pub(super) fn check(&self) -> Result<(), BadCookie> {
        let plain = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        match (self.secure, self.name.strip_prefix(HOST)) {
            (true, None) => Err(BadCookie::Unprefixed),
            (false, Some(_)) => Err(BadCookie::Prefixed),
            (false, None) if self.name.starts_with("__Secure-") => Err(BadCookie::Prefixed),
            (_, rest) => plain(rest.unwrap_or(&self.name)).then_some(()).ok_or(BadCookie::Name),
        }
    }

    fn flow_name(&self) -> String {
        format!("{}-signin", self.name)
    }
}

impl Sessions {
    /// Name of the session cookie.
    pub(in crate::gateway) fn cookie_name(&self) -> &str {
        &self.0.settings.cookie.name
    }

    /// Name of the cookie that binds sign-ins to a browser.
    pub(in crate::gateway) fn flow_cookie_name(&self) -> String {
        self.0.settings.cookie.flow_name()
    }

    /// The cookie that binds sign-ins to a browser, with the binding that a begun flow gave.
    pub(in crate::gateway) fn flow_cookie(&self, binding: &str, lifetime: std::time::Duration) -> Cookie<'static> {
        let settings = &self.0.settings.cookie;
        Cookie::build(settings.flow_name(), binding.to_owned())
            .path("/")
            .secure(settings.secure)
            .http_only(true)
            .same_site(SameSite::Lax)
            .max_age(CookieDuration::seconds(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX)))
            .finish()
    }
}

/// The name in a pair of a `Cookie` header, and the pair without the space around it. `None` for what browsers do not send of
/// ours: a name in percent signs or with odd white space would be read as another one, whose `__Host-` prefix no browser
/// looked at, so that a neighbour under the same domain could set it.
fn named(pair: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(pair.trim_ascii()).ok().filter(|text| text.is_ascii())?;
    let (name, _) = text.split_once('=')?;
    name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%').then_some((name, text))
}

fn pairs(line: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    line.as_bytes().split(|byte| *byte == b';')
}

/// The first cookie of this name that can be read: what the portal reads behind [`tidy`], without changing anything.
pub(super) fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<Cookie<'h>> {
    texts(headers, name).find_map(|text| Cookie::parse_encoded(text).ok())
}

/// All pairs of this name as they stand in the request, those that cannot be read too.
pub(super) fn texts<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let all = headers.get_all(header::COOKIE).flat_map(pairs).filter_map(named);
    all.filter_map(move |(own, text)| (own == name).then_some(text))
}

/// Takes out of a request what is no cookie. One odd pair, set by some neighbour under the same domain, would otherwise
/// make all of them unreadable and sign the user out, or stand for one of ours.
pub(super) fn tidy(headers: &mut HeaderMap) {
    let readable = |pair| named(pair).map(|(_, text)| text).filter(|text| Cookie::parse_encoded(*text).is_ok());
    let lines: Vec<HeaderValue> = headers.get_all(header::COOKIE).cloned().collect();
    let all = || lines.iter().flat_map(pairs).map(readable);
    if all().all(|pair| pair.is_some()) {
        return;
    }
    let kept: Vec<&str> = all().flatten().collect();
    match HeaderValue::from_str(&kept.join("; ")) {
        Ok(line) if !kept.is_empty() => headers.insert(header::COOKIE, line),
        _ => headers.remove(header::COOKIE),
    };
}

/// Signs session cookies with the key of the ring that seals, and still knows the others, so that no new key signs anybody
/// out, on whatever replica. actix-session knows the newest key only: cookies are signed anew on the way in and out.
pub(super) struct Signer {
    settings: CookieSettings,
    ring: Arc<Ring>,
    /// In the order of the ring.
    keys: Vec<SigningKey>,
}

impl Signer {
    pub(super) fn new(settings: &CookieSettings, ring: &Arc<Ring>) -> Self {
        let keys = ring.derive_each("session-cookie").map(|key| SigningKey::derive_from(key.as_slice())).collect();
        Self { settings: settings.clone(), ring: Arc::clone(ring), keys }
    }

    /// Name of the session cookie.
    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// The handle in a session cookie that any key of the ring signed.
    pub(super) fn handle(&self, cookie: &Cookie<'_>) -> Option<String> {
        self.verify(cookie).map(|(_, handle)| handle)
    }

    /// The key for actix-session.
    pub(super) fn newest(&self) -> SigningKey {
        self.keys.first().cloned().unwrap_or_else(SigningKey::generate)
    }

    /// When the request's session cookie was not signed with the newest key: puts one that is in its place. Returns the header
    /// that gives the browser one of the key that seals, when it has one of an older key.
    pub(super) fn renew(&self, headers: &mut HeaderMap) -> Option<HeaderValue> {
        let name = self.settings.name.as_str();
        if self.keys.len() < 2 {
            return None;
        }
        let texts: Vec<String> =
            headers.get_all(header::COOKIE).filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
        let pairs = texts.iter().flat_map(|text| text.split(';')).map(str::trim);
        let mut cookies: Vec<Cookie<'_>> = pairs.filter_map(|pair| Cookie::parse_encoded(pair).ok()).collect();
        let ours = cookies.iter_mut().find(|cookie| cookie.name() == name)?;
        let (place, handle) = self.verify(ours)?;
        if place > 0 {
            let inner = self.sign(0, self.session_cookie(handle.clone()))?;
            ours.set_value(inner.value().to_owned());
            let line: Vec<String> = cookies.iter().map(|cookie| cookie.stripped().encoded().to_string()).collect();
            headers.insert(header::COOKIE, HeaderValue::from_str(&line.join("; ")).ok()?);
        }
        let sealing = self.ring.place();
        let fresh = (place > sealing).then(|| self.sign(sealing, self.session_cookie(handle)))??;
        HeaderValue::from_str(&fresh.encoded().to_string()).ok()
    }

    /// Signs the session cookie that an answer sets with the key that seals.
    pub(super) fn sign_anew(&self, headers: &mut HeaderMap) {
        let sealing = self.ring.place();
        if sealing == 0 || !self.sets(headers) {
            return;
        }
        let all: Vec<HeaderValue> = headers.remove(header::SET_COOKIE).collect();
        for value in all {
            let signed = value.to_str().ok().and_then(|text| self.signed_anew(sealing, text));
            headers.append(header::SET_COOKIE, signed.unwrap_or(value));
        }
    }

    /// The same `Set-Cookie` under another key; `None` for other cookies, and for one that takes the session's away.
    fn signed_anew(&self, place: usize, text: &str) -> Option<HeaderValue> {
        let mut cookie = Cookie::parse_encoded(text.to_owned()).ok().filter(|cookie| cookie.name() == self.settings.name)?;
        let (_, handle) = self.verify(&cookie)?;
        cookie.set_value(handle);
        HeaderValue::from_str(&self.sign(place, cookie)?.encoded().to_string()).ok()
    }

    /// What a session cookie holds, and the place of the key that signed it.
    fn verify(&self, cookie: &Cookie<'_>) -> Option<(usize, String)> {
        let mut jar = CookieJar::new();
        jar.add_original(cookie.clone().into_owned());
        let read = |(place, key)| Some((place, jar.signed(key).get(&self.settings.name)?.value().to_owned()));
        self.keys.iter().enumerate().find_map(read)
    }

    fn sign(&self, place: usize, cookie: Cookie<'static>) -> Option<Cookie<'static>> {
        let mut jar = CookieJar::new();
        jar.signed_mut(self.keys.get(place)?).add(cookie);
        jar.get(&self.settings.name).cloned()
    }

    /// Takes every `Set-Cookie` of the session out of an answer; whether there was one.
    pub(super) fn withdraw(&self, headers: &mut HeaderMap) -> bool {
        let start = format!("{}=", self.settings.name);
        let all: Vec<HeaderValue> = headers.remove(header::SET_COOKIE).collect();
        let before = all.len();
        let kept = all.into_iter().filter(|value| !value.as_bytes().starts_with(start.as_bytes()));
        let mut after = 0;
        for value in kept {
            headers.append(header::SET_COOKIE, value);
            after += 1;
        }
        after < before
    }

    /// Whether an answer sets the session cookie.
    pub(super) fn sets(&self, headers: &HeaderMap) -> bool {
        let start = format!("{}=", self.settings.name);
        headers.get_all(header::SET_COOKIE).any(|value| value.as_bytes().starts_with(start.as_bytes()))
    }

    fn session_cookie(&self, value: String) -> Cookie<'static> {
        Cookie::build(self.settings.name.clone(), value)
            .path("/")
            .secure(self.settings.secure)
            .http_only(true)
            .same_site(SameSite::Lax)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_browser_checked_is_none_of_ours() {
        for (line, found) in [
            ("a=1; __Host-cardea=x", Some("x")),
            ("\u{e4}=\u{f6}; __Host-cardea=%41", Some("A")),
            ("__%48ost-cardea=evil; __Host-cardea=x", Some("x")),
            ("%5f_Host-cardea=evil", None),
            ("\u{2003}__Host-cardea=evil", None),
            ("\u{a0}__Host-cardea=evil;\t__Host-cardea=x", Some("x")),
            ("__Host-cardea =evil", None),
            ("__Host-cardea=%ff; __Host-cardea=x", Some("x")),
            ("__host-cardea=evil; __Host-cardea", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(header::COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
            assert_eq!(find(&headers, "__Host-cardea").as_ref().map(Cookie::value), found, "{line}");
            super::super::fuzzing::cookies(line.as_bytes());
        }
    }

    #[test]
    fn name_and_secure_must_fit_together() {
        let check = |name: &str, secure| CookieSettings { name: name.to_owned(), secure }.check();
        assert_eq!(check("__Host-cardea", true), Ok(()));
        assert_eq!(check("cardea", false), Ok(()));
        assert_eq!(check("cardea", true), Err(BadCookie::Unprefixed));
        assert_eq!(check("__Host-cardea", false), Err(BadCookie::Prefixed));
        assert_eq!(check("__Secure-cardea", false), Err(BadCookie::Prefixed));
        for bad in ["", "a b", "a;b", "a=b", "ä"] {
            assert_eq!(check(bad, false), Err(BadCookie::Name));
        }
    }
}
