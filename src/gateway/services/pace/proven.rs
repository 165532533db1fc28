//! Access tokens that a tenant's scanning service has accepted a moment ago. Whoever brings another one is a stranger until the
//! service says otherwise: a text that somebody made up takes nothing of what members have. Each replica knows its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::shelves::lock;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::{Clock, Timestamp};

/// What stands for a token: a keyed hash, never the token.
type Fingerprint = [u8; 32];

/// Those of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Proven(Arc<Inner>);

struct Inner {
    tokens: HashMap<TenantId, Mutex<HashMap<Fingerprint, Timestamp>>>,
    /// So many of a tenant; others stay strangers.
    most: usize,
    /// A token that was not seen for this long has to prove itself again.
    known: Duration,
    clock: Clock,
}

impl Proven {
    /// None has proved anything yet. `most` of a tenant are remembered, each for `known`.
    pub(in crate::gateway) fn new(
        tenants: impl IntoIterator<Item = TenantId>,
        (most, known): (usize, Duration),
        clock: Clock,
    ) -> Self {
        let tokens = tenants.into_iter().map(|tenant| (tenant, Mutex::default())).collect();
        Self(Arc::new(Inner { tokens, most, known, clock }))
    }

    /// Whether the service has accepted it, and it was seen since.
    pub(in crate::gateway) fn is_known(&self, tenant: &TenantId, token: &Fingerprint) -> bool {
        let now = self.0.clock.now();
        let seen = self.0.tokens.get(tenant).and_then(|tokens| lock(tokens).get(token).copied());
        seen.is_some_and(|seen| now.since(seen) < self.0.known)
    }

    /// The service has accepted it, or refused it.
    pub(in crate::gateway) fn note(&self, tenant: &TenantId, token: Fingerprint, accepted: bool) {
        let Some(tokens) = self.0.tokens.get(tenant) else { return };
        let (mut tokens, now) = (lock(tokens), self.0.clock.now());
        if !accepted {
            tokens.remove(&token);
            return;
        }
        if tokens.len() >= self.0.most && !tokens.contains_key(&token) {
            tokens.retain(|_, seen| now.since(*seen) < self.0.known);
            if tokens.len() >= self.0.most {
                return;
            }
        }
        tokens.insert(token, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Duration = Duration::from_mins(10);

    #[test]
    fn a_token_is_known_where_it_was_accepted_until_it_is_refused_or_was_not_seen_for_long() {
        let (acme, globex) = (TenantId::parse("acme").unwrap(), TenantId::parse("globex").unwrap());
        let clock = Clock::manual(Timestamp(1_800_000_000_000));
        let proven = Proven::new([acme.clone(), globex.clone()], (2, KNOWN), clock.clone());
        assert!(!proven.is_known(&acme, &[1; 32]));
        proven.note(&acme, [1; 32], true);
        proven.note(&acme, [2; 32], true);
        proven.note(&acme, [3; 32], true);
        let known = |tenant, token| proven.is_known(tenant, &[token; 32]);
        assert!(known(&acme, 1) && known(&acme, 2) && !known(&acme, 3), "there is room for two");
        assert!(!known(&globex, 1));
        proven.note(&acme, [2; 32], false);
        proven.note(&acme, [9; 32], false);
        assert!(known(&acme, 1) && !known(&acme, 2));
        clock.advance(KNOWN);
        assert!(!known(&acme, 1));
        proven.note(&acme, [4; 32], true);
        proven.note(&acme, [5; 32], true);
        assert!(known(&acme, 4) && known(&acme, 5), "what is over makes room");
    }
}
