//! Components of a task: the list, and the plan of what to upgrade.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::parts::{Parts, is_not_offered};
use super::tasks::Tasks;
use crate::contract::ids::TaskId;
use crate::contract::tasks::{Operator, Search};
use crate::gateway::domain::component::ComponentRow;
use crate::gateway::domain::component_filter::ComponentFilter;
use crate::gateway::domain::filter::one;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::Task;
use crate::gateway::domain::upgrade::{self, Upgrade};

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE: u32 = 50;

/// Use cases around components. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Components {
    credentials: Credentials,
    tasks: Tasks,
}

/// A page of something made of components.
pub(in crate::gateway) struct ComponentPage<T> {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) parts: Parts,
    /// None: the service has no list of components.
    pub(in crate::gateway) listed: Option<Listed<T>>,
}

impl Components {
    pub(in crate::gateway) const fn new(credentials: Credentials, tasks: Tasks) -> Self {
        Self { credentials, tasks }
    }

    /// One page of the components that fit, the worst first, each with what an upgrade does.
    pub(in crate::gateway) async fn list(
        &self,
        actor: &Actor,
        task: &TaskId,
        filter: &ComponentFilter,
    ) -> Result<ComponentPage<Upgrade>, Error> {
        let found = self.tasks.get(actor, task).await?;
        let (parts, rows) = futures_util::future::join(self.tasks.parts(actor, &found), self.page(actor, task, filter)).await;
        let listed = match offered(rows)? {
            Some(rows) => Some(self.planned(actor, task, rows).await?),
            None => None,
        };
        Ok(ComponentPage { task: found, parts, listed })
    }

    /// One page of the plan, what clears most first. Pages count from 1.
    pub(in crate::gateway) async fn plan(
        &self,
        actor: &Actor,
        task: &TaskId,
        page: u32,
    ) -> Result<ComponentPage<Upgrade>, Error> {
        let found = self.tasks.get(actor, task).await?;
        let wanted = ComponentFilter::only_vulnerable();
        let rows = lists::all(&[], |row| wanted.fits(row), |search| self.search(actor, task, search));
        let sorts = worst_first();
        let findings = lists::all(&sorts, |_| true, |search| self.search_findings(actor, task, search));
        let (parts, rows, findings) = futures_util::future::join3(self.tasks.parts(actor, &found), rows, findings).await;
        let listed = match offered(rows)? {
            Some((rows, all_rows)) => {
                let (findings, all_findings) = findings?;
                let plan = upgrade::plan(rows, &findings);
                Some(lists::slice(plan, all_rows && all_findings, page.saturating_sub(1), PAGE))
            }
            None => None,
        };
        Ok(ComponentPage { task: found, parts, listed })
    }

    async fn page(&self, actor: &Actor, task: &TaskId, filter: &ComponentFilter) -> Result<Listed<ComponentRow>, Error> {
        let (fits, ask) = (|row: &ComponentRow| filter.fits(row), |search| self.search(actor, task, search));
        if let Some(rows) = lists::ranked(&[], fits, ComponentRow::rank, ask).await? {
            return Ok(lists::slice(rows, true, filter.page.saturating_sub(1), PAGE));
        }
        let wanted = Wanted { filters: filter.wire(), sorts: Vec::new(), page: filter.page.saturating_sub(1), size: PAGE };
        if filter.is_all_wire() { lists::page(wanted, fits, ask).await } else { lists::narrowed(wanted, fits, ask).await }
    }

    /// What an upgrade of each does. Findings are only asked for where the service names no version that clears all.
    async fn planned(&self, actor: &Actor, task: &TaskId, rows: Listed<ComponentRow>) -> Result<Listed<Upgrade>, Error> {
        let open = rows.items.iter().filter(|row| row.is_vulnerable() && row.upgrade_to.is_none());
        let ids: Vec<&str> = open.flat_map(|row| &row.findings).map(crate::contract::ids::VulId::as_str).collect();
        let findings = if ids.is_empty() { Vec::new() } else { self.findings(actor, task, &ids).await? };
        let items = rows.items.into_iter().map(|row| upgrade::one(row, &findings)).collect();
        Ok(Listed { items, total: rows.total, complete: rows.complete })
    }

    /// The findings with these ids, at least; a service that does not look for ids is read from the start.
    async fn findings(&self, actor: &Actor, task: &TaskId, ids: &[&str]) -> Result<Vec<FindingRow>, Error> {
        let wanted = Wanted {
            filters: vec![one("vulId", Operator::In, ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())],
            sorts: worst_first(),
            page: 0,
            size: crate::contract::limits::MAX_PAGE_SIZE,
        };
        let fits = |row: &FindingRow| ids.contains(&row.id.as_str());
        let ask = |search| self.search_findings(actor, task, search);
        let found = lists::page(wanted, fits, ask).await?;
        if found.total <= found.items.len() as u64 {
            return Ok(found.items);
        }
        Ok(lists::all(&worst_first(), fits, ask).await?.0)
    }

    async fn search(&self, actor: &Actor, task: &TaskId, search: Search) -> Result<Listing<ComponentRow>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, search) = (task.clone(), search.clone());
            async move { service.search_components(&call, &task, &search).await }
        });
        ask.await
    }

    async fn search_findings(&self, actor: &Actor, task: &TaskId, search: Search) -> Result<Listing<FindingRow>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, search) = (task.clone(), search.clone());
            async move { service.search_results(&call, &task, &search).await }
        });
        ask.await
    }
}

/// What was found, or None where the service has no such list.
pub(super) fn offered<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_not_offered(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn worst_first() -> Vec<String> {
    vec!["severity".to_owned()]
}
