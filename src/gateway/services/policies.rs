//! The policy of a tenant, as its administrators look at it and change it.

use std::collections::HashMap;
use std::sync::Arc;

use super::Actor;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::policy_rules::{self, Problem};
use crate::gateway::domain::share_breach::breaches;
use crate::gateway::domain::share_entry::{Entry, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::tenant_policy::TenantPolicy;
use crate::gateway::ledger::{Ledger, LedgerError, Terms};
use crate::gateway::policies::{Author, Outcome, Policies};
pub(in crate::gateway) use crate::gateway::policies::{Held, Version};
use crate::platform::clock::{Clock, Timestamp};

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct TenantPolicies {
    policies: Policies,
    ledger: Ledger,
    audit: Audit,
    clock: Clock,
}

/// A tenant's policy with what it can be.
pub(in crate::gateway) struct Shown {
    pub(in crate::gateway) held: Arc<Held>,
    pub(in crate::gateway) given: Arc<TenantPolicy>,
    /// Newest first; the first is the one in force.
    pub(in crate::gateway) versions: Vec<Version>,
}

/// What came of a form.
#[derive(Debug)]
pub(in crate::gateway) enum Answer {
    /// It is in force.
    Saved,
    /// It asks for what is so already.
    Unchanged,
    /// Nothing was saved.
    Wrong(Vec<Problem>),
    /// Somebody else saved since the page was made; nothing was saved now.
    Stale,
}

impl TenantPolicies {
    pub(in crate::gateway) const fn new(policies: Policies, ledger: Ledger, audit: Audit, clock: Clock) -> Self {
        Self { policies, ledger, audit, clock }
    }

    /// The policy of the actor's tenant.
    pub(in crate::gateway) async fn show(&self, actor: &Actor) -> Result<Shown, Error> {
        self.of(&actor.principal.tenant).await
    }

    /// The policy of a tenant.
    pub(super) async fn of(&self, tenant: &TenantId) -> Result<Shown, Error> {
        let (held, given) = (self.policies.held(tenant).await?, Arc::clone(self.policies.given(tenant)?));
        Ok(Shown { held, given, versions: self.policies.versions(tenant).await? })
    }

    /// Puts what a form asks for into force, on all replicas, if it was made from the version that is in force now.
    pub(in crate::gateway) async fn save(
        &self,
        actor: &Actor,
        (looked_at, form): (u64, &HashMap<String, String>),
        network: &str,
    ) -> Result<Answer, Error> {
        let tenant = &actor.principal.tenant;
        let (held, given) = (self.policies.held(tenant).await?, self.policies.given(tenant)?);
        let wanted = match policy_rules::read(form, &held.policy, given) {
            Ok(wanted) => wanted,
            Err(problems) => return Ok(Answer::Wrong(problems)),
        };
        let changes = policy_rules::changes(&held.policy, &wanted);
        if held.version == looked_at && changes.is_empty() {
            return Ok(Answer::Unchanged);
        }
        let by = Author { user: actor.principal.key(), name: actor.principal.name.clone() };
        let Outcome::Saved(saved) = self.policies.save(tenant, (looked_at, wanted), by).await? else {
            return Ok(Answer::Stale);
        };
        let event = Event::new(Deed::PolicyChanged, &format!("version {}: {}", saved.version, policy_rules::in_words(&changes)));
        self.audit.record(tenant, Event { network: Some(network.to_owned()), ..actor.did(event) });
        self.void_grants(tenant, &held.policy, &saved.policy).await?;
        Ok(Answer::Saved)
    }

    /// Recipients who are inside of a share that the new policy concerns have to come in anew: it is in breach of it now and was not
    /// before, or what opened shares rest on is another: their grants are void from now on, also when the policy is changed back.
    async fn void_grants(&self, tenant: &TenantId, old: &TenantPolicy, new: &TenantPolicy) -> Result<(), Error> {
        let (old, new, now) = (&old.shares, &new.shares, self.clock.now());
        if old == new {
            return Ok(());
        }
        let other_terms = Terms::of(old) != Terms::of(new);
        let concerned = |entry: &Entry, now: Timestamp| {
            let (before, after) = (breaches(entry, old, now), breaches(entry, new, now));
            other_terms || after.iter().any(|breach| !before.contains(breach))
        };
        for (mark, entry) in self.ledger.all(tenant).await? {
            let is_open = matches!(entry.state(now), State::Open | State::CodeDead | State::UsedUp);
            if is_open && concerned(&entry, now) {
                let void = |entry: &mut Entry| -> Result<(), LedgerError> {
                    entry.version += 1;
                    Ok(())
                };
                self.ledger.change(tenant, &mark, void).await?;
            }
        }
        Ok(())
    }
}
