//! What a scan gave: summary, findings, components and chains of a task. Written once, at its end.

use redb::WriteTransaction;

use super::{CHAINS, COMPONENTS, FINDINGS, LAST, SUMMARIES, Store, StoreError, encode, record, records};
use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::results::{VulDetail, VulRow};
use crate::contract::tasks::{ResultsStat, ScanSummary};

/// Everything a scan that went to its end gave.
pub(in crate::scanner) struct Results {
    pub(in crate::scanner) findings: Vec<VulDetail>,
    pub(in crate::scanner) components: Vec<ComponentRow>,
    pub(in crate::scanner) chains: Vec<ExploitChain>,
    pub(in crate::scanner) summary: ScanSummary,
    pub(in crate::scanner) stat: ResultsStat,
}

/// Keeps the results of a task.
pub(super) fn keep(transaction: &WriteTransaction, id: &TaskId, results: &Results) -> Result<(), StoreError> {
    transaction.open_table(SUMMARIES)?.insert(id.as_str(), encode(&results.summary)?.as_slice())?;
    transaction.open_table(COMPONENTS)?.insert(id.as_str(), encode(&results.components)?.as_slice())?;
    let mut findings = transaction.open_table(FINDINGS)?;
    for finding in &results.findings {
        findings.insert((id.as_str(), finding.row.vul_id.as_str()), encode(finding)?.as_slice())?;
    }
    let mut chains = transaction.open_table(CHAINS)?;
    for chain in &results.chains {
        chains.insert((id.as_str(), chain.vul_id.as_str()), encode(chain)?.as_slice())?;
    }
    Ok(())
}

/// Removes what [`keep`] kept.
pub(super) fn forget(transaction: &WriteTransaction, id: &TaskId) -> Result<(), StoreError> {
    transaction.open_table(SUMMARIES)?.remove(id.as_str())?;
    transaction.open_table(COMPONENTS)?.remove(id.as_str())?;
    for table in [FINDINGS, CHAINS] {
        transaction.open_table(table)?.retain_in((id.as_str(), "")..=(id.as_str(), LAST), |_, _| false)?;
    }
    Ok(())
}

impl Store {
    /// What the scan looked at.
    pub(in crate::scanner) fn summary(&self, id: &TaskId) -> Result<Option<ScanSummary>, StoreError> {
        record(&self.reading()?.open_table(SUMMARIES)?, id.as_str())
    }

    /// The findings of a task as rows, most severe first.
    pub(in crate::scanner) fn finding_rows(&self, id: &TaskId) -> Result<Vec<VulRow>, StoreError> {
        let mut rows: Vec<VulRow> = records(&self.reading()?.open_table(FINDINGS)?, id.as_str())?;
        rows.sort_by_key(|row| row.ov_id);
        Ok(rows)
    }

    /// The findings of a task in full, most severe first.
    pub(in crate::scanner) fn findings(&self, id: &TaskId) -> Result<Vec<VulDetail>, StoreError> {
        let mut all: Vec<VulDetail> = records(&self.reading()?.open_table(FINDINGS)?, id.as_str())?;
        all.sort_by_key(|finding| finding.row.ov_id);
        Ok(all)
    }

    /// One finding in full.
    pub(in crate::scanner) fn finding(&self, id: &TaskId, vul: &VulId) -> Result<Option<VulDetail>, StoreError> {
        record(&self.reading()?.open_table(FINDINGS)?, (id.as_str(), vul.as_str()))
    }

    /// The components of a task, by path.
    pub(in crate::scanner) fn components(&self, id: &TaskId) -> Result<Vec<ComponentRow>, StoreError> {
        let table = self.reading()?.open_table(COMPONENTS)?;
        Ok(record(&table, id.as_str())?.unwrap_or_default())
    }

    /// The exploit chains of a task, most severe first.
    pub(in crate::scanner) fn chains(&self, id: &TaskId) -> Result<Vec<ExploitChain>, StoreError> {
        let mut all: Vec<ExploitChain> = records(&self.reading()?.open_table(CHAINS)?, id.as_str())?;
        all.sort_by(|left, right| (left.severity, &left.vul_id).cmp(&(right.severity, &right.vul_id)));
        Ok(all)
    }

    /// One exploit chain.
    pub(in crate::scanner) fn chain(&self, id: &TaskId, chain: &VulId) -> Result<Option<ExploitChain>, StoreError> {
        record(&self.reading()?.open_table(CHAINS)?, (id.as_str(), chain.as_str()))
    }
}
