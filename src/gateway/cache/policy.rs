//! How long an answer may be kept: what the settings give its kind, less what its own headers forbid (RFC 9111, RFC 5861). The
//! library for that (`http-cache-semantics`) answers for caches of one kind of user and re-reads request headers on each hit;
//! what is left to decide here are the few rules below.

use std::time::Duration;

use http::HeaderMap;
use http::header::{AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, DATE, EXPIRES, PRAGMA, SET_COOKIE, VARY};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::kept::Fetched;
use crate::config::cache::{Cache as Settings, CacheLife};
use crate::gateway::domain::route_table::Keep;

/// The times of one answer, each counted from the end of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// Given out without asking.
    pub(super) fresh: Duration,
    /// Given out once more while the service is asked behind it.
    pub(super) meanwhile: Duration,
    /// Given out when the service is in trouble.
    pub(super) in_trouble: Duration,
}

impl Life {
    pub(super) const NONE: Self = Self { fresh: Duration::ZERO, meanwhile: Duration::ZERO, in_trouble: Duration::ZERO };

    /// Until it is good for nothing.
    pub(super) fn whole(self) -> Duration {
        self.fresh.saturating_add(self.meanwhile.max(self.in_trouble))
    }

    const fn of(settings: CacheLife) -> Self {
        let CacheLife { fresh_ms, meanwhile_ms, in_trouble_ms } = settings;
        Self {
            fresh: Duration::from_millis(fresh_ms),
            meanwhile: Duration::from_millis(meanwhile_ms),
            in_trouble: Duration::from_millis(in_trouble_ms),
        }
    }
}

/// What becomes of an answer that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Kept, for that long.
    Keep(Life),
    /// Not kept; whoever waited for it gets it too. What was kept of the same question still holds.
    Share,
    /// The same, and what was kept of the same question is over.
    End,
    /// For the one who asked and nobody else, and what was kept is over.
    Alone,
}

impl Verdict {
    /// On an answer that passes as it comes: nobody else can have it.
    pub(super) const fn passing(status: u16) -> Self {
        if is_trouble(status) { Self::Share } else { Self::Alone }
    }
}

/// Of the service, for now: it says nothing about what was answered before.
const fn is_trouble(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// The times of the settings.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    running: Life,
    ended: Life,
    list: Life,
    poll: Life,
    constant: Life,
    largest: usize,
}

impl Policy {
    pub(super) const fn new(settings: &Settings) -> Self {
        Self {
            running: Life::of(settings.task_running),
            ended: Life::of(settings.task_ended),
            list: Life::of(settings.list),
            poll: Life::of(settings.poll),
            constant: Life::of(settings.constant),
            largest: settings.answer_bytes,
        }
    }

    /// The longest any answer is kept.
    pub(super) fn longest(&self) -> Duration {
        let all = [self.running, self.ended, self.list, self.poll, self.constant];
        all.into_iter().map(Life::whole).max().unwrap_or_default()
    }

    /// What becomes of an answer. `has_ended`: the task it is about had ended when it was asked for.
    pub(super) fn judge(&self, keep: Keep, has_ended: bool, fetched: &Fetched, now: OffsetDateTime) -> Verdict {
        match fetched.status {
            200 => {}
            // It is about this caller's credential, which is another one for the next.
            401 | 403 => return Verdict::Alone,
            status if is_trouble(status) => return Verdict::Share,
            _ => return Verdict::End,
        }
        if forbids(&fetched.headers) {
            return Verdict::Alone;
        }
        let life = match keep {
            Keep::Never => return Verdict::End,
            Keep::Task | Keep::OfTask if has_ended => self.ended,
            Keep::Task | Keep::OfTask => self.running,
            Keep::List => self.list,
            Keep::Poll => self.poll,
            Keep::Constant => self.constant,
        };
        let life = bounded(life, &fetched.headers, now);
        if fetched.body.len() > self.largest || life.whole().is_zero() { Verdict::End } else { Verdict::Keep(life) }
    }
}

