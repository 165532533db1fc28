//! Whether the gateway can serve.

use std::time::Duration;

use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store};

/// How long the store may take to answer a probe.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the parts that requests need. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Health(pub(in crate::gateway) Store);

impl Health {
    /// Whether the store answers.
    pub(in crate::gateway) async fn is_ready(&self) -> bool {
        let Ok(nobody) = TenantId::parse("health") else { return false };
        let probe = Key::new(&nobody, "probe", "ready");
        matches!(tokio::time::timeout(PATIENCE, self.0.get(&probe)).await, Ok(Ok(_)))
    }
}
