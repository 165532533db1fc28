//! Tasks. The states only move CREATED -> RUNNING -> one of the ends, and every move is
//! decided inside the transaction that writes it.

use redb::{ReadableTable as _, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::lists::{self, Index, Kept, List, Rows};
use super::query::{Field, Listed};
use super::results::{self, Results};
use super::{ACCOUNT_SHARES, CREATES, LAST, SHARES, Store, StoreError, decode, record};
use super::{groups, sessions};
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::limits::REPEATED_CREATE_SECONDS;
use crate::contract::searches::{self, Fields};
use crate::contract::tasks::{AccountEcho, ResultsStat, TaskStatus};
use crate::platform::clock::Timestamp;

/// Tasks by account and id.
pub(super) const TASKS: Rows = TableDefinition::new("tasks");
/// Newest first.
const TASK_INDEX: Index = TableDefinition::new("task_index");

/// A task as it is kept. Captured sessions never get here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct TaskRecord {
    pub(in crate::scanner) id: TaskId,
    pub(in crate::scanner) account: String,
    pub(in crate::scanner) project_name: String,
    pub(in crate::scanner) lang: String,
    pub(in crate::scanner) artifact: Sha256,
    /// The name the artifact was uploaded under.
    pub(in crate::scanner) file_name: String,
    /// The create body, without secrets.
    pub(in crate::scanner) origin: Map<String, Value>,
    pub(in crate::scanner) status: TaskStatus,
    /// 0 to 100 once ended; while it runs the queue knows better.
    pub(in crate::scanner) progress: u8,
    pub(in crate::scanner) created_by: String,
    pub(in crate::scanner) created_at: Timestamp,
    pub(in crate::scanner) updated_at: Timestamp,
    pub(in crate::scanner) executed_at: Option<Timestamp>,
    pub(in crate::scanner) ended_at: Option<Timestamp>,
    /// Code of a task that failed.
    pub(in crate::scanner) err_code: Option<u32>,
    /// Why the task did not succeed, in words.
    pub(in crate::scanner) err_detail: Option<String>,
    pub(in crate::scanner) stat: ResultsStat,
    /// The group it was made in.
    #[serde(default)]
    pub(in crate::scanner) group_id: Option<String>,
    #[serde(default)]
    pub(in crate::scanner) service_name: Option<String>,
    /// What may be told of the logins that were given.
    #[serde(default)]
    pub(in crate::scanner) accounts: Vec<AccountEcho>,
}

/// A task to keep, with the captured sessions it was given as JSON.
pub(in crate::scanner) struct NewTask {
    pub(in crate::scanner) record: TaskRecord,
    pub(in crate::scanner) sessions: Option<Zeroizing<Vec<u8>>>,
}

/// How a run ended.
pub(in crate::scanner) enum Outcome {
    Success(Box<Results>),
    Failed { code: u32, words: String },
}

/// What came of a wish to end a task.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::scanner) enum Terminated {
    Done,
    AlreadyEnded(TaskStatus),
    Unknown,
}

impl Store {
    /// Keeps a new task, unless `request` (a hash of who asked and for what) made one less than a minute ago that still
    /// stands and was not terminated: then that one. Says whether the task is new.
    pub(in crate::scanner) fn create_task(&self, request: &str, new: NewTask) -> Result<(TaskRecord, bool), StoreError> {
        self.write(|transaction| {
            let NewTask { record: task, sessions } = new;
            let earlier = recent(transaction, request, task.created_at)?;
            if let Some(id) = earlier
                && let Some(known) = kept(transaction, &task.account, &id)?
                && known.status != TaskStatus::Terminated
            {
                return Ok((known, false));
            }
            remember(transaction, request, task.id.as_str(), task.created_at)?;
            put(transaction, &task)?;
            self.keep_sessions(transaction, &task, sessions.as_ref())?;
            Ok((task, true))
        })
    }

    /// A task of `account`.
    pub(in crate::scanner) fn task(&self, account: &str, id: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
        record(&self.reading()?.open_table(TASKS)?, (account, id.as_str()))
    }

    /// Every task that has not ended, oldest first: what a start has to take up again.
    pub(in crate::scanner) fn unfinished_tasks(&self) -> Result<Vec<TaskRecord>, StoreError> {
        let table = self.reading()?.open_table(TASKS)?;
        let mut open = Vec::new();
        for entry in table.iter()? {
            let task: TaskRecord = decode(entry?.1.value())?;
            if !task.status.has_ended() {
                open.push(task);
            }
        }
        open.sort_by_key(|task| task.created_at);
        Ok(open)
    }

    /// Marks a waiting task as running; `None` when it has ended or is gone.
    pub(in crate::scanner) fn start_task(
        &self,
        account: &str,
        id: &TaskId,
        now: Timestamp,
    ) -> Result<Option<TaskRecord>, StoreError> {
        self.change_open_task(account, id, |_, task| {
            task.status = TaskStatus::Running;
            task.executed_at = Some(now);
            task.updated_at = now;
            Ok(())
        })
    }

