//! An answer as it is kept and given out, and what is told of how it came (RFC 9211).

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{self, ETAG, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::policy::{Life, date, is_no_store};
use crate::platform::clock::Timestamp;
use crate::platform::digest::sha256;

/// What an entry takes besides names, values and body, about.
const OVERHEAD: usize = 384;
/// And each of its headers.
const HEADER: usize = 64;

/// What decides whether an answer may be kept and goes to no caller.
pub(in crate::gateway) const JUDGED: [HeaderName; 6] =
    [header::AGE, header::CACHE_CONTROL, header::DATE, header::EXPIRES, header::PRAGMA, header::SET_COOKIE];

/// An answer of the service as it came.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Fetched {
    pub(in crate::gateway) status: u16,
    /// What may go to the caller, and what says whether it may be kept.
    pub(in crate::gateway) headers: HeaderMap,
    pub(in crate::gateway) body: Bytes,
}

/// An answer for a caller: one that is kept, or one that came just now.
#[derive(Debug)]
pub(in crate::gateway) struct Kept {
    pub(in crate::gateway) status: u16,
    /// What goes to the caller.
    pub(in crate::gateway) headers: HeaderMap,
    pub(in crate::gateway) body: Bytes,
    /// The service said that nobody may store it.
    pub(in crate::gateway) is_no_store: bool,
    /// Ours, of the body; none on an answer that is not kept.
    etag: Option<HeaderValue>,
    /// Its age counts from when it was asked for.
    asked_at: Timestamp,
    pub(super) life: Life,
    /// What is left of its whole life when it is put into memory.
    pub(super) left: Duration,
    /// The service was in trouble: until then this is given out stale without asking again.
    rests_until: AtomicI64,
}

impl Kept {
    /// An answer to be kept. The body is copied: it may be a small part of a large buffer.
    pub(super) fn new(fetched: Fetched, (asked_at, now): (Timestamp, Timestamp), life: Life) -> Self {
        let left = life.whole().saturating_sub(now.since(asked_at));
        let Fetched { status, mut headers, body } = fetched;
        // Ours takes its place: it has to be there for every answer and to change with every byte.
        headers.remove(ETAG);
        let headers = shown(headers);
        let body = Bytes::copy_from_slice(&body);
        let etag = Some(etag(&body));
        let rests_until = AtomicI64::new(i64::MIN);
        Self { status, headers, body, is_no_store: false, etag, asked_at, life, left, rests_until }
    }

    /// An answer that goes to those who wait for it and nowhere else.
    pub(super) fn passing(fetched: Fetched, asked_at: Timestamp) -> Self {
        let Fetched { status, headers, body } = fetched;
        let (is_no_store, headers) = (is_no_store(&headers), shown(headers));
        let (life, left, rests_until) = (Life::NONE, Duration::ZERO, AtomicI64::new(i64::MIN));
        Self { status, headers, body, is_no_store, etag: None, asked_at, life, left, rests_until }
    }

    /// A strong tag of the body, for `ETag`.
    pub(in crate::gateway) const fn etag(&self) -> Option<&HeaderValue> {
        self.etag.as_ref()
    }

    /// For `Age`.
    pub(in crate::gateway) fn age(&self, now: Timestamp) -> Duration {
        now.since(self.asked_at)
    }

    /// Whether the caller of a `GET` or `HEAD` has exactly this already, so that 304 is the answer (RFC 9110, 13.1.2).
    pub(in crate::gateway) fn is_what_they_have(&self, request: &HeaderMap) -> bool {
        let Some(etag) = self.etag.as_ref().and_then(|etag| etag.to_str().ok()) else { return false };
        let values = request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(tags).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    }

    /// Whether the caller of a `GET` or `HEAD` wants something only if it still is what they had, and it is not: 412 is the
    /// answer (RFC 9110, 13.1.1 and 13.1.4). It is judged here, because the tag that they had is ours.
    pub(in crate::gateway) fn is_not_what_they_want(&self, request: &HeaderMap) -> bool {
        if !(200..300).contains(&self.status) {
            return false;
        }
        if request.contains_key(IF_MATCH) {
            let etag = self.etag.as_ref().or_else(|| self.headers.get(ETAG)).and_then(|etag| etag.to_str().ok());
            let is_it = |tag: &str| tag == "*" || (Some(tag) == etag && !tag.starts_with("W/"));
            return !request.get_all(IF_MATCH).iter().filter_map(|value| value.to_str().ok()).flat_map(tags).any(is_it);
        }
        let since = request.get(IF_UNMODIFIED_SINCE).and_then(date);
        since.zip(self.headers.get(LAST_MODIFIED).and_then(date)).is_some_and(|(since, modified)| modified > since)
    }

