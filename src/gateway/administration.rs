//! Builds what administrators and those who run the platform use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::build::Base;
use super::domain::share_policy::SharePolicy;
use super::domain::tenant::TenantId;
use super::domain::tenant_policy::{Branding, Limits, Retention, TenantPolicy};
use super::ledger::Ledger;
use super::policies::{self, Policies};
use super::roster::Roster;
use super::services::Administration;
use super::services::all_shares::AllShares;
use super::services::api_keys::ApiKeys;
use super::services::credentials::Credentials;
use super::services::health::Health;
use super::services::keys::Keys;
use super::services::operator::{Named, Operators};
use super::services::overview::Overview;
use super::services::policies::TenantPolicies;
use super::services::reach::Reach;
use super::services::share_policy::SharePolicies;
use super::services::users::Users;
use super::store::Store;
use crate::config::gateway::{Gateway as Settings, Tenant};
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// The policies of all tenants.
pub(in crate::gateway) fn policies(
    (settings, tenants): (&Settings, &BTreeMap<TenantId, Tenant>),
    (store, ring): (&Store, &Arc<Ring>),
    clock: &Clock,
    shutdown: &Shutdown,
) -> Policies {
    let parts = policies::Parts {
        store: store.clone(),
        ring: Arc::clone(ring),
        clock: clock.clone(),
        shutdown: shutdown.clone(),
        copy_life: Duration::from_millis(settings.administration.policy_copy_ms),
        versions: settings.administration.policy_versions,
    };
    Policies::new(tenants.iter().map(|(id, tenant)| (id.clone(), given(settings, tenant))).collect(), parts)
}

/// What the settings give a tenant.
fn given(settings: &Settings, tenant: &Tenant) -> TenantPolicy {
    let (shares, rate) = (settings.shares, settings.api.rate);
    TenantPolicy {
        shares: SharePolicy {
            without_code: shares.without_code,
            usual_days: shares.usual_days,
            most_days: shares.most_days,
            most_views: (shares.most_views > 0).then_some(shares.most_views),
            evidence: shares.evidence,
            grant_minutes: shares.grant_minutes,
            wrong_by_network: shares.wrong_by_network,
            network_minutes: shares.network_minutes,
            wrong_anywhere: shares.wrong_anywhere,
            anywhere_minutes: shares.anywhere_minutes,
            locked_minutes: shares.locked_minutes,
            wrong_in_life: shares.wrong_in_life,
            kept_days: shares.kept_days,
        },
        retention: Retention { user_days: settings.administration.user_days },
        branding: Branding { name: tenant.name.clone(), accent: tenant.accent.clone(), shows_logo: true },
        limits: Limits {
            sessions_per_user: u32::try_from(tenant.sessions_per_user).unwrap_or(u32::MAX),
            calls_of_tenant: rate.per_tenant,
            calls_of_caller: rate.per_caller,
            calls_of_network: rate.per_network,
        },
    }
}

/// The people of all tenants.
pub(in crate::gateway) fn users(base: &Base<'_>) -> Users {
    let (store, ring, audit) = (base.store.clone(), Arc::clone(&base.ring), base.audit.clone());
    let copy_life = Duration::from_millis(base.settings.session.copy_ms);
    let roster = Roster::new((store, ring), base.clock.clone(), copy_life, base.shutdown);
    let known = (base.sessions.clone(), base.policies.clone());
    Users::new(roster, known, base.issued.clone(), (audit, base.shutdown.clone()))
}

/// The use cases.
pub(in crate::gateway) fn services(
    base: &Base<'_>,
    (credentials, ledger, share_policies): (Credentials, Ledger, SharePolicies),
    (health, keys, api_keys): (Health, Keys, ApiKeys),
) -> Administration {
    let Base { settings, audit, sessions, policies, directory, tenants, .. } = base;
    let (clock, own) = (base.clock.clone(), &settings.administration);
    let users = users(base);
    let shares = AllShares::new((credentials, ledger.clone(), share_policies), audit.clone(), clock.clone());
    let bounds = (Duration::from_millis(own.probe_ms), Duration::from_millis(own.probe_memory_ms));
    let reach = Reach::new(directory.clone(), tenants.keys().cloned(), bounds);
    let policies = TenantPolicies::new(policies.clone(), audit.clone(), base.shutdown.clone());
    let named = tenants.iter().map(|(id, tenant)| (id.clone(), Named::of(tenant)));
    Administration {
        operators: Operators {
            settings: settings.operator.clone(),
            tenants: Arc::new(named.collect()),
            reach: reach.clone(),
            users: users.clone(),
            sessions: sessions.clone(),
            keys: (base.vault.clone(), base.issued.clone()),
            ledger,
            policies: policies.clone(),
            audit: audit.clone(),
        },
        overview: Overview {
            health,
            reach,
            api_keys,
            keys,
            shares: shares.clone(),
            users: users.clone(),
            clock,
            notice_days: own.key_notice_days,
        },
        policies,
        users,
        shares,
    }
}
