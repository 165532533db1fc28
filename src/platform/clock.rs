//! The one way to the time of day. Tests hold a manual clock and move it by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The instant `by` later; saturates at the end of time.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Whole seconds since the epoch.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The calendar form in UTC; the epoch when out of range.
    #[must_use]
    pub fn utc(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// RFC 3339 in UTC with milliseconds, e.g. `2026-11-28T01:10:30.250Z`: readable by JavaScript's `Date`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        self.utc().format(&Rfc3339).unwrap_or_default()
    }

    /// The same with three digits of the second always, so that it sorts as text.
    #[must_use]
    pub fn rfc3339_millis(self) -> String {
        let text = self.rfc3339();
        let text = text.trim_end_matches('Z');
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
        format!("{seconds}.{fraction:0<3}Z")
    }

    /// Reads RFC 3339 text; `None` when it is something else.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let parsed = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(parsed.unix_timestamp_nanos() / 1_000_000).ok().map(Self)
    }
}

/// Where "now" comes from. Cheap to clone; clones of a manual clock move together.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    #[must_use]
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(start.0))))
    }

    /// The present instant.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the wrapper the ban points to")]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Manual(at) => Timestamp(at.load(Ordering::SeqCst)),
        }
    }

    /// Moves a manual clock forward; the system clock stays as it is.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(at) = &self.0 {
            at.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }
}
