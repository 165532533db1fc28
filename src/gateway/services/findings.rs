//! Findings of a task: the list, one of them, and its neighbours in the list it was opened from.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::tasks::Tasks;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::tasks::Search;
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
}

/// One page of the findings of a task, most severe first.
pub(in crate::gateway) struct FindingList {
    pub(in crate::gateway) task: Task,
    /// Of all findings, whatever the filter.
    pub(in crate::gateway) counts: Counts,
    pub(in crate::gateway) listed: Listed<FindingRow>,
}

/// One finding and where it stands.
pub(in crate::gateway) struct Opened {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) finding: Finding,
    /// None when the finding is not in the list.
    pub(in crate::gateway) place: Option<Place>,
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
    pub(in crate::gateway) const fn new(credentials: Credentials, tasks: Tasks) -> Self {
        Self { credentials, tasks }
    }

    /// One page of what fits.
    pub(in crate::gateway) async fn list(
        &self,
        actor: &Actor,
        task: &TaskId,
        filter: &FindingFilter,
    ) -> Result<FindingList, Error> {
        let found = self.tasks.get(actor, task).await?;
        let counts = self.tasks.counts(actor, &found);
        let (counts, listed) = futures_util::future::try_join(counts, self.page(actor, task, filter)).await?;
        Ok(FindingList { task: found, counts, listed })
    }

    async fn page(&self, actor: &Actor, task: &TaskId, filter: &FindingFilter) -> Result<Listed<FindingRow>, Error> {
        let wanted = Wanted { filters: filter.wire(), sorts: worst_first(), page: filter.page.saturating_sub(1), size: PAGE };
        let (fits, ask) = (|row: &FindingRow| filter.fits(row), |search| self.search(actor, task, search));
        if filter.text.is_empty() { lists::page(wanted, fits, ask).await } else { lists::narrowed(wanted, fits, ask).await }
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
        Ok(Opened { task, finding, place })
    }

    async fn place(&self, actor: &Actor, task: &TaskId, vul: &VulId, filter: &FindingFilter) -> Result<Option<Place>, Error> {
        let here = self.page(actor, task, filter).await?;
        let Some(at) = here.items.iter().position(|row| row.id == *vul) else {
            return Ok(None);
        };
        let of = |row: &FindingRow, page| (row.id.clone(), page);
        let beside = |at: Option<usize>| at.and_then(|at| here.items.get(at)).map(|row| of(row, filter.page));
        let position = u64::from(filter.page - 1) * u64::from(PAGE) + at as u64 + 1;
        let (mut previous, mut next) = (beside(at.checked_sub(1)), beside(at.checked_add(1)));
        if previous.is_none() && filter.page > 1 {
            let other = FindingFilter { page: filter.page - 1, ..filter.clone() };
            previous = self.page(actor, task, &other).await?.items.last().map(|row| of(row, other.page));
        }
        if next.is_none() && position < here.total {
            let other = FindingFilter { page: filter.page + 1, ..filter.clone() };
            next = self.page(actor, task, &other).await?.items.first().map(|row| of(row, other.page));
        }
        Ok(Some(Place { position, total: here.total, previous, next }))
    }
}

fn worst_first() -> Vec<String> {
    vec!["severity".to_owned()]
}