    /// Seconds for which it is fresh yet; negative when it is stale.
    pub(super) fn ttl(&self, now: Timestamp) -> i64 {
        let until = self.asked_at.after(self.life.fresh);
        until.seconds().saturating_sub(now.seconds())
    }

    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        self.age(now) < self.life.fresh
    }

    /// Whether it may be given out while the answer to the same question is on its way.
    pub(super) fn serves_meanwhile(&self, now: Timestamp) -> bool {
        self.age(now) < self.life.fresh.saturating_add(self.life.meanwhile)
    }

    /// Whether it may be given out when there is no other answer to be had.
    pub(super) fn serves_in_trouble(&self, now: Timestamp) -> bool {
        self.age(now) < self.life.fresh.saturating_add(self.life.in_trouble)
    }

    /// Whether the service is left alone for a moment.
    pub(super) fn rests(&self, now: Timestamp) -> bool {
        now.0 < self.rests_until.load(Ordering::Relaxed) && self.serves_in_trouble(now)
    }

    pub(super) fn rest(&self, until: Timestamp) {
        self.rests_until.store(until.0, Ordering::Relaxed);
    }

    /// Bytes it takes in memory.
    pub(super) fn weight(&self) -> u32 {
        let headers: usize = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER).sum();
        u32::try_from(self.body.len() + headers + OVERHEAD).unwrap_or(u32::MAX)
    }
}

/// The tags of a list; a tag may hold commas.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let ends = move |c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    list.split(ends).map(str::trim)
}

/// Those that go to the caller.
fn shown(mut headers: HeaderMap) -> HeaderMap {
    for name in JUDGED {
        headers.remove(name);
    }
    headers
}