/// Whether the headers say that it must not be kept, or that it is not the whole of an answer for everybody with this key.
fn forbids(headers: &HeaderMap) -> bool {
    let mut control = directives(headers).map(|(name, _)| name);
    control.any(|name| [NO_STORE, "private", "no-cache"].iter().any(|word| name.eq_ignore_ascii_case(word)))
        || (!headers.contains_key(CACHE_CONTROL) && words(headers, &PRAGMA).any(|word| word.eq_ignore_ascii_case("no-cache")))
        || headers.contains_key(SET_COOKIE)
        || headers.contains_key(CONTENT_RANGE)
        || words(headers, &CONTENT_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("identity"))
        || words(headers, &VARY).any(|name| !NEVER_VARIES.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Whether the service says that nobody may store it.
pub(in crate::gateway) fn is_no_store(headers: &HeaderMap) -> bool {
    directives(headers).any(|(name, _)| name.eq_ignore_ascii_case(NO_STORE))
}

/// Request headers that an answer may vary on: those that are part of the key, and those that never get to the service.
const NEVER_VARIES: [&str; 10] = [
    "accept-language",
    "content-type",
    "x-user-language",
    "languages",
    "authorization",
    "accept-encoding",
    "cookie",
    "origin",
    "access-control-request-method",
    "access-control-request-headers",
];

/// The times of the settings, and none longer than the service allows.
fn bounded(life: Life, headers: &HeaderMap, now: OffsetDateTime) -> Life {
    let seconds = |wanted: &str| {
        let found = directives(headers).filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value);
        // Of two, the one that allows less (RFC 9111, 4.2.1).
        found.map(|value| Duration::from_secs(value.and_then(|text| text.parse().ok()).unwrap_or(0))).min()
    };
    let says = |wanted: &str| directives(headers).any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let for_shared = seconds("s-maxage");
    let Some(lifetime) = for_shared.or_else(|| seconds("max-age")).or_else(|| until_expires(headers, now)) else {
        let strict = says("must-revalidate") || says("proxy-revalidate");
        return if strict { Life { fresh: life.fresh, ..Life::NONE } } else { life };
    };
    let age = words(headers, &AGE).next().map_or(0, |text| text.parse().unwrap_or(u64::MAX));
    let fresh = life.fresh.min(lifetime.saturating_sub(Duration::from_secs(age)));
    if for_shared.is_some() || says("must-revalidate") || says("proxy-revalidate") {
        return Life { fresh, ..Life::NONE };
    }
    Life {
        fresh,
        // Whoever says how long it is fresh says so too when it may be given out stale.
        meanwhile: life.meanwhile.min(seconds("stale-while-revalidate").unwrap_or_default()),
        in_trouble: life.in_trouble.min(seconds("stale-if-error").unwrap_or(Duration::MAX)),
    }
}

/// How long until `Expires`; a date that is none is over (RFC 9111, 5.3).
fn until_expires(headers: &HeaderMap, now: OffsetDateTime) -> Option<Duration> {
    let expires = headers.get(EXPIRES)?;
    let from = headers.get(DATE).and_then(date).unwrap_or(now);
    Some(date(expires).and_then(|at| Duration::try_from(at - from).ok()).unwrap_or_default())
}

/// A date as headers write it.
pub(super) fn date(value: &http::HeaderValue) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(value.to_str().ok()?, &Rfc2822).ok()
}

/// What `Cache-Control` says. One that does not follow the grammar (`no-store;`, `max-age=60 private`, a line that is no text) may
/// be meant to forbid it, so it does.
fn directives(headers: &HeaderMap) -> impl Iterator<Item = (&str, Option<&str>)> {
    words(headers, &CACHE_CONTROL).map(|word| directive(word).unwrap_or((NO_STORE, None)))
}

