//! One allowance in a window that slides: what was used in this window, and the part of the last one that still counts.
//! Several replicas use it together; what the others have used is known as it was a moment ago.

use std::time::Duration;

use crate::platform::clock::Timestamp;

/// A point in time as windows see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Number of the window; the same on every replica whose clock is right.
    pub(super) window: u64,
    /// Milliseconds since it began, and its whole length.
    since: u64,
    length: u64,
}

impl Moment {
    pub(super) fn at(now: Timestamp, window: Duration) -> Self {
        let length = u64::try_from(window.as_millis()).unwrap_or(u64::MAX).max(1);
        let now = u64::try_from(now.0).unwrap_or(0);
        Self { window: now / length, since: now % length, length }
    }

    /// Until the window ends.
    pub(super) const fn left(self) -> Duration {
        Duration::from_millis(self.length - self.since)
    }
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) window: u64,
    /// In the window before this one.
    before: u64,
    /// As far as all replicas know of each other.
    shared: u64,
    /// On its way to the others.
    flying: u64,
    /// Here, and nobody else knows yet.
    fresh: u64,
}

impl Used {
    /// Uses one of `limit` and says how many are left; `Err`: none was, one will be after this.
    pub(super) fn take(&mut self, limit: u64, now: Moment) -> Result<u64, Duration> {
        self.turn(now.window);
        // What is left of the part that still counts, rounded up.
        let sliding = (self.before * (now.length - now.since)).div_ceil(now.length);
        let used = sliding.saturating_add(self.here());
        if used >= limit {
            return Err(self.wait(limit, now));
        }
        self.fresh += 1;
        Ok(limit - used - 1)
    }

    /// Gives one back that was taken and not used.
    pub(super) const fn give_back(&mut self) {
        self.fresh = self.fresh.saturating_sub(1);
    }

    /// Whether nobody else knows yet of exactly one.
    pub(super) const fn is_first_fresh(&self) -> bool {
        self.fresh == 1
    }

    /// Takes what nobody else knows yet on its way. How many, and of which window.
    pub(super) const fn send(&mut self) -> (u64, u64) {
        let sent = self.fresh;
        self.flying += sent;
        self.fresh = 0;
        (self.window, sent)
    }

    /// What was sent has arrived, and all replicas together have used `total`; `None`: it may have been lost, so it counts
    /// here only.
    pub(super) fn arrived(&mut self, (window, sent): (u64, u64), total: Option<u64>) {
        if window == self.window {
            self.flying = self.flying.saturating_sub(sent);
            self.shared = (self.shared + sent).max(total.unwrap_or(0));
        } else if window + 1 == self.window {
            self.before = self.before.max(total.unwrap_or(0));
        }
    }

    const fn here(&self) -> u64 {
        self.shared.saturating_add(self.flying).saturating_add(self.fresh)
    }

    /// Goes on to `window`. A clock that goes back changes nothing.
    const fn turn(&mut self, window: u64) {
        if window > self.window {
            let before = if window == self.window + 1 { self.here() } else { 0 };
            *self = Self { window, before, shared: 0, flying: 0, fresh: 0 };
        }
    }

