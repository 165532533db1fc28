//! Seals the trails anew after a change of the key, behind everything else and slowly, so that an old key can go although
//! records stay long. What a record says, its place in the chain and its lifetime stay as they are.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::chain::Chain;
use crate::gateway::store::Unavailable;
use crate::platform::shutdown::Shutdown;

/// Follows the sealing key of one process.
pub(super) struct Resealing {
    pub(super) chain: Arc<Chain>,
    /// How often it is looked whether another key seals. By the second look after a change, whatever was on its way to the
    /// store under the older key is there.
    pub(super) every: Duration,
    /// Records sealed anew in a minute.
    pub(super) per_minute: NonZeroU32,
}

/// How far it is with the key that seals now.
enum Progress {
    Seen(String),
    Done(String),
}

impl Resealing {
    pub(super) async fn run(self, end: Shutdown) {
        let mut progress = None;
        loop {
            if !end.pause(self.every).await {
                return;
            }
            let sealing = self.chain.ring.sealing().to_owned();
            progress = match progress {
                Some(Progress::Done(id)) if id == sealing => Some(Progress::Done(id)),
                Some(Progress::Seen(id)) if id == sealing => {
                    tokio::select! {
                        done = self.reseal() => Some(if done { Progress::Done(id) } else { Progress::Seen(id) }),
                        () = end.begun() => return,
                    }
                }
                _ => Some(Progress::Seen(sealing)),
            };
        }
    }

    /// One way through all trails. Whether nothing is left that can be done; what does not open stays as it is.
    async fn reseal(&self) -> bool {
        if self.chain.ring.ids().nth(1).is_none() {
            return true;
        }
        let done = async {
            let mut count = 0_u64;
            for (tenant, number) in self.chain.under_older_keys().await? {
                count += u64::from(self.chain.reseal(&tenant, number).await?);
                tokio::time::sleep(Duration::from_mins(1) / self.per_minute.get()).await;
            }
            Ok::<_, Unavailable>(count)
        };
        match done.await {
            Ok(0) => true,
            Ok(count) => {
                tracing::info!(count, "records of the audit trails are sealed anew");
                // One that the store did not take, or that came meanwhile, is found the next time.
                false
            }
            Err(error) => {
                tracing::warn!(%error, "the audit trails keep their older sealing key for now");
                false
            }
        }
    }
}
