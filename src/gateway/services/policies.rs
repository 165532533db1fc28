//! The policy of a tenant, as its administrators look at it and change it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Actor;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::policy_rules::{self, Problem};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::tenant_policy::TenantPolicy;
use crate::gateway::policies::{Author, Outcome, Policies, PolicyError, Saved};
pub(in crate::gateway) use crate::gateway::policies::{Held, Version};
use crate::platform::shutdown::Shutdown;

/// Wait between two looks whether a policy was saved.
const AGAIN: Duration = Duration::from_millis(500);

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct TenantPolicies {
    policies: Policies,
    audit: Audit,
    shutdown: Shutdown,
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
    pub(in crate::gateway) const fn new(policies: Policies, audit: Audit, shutdown: Shutdown) -> Self {
        Self { policies, audit, shutdown }
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

    /// Puts what a form asks for into force, on all replicas, if it was made from the version that is in force now. Whoever is inside of
    /// a share stays there unless the share or their visit does not fit the new policy: each grant is judged when it is used.
    pub(in crate::gateway) async fn save(
        &self,
        actor: &Actor,
        (looked_at, form): (u64, &HashMap<String, String>),
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
        let words = format!("version {}: {}", looked_at.saturating_add(1), policy_rules::in_words(&changes));
        let event = actor.did(Event::new(Deed::PolicyChanged, &words));
        match self.policies.save(tenant, (looked_at, wanted), by).await {
            Ok(Outcome::Saved(_)) => {
                self.audit.record(tenant, event);
                Ok(Answer::Saved)
            }
            Ok(Outcome::Stale(_)) => Ok(Answer::Stale),
            Err(PolicyError::Unsure { version, saved }) => {
                self.find_out(tenant, (version, saved), event);
                Err(Error::Unavailable { retry_after: 5 })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the change down as soon as the store says that it was made: no policy is in force without its line.
    fn find_out(&self, tenant: &TenantId, (version, saved): (u64, Saved), event: Event) {
        let (policies, audit, tenant, end) = (self.policies.clone(), self.audit.clone(), tenant.clone(), self.shutdown.clone());
        self.shutdown.spawn(async move {
            loop {
                match policies.did_save(&tenant, (version, &saved)).await {
                    Ok(true) => return audit.record(&tenant, event),
                    Ok(false) => return,
                    Err(error) => tracing::warn!(%tenant, version, %error, "whether a policy was saved is not known yet"),
                }
                if !end.pause(AGAIN).await {
                    return;
                }
            }
        });
    }
}
