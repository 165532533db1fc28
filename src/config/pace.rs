//! Settings of the pace of API calls: how many are taken, and how the scanning service is spared.

/// How fast API calls may come, and what happens when a scanning service cannot keep up.
#[derive(Clone, Copy, Debug)]
pub struct Api {
    pub rate: Rate,
    pub breaker: Breaker,
    pub gate: Gate,
    pub retry: Retry,
}

/// Calls in a window of time.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub window_seconds: u64,
    /// Of all members of a tenant together, and of all callers without a credential together.
    pub per_tenant: u64,
    /// Of one person, API key or access token.
    pub per_caller: u64,
    /// From one address: an IPv4 address or an IPv6 /64.
    pub per_network: u64,
    /// Replicas tell each other what they counted this often.
    pub share_ms: u64,
    /// Callers and networks of a tenant that are counted one by one.
    pub tracked: usize,
}

/// When a service that fails is left alone for a while.
#[derive(Clone, Copy, Debug)]
pub struct Breaker {
    /// Failures in a row that open it.
    pub failures: u32,
    /// Or: this share of the calls in a window, when there were at least `least_calls`.
    pub failed_percent: u32,
    pub window_seconds: u64,
    pub least_calls: u32,
    /// How long it stays open before one call may try; doubles with each try that fails, up to `open_most_ms`.
    pub open_ms: u64,
    pub open_most_ms: u64,
}

/// How many calls of a tenant are at its service at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Of members.
    pub at_once: usize,
    /// Of them, those of one person, key or token.
    pub at_once_per_caller: usize,
    /// Of callers without a credential that is known.
    pub strangers_at_once: usize,
    /// How many more of either wait for a place, and how long.
    pub waiting: usize,
    pub wait_ms: u64,
    /// An access token is a member's this long after the service accepted it.
    pub proven_seconds: u64,
}

/// How many calls may be tried again.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Of the calls in a window.
    pub percent: u32,
    /// So many in a window in any case.
    pub least: u32,
    pub window_seconds: u64,
    /// A server key that the service refused is tried last for this long.
    pub refused_key_seconds: u64,
}