/// RFC 9111, 5.2; a comma within quotes is not looked for: such a value is two words that are none.
fn directive(word: &str) -> Option<(&str, Option<&str>)> {
    let Some((name, value)) = word.split_once('=') else { return is_token(word).then_some((word, None)) };
    let (name, value) = (name.trim_end(), value.trim_start());
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inside| !inside.contains('"'));
    let value = quoted.or_else(|| is_token(value).then_some(value))?;
    is_token(name).then_some((name, Some(value)))
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

const NO_STORE: &str = "no-store";

/// The members of a list header. One that is no text counts as a word of its own, which is no token.
fn words<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::*;
    use crate::gateway::cache::tests::settings;

    const NOW: OffsetDateTime = time::macros::datetime!(2026-11-28 12:00 UTC);

    fn judged(keep: Keep, has_ended: bool, status: u16, lines: &[(&'static str, &'static str)]) -> Verdict {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let fetched = Fetched { status, headers, body: Bytes::from_static(b"{}") };
        Policy::new(&settings()).judge(keep, has_ended, &fetched, NOW)
    }

    fn life(lines: &[(&'static str, &'static str)]) -> (u64, u64, u64) {
        let Verdict::Keep(life) = judged(Keep::Task, true, 200, lines) else { panic!("{lines:?}") };
        (life.fresh.as_secs(), life.meanwhile.as_secs(), life.in_trouble.as_secs())
    }

    #[test]
    fn each_kind_has_the_times_of_its_settings() {
        let settings = settings();
        let kinds = [
            (Keep::Task, false, settings.task_running),
            (Keep::OfTask, false, settings.task_running),
            (Keep::Task, true, settings.task_ended),
            (Keep::OfTask, true, settings.task_ended),
            (Keep::List, true, settings.list),
            (Keep::Poll, false, settings.poll),
            (Keep::Constant, false, settings.constant),
        ];
        for (keep, has_ended, expected) in kinds {
            assert_eq!(judged(keep, has_ended, 200, &[]), Verdict::Keep(Life::of(expected)), "{keep:?}");
        }
        assert_eq!(judged(Keep::Never, false, 200, &[]), Verdict::End);
    }

    #[test]
    fn what_forbids_it_is_never_kept_and_never_shared() {
        for line in [
            ("cache-control", "no-store"),
            ("cache-control", "No-Store"),
            ("cache-control", "max-age=60, private"),
            ("cache-control", "private=\"x-a, x-b\""),
            ("cache-control", "no-cache"),
            ("pragma", "no-cache"),
            ("set-cookie", "a=b"),
            ("vary", "*"),
            ("vary", "accept-language, X-Custom"),
            ("content-encoding", "gzip"),
            ("content-range", "bytes 0-1/2"),
        ] {
            assert_eq!(judged(Keep::Constant, false, 200, &[line]), Verdict::Alone, "{line:?}");
        }
        for lines in [
            [("cache-control", "max-age=9"), ("cache-control", "no-store")],
            [("cache-control", "public"), ("cache-control", "private")],
            [("pragma", "x"), ("pragma", "no-cache")],
        ] {
            assert_eq!(judged(Keep::List, false, 200, &lines), Verdict::Alone, "{lines:?}");
        }
        for line in
            [("vary", "Accept-Language, Accept-Encoding, Origin"), ("content-encoding", "identity"), ("cache-control", "public")]
        {
            assert!(matches!(judged(Keep::Constant, false, 200, &[line]), Verdict::Keep(_)), "{line:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_as_a_directive_forbids_it() {
        for line in [
            "no-store;",
            "\"no-store\"",
            "max-age=60; private",
            "max-age=60 no-store",
            "max-age 60",
            "max-age: 60",
            "max-age=",
            "=60",
            "public, max-age=\"60",
            "max-age=\"6\"0\"",
            "x=\"a, no-store\"",
            "?",
        ] {
            assert_eq!(judged(Keep::Constant, false, 200, &[("cache-control", line)]), Verdict::Alone, "{line}");
        }
        for line in ["public, x-a=b, max-age=60", "x=\"a b; c\"", "max-age = 60", ", ,public,"] {
            assert!(matches!(judged(Keep::Constant, false, 200, &[("cache-control", line)]), Verdict::Keep(_)), "{line}");
        }
    }

    #[test]
    fn a_line_with_a_byte_that_is_no_text_forbids_it_whatever_else_is_said() {
        for line in [b"no-store, x=\xe9".as_slice(), b"private, \xff", b"max-age=60, x=\"\xc3\xa9\""] {
            let mut headers = HeaderMap::new();
            headers.append(CACHE_CONTROL, HeaderValue::from_static("max-age=60"));
            headers.append(CACHE_CONTROL, HeaderValue::from_bytes(line).unwrap());
            assert!(is_no_store(&headers), "{line:?}");
            let fetched = Fetched { status: 200, headers, body: Bytes::from_static(b"{}") };
            assert_eq!(Policy::new(&settings()).judge(Keep::List, false, &fetched, NOW), Verdict::Alone, "{line:?}");
        }
    }

    #[test]
    fn only_200_is_kept() {
        for (status, expected) in [
            (206, Verdict::End),
            (204, Verdict::End),
            (304, Verdict::End),
            (302, Verdict::End),
            (400, Verdict::End),
            (404, Verdict::End),
            (410, Verdict::End),
            (401, Verdict::Alone),
            (403, Verdict::Alone),
            (429, Verdict::Share),
            (500, Verdict::Share),
            (503, Verdict::Share),
        ] {
            assert_eq!(judged(Keep::Constant, false, status, &[]), expected, "{status}");
        }
    }

    #[test]
    fn an_answer_that_is_too_large_is_not_kept() {
        let mut settings = settings();
        settings.answer_bytes = 10;
        let judge = |length: usize| {
            let fetched = Fetched { status: 200, headers: HeaderMap::new(), body: Bytes::from(vec![b'x'; length]) };
            Policy::new(&settings).judge(Keep::List, false, &fetched, NOW)
        };
        assert!(matches!(judge(10), Verdict::Keep(_)));
        assert_eq!(judge(11), Verdict::End);
    }

    #[test]
    fn the_service_can_make_the_times_shorter_and_never_longer() {
        // The settings of an ended task: 300, 60 and 3600 seconds.
        assert_eq!(life(&[]), (300, 60, 3600));
        assert_eq!(life(&[("cache-control", "max-age=20")]), (20, 0, 3600));
        assert_eq!(life(&[("cache-control", "max-age=\"20\"")]), (20, 0, 3600));
        assert_eq!(life(&[("cache-control", "max-age=99999, stale-while-revalidate=5, stale-if-error=7")]), (300, 5, 7));
        assert_eq!(life(&[("cache-control", "max-age=20"), ("age", "15")]), (5, 0, 3600));
        assert_eq!(life(&[("cache-control", "max-age=90"), ("cache-control", "max-age=20")]), (20, 0, 3600));
        assert_eq!(life(&[("cache-control", "max-age=20, s-maxage=9")]), (9, 0, 0));
        assert_eq!(life(&[("cache-control", "max-age=20, must-revalidate")]), (20, 0, 0));
        assert_eq!(life(&[("cache-control", "must-revalidate")]), (300, 0, 0));
        assert_eq!(life(&[("cache-control", "max-age=nonsense")]), (0, 0, 3600));
        assert_eq!(life(&[("expires", "Sat, 28 Nov 2026 12:00:40 GMT")]), (40, 0, 3600));
        assert_eq!(
            life(&[("expires", "Sat, 28 Nov 2026 12:00:40 GMT"), ("date", "Sat, 28 Nov 2026 12:00:30 GMT")]),
            (10, 0, 3600)
        );
        assert_eq!(life(&[("expires", "0")]), (0, 0, 3600));
        assert_eq!(judged(Keep::Task, true, 200, &[("cache-control", "max-age=0, must-revalidate")]), Verdict::End);
    }
}
