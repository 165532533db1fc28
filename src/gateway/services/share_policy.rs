//! Which policy of shares holds in a tenant now.

use super::error::Error;
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::policies::Policies;

/// The one place to ask. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SharePolicies(Policies);

impl SharePolicies {
    pub(in crate::gateway) const fn new(policies: Policies) -> Self {
        Self(policies)
    }

    /// The policy of this tenant, at most a second old.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nobody knows it now: then nothing is made or opened.
    pub(in crate::gateway) async fn of(&self, tenant: &TenantId) -> Result<SharePolicy, Error> {
        Ok(self.0.of(tenant).await?.shares)
    }
}
