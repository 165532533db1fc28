//! Findings of a task: the list, one of them, and its neighbours in the list it was opened from.

use super::Actor;
use super::chains::Chains;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::parts::Parts;
use super::tasks::Tasks;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::{Counts, Task};

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE: u32 = 50;

/// Use cases around findings. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Findings {
    credentials: Credentials,
    tasks: Tasks,
    chains: Chains,
}

/// One page of the findings of a task, most severe first and what is cleared last.
pub(in crate::gateway) struct FindingList {
    pub(in crate::gateway) task: Task,
    /// Of all findings, whatever the filter.
    pub(in crate::gateway) counts: Counts,
    pub(in crate::gateway) parts: Parts,
    pub(in crate::gateway) listed: Listed<FindingRow>,
    /// How many of those that fit are cleared; None when they were not all read.
    pub(in crate::gateway) cleared: Option<u64>,
}

/// One finding and where it stands.
pub(in crate::gateway) struct Opened {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) finding: Finding,
    /// None when the finding is not in the list.
    pub(in crate::gateway) place: Option<Place>,
    pub(in crate::gateway) parts: Parts,
    /// Exploit chains it is part of.
    pub(in crate::gateway) chains: Vec<Chain>,
}

/// Where a finding stands in a filtered list. A neighbour comes with the page of the list it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Place {
    /// From 1.
    pub(in crate::gateway) position: u64,
    pub(in crate::gateway) total: u64,
    pub(in crate::gateway) previous: Option<(VulId, u32)>,
    pub(in crate::gateway) next: Option<(VulId, u32)>,
}

impl Findings {
    pub(in crate::gateway) const fn new(credentials: Credentials, tasks: Tasks, chains: Chains) -> Self {
        Self { credentials, tasks, chains }
    }

    /// One page of what fits.
    pub(in crate::gateway) async fn list(
        &self,
        actor: &Actor,
        task: &TaskId,
        filter: &FindingFilter,
    ) -> Result<FindingList, Error> {
        let found = self.tasks.get(actor, task).await?;
        let (counts, parts, listed) = futures_util::future::join3(
            self.tasks.counts(actor, &found),
            self.tasks.parts(actor, &found),
            self.page(actor, task, filter),
        )
        .await;
        let (listed, cleared) = listed?;
        Ok(FindingList { task: found, counts: counts?, parts, listed, cleared })
    }

    /// One page, and how many of all that fit are cleared, if they were all read.
    async fn page(
        &self,
        actor: &Actor,
        task: &TaskId,
        filter: &FindingFilter,
    ) -> Result<(Listed<FindingRow>, Option<u64>), Error> {
        match self.ranked(actor, task, filter).await? {
            Some(rows) => {
                let cleared = rows.iter().filter(|row| row.is_cleared()).count() as u64;
                Ok((lists::slice(rows, true, filter.page.saturating_sub(1), PAGE), Some(cleared)))
            }
            None => Ok((self.page_of_many(actor, task, filter).await?, None)),
        }
    }

    /// All that fits, in our order; None when the task has too many findings for that.
    async fn ranked(&self, actor: &Actor, task: &TaskId, filter: &FindingFilter) -> Result<Option<Vec<FindingRow>>, Error> {
        let fits = |row: &FindingRow| filter.fits(row);
        lists::ranked(&worst_first(), fits, FindingRow::rank, |search| self.search(actor, task, search)).await
    }

    /// One page in the service's order.
    async fn page_of_many(&self, actor: &Actor, task: &TaskId, filter: &FindingFilter) -> Result<Listed<FindingRow>, Error> {
        let wanted = Wanted { filters: filter.wire(), sorts: worst_first(), page: filter.page.saturating_sub(1), size: PAGE };
        let (fits, ask) = (|row: &FindingRow| filter.fits(row), |search| self.search(actor, task, search));
        if filter.is_all_wire() { lists::page(wanted, fits, ask).await } else { lists::narrowed(wanted, fits, ask).await }
    }

    async fn search(&self, actor: &Actor, task: &TaskId, search: Search) -> Result<Listing<FindingRow>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, search) = (task.clone(), search.clone());
            async move { service.search_results(&call, &task, &search).await }
        });
        ask.await
    }

    /// One finding, with its neighbours in the list that `filter` gives, if it stands on the page that `filter` names.
    pub(in crate::gateway) async fn open(
        &self,
        actor: &Actor,
        task: &TaskId,
        vul: &VulId,
        filter: &FindingFilter,
    ) -> Result<Opened, Error> {
        let finding = self.credentials.with_user(actor, |service, call| {
            let (task, vul) = (task.clone(), vul.clone());
            async move { service.result(&call, &task, &vul).await }
        });
        let place = self.place(actor, task, vul, filter);
        let (task, finding, place) = futures_util::future::try_join3(self.tasks.get(actor, task), finding, place).await?;
        let parts = self.tasks.parts(actor, &task).await;
        let chains = self.chains.through(actor, &task.id, vul, parts).await;
        Ok(Opened { task, finding, place, parts, chains })
    }

    async fn place(&self, actor: &Actor, task: &TaskId, vul: &VulId, filter: &FindingFilter) -> Result<Option<Place>, Error> {
        match self.ranked(actor, task, filter).await? {
            Some(rows) => Ok(among(&rows, vul)),
            None => self.place_in_many(actor, task, vul, filter).await,
        }
    }

    async fn place_in_many(
        &self,
        actor: &Actor,
        task: &TaskId,
        vul: &VulId,
        filter: &FindingFilter,
    ) -> Result<Option<Place>, Error> {
        let here = self.page_of_many(actor, task, filter).await?;
        let Some(at) = here.items.iter().position(|row| row.id == *vul) else {
            return Ok(None);
        };
        let of = |row: &FindingRow, page| (row.id.clone(), page);
        let beside = |at: Option<usize>| at.and_then(|at| here.items.get(at)).map(|row| of(row, filter.page));
        let position = u64::from(filter.page - 1) * u64::from(PAGE) + at as u64 + 1;
        let (mut previous, mut next) = (beside(at.checked_sub(1)), beside(at.checked_add(1)));
        if previous.is_none() && filter.page > 1 {
            let other = FindingFilter { page: filter.page - 1, ..filter.clone() };
            previous = self.page_of_many(actor, task, &other).await?.items.last().map(|row| of(row, other.page));
        }
        if next.is_none() && position < here.total {
            let other = FindingFilter { page: filter.page + 1, ..filter.clone() };
            next = self.page_of_many(actor, task, &other).await?.items.first().map(|row| of(row, other.page));
        }
        Ok(Some(Place { position, total: here.total, previous, next }))
    }
}

/// The place in a list that is here whole, on whatever page it is.
fn among(rows: &[FindingRow], vul: &VulId) -> Option<Place> {
    let at = rows.iter().position(|row| row.id == *vul)?;
    let beside = |at: Option<usize>| {
        let at = at?;
        let page = u32::try_from(at / PAGE as usize).ok()?.saturating_add(1);
        rows.get(at).map(|row| (row.id.clone(), page))
    };
    Some(Place {
        position: at as u64 + 1,
        total: rows.len() as u64,
        previous: beside(at.checked_sub(1)),
        next: beside(at.checked_add(1)),
    })
}

fn worst_first() -> Vec<String> {
    vec!["severity".to_owned()]
}
