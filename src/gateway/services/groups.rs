//! Tasks that were made together: shown, stopped and deleted together.

use super::Actor;
use super::error::Error;
use super::lists;
use super::tasks::Tasks;
use crate::contract::limits::MAX_PAGE_SIZE;
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::domain::group::{self, GroupId};
use crate::gateway::domain::task::{Counts, Task};

/// Tasks that are asked for at once.
const AT_ONCE: usize = 8;

/// Use cases around groups. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Groups {
    tasks: Tasks,
    /// Tasks of a group whose file is asked for.
    files: usize,
}

/// A group with its tasks, in the order they were made.
pub(in crate::gateway) struct Group {
    pub(in crate::gateway) id: GroupId,
    pub(in crate::gateway) tasks: Vec<Task>,
    /// False: there are more tasks than these.
    pub(in crate::gateway) complete: bool,
    /// Of all tasks together.
    pub(in crate::gateway) counts: Counts,
}

/// What became of stopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Stopped {
    /// Tasks that were told to stop.
    pub(in crate::gateway) told: usize,
    /// Tasks that could not be told.
    pub(in crate::gateway) failed: usize,
}

impl Groups {
    /// `files`: of how many tasks of a group the file is asked for, where the list does not tell it.
    pub(in crate::gateway) const fn new(tasks: Tasks, files: usize) -> Self {
        Self { tasks, files }
    }

    /// The group and its tasks.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no task of the person's company is in it.
    pub(in crate::gateway) async fn open(&self, actor: &Actor, id: &GroupId) -> Result<Group, Error> {
        let filter = TaskFilter::in_group(id.clone());
        let lists::Listed { items: mut tasks, total, complete } = self.tasks.list(actor, &filter, MAX_PAGE_SIZE).await?;
        if tasks.is_empty() {
            return Err(Error::NotFound);
        }
        let complete = complete && total <= tasks.len() as u64;
        tasks.reverse();
        tasks.sort_by_key(|task| task.created);
        Ok(Group { id: id.clone(), counts: group::sum(&tasks), complete, tasks })
    }

    /// The group with the names of its files, without which its parts may look alike. What the service does not tell now stays
    /// empty: the group can be shown without.
    pub(in crate::gateway) async fn show(&self, actor: &Actor, id: &GroupId) -> Result<Group, Error> {
        let mut group = self.open(actor, id).await?;
        let mut nameless: Vec<&mut Task> = group.tasks.iter_mut().filter(|task| task.file.is_empty()).take(self.files).collect();
        for some in nameless.chunks_mut(AT_ONCE) {
            let asked = futures_util::future::join_all(some.iter().map(|task| self.tasks.get(actor, &task.id))).await;
            for (task, told) in some.iter_mut().zip(asked) {
                match told {
                    Ok(told) => task.file = told.file,
                    Err(Error::SignIn) => return Err(Error::SignIn),
                    Err(error) => tracing::debug!(%error, "a task of a group did not tell its file"),
                }
            }
        }
        Ok(group)
    }

    /// Stops every task that has not ended. One that ends meanwhile is as good as stopped.
    pub(in crate::gateway) async fn stop(&self, actor: &Actor, id: &GroupId) -> Result<Stopped, Error> {
        let group = self.open(actor, id).await?;
        let mut stopped = Stopped::default();
        for task in group.tasks.iter().filter(|task| !task.status.has_ended()) {
            match self.tasks.terminate(actor, &task.id).await {
                Ok(()) => stopped.told += 1,
                Err(Error::Conflict(_)) => {}
                Err(Error::SignIn) => return Err(Error::SignIn),
                Err(error) => {
                    tracing::warn!(%error, "a task of a group could not be stopped");
                    stopped.failed += 1;
                }
            }
        }
        Ok(stopped)
    }

    /// Deletes all tasks of the group, or none. `seen` is how many the person was shown.
    pub(in crate::gateway) async fn delete(&self, actor: &Actor, id: &GroupId, seen: usize) -> Result<(), Error> {
        let group = self.open(actor, id).await?;
        if !group.complete || group.tasks.len() != seen {
            let words = "The group is not as it was when you were asked. Nothing was deleted. Look at it again.";
            return Err(Error::Conflict(words.to_owned()));
        }
        self.tasks.delete_all(actor, group.tasks.into_iter().map(|task| task.id).collect()).await
    }
}
