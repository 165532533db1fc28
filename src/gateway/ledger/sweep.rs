//! Looks at every share now and then, so that those which ended without anybody noticing lose their content as well.

use std::time::Duration;

use super::{Ledger, LedgerError};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Key;
use crate::platform::shutdown::Shutdown;

impl Ledger {
    /// Sweeps through the shares of all tenants once in `every`, in the background until the process ends. Of several replicas one
    /// does it each time.
    pub(in crate::gateway) fn keep_swept(&self, tenants: Vec<TenantId>, every: Duration, shutdown: &Shutdown) {
        let (ledger, end) = (self.clone(), shutdown.clone());
        shutdown.spawn(async move {
            loop {
                for tenant in &tenants {
                    if let Err(error) = ledger.sweep(tenant, every).await {
                        tracing::warn!(%tenant, %error, "shares that are over could not be looked for");
                    }
                }
                if !end.pause(every).await {
                    return;
                }
            }
        });
    }

    /// One sweep, unless there was one within `every`.
    pub(super) async fn sweep(&self, tenant: &TenantId, every: Duration) -> Result<(), LedgerError> {
        let turn = Key::new(tenant, "share-sweep", "all");
        // It is not given back: it runs out when it is time again. A little early, so that whoever was first is so again.
        if self.store.acquire(&turn, every.mul_f32(0.9)).await?.is_some() {
            self.all(tenant).await?;
        }
        Ok(())
    }
}
