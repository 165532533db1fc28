//! Slows guessing of passwords: a few free tries for a name and for a network, then a wait that doubles. A wait holds for right
//! passwords too, so it tells nothing, and it is short, so nobody is locked out by a stranger for long.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::platform::clock::Timestamp;
use crate::platform::digest::sha256;

const FREE_PER_NAME: u32 = 5;
const FREE_PER_NETWORK: u32 = 30;
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Wrong tries are forgotten after this long.
const REMEMBERED: Duration = Duration::from_mins(15);
/// More than this many names and networks are not kept; the oldest go first.
const MOST: usize = 10_000;

/// Wrong tries by name and by network.
#[derive(Default)]
pub(super) struct Attempts(HashMap<[u8; 32], Wrong>);

struct Wrong {
    count: u32,
    last: Timestamp,
}

fn keys(name: &str, network: Option<IpAddr>) -> [([u8; 32], u32); 2] {
    let network = match network {
        Some(IpAddr::V6(address)) => format!("{:x?}", address.segments().first_chunk::<4>()),
        Some(IpAddr::V4(address)) => address.to_string(),
        None => String::new(),
    };
    [
        (sha256(format!("name {}", name.trim().to_lowercase()).as_bytes()), FREE_PER_NAME),
        (sha256(format!("network {network}").as_bytes()), FREE_PER_NETWORK),
    ]
}

impl Attempts {
    /// How long this name from this network has to wait; none when it may try.
    pub(super) fn wait(&self, name: &str, network: Option<IpAddr>, now: Timestamp) -> Option<Duration> {
        let longest = keys(name, network)
            .into_iter()
            .filter_map(|(key, free)| {
                let wrong = self.0.get(&key)?;
                let over = wrong.count.checked_sub(free)?;
                let wait = Duration::from_secs(1_u64.checked_shl(over).unwrap_or(u64::MAX)).min(LONGEST_WAIT);
                Some(wait.saturating_sub(now.since(wrong.last)))
            })
            .max()?;
        (!longest.is_zero()).then_some(longest)
    }

    /// Counts a wrong try.
    pub(super) fn wrong(&mut self, name: &str, network: Option<IpAddr>, now: Timestamp) {
        self.0.retain(|_, wrong| now.since(wrong.last) < REMEMBERED);
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, wrong)| wrong.last).map(|(key, _)| *key)
        {
            self.0.remove(&oldest);
        }
        for (key, _) in keys(name, network) {
            let wrong = self.0.entry(key).or_insert(Wrong { count: 0, last: now });
            wrong.count = wrong.count.saturating_add(1);
            wrong.last = now;
        }
    }

    /// A right password: the name starts anew.
    pub(super) fn right(&mut self, name: &str, network: Option<IpAddr>) {
        let [(name, _), _] = keys(name, network);
        self.0.remove(&name);
    }
}
