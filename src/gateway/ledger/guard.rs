//! Counts wrong codes. Guessing is bounded four times: per share and network, per share, in the life of a code, and per network at
//! all shares of a company. A try from a network counts before the code is looked at, so that parallel tries cannot slip through;
//! while it is open whether those that are looked at are wrong, the next ones wait, because right ones never count in the end.
//! Made-up ids are counted alike, so that nothing tells them from real ones; their last count is forgotten soon, and who tries many
//! is not counted there any more, so that no stranger fills the store.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Ledger;
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Count, Key, Store, Unavailable};

/// How long wrong codes are remembered for the count in a life: longer than any share lives.
const LIFETIME: Duration = Duration::from_hours(400 * 24);

/// What a wrong code adds to the number of its network's tries.
const WRONG: u64 = 1 << 32;
/// Between two looks at what became of other tries; longer from time to time.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// A try to open a share with a code.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Try<'t> {
    pub(in crate::gateway) tenant: &'t TenantId,
    pub(in crate::gateway) mark: &'t Mark,
    /// [`Entry::codes`]; 0 where there is no entry. A new code is counted anew.
    pub(in crate::gateway) codes: u64,
    /// The caller's network, masked.
    pub(in crate::gateway) network: &'t str,
}

impl<'t> Try<'t> {
    /// At a share as it is known here, or at one that is not.
    pub(in crate::gateway) fn at((tenant, mark): (&'t TenantId, &'t Mark), entry: Option<&Entry>, network: &'t str) -> Self {
        Self { tenant, mark, codes: entry.map_or(0, |entry| entry.codes), network }
    }
}

/// How a share stands with its guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Locks {
    /// Everybody waits so long.
    pub(in crate::gateway) locked_for: Option<Duration>,
    /// Wrong codes in the life of this code.
    pub(in crate::gateway) wrong: u64,
}

/// What holds for a network at all shares of a company together.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Brake {
    most: u64,
    window: Duration,
}

impl Brake {
    /// `most` wrong codes within so many minutes.
    pub(in crate::gateway) const fn new(most: u32, within: u32) -> Self {
        Self { most: most as u64, window: minutes(within) }
    }
}

/// The counters. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Guard(Store, Brake);

impl Ledger {
    pub(in crate::gateway) fn guard(&self) -> Guard {
        Guard(self.store.clone(), self.brake)
    }
}

