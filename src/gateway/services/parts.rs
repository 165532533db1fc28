//! What else a finished task has: the pages beside its findings that are worth a tab. Never fails: a service that has no such
//! operation, or cannot be asked now, costs a tab or its number and nothing more.

use super::Actor;
use super::error::{Error, Kind};
use super::tasks::Tasks;
use crate::contract::ids::TaskId;
use crate::contract::tasks::Search;
use crate::gateway::domain::task::{Status, Task};

/// A list beside the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) enum Part {
    /// The service has no such operation.
    NotOffered,
    /// It could not be asked.
    #[default]
    Unknown,
    Holds(u64),
}

/// The lists beside the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Parts {
    pub(in crate::gateway) components: Part,
    pub(in crate::gateway) chains: Part,
}

impl Part {
    fn of(total: Result<u64, Error>) -> Self {
        match total {
            Ok(total) => Self::Holds(total),
            Err(error) if is_not_offered(&error) => Self::NotOffered,
            Err(error) => {
                tracing::debug!(%error, "a part of a task could not be counted");
                Self::Unknown
            }
        }
    }
}

/// Whether an error says that a service does not know an operation, asked about a task that is there.
pub(super) fn is_not_offered(error: &Error) -> bool {
    match error {
        Error::NotFound => true,
        Error::Upstream(error) => error.kind == Kind::NotFound || matches!(error.status, Some(405 | 501)),
        _ => false,
    }
}

impl Tasks {
    /// The parts of a task; nothing is asked before it has finished.
    pub(super) async fn parts(&self, actor: &Actor, task: &Task) -> Parts {
        if task.status != Status::Done {
            return Parts::default();
        }
        let (components, chains) =
            futures_util::future::join(self.count_components(actor, &task.id), self.count_chains(actor, &task.id)).await;
        Parts { components: Part::of(components), chains: Part::of(chains) }
    }

    /// One task and its parts.
    pub(in crate::gateway) async fn with_parts(&self, actor: &Actor, id: &TaskId) -> Result<(Task, Parts), Error> {
        let task = self.get(actor, id).await?;
        let parts = self.parts(actor, &task).await;
        Ok((task, parts))
    }

    async fn count_components(&self, actor: &Actor, task: &TaskId) -> Result<u64, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let task = task.clone();
            async move { service.search_components(&call, &task, &one()).await }
        });
        Ok(ask.await?.total)
    }

    async fn count_chains(&self, actor: &Actor, task: &TaskId) -> Result<u64, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let task = task.clone();
            async move { service.search_chains(&call, &task, &one()).await }
        });
        Ok(ask.await?.total)
    }
}

fn one() -> Search {
    Search { page: Some(0), size: Some(1), ..Search::default() }
}