    /// Writes the end of a run; nothing when the task was terminated or deleted meanwhile.
    pub(in crate::scanner) fn end_task(
        &self,
        account: &str,
        id: &TaskId,
        outcome: Outcome,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.change_open_task(account, id, |transaction, task| {
            task.ended_at = Some(now);
            task.updated_at = now;
            match outcome {
                Outcome::Failed { code, words } => {
                    task.status = TaskStatus::Failed;
                    task.err_code = Some(code);
                    task.err_detail = Some(words);
                }
                Outcome::Success(results) => {
                    task.status = TaskStatus::Success;
                    task.progress = 100;
                    task.stat = results.stat.clone();
                    results::keep(transaction, id, &results)?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Ends a waiting or running task at the wish of `by`.
    pub(in crate::scanner) fn terminate_task(
        &self,
        account: &str,
        id: &TaskId,
        by: &str,
        now: Timestamp,
    ) -> Result<Terminated, StoreError> {
        let changed = self.change_open_task(account, id, |_, task| {
            task.status = TaskStatus::Terminated;
            task.ended_at = Some(now);
            task.updated_at = now;
            task.err_detail = Some(format!("Terminated by {by}."));
            Ok(())
        })?;
        if changed.is_some() {
            return Ok(Terminated::Done);
        }
        Ok(self.task(account, id)?.map_or(Terminated::Unknown, |task| Terminated::AlreadyEnded(task.status)))
    }

    /// Deletes tasks with their findings and shares, all or nothing. Gives the first id that is unknown.
    pub(in crate::scanner) fn delete_tasks(&self, account: &str, ids: &[TaskId]) -> Result<Option<TaskId>, StoreError> {
        self.write(|transaction| {
            let mut doomed = Vec::with_capacity(ids.len());
            for id in ids {
                match kept(transaction, account, id.as_str())? {
                    Some(task) => doomed.push(task),
                    None => return Ok(Some(id.clone())),
                }
            }
            for task in &doomed {
                lists::remove::<TaskRecord>(transaction, account, &place(task), task.id.as_str())?;
                results::forget(transaction, &task.id)?;
                sessions::forget(transaction, &task.id)?;
                groups::leave(transaction, task)?;
            }
            delete_shares_of(transaction, account, ids)?;
            Ok(None)
        })
    }

    /// Changes a task that has not ended, in one transaction; `None` when there is no such task.
    fn change_open_task(
        &self,
        account: &str,
        id: &TaskId,
        change: impl FnOnce(&WriteTransaction, &mut TaskRecord) -> Result<(), StoreError>,
    ) -> Result<Option<TaskRecord>, StoreError> {
        self.write(|transaction| {
            let Some(mut task) = kept(transaction, account, id.as_str())? else { return Ok(None) };
            if task.status.has_ended() {
                return Ok(None);
            }
            change(transaction, &mut task)?;
            if task.status.has_ended() {
                sessions::forget(transaction, id)?;
            }
            put(transaction, &task)?;
            Ok(Some(task))
        })
    }
}

/// Where a task stands in the list of its account: the newest first, those of one moment by id.
fn place(task: &TaskRecord) -> String {
    let age = u64::MAX - u64::try_from(task.created_at.0).unwrap_or_default();
    format!("{age:016x}{}", task.id)
}

/// Writes a task, new or changed.
pub(super) fn put(transaction: &WriteTransaction, task: &TaskRecord) -> Result<(), StoreError> {
    lists::put(transaction, &task.account, (&place(task), task.id.as_str()), task)
}

/// A task as this transaction sees it.
pub(super) fn kept(transaction: &WriteTransaction, account: &str, id: &str) -> Result<Option<TaskRecord>, StoreError> {
    record(&transaction.open_table(TASKS)?, (account, id))
}

/// What a repeated `request` made less than a minute ago. Forgets all that is older.
pub(super) fn recent(transaction: &WriteTransaction, request: &str, now: Timestamp) -> Result<Option<String>, StoreError> {
    let mut creates = transaction.open_table(CREATES)?;
    let horizon = now.0.saturating_sub(i64::try_from(REPEATED_CREATE_SECONDS * 1000).unwrap_or(i64::MAX));
    creates.retain(|_, (_, at)| at > horizon)?;
    let made = creates.get(request)?.map(|guard| guard.value().0.to_owned());
    Ok(made)
}

/// Notes what `request` made.
pub(super) fn remember(transaction: &WriteTransaction, request: &str, made: &str, now: Timestamp) -> Result<(), StoreError> {
    transaction.open_table(CREATES)?.insert(request, (made, now.0))?;
    Ok(())
}

fn delete_shares_of(transaction: &WriteTransaction, account: &str, ids: &[TaskId]) -> Result<(), StoreError> {
    let mut shares = transaction.open_table(SHARES)?;
    let mut index = transaction.open_table(ACCOUNT_SHARES)?;
    let mut doomed = Vec::new();
    for entry in index.range((account, "")..=(account, LAST))? {
        let share_id = entry?.0.value().1.to_owned();
        let share: Option<super::shares::ShareRecord> = record(&shares, share_id.as_str())?;
        if share.is_some_and(|share| ids.contains(&share.task_id)) {
            doomed.push(share_id);
        }
    }
    for share_id in doomed {
        shares.remove(share_id.as_str())?;
        index.remove((account, share_id.as_str()))?;
    }
    Ok(())
}

impl Kept for TaskRecord {
    const LIST: List = List { rows: TASKS, index: TASK_INDEX, is_numbered: false };
}

impl Listed for TaskRecord {
    const FIELDS: Fields = searches::TASKS;

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "taskId" => Field::Text(self.id.as_str()),
            "projectName" => Field::Text(&self.project_name),
            "lang" => Field::Text(&self.lang),
            "taskStatus" => Field::Text(self.status.as_str()),
            "groupId" => Field::Text(self.group_id.as_deref()?),
            "serviceName" => Field::Text(self.service_name.as_deref()?),
            "createdBy" => Field::Text(&self.created_by),
            "createdAt" => Field::Time(self.created_at),
            "updatedAt" => Field::Time(self.updated_at),
            _ => return None,
        })
    }
}
