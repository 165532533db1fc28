//! How often an account may make the service connect to somewhere.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::platform::clock::{Clock, Timestamp};

const MINUTE: Duration = Duration::from_mins(1);

/// Counts what accounts start within any minute.
pub(in crate::scanner) struct Allowance {
    per_minute: usize,
    clock: Clock,
    taken: Mutex<BTreeMap<String, VecDeque<Timestamp>>>,
}

impl Allowance {
    pub(in crate::scanner) fn new(per_minute: u32, clock: Clock) -> Self {
        Self { per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX), clock, taken: Mutex::default() }
    }

    /// Counts one more.
    ///
    /// # Errors
    /// When the minute is used up: how long until there is room again.
    pub(in crate::scanner) fn take(&self, account: &str) -> Result<(), Duration> {
        let now = self.clock.now();
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, times| {
            times.retain(|at| now.since(*at) < MINUTE);
            !times.is_empty()
        });
        let times = taken.entry(account.to_owned()).or_default();
        if let Some(first) = times.front().filter(|_| times.len() >= self.per_minute) {
            return Err(MINUTE.saturating_sub(now.since(*first)));
        }
        times.push_back(now);
        Ok(())
    }
}
