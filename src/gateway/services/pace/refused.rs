//! Server keys that a scanning service has refused a moment ago: while one is replaced, calls begin with the other one. That
//! matters for what can be sent only once. Each replica finds out for itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::shelves::lock;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::{Clock, Timestamp};

/// Those of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Refused(Arc<Inner>);

struct Inner {
    keys: Mutex<HashMap<(TenantId, String), Timestamp>>,
    /// How long a key that was refused comes last.
    last: Duration,
    clock: Clock,
}

impl Refused {
    /// None was. One that will be comes last for `last`.
    pub(in crate::gateway) fn new(last: Duration, clock: Clock) -> Self {
        Self(Arc::new(Inner { keys: Mutex::default(), last, clock }))
    }

    /// The service does not believe the key of this id.
    pub(in crate::gateway) fn note(&self, tenant: &TenantId, id: &str) {
        let (mut keys, now) = (lock(&self.0.keys), self.0.clock.now());
        keys.retain(|_, since| now.since(*since) < self.0.last);
        keys.insert((tenant.clone(), id.to_owned()), now);
    }

    /// When it was refused, if that was a moment ago. Keys sort by it: one that was not comes first, then the one whose refusal is
    /// the longest ago.
    pub(in crate::gateway) fn since(&self, tenant: &TenantId, id: &str) -> Option<Timestamp> {
        let keys = lock(&self.0.keys);
        if keys.is_empty() {
            return None;
        }
        let since = keys.get(&(tenant.clone(), id.to_owned())).copied();
        since.filter(|since| self.0.clock.now().since(*since) < self.0.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Duration = Duration::from_mins(1);

    #[test]
    fn a_refused_key_comes_last_for_as_long_as_it_is_set_and_for_its_tenant_only() {
        let (acme, globex) = (TenantId::parse("acme").unwrap(), TenantId::parse("globex").unwrap());
        let clock = Clock::manual(Timestamp(1_800_000_000_000));
        let refused = Refused::new(LAST, clock.clone());
        let order = |tenant| {
            let mut keys = ["a", "b"];
            keys.sort_by_key(|id| refused.since(tenant, id));
            keys
        };
        assert_eq!(order(&acme), ["a", "b"]);
        refused.note(&acme, "a");
        assert_eq!((order(&acme), order(&globex)), (["b", "a"], ["a", "b"]));
        clock.advance(Duration::from_secs(20));
        refused.note(&acme, "b");
        assert_eq!(order(&acme), ["a", "b"], "both were: the first one is longer ago");
        clock.advance(Duration::from_secs(45));
        assert_eq!(order(&acme), ["a", "b"]);
        refused.note(&acme, "a");
        assert_eq!(order(&acme), ["b", "a"]);
        clock.advance(LAST);
        assert_eq!((order(&acme), refused.since(&acme, "a")), (["a", "b"], None));
    }
}
