//! The tenants with the clients that speak for them: scanning service and identity provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::Error;
use crate::config::gateway as settings;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::upstream::identity::IdentityProvider;
use crate::gateway::upstream::{ScanningService, Transport};
use crate::platform::clock::Clock;

/// The clients of one tenant.
pub(in crate::gateway) struct Clients {
    pub(in crate::gateway) service: ScanningService,
    pub(in crate::gateway) identity: IdentityProvider,
    pub(in crate::gateway) public_auth: settings::PublicAuth,
    /// Tenants at the same scanning service, this one among them: it takes the credentials of all of them.
    pub(in crate::gateway) at_same_service: Vec<TenantId>,
}

/// All tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Directory(Arc<BTreeMap<TenantId, Clients>>);

impl Directory {
    /// Builds the clients of every tenant on one transport. Connects to nobody yet.
    ///
    /// # Errors
    /// Words for the operator when a setting cannot be used.
    pub(in crate::gateway) fn new(
        tenants: &BTreeMap<TenantId, settings::Tenant>,
        transport: &Transport,
        clock: &Clock,
    ) -> Result<Self, String> {
        let clients = tenants.iter().map(|(id, tenant)| {
            let service =
                ScanningService::new(&tenant.service, transport.clone()).map_err(|error| format!("tenant {id}: {error}"))?;
            let identity = IdentityProvider::new(tenant.identity.clone(), clock.clone(), transport.clone())
                .map_err(|error| format!("tenant {id}: {error}"))?;
            let is_same = |other: &settings::Tenant| other.service.base_url == tenant.service.base_url;
            let at_same_service = tenants.iter().filter(|(_, other)| is_same(other)).map(|(id, _)| id.clone()).collect();
            Ok((id.clone(), Clients { service, identity, public_auth: tenant.service.public_auth, at_same_service }))
        });
        clients.collect::<Result<_, String>>().map(|clients| Self(Arc::new(clients)))
    }

    /// The clients of a tenant.
    pub(in crate::gateway) fn of(&self, tenant: &TenantId) -> Result<&Clients, Error> {
        self.0.get(tenant).ok_or(Error::NotFound)
    }
}
