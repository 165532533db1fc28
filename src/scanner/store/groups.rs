//! Groups: tasks that were made together. A group is the list of its tasks and what became of the other artifacts; it goes
//! with its last task.

use redb::{ReadableTable as _, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::tasks::{self, NewTask, TaskRecord, recent, remember};
use super::{GROUPS, Store, StoreError, decode, encode, record};
use crate::contract::ids::TaskId;
use crate::contract::tasks::{GroupFailure, TaskStatus};
use crate::platform::clock::Timestamp;

/// A group as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::scanner) struct GroupRecord {
    /// In the order of their artifacts; deleted ones are gone.
    pub(in crate::scanner) task_ids: Vec<TaskId>,
    /// Artifacts no task was made for.
    pub(in crate::scanner) failures: Vec<GroupFailure>,
    /// How many tasks were made.
    made: usize,
}

/// A group, new or made by the same request a moment ago.
pub(in crate::scanner) struct Grouped {
    pub(in crate::scanner) group_id: String,
    pub(in crate::scanner) group: GroupRecord,
    pub(in crate::scanner) tasks: Vec<TaskRecord>,
    pub(in crate::scanner) is_new: bool,
}

impl Store {
    /// Keeps the tasks of a group together, or none; a repeated request (see [`Store::create_task`]) gets the group it made,
    /// as long as every task of it stands and none was terminated.
    pub(in crate::scanner) fn create_group(
        &self,
        request: &str,
        account: &str,
        group_id: String,
        (new, failures): (Vec<NewTask>, Vec<GroupFailure>),
    ) -> Result<Grouped, StoreError> {
        self.write(|transaction| {
            let now = new.first().map_or(Timestamp(0), |task| task.record.created_at);
            if let Some(known) = recent(transaction, request, now)?
                && let Some((group, tasks)) = whole(transaction, account, &known)?
            {
                return Ok(Grouped { group_id: known, group, tasks, is_new: false });
            }
            remember(transaction, request, &group_id, now)?;
            for task in &new {
                tasks::put(transaction, &task.record)?;
                self.keep_sessions(transaction, &task.record, task.sessions.as_ref())?;
            }
            let task_ids: Vec<TaskId> = new.iter().map(|task| task.record.id.clone()).collect();
            let group = GroupRecord { made: task_ids.len(), task_ids, failures };
            transaction.open_table(GROUPS)?.insert((account, group_id.as_str()), encode(&group)?.as_slice())?;
            let tasks = new.into_iter().map(|task| task.record).collect();
            Ok(Grouped { group_id, group, tasks, is_new: true })
        })
    }

    /// The tasks of a group that still stand.
    pub(in crate::scanner) fn group_tasks(&self, account: &str, group_id: &str) -> Result<Vec<TaskId>, StoreError> {
        let group: Option<GroupRecord> = record(&self.reading()?.open_table(GROUPS)?, (account, group_id))?;
        Ok(group.map(|group| group.task_ids).unwrap_or_default())
    }
}

/// The group with all its tasks, if nothing was taken from it or ended by hand.
fn whole(
    transaction: &WriteTransaction,
    account: &str,
    group_id: &str,
) -> Result<Option<(GroupRecord, Vec<TaskRecord>)>, StoreError> {
    let Some(group) = record::<_, GroupRecord>(&transaction.open_table(GROUPS)?, (account, group_id))? else { return Ok(None) };
    let mut tasks = Vec::with_capacity(group.task_ids.len());
    for id in &group.task_ids {
        let task = tasks::kept(transaction, account, id.as_str())?;
        tasks.extend(task.filter(|task| task.status != TaskStatus::Terminated));
    }
    Ok((tasks.len() == group.made).then_some((group, tasks)))
}

/// Takes a deleted task out of its group.
pub(super) fn leave(transaction: &WriteTransaction, task: &TaskRecord) -> Result<(), StoreError> {
    let Some(group_id) = &task.group_id else { return Ok(()) };
    let mut groups = transaction.open_table(GROUPS)?;
    let key = (task.account.as_str(), group_id.as_str());
    let known = groups.get(key)?.map(|guard| decode::<GroupRecord>(guard.value())).transpose()?;
    let Some(mut group) = known else { return Ok(()) };
    group.task_ids.retain(|id| *id != task.id);
    if group.task_ids.is_empty() {
        groups.remove(key)?;
    } else {
        groups.insert(key, encode(&group)?.as_slice())?;
    }
    Ok(())
}
