//! Brings a database of an earlier run up to date, once, before anything is served: lists that have no index yet get one.

use redb::{ReadableTable as _, TableDefinition, WriteTransaction};

use super::results::{self, CHAINS, FINDINGS};
use super::tasks::{self, TASKS, TaskRecord};
use super::{Json, StoreError, decode, records};
use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::results::VulDetail;

/// How the data is laid out.
const LAYOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("layout");
const LISTS: &str = "lists";
/// Lists have an index.
const INDEXED: u32 = 1;

/// The components of a task as one value: how they were kept before they had an index.
const COMPONENTS_IN_ONE: TableDefinition<'_, &str, Json> = TableDefinition::new("components");

pub(super) fn bring_up(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let known = transaction.open_table(LAYOUT)?.get(LISTS)?.map_or(0, |layout| layout.value());
    if known >= INDEXED {
        return Ok(());
    }
    let mut all: Vec<TaskRecord> = Vec::new();
    for row in transaction.open_table(TASKS)?.iter()? {
        all.push(decode(row?.1.value())?);
    }
    for task in &all {
        tasks::put(transaction, task)?;
        let components = transaction.open_table(COMPONENTS_IN_ONE)?.get(task.id.as_str())?.map(|rows| decode(rows.value()));
        let components: Vec<ComponentRow> = components.transpose()?.unwrap_or_default();
        results::keep_components(transaction, &task.id, &components)?;
        let mut findings: Vec<VulDetail> = records(&transaction.open_table(FINDINGS)?, task.id.as_str())?;
        findings.sort_by_key(|finding| finding.row.ov_id);
        results::keep_findings(transaction, &task.id, &findings)?;
        let chains: Vec<ExploitChain> = records(&transaction.open_table(CHAINS)?, task.id.as_str())?;
        results::keep_chains(transaction, &task.id, chains.iter().collect())?;
    }
    transaction.delete_table(COMPONENTS_IN_ONE)?;
    transaction.open_table(LAYOUT)?.insert(LISTS, INDEXED)?;
    Ok(())
}

/// As an earlier run left it.
#[cfg(test)]
pub(super) fn take_back(
    transaction: &WriteTransaction,
    task: &crate::contract::ids::TaskId,
    components: &[ComponentRow],
) -> Result<(), StoreError> {
    use super::lists::{self, Kept as _};
    transaction.open_table(LAYOUT)?.remove(LISTS)?;
    transaction.open_table(COMPONENTS_IN_ONE)?.insert(task.as_str(), super::encode(&components)?.as_slice())?;
    lists::forget::<ComponentRow>(transaction, task.as_str())?;
    transaction.open_table(TaskRecord::LIST.index)?.retain(|_, _| false)?;
    transaction.open_table(lists::SIZES)?.retain(|_, _| false)?;
    Ok(())
}