    /// When one of `limit` is free, as things stand now.
    fn wait(&self, limit: u64, now: Moment) -> Duration {
        let (here, length) = (self.here(), now.length);
        // Point of a window at which `of` from the window before leave room for one more beside `beside`.
        let point = |of: u64, beside: u64| length - (limit.saturating_sub(1 + beside) * length / of.max(1)).min(length);
        let wait =
            if here < limit { point(self.before, here).saturating_sub(now.since) } else { length - now.since + point(here, 0) };
        Duration::from_millis(wait + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_mins(1);

    fn at(seconds: f64) -> Moment {
        #[expect(clippy::cast_possible_truncation, reason = "small numbers of a test")]
        Moment::at(Timestamp(1_800_000_000_000 + (seconds * 1000.0) as i64), LENGTH)
    }

    fn taken(used: &mut Used, limit: u64, now: Moment) -> usize {
        (0..1000).take_while(|_| used.take(limit, now).is_ok()).count()
    }

    #[test]
    fn a_window_gives_its_limit_and_the_next_one_more_and_more_of_it() {
        let mut used = Used::default();
        assert_eq!(used.take(100, at(10.0)), Ok(99));
        assert_eq!(taken(&mut used, 100, at(20.0)), 99);
        assert_eq!(taken(&mut used, 100, at(59.9)), 0);
        assert_eq!(taken(&mut used, 100, at(60.0)), 0, "no double burst over the edge");
        assert_eq!(taken(&mut used, 100, at(90.0)), 50);
        assert_eq!(taken(&mut used, 100, at(300.0)), 100);
    }

    #[test]
    fn the_wait_that_is_told_is_enough_and_not_much_too_long() {
        for limit in [1, 2, 7, 100] {
            for begin in [0.0, 17.3, 59.0] {
                let mut used = Used::default();
                taken(&mut used, limit, at(begin));
                for _ in 0..5 {
                    let mut now = at(begin);
                    let wait = used.take(limit, now).unwrap_err();
                    now = at(begin + wait.as_secs_f64());
                    assert!(used.clone().take(limit, now).is_ok(), "{limit} from {begin}: {wait:?}");
                    let early = at(begin + wait.as_secs_f64() - 0.7);
                    assert!(limit > 60 || used.clone().take(limit, early).is_err(), "{limit} from {begin}: {wait:?}");
                }
            }
        }
    }

    #[test]
    fn what_others_used_counts_once_it_is_known_and_what_was_lost_counts_here() {
        let mut used = Used::default();
        taken(&mut used, 10, at(0.0));
        let sent = used.send();
        assert_eq!(sent.1, 10);
        assert!(used.take(20, at(1.0)).is_ok(), "what flies counts, the rest is free");
        used.arrived(sent, Some(18));
        assert_eq!(taken(&mut used, 20, at(1.0)), 1, "18 of all and the one that came meanwhile");
        let sent = used.send();
        used.arrived(sent, None);
        assert_eq!(taken(&mut used, 20, at(1.0)), 0);
        let mut late = Used::default();
        taken(&mut late, 5, at(59.0));
        let sent = late.send();
        assert!(late.take(100, at(60.0)).is_ok());
        late.arrived(sent, Some(100));
        assert!(late.take(100, at(60.0)).is_err(), "a total of the window before counts as that");
    }

    #[test]
    fn what_is_given_back_is_free_and_a_clock_that_goes_back_frees_nothing() {
        let mut used = Used::default();
        assert_eq!(taken(&mut used, 3, at(61.0)), 3);
        used.give_back();
        assert_eq!(taken(&mut used, 3, at(61.0)), 1);
        assert_eq!(taken(&mut used, 3, at(0.0)), 0);
    }

    proptest::proptest! {
        /// Whatever the rhythm, a window gives no more than its limit, and any half of one, over an edge too, half as much more.
        #[test]
        fn no_rhythm_gets_more_than_the_limit(limit in 1_u64..50, steps in proptest::collection::vec(1_u32..4000, 1..300)) {
            let mut used = Used::default();
            let (mut now, mut taken) = (0_i64, Vec::new());
            for step in steps {
                now += i64::from(step);
                if used.take(limit, Moment::at(Timestamp(1_800_000_000_000 + now), LENGTH)).is_ok() {
                    taken.push(now);
                }
            }
            for begin in &taken {
                let of_window = taken.iter().filter(|at| *at / 60_000 == begin / 60_000).count() as u64;
                proptest::prop_assert!(of_window <= limit);
                let half = taken.iter().filter(|at| (*begin..begin + 30_000).contains(at)).count() as u64;
                proptest::prop_assert!(half <= limit + limit / 2 + 1, "{half} of {limit}");
            }
        }
    }
}
