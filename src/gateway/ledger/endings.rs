//! Ends shares in the ledger: from then on no door opens them, whatever the service says. What recipients were told goes with it;
//! what stays tells that there was a share, who made it and who ended it.

use super::{Ledger, LedgerError};
use crate::contract::ids::TaskId;
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::hostile::Hostile;

impl Ledger {
    /// The code opens nothing any more, and what it opened is closed: so before another one is set at the service, because whoever
    /// is cut off in the middle leaves a closed door. The entry as it was, if there is one.
    pub(in crate::gateway) async fn close_code(&self, tenant: &TenantId, mark: &Mark) -> Result<Option<Entry>, LedgerError> {
        let close = |entry: &mut Entry| -> Result<Entry, LedgerError> {
            let before = entry.clone();
            entry.code_dead = true;
            entry.version += 1;
            Ok(before)
        };
        Ok(self.change(tenant, mark, close).await?.map(|(before, _)| before))
    }

    /// As it was before [`Ledger::close_code`], unless something else sent people out meanwhile: the service has refused.
    pub(in crate::gateway) async fn reopen_code(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        before: &Entry,
    ) -> Result<(), LedgerError> {
        let reopen = |entry: &mut Entry| -> Result<(), LedgerError> {
            entry.code_dead = before.code_dead;
            if entry.version == before.version + 1 {
                entry.version = before.version;
            }
            Ok(())
        };
        self.change(tenant, mark, reopen).await.map(drop)
    }

    /// Ends a share. The entry as it is then, and whether it had not been ended before; `None` when there is none.
    pub(in crate::gateway) async fn end(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        by: &Hostile,
    ) -> Result<Option<(bool, Entry)>, LedgerError> {
        let now = self.clock.now();
        self.change(tenant, mark, |entry| Ok(entry.end(now, by))).await
    }

    /// The service knows that a share has ended. False when that was noted before.
    pub(in crate::gateway) async fn told(&self, tenant: &TenantId, mark: &Mark) -> Result<bool, LedgerError> {
        let told = |entry: &mut Entry| -> Result<bool, LedgerError> { Ok(std::mem::take(&mut entry.untold)) };
        Ok(self.change(tenant, mark, told).await?.is_some_and(|(is_news, _)| is_news))
    }

    /// Ends every share of tasks that are no more; of these not even the names stay. The marks of those that had not ended before.
    pub(in crate::gateway) async fn end_of_tasks(
        &self,
        tenant: &TenantId,
        tasks: &[TaskId],
        by: &Hostile,
    ) -> Result<Vec<Mark>, LedgerError> {
        let (now, mut ended) = (self.clock.now(), Vec::new());
        let end = |entry: &mut Entry| -> Result<bool, LedgerError> {
            let is_news = entry.end(now, by);
            entry.project = Hostile::default();
            entry.dropped = 0;
            // It went with its task there.
            entry.untold = false;
            Ok(is_news)
        };
        for (mark, entry) in self.all(tenant).await? {
            if tasks.contains(&entry.task) && matches!(self.change(tenant, &mark, end).await?, Some((true, _))) {
                ended.push(mark);
            }
        }
        Ok(ended)
    }
}
