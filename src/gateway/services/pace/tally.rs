//! Two numbers counted over the last seconds: in a few parts of the window that are given up one by one.

use std::time::Duration;

use crate::platform::clock::Timestamp;

/// Parts of a window.
const PARTS: usize = 10;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everything.
    All,
    /// Those of it that matter: failures, or further tries.
    Marked,
}

/// The counts.
pub(super) struct Tally {
    /// Milliseconds of a part.
    part: u64,
    parts: [Part; PARTS],
}

#[derive(Clone, Copy, Default)]
struct Part {
    number: u64,
    all: u32,
    marked: u32,
}

impl Tally {
    /// Counts over `window`.
    pub(super) fn new(window: Duration) -> Self {
        let part = u64::try_from(window.as_millis()).unwrap_or(u64::MAX) / PARTS as u64;
        Self { part: part.max(1), parts: [Part::default(); PARTS] }
    }

    /// Counts one.
    pub(super) fn add(&mut self, kind: Kind, now: Timestamp) {
        let number = self.number(now);
        let Some(part) = usize::try_from(number % PARTS as u64).ok().and_then(|index| self.parts.get_mut(index)) else { return };
        if part.number != number {
            *part = Part { number, ..Part::default() };
        }
        match kind {
            Kind::All => part.all = part.all.saturating_add(1),
            Kind::Marked => part.marked = part.marked.saturating_add(1),
        }
    }

    /// All, and those of them that matter, in the window that ends now.
    pub(super) fn sums(&self, now: Timestamp) -> (u32, u32) {
        let number = self.number(now);
        let recent = self.parts.iter().filter(|part| part.number <= number && part.number + PARTS as u64 > number);
        recent.fold((0, 0), |sums, part| (sums.0.saturating_add(part.all), sums.1.saturating_add(part.marked)))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.parts = [Part::default(); PARTS];
    }

    fn number(&self, now: Timestamp) -> u64 {
        u64::try_from(now.0).unwrap_or(0) / self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_window_does_not_count() {
        let mut tally = Tally::new(Duration::from_secs(10));
        let at = |seconds: i64| Timestamp(1_800_000_000_000 + seconds * 1000);
        tally.add(Kind::All, at(0));
        tally.add(Kind::Marked, at(0));
        assert_eq!(tally.sums(at(0)), (1, 1));
        tally.add(Kind::All, at(6));
        assert_eq!(tally.sums(at(6)), (2, 1));
        assert_eq!(tally.sums(at(11)), (1, 0));
        assert_eq!(tally.sums(at(300)), (0, 0));
        assert_eq!(tally.sums(at(-300)), (0, 0), "a clock that went back");
        tally.add(Kind::All, at(300));
        tally.clear();
        assert_eq!(tally.sums(at(300)), (0, 0));
    }
}