impl Guard {
    /// Counts a try, and says whether its code is looked at. While everybody waits, a network that nobody has tried from is
    /// looked at all the same, once: whoever has the right code gets in however many others guess, until the code is dead.
    /// Where other tries of the network are looked at just now, it waits up to `patience` for what comes of them.
    pub(in crate::gateway) async fn admit(
        &self,
        attempt: Try<'_>,
        policy: &SharePolicy,
        patience: Duration,
    ) -> Result<Admission, Unavailable> {
        let until = Instant::now() + patience;
        let mut pause = PAUSE;
        loop {
            let (admission, most) = self.counted(attempt, policy).await?;
            if matches!(admission, Admission::Look { .. }) {
                return Ok(admission);
            }
            loop {
                let value = self.0.peek(&from_network(attempt)).await?.map_or(0, |count| count.value);
                let is_decided = value / WRONG >= most || self.is_braked(attempt).await?.is_some();
                if is_decided || Instant::now() + pause > until {
                    return Ok(admission);
                }
                if value % WRONG < most {
                    break;
                }
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Whether a network waits at all shares.
    async fn is_braked(&self, attempt: Try<'_>) -> Result<Option<Count>, Unavailable> {
        Ok(self.0.peek(&over_all(attempt)).await?.filter(|count| count.value >= self.1.most))
    }

    /// Counts a try. With how many of its network are looked at: one where everybody waits, else as the policy has it.
    async fn counted(&self, attempt: Try<'_>, policy: &SharePolicy) -> Result<(Admission, u64), Unavailable> {
        let lock = locked(attempt);
        let (braked, lock) = futures_util::future::try_join(self.is_braked(attempt), self.0.peek(&lock)).await?;
        if let Some(count) = braked {
            return Ok((Admission::Wait { seconds: wait(count), over: 0 }, 1));
        }
        let count = self.0.count(&from_network(attempt), minutes(policy.network_minutes)).await?;
        let tries = count.value % WRONG;
        let most = u64::from(policy.wrong_by_network);
        let looked_at = if lock.is_some() { 1 } else { most };
        let admission = match lock {
            _ if tries > most => Admission::Wait { seconds: wait(count), over: tries - most },
            Some(lock) if tries > 1 => Admission::Wait { seconds: wait(lock), over: 0 },
            Some(lock) => Admission::Look { locked_for: Some(wait(lock)) },
            None => Admission::Look { locked_for: None },
        };
        Ok((admission, looked_at))
    }

    /// Counts a wrong code. What this one brought about, if anything.
    pub(in crate::gateway) async fn wrong(
        &self,
        attempt: Try<'_>,
        is_real: bool,
        policy: &SharePolicy,
    ) -> Result<Option<Reached>, Unavailable> {
        let window = minutes(policy.anywhere_minutes);
        let count = self.0.count(&anywhere(attempt), window).await?;
        let here = self.0.count_by(&from_network(attempt), WRONG, minutes(policy.network_minutes)).await?;
        let life = self.0.count(&in_life(attempt), if is_real { LIFETIME } else { window }).await?;
        // While everybody waits, a network has one try here: that fills nothing, and who guesses from many is counted by share.
        if self.0.peek(&locked(attempt)).await?.is_none() {
            self.0.count(&over_all(attempt), self.1.window).await?;
        }
        let waits = here.value % WRONG >= u64::from(policy.wrong_by_network);
        let mut reached = waits.then_some(Reached::NetworkWaits(here.resets_in));
        if count.value >= u64::from(policy.wrong_anywhere) {
            let lock = self.0.count(&locked(attempt), minutes(policy.locked_minutes)).await?;
            self.0.reset(&anywhere(attempt)).await?;
            reached = (lock.value == 1).then_some(Reached::Locked).or(reached);
        }
        if is_real && life.value >= u64::from(policy.wrong_in_life) {
            reached = Some(Reached::Dead);
        }
        Ok(reached)
    }

    /// A right code clears the count of its network.
    pub(in crate::gateway) async fn clear(&self, attempt: Try<'_>) -> Result<(), Unavailable> {
        self.0.reset(&from_network(attempt)).await
    }

    /// Counts somebody who came in vain and guessed nothing, and says whether that is worth a line in the log: the first of a
    /// network, then the second, the fourth, the eighth.
    pub(in crate::gateway) async fn late(&self, attempt: Try<'_>, policy: &SharePolicy) -> Result<bool, Unavailable> {
        let count = self.0.count(&late_from_network(attempt), minutes(policy.network_minutes)).await?;
        Ok(count.value.is_power_of_two())
    }

    /// How a share stands, for its owner.
    pub(in crate::gateway) async fn locks(&self, tenant: &TenantId, mark: &Mark, codes: u64) -> Result<Locks, Unavailable> {
        let of = Try { tenant, mark, codes, network: "" };
        let (lock, life) = (self.0.peek(&locked(of)).await?, self.0.peek(&in_life(of)).await?);
        Ok(Locks { locked_for: lock.map(|lock| lock.resets_in), wrong: life.map_or(0, |life| life.value) })
    }
}

/// Whether a code is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Admission {
    /// It is. With `locked_for` a wrong one is answered like all the others that wait so many seconds.
    Look { locked_for: Option<u64> },
    /// It is not. The network has tried so often beyond what it may; 0 where something else makes it wait.
    Wait { seconds: u64, over: u64 },
}

/// What a wrong code brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Reached {
    /// Its network waits so long.
    NetworkWaits(Duration),
    /// Everybody waits.
    Locked,
    /// The code is dead.
    Dead,
}

fn wait(count: Count) -> u64 {
    count.resets_in.as_secs().max(1)
}

const fn minutes(number: u32) -> Duration {
    Duration::from_secs(60 * number as u64)
}

/// All tries, wrong ones and those of which it is not known yet; and [`WRONG`] for each wrong one. One number, because a record
/// more for each network is what a siege costs.
fn from_network(attempt: Try<'_>) -> Key {
    of_network("share-tries", attempt)
}

fn late_from_network(attempt: Try<'_>) -> Key {
    of_network("share-tries-late", attempt)
}

fn of_network(kind: &'static str, attempt: Try<'_>) -> Key {
    Key::hashed(attempt.tenant, kind, &format!("{} {} {}", attempt.network, attempt.codes, attempt.mark.as_str()))
}

fn over_all(attempt: Try<'_>) -> Key {
    Key::hashed(attempt.tenant, "share-tries-all", attempt.network)
}

fn anywhere(attempt: Try<'_>) -> Key {
    named("share-wrong", attempt)
}

fn locked(attempt: Try<'_>) -> Key {
    named("share-locked", attempt)
}

fn in_life(attempt: Try<'_>) -> Key {
    named("share-wrong-life", attempt)
}

fn named(kind: &'static str, attempt: Try<'_>) -> Key {
    Key::new(attempt.tenant, kind, &format!("{}.{}", attempt.mark.as_str(), attempt.codes))
}
