//! Tasks: lists, one with what it found, stop, delete. New ones are made in `launch`.

use std::time::Duration;

use super::Actor;
use super::coalesce::Coalesced;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::parts::Parts;
use crate::contract::ids::TaskId;
use crate::contract::limits::MAX_PAGE_SIZE;
use crate::contract::tasks::Search;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::task::{Counts, Task};
use crate::gateway::ledger::Ledger;
use crate::gateway::upstream::Kind;

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE: u32 = 50;
/// Findings on the page of a task.
const TOP: u32 = 5;
/// Use cases around tasks. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Tasks {
    pub(super) credentials: Credentials,
    ledger: Ledger,
    audit: Audit,
    polls: Coalesced<Task>,
}

/// A task and the worst it found.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Overview {
    pub(in crate::gateway) task: Task,
    /// None until the task has finished.
    pub(in crate::gateway) counts: Option<Counts>,
    /// Most severe first.
    pub(in crate::gateway) top: Vec<FindingRow>,
    pub(in crate::gateway) parts: Parts,
}

impl Tasks {
    /// Answers to what pages ask by themselves are good for `memory`.
    pub(in crate::gateway) fn new(credentials: Credentials, (ledger, audit): (Ledger, Audit), memory: Duration) -> Self {
        Self { credentials, ledger, audit, polls: Coalesced::new(memory) }
    }

    /// One page of the tasks that fit, newest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, filter: &TaskFilter, size: u32) -> Result<Listed<Task>, Error> {
        let wanted =
            Wanted { filters: filter.wire(), sorts: vec!["-createdAt".to_owned()], page: filter.page.saturating_sub(1), size };
        lists::page(wanted, |task| filter.fits(task), |search| self.search(actor, search)).await
    }

    async fn search(&self, actor: &Actor, search: Search) -> Result<Listing<Task>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let search = search.clone();
            async move { service.search_tasks(&call, &search).await }
        });
        ask.await
    }

    /// One task.
    pub(in crate::gateway) async fn get(&self, actor: &Actor, id: &TaskId) -> Result<Task, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            async move { service.task(&call, &id).await }
        });
        ask.await
    }

    /// One task for a page that asks by itself, again and again: all tabs of a sign-in share one question.
    pub(in crate::gateway) async fn watched(&self, actor: &Actor, id: &TaskId) -> Result<Task, Error> {
        self.polls.get(actor, id.as_str(), self.get(actor, id)).await
    }

    /// One task with its counts and its most severe findings.
    pub(in crate::gateway) async fn overview(&self, actor: &Actor, id: &TaskId) -> Result<Overview, Error> {
        let task = self.get(actor, id).await?;
        if task.status != crate::gateway::domain::task::Status::Done {
            return Ok(Overview { task, counts: None, top: Vec::new(), parts: Parts::default() });
        }
        // What is cleared may stand among the worst at the service, and is none of them here.
        let cleared = task.counts.map_or(0, |counts| u32::try_from(counts.cleared).unwrap_or(MAX_PAGE_SIZE));
        let wanted = TOP.saturating_add(cleared).min(MAX_PAGE_SIZE);
        let top = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            let search = Search { page: Some(0), size: Some(wanted), filters: Vec::new(), sorts: vec!["severity".to_owned()] };
            async move { service.search_results(&call, &id, &search).await }
        });
        let (counts, top, parts) = futures_util::future::join3(self.counts(actor, &task), top, self.parts(actor, &task)).await;
        let mut top = top?.items;
        top.retain(|row| !row.is_cleared());
        top.sort_by_key(FindingRow::rank);
        top.truncate(TOP as usize);
        Ok(Overview { counts: Some(counts?), task, top, parts })
    }

    /// How many findings a task has: as the task tells, or as the statistics do.
    pub(super) async fn counts(&self, actor: &Actor, task: &Task) -> Result<Counts, Error> {
        if let Some(counts) = task.counts {
            return Ok(counts);
        }
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = task.id.clone();
            async move { service.results_stat(&call, &id).await }
        });
        Ok(ask.await?.counts)
    }

    /// Stops a running task.
    pub(in crate::gateway) async fn terminate(&self, actor: &Actor, id: &TaskId) -> Result<(), Error> {
        let ask = self.credentials.changing(actor, Subject::BY_A_CHANGED_TASK, |service, call| {
            let id = id.clone();
            async move { service.terminate_task(&call, &id).await }
        });
        match ask.await {
            Err(Error::Upstream(error)) if matches!(error.kind, Kind::Invalid | Kind::Conflict) => {
                Err(Error::Conflict("The task has ended already, so there is nothing to stop.".to_owned()))
            }
            other => other,
        }
    }

    /// Deletes a task with its findings and shares.
    pub(in crate::gateway) async fn delete(&self, actor: &Actor, id: &TaskId) -> Result<(), Error> {
        self.delete_all(actor, vec![id.clone()]).await
    }

    /// Deletes all of these, or none. Their shares end with them, also where the service goes on to show some.
    pub(super) async fn delete_all(&self, actor: &Actor, ids: Vec<TaskId>) -> Result<(), Error> {
        let ask = self.credentials.changing(actor, Subject::BY_A_DELETED_TASK, |service, call| {
            let ids = ids.clone();
            async move { service.delete_tasks(&call, ids).await }
        });
        ask.await?;
        for id in &ids {
            self.audit.record(&actor.principal.tenant, actor.did(Event::new(Deed::Task, &format!("deleted {id}"))));
        }
        match self.ledger.end_of_tasks(&actor.principal.tenant, &ids, &actor.principal.name).await {
            Ok(ended) => {
                for mark in ended {
                    let event = Event::new(Deed::Share, &format!("ended {}", mark.short()));
                    self.audit.record(&actor.principal.tenant, actor.did(event));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "shares of deleted tasks were not noted as ended; the service has nothing to show for them");
            }
        }
        Ok(())
    }
}
