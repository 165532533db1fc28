//! The time one analysis may take, and whether somebody asked it to stop. Looked at wherever bytes that somebody crafted
//! could make work without end; decides nothing about what becomes of the rest.

use std::time::Duration;

use super::finding::Watch;
use crate::platform::clock::{Clock, Timestamp};

/// Work between two looks at the clock: a look costs more than a comparison.
const LOOK_EVERY: u64 = 4096;

/// Why the rest is left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// Somebody asked for it.
    Stopped,
    /// The time is over.
    Time,
}

/// The budget of one analysis, which began when this was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget<'a> {
    clock: &'a Clock,
    watch: &'a Watch,
    started: Timestamp,
    seconds: u64,
}

impl<'a> Budget<'a> {
    pub(super) fn new(clock: &'a Clock, watch: &'a Watch, seconds: u64) -> Self {
        Self { clock, watch, started: clock.now(), seconds }
    }

    /// Whether there is any left.
    pub(super) fn check(&self) -> Result<(), Spent> {
        if self.watch.is_stopped() {
            return Err(Spent::Stopped);
        }
        let taken = self.clock.now().since(self.started);
        if taken > Duration::from_secs(self.seconds) { Err(Spent::Time) } else { Ok(()) }
    }
}

/// Looks at a budget now and then, and remembers that it was spent.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    budget: &'a Budget<'a>,
    left: u64,
    pub(super) is_spent: bool,
}

impl<'a> Pace<'a> {
    pub(super) const fn new(budget: &'a Budget<'a>) -> Self {
        Self { budget, left: 0, is_spent: false }
    }

    /// Counts `work` pieces of about the cost of a comparison; whether to go on.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        let work = (work as u64).max(1);
        if !self.is_spent && self.left < work {
            self.is_spent = self.budget.check().is_err();
            self.left = LOOK_EVERY.max(work);
        }
        self.left = self.left.saturating_sub(work);
        !self.is_spent
    }
}
