//! Exploit chains of a task: the list, one of them, and those a finding is part of.

use super::Actor;
use super::components::offered;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::parts::{Part, Parts};
use super::tasks::Tasks;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::limits::MAX_PAGE_SIZE;
use crate::contract::tasks::{Operator, Search};
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::filter::one;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::Task;

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE: u32 = 50;
/// Findings of a chain that are named.
const NAMED: usize = 50;

/// Use cases around exploit chains. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Chains {
    credentials: Credentials,
    tasks: Tasks,
}

/// One page of the chains of a task.
pub(in crate::gateway) struct ChainList {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) parts: Parts,
    /// None: the service looks for no chains.
    pub(in crate::gateway) listed: Option<Listed<Chain>>,
}

/// One chain and the findings it leads to, as far as they can be read.
pub(in crate::gateway) struct OpenedChain {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) parts: Parts,
    pub(in crate::gateway) chain: Chain,
    pub(in crate::gateway) findings: Vec<FindingRow>,
}

impl Chains {
    pub(in crate::gateway) const fn new(credentials: Credentials, tasks: Tasks) -> Self {
        Self { credentials, tasks }
    }

    /// One page, the most severe first. Pages count from 1.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, task: &TaskId, page: u32) -> Result<ChainList, Error> {
        let found = self.tasks.get(actor, task).await?;
        let wanted = Wanted { filters: Vec::new(), sorts: worst_first(), page: page.saturating_sub(1), size: PAGE };
        let rows = lists::page(wanted, |_| true, |search| self.search(actor, task, search));
        let (parts, rows) = futures_util::future::join(self.tasks.parts(actor, &found), rows).await;
        Ok(ChainList { task: found, parts, listed: offered(rows)? })
    }

    /// One chain. It is looked for in the list, as there is no other way to it.
    pub(in crate::gateway) async fn open(&self, actor: &Actor, task: &TaskId, id: &VulId) -> Result<OpenedChain, Error> {
        let found = self.tasks.get(actor, task).await?;
        let (parts, chain) = futures_util::future::join(self.tasks.parts(actor, &found), self.find(actor, task, id)).await;
        let chain = offered(chain)?.flatten().ok_or(Error::NotFound)?;
        let findings = self.findings(actor, task, &chain).await;
        Ok(OpenedChain { task: found, parts, chain, findings })
    }

    async fn find(&self, actor: &Actor, task: &TaskId, id: &VulId) -> Result<Option<Chain>, Error> {
        let filters = vec![one("vulId", Operator::Eq, id.as_str())];
        let wanted = Wanted { filters, sorts: worst_first(), page: 0, size: 1 };
        let found = lists::page(wanted, |chain: &Chain| chain.id == *id, |search| self.search(actor, task, search)).await?;
        Ok(found.items.into_iter().next())
    }

    /// What a chain leads to. A chain is worth reading without it, so trouble here is no error.
    async fn findings(&self, actor: &Actor, task: &TaskId, chain: &Chain) -> Vec<FindingRow> {
        let ids: Vec<String> = chain.leads_to().take(NAMED).map(|id| id.as_str().to_owned()).collect();
        if ids.is_empty() {
            return Vec::new();
        }
        let filters = vec![one("vulId", Operator::In, ids.clone())];
        let wanted = Wanted { filters, sorts: worst_first(), page: 0, size: MAX_PAGE_SIZE };
        let fits = |row: &FindingRow| ids.iter().any(|id| id == row.id.as_str());
        match lists::page(wanted, fits, |search| self.search_findings(actor, task, search)).await {
            Ok(found) => found.items,
            Err(error) => {
                tracing::debug!(%error, "the findings of a chain could not be read");
                Vec::new()
            }
        }
    }

    /// The chains a finding is part of, among the first [`MAX_PAGE_SIZE`]. A finding is worth reading without them, so
    /// trouble here is no error.
    pub(super) async fn through(&self, actor: &Actor, task: &TaskId, vul: &VulId, parts: Parts) -> Vec<Chain> {
        if !matches!(parts.chains, Part::Holds(1..)) {
            return Vec::new();
        }
        let search = Search { page: Some(0), size: Some(MAX_PAGE_SIZE), filters: Vec::new(), sorts: worst_first() };
        match self.search(actor, task, search).await {
            Ok(found) => found.items.into_iter().filter(|chain| chain.leads_to().any(|id| id == vul)).collect(),
            Err(error) => {
                tracing::debug!(%error, "the chains of a finding could not be read");
                Vec::new()
            }
        }
    }

    async fn search(&self, actor: &Actor, task: &TaskId, search: Search) -> Result<Listing<Chain>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, search) = (task.clone(), search.clone());
            async move { service.search_chains(&call, &task, &search).await }
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

fn worst_first() -> Vec<String> {
    vec!["severity".to_owned()]
}