fn etag(body: &[u8]) -> HeaderValue {
    let hash = sha256(body);
    let text = URL_SAFE_NO_PAD.encode(hash.first_chunk::<16>().map_or(&[][..], |half| half.as_slice()));
    HeaderValue::from_str(&format!("\"{text}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// How an answer came to be. Its text is the value of `Cache-Status` (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum CacheStatus {
    /// Kept; stale and being asked for again when `ttl` (seconds) is negative.
    Hit { ttl: i64 },
    /// The service was asked.
    Asked {
        why: Why,
        /// What it answered with; `None` when no answer came.
        status: Option<u16>,
        /// By another request, whose answer this is as well.
        collapsed: bool,
        stored: bool,
        /// Of an answer that is kept; negative when it is an old one, for want of another.
        ttl: Option<i64>,
    },
}

/// Why the service was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Why {
    Miss,
    /// What was kept is stale.
    Stale,
    /// Its answer is never kept.
    Bypass,
}

impl CacheStatus {
    /// Whether the answer is older than it may be without the service being asked or in trouble.
    #[cfg(test)]
    pub(in crate::gateway) const fn is_stale(self) -> bool {
        match self {
            Self::Hit { ttl } | Self::Asked { ttl: Some(ttl), .. } => ttl < 0,
            Self::Asked { ttl: None, .. } => false,
        }
    }
}

impl fmt::Display for CacheStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("cardea")?;
        match *self {
            Self::Hit { ttl } => write!(out, "; hit; ttl={ttl}"),
            Self::Asked { why, status, collapsed, stored, ttl } => {
                let why = match why {
                    Why::Miss => "miss",
                    Why::Stale => "stale",
                    Why::Bypass => "bypass",
                };
                write!(out, "; fwd={why}")?;
                if let Some(status) = status {
                    write!(out, "; fwd-status={status}")?;
                }
                if let Some(ttl) = ttl {
                    write!(out, "; ttl={ttl}")?;
                }
                out.write_str(if stored { "; stored" } else { "" })?;
                out.write_str(if collapsed { "; collapsed" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(body: &'static str) -> Kept {
        let mut headers = HeaderMap::new();
        headers.insert(ETAG, HeaderValue::from_static("\"theirs\""));
        let life = Life { fresh: Duration::from_secs(2), meanwhile: Duration::from_secs(3), in_trouble: Duration::from_secs(10) };
        Kept::new(Fetched { status: 200, headers, body: Bytes::from_static(body.as_bytes()) }, (Timestamp(0), Timestamp(0)), life)
    }

    #[test]
    fn a_tag_stands_for_every_byte_of_the_body_and_takes_the_place_of_the_services() {
        let (one, same, other) = (kept("{\"a\":1}"), kept("{\"a\":1}"), kept("{\"a\":2}"));
        assert_eq!(one.etag(), same.etag());
        assert_ne!(one.etag(), other.etag());
        assert!(one.headers.get(ETAG).is_none());
        let tag = one.etag().unwrap().to_str().unwrap().to_owned();
        let have = |text: &str| {
            let mut request = HeaderMap::new();
            request.insert(IF_NONE_MATCH, HeaderValue::from_str(text).unwrap());
            one.is_what_they_have(&request)
        };
        assert!(have(&tag) && have("*") && have(&format!("\"x\", W/{tag}")));
        assert!(
            !have("\"x\"") && !have("\"theirs\"") && !have(tag.trim_matches('"')) && !one.is_what_they_have(&HeaderMap::new())
        );
    }

    #[test]
    fn what_is_wanted_only_as_it_was_is_judged_by_the_tag_that_the_caller_was_given_or_by_its_date() {
        let kept = kept("{}");
        let tag = kept.etag().unwrap().to_str().unwrap().to_owned();
        let fails = |kept: &Kept, name: &'static str, text: &str| {
            let mut request = HeaderMap::new();
            request.insert(name, HeaderValue::from_str(text).unwrap());
            kept.is_not_what_they_want(&request)
        };
        for (text, expected) in [
            (tag.clone(), false),
            ("*".to_owned(), false),
            (format!("\"a, b\", {tag}"), false),
            (format!("W/{tag}"), true),
            ("\"theirs\"".to_owned(), true),
            (String::new(), true),
        ] {
            assert_eq!(fails(&kept, "if-match", &text), expected, "{text}");
        }
        let passing = |status| {
            let mut headers = HeaderMap::new();
            headers.insert(ETAG, HeaderValue::from_static("\"a,b\""));
            headers.insert(LAST_MODIFIED, HeaderValue::from_static("Sat, 28 Nov 2026 12:00:00 GMT"));
            Kept::passing(Fetched { status, headers, body: Bytes::new() }, Timestamp(0))
        };
        assert!(!fails(&passing(200), "if-match", "\"a,b\"") && fails(&passing(200), "if-match", "\"a\""));
        assert!(!fails(&passing(404), "if-match", "\"a\""), "there is nothing to compare");
        let since = |text: &str| fails(&passing(200), "if-unmodified-since", text);
        assert!(since("Sat, 28 Nov 2026 11:59:59 GMT") && !since("Sat, 28 Nov 2026 12:00:00 GMT") && !since("yesterday"));
        assert!(!fails(&kept, "if-unmodified-since", "Sat, 28 Nov 2026 11:59:59 GMT"), "no date is known");
    }

    #[test]
    fn an_answer_is_fresh_then_good_meanwhile_then_good_in_trouble_then_good_for_nothing() {
        let kept = kept("x");
        let at = |seconds: i64| {
            let now = Timestamp(seconds * 1000);
            (kept.is_fresh(now), kept.serves_meanwhile(now), kept.serves_in_trouble(now), kept.ttl(now))
        };
        assert_eq!(at(1), (true, true, true, 1));
        assert_eq!(at(2), (false, true, true, 0));
        assert_eq!(at(5), (false, false, true, -3));
        assert_eq!(at(12), (false, false, false, -10));
        kept.rest(Timestamp(20_000));
        assert!(kept.rests(Timestamp(11_000)) && !kept.rests(Timestamp(12_000)), "never for longer than its life");
        assert_eq!(kept.age(Timestamp(5000)), Duration::from_secs(5));
    }

    #[test]
    fn a_status_is_written_as_rfc_9211_says() {
        let asked = CacheStatus::Asked { why: Why::Miss, status: Some(200), collapsed: false, stored: true, ttl: Some(60) };
        assert_eq!(asked.to_string(), "cardea; fwd=miss; fwd-status=200; ttl=60; stored");
        assert_eq!(CacheStatus::Hit { ttl: -3 }.to_string(), "cardea; hit; ttl=-3");
        let trouble = CacheStatus::Asked { why: Why::Stale, status: None, collapsed: true, stored: false, ttl: Some(-7) };
        assert_eq!(trouble.to_string(), "cardea; fwd=stale; ttl=-7; collapsed");
        assert!(trouble.is_stale() && !asked.is_stale() && CacheStatus::Hit { ttl: -3 }.is_stale());
        let bypass = CacheStatus::Asked { why: Why::Bypass, status: Some(404), collapsed: false, stored: false, ttl: None };
        assert_eq!(bypass.to_string(), "cardea; fwd=bypass; fwd-status=404");
    }
}
