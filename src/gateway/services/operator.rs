//! What those who run the platform see: every tenant with its health, its counts and its policy, and nothing of any scan. Who they
//! are stands in the settings; for everybody else none of this is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Actor;
use super::error::Error;
use super::policies::{Shown as Policy, TenantPolicies};
use super::reach::{Reach, Reached};
use super::users::Users;
use crate::config::gateway::{Operator as Settings, Tenant};
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::Ledger;
use crate::gateway::session::Sessions;
use crate::gateway::vault::{IssuedKeys, ServerKeys};

/// Sessions of a tenant that are counted at most.
const MOST_SESSIONS: usize = 2000;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Operators {
    pub(in crate::gateway) settings: Settings,
    /// Names and hosts by id.
    pub(in crate::gateway) tenants: Arc<BTreeMap<TenantId, Named>>,
    pub(in crate::gateway) reach: Reach,
    pub(in crate::gateway) users: Users,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) keys: (ServerKeys, IssuedKeys),
    pub(in crate::gateway) ledger: Ledger,
    pub(in crate::gateway) policies: TenantPolicies,
    pub(in crate::gateway) audit: Audit,
}

/// A tenant as the settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Named {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) address: String,
}

impl Named {
    pub(in crate::gateway) fn of(tenant: &Tenant) -> Self {
        Self { name: tenant.name.clone(), address: tenant.public_url.clone() }
    }
}

/// How many there are of what. What is `None` is not known now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Counts {
    pub(in crate::gateway) users: Option<usize>,
    /// With true: there are more.
    pub(in crate::gateway) sessions: Option<(usize, bool)>,
    pub(in crate::gateway) shares: Option<usize>,
    pub(in crate::gateway) server_keys: Option<usize>,
    pub(in crate::gateway) api_keys: Option<usize>,
}

/// A tenant in the list.
pub(in crate::gateway) struct Listed {
    pub(in crate::gateway) tenant: TenantId,
    pub(in crate::gateway) named: Named,
    pub(in crate::gateway) reached: Option<Reached>,
    pub(in crate::gateway) counts: Counts,
    /// Version of its policy; 0: it goes by the settings.
    pub(in crate::gateway) version: Option<u64>,
}

impl Operators {
    /// Whether somebody runs the platform.
    pub(in crate::gateway) fn has(&self, who: &Principal) -> bool {
        self.settings.subjects.iter().any(|known| {
            let here = known.tenant.is_empty() || known.tenant == who.tenant.as_str();
            here && known.issuer == who.issuer && known.subject == who.subject
        })
    }

    /// Every tenant, by id.
    pub(in crate::gateway) async fn list(&self) -> Vec<Listed> {
        let all = self.tenants.iter().map(|(tenant, named)| self.listed(tenant, named));
        futures_util::future::join_all(all).await
    }

    /// One tenant with its policy. That somebody looked is written down where its own administrators read it.
    pub(in crate::gateway) async fn one(&self, actor: &Actor, tenant: &str, network: &str) -> Result<(Listed, Policy), Error> {
        let (tenant, named) = self.tenants.iter().find(|(known, _)| known.as_str() == tenant).ok_or(Error::NotFound)?;
        let (listed, policy) = futures_util::future::join(self.listed(tenant, named), self.policies.of(tenant)).await;
        // The person is of another tenant's trail: their session is not named in this one.
        let event = Event { user: Some(actor.principal.key()), ..Event::new(Deed::OperatorLooked, "policy and counts") };
        self.audit.record(tenant, event.from(network, &actor.request_id));
        Ok((listed, policy?))
    }

    async fn listed(&self, tenant: &TenantId, named: &Named) -> Listed {
        let reached = self.reach.of(tenant);
        let (reached, counts) = futures_util::future::join(reached, self.counts(tenant)).await;
        let version = self.policies.of(tenant).await.ok().map(|shown| shown.held.version);
        Listed { tenant: tenant.clone(), named: named.clone(), reached: reached.ok(), counts, version }
    }

    async fn counts(&self, tenant: &TenantId) -> Counts {
        let sessions = self.sessions.list_all(tenant, MOST_SESSIONS).await.ok();
        Counts {
            users: self.users.count(tenant).await.ok(),
            sessions: sessions.map(|all| (all.found.len(), !all.complete)),
            shares: self.ledger.all(tenant).await.ok().map(|all| all.len()),
            server_keys: self.keys.0.list(tenant).await.ok().map(|all| all.len()),
            api_keys: self.keys.1.list(tenant).await.ok().map(|all| all.len()),
        }
    }
}
