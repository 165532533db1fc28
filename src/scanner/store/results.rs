//! What a scan gave: summary, findings, components and chains of a task. Written once, at its end.

use redb::{TableDefinition, WriteTransaction};

use super::lists::{self, Index, Kept, List, Rows};
use super::query::{Field, Listed};
use super::{SUMMARIES, Store, StoreError, encode, record, records};
use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::results::{Severity, VulDetail, VulRow};
use crate::contract::searches::{self, Fields};
use crate::contract::tasks::{ResultsStat, ScanSummary};

/// Findings by task id and finding id, most severe first.
pub(super) const FINDINGS: Rows = TableDefinition::new("findings");
const FINDING_INDEX: Index = TableDefinition::new("finding_index");
/// Components by task id and number, by path.
const COMPONENTS: Rows = TableDefinition::new("component_rows");
const COMPONENT_INDEX: Index = TableDefinition::new("component_index");
/// Exploit chains by task id and chain id, most severe first.
pub(super) const CHAINS: Rows = TableDefinition::new("chains");
const CHAIN_INDEX: Index = TableDefinition::new("chain_index");

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
    keep_components(transaction, id, &results.components)?;
    keep_findings(transaction, id, &results.findings)?;
    keep_chains(transaction, id, results.chains.iter().collect())
}

/// Keeps components in the order they come.
pub(super) fn keep_components(transaction: &WriteTransaction, id: &TaskId, all: &[ComponentRow]) -> Result<(), StoreError> {
    let rows = all.iter().zip(0..).map(|(row, nth)| (lists::number(nth), row, row));
    lists::keep(transaction, id.as_str(), rows)
}

/// Keeps findings in the order they come.
pub(super) fn keep_findings(transaction: &WriteTransaction, id: &TaskId, all: &[VulDetail]) -> Result<(), StoreError> {
    let rows = all.iter().map(|finding| (finding.row.vul_id.as_str().to_owned(), &finding.row, finding));
    lists::keep(transaction, id.as_str(), rows)
}

/// Keeps chains, each once.
pub(super) fn keep_chains(transaction: &WriteTransaction, id: &TaskId, mut all: Vec<&ExploitChain>) -> Result<(), StoreError> {
    all.sort_by(|left, right| by_severity(left, right));
    all.dedup_by(|left, right| left.vul_id == right.vul_id);
    lists::keep(transaction, id.as_str(), all.into_iter().map(|chain| (chain.vul_id.as_str().to_owned(), chain, chain)))
}

fn by_severity(left: &ExploitChain, right: &ExploitChain) -> std::cmp::Ordering {
    (left.severity, &left.vul_id).cmp(&(right.severity, &right.vul_id))
}

/// Removes what [`keep`] kept.
pub(super) fn forget(transaction: &WriteTransaction, id: &TaskId) -> Result<(), StoreError> {
    transaction.open_table(SUMMARIES)?.remove(id.as_str())?;
    lists::forget::<VulRow>(transaction, id.as_str())?;
    lists::forget::<ComponentRow>(transaction, id.as_str())?;
    lists::forget::<ExploitChain>(transaction, id.as_str())
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

    /// All components of a task, by path.
    pub(in crate::scanner) fn components(&self, id: &TaskId) -> Result<Vec<ComponentRow>, StoreError> {
        records(&self.reading()?.open_table(COMPONENTS)?, id.as_str())
    }

    /// The exploit chains of a task, most severe first.
    pub(in crate::scanner) fn chains(&self, id: &TaskId) -> Result<Vec<ExploitChain>, StoreError> {
        let mut all: Vec<ExploitChain> = records(&self.reading()?.open_table(CHAINS)?, id.as_str())?;
        all.sort_by(by_severity);
        Ok(all)
    }

    /// One exploit chain.
    pub(in crate::scanner) fn chain(&self, id: &TaskId, chain: &VulId) -> Result<Option<ExploitChain>, StoreError> {
        record(&self.reading()?.open_table(CHAINS)?, (id.as_str(), chain.as_str()))
    }
}

impl Kept for VulRow {
    const LIST: List = List { rows: FINDINGS, index: FINDING_INDEX, is_numbered: true };
}

impl Listed for VulRow {
    const FIELDS: Fields = searches::RESULTS;

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "vulId" => Field::Text(self.vul_id.as_str()),
            "title" => Field::Text(&self.title),
            "category" => Field::Text(&self.category),
            "cweId" => Field::Text(&self.cwe_id),
            "cveId" => Field::Text(self.cve_ids.first().map(String::as_str).unwrap_or_default()),
            "component" => Field::Text(&self.component.name),
            "severity" => Field::Severity(self.severity),
            _ => return None,
        })
    }
}

impl Kept for ExploitChain {
    const LIST: List = List { rows: CHAINS, index: CHAIN_INDEX, is_numbered: true };
}

impl Listed for ExploitChain {
    const FIELDS: Fields = searches::CHAINS;

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "vulId" => Field::Text(self.vul_id.as_str()),
            "title" => Field::Text(&self.title),
            "category" => Field::Text(&self.category),
            "cweId" => Field::Text(&self.cwe_id),
            "severity" => Field::Severity(self.severity),
            _ => return None,
        })
    }
}

impl Kept for ComponentRow {
    const LIST: List = List { rows: COMPONENTS, index: COMPONENT_INDEX, is_numbered: true };
}

impl Listed for ComponentRow {
    const FIELDS: Fields = searches::COMPONENTS;

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "name" => Field::Text(&self.component.name),
            "version" => Field::Text(&self.component.version),
            "ecosystem" => Field::Text(&self.ecosystem),
            "path" => Field::Text(&self.component.path),
            "severity" => Field::Severity(worst(self)?),
            _ => return None,
        })
    }
}

/// The most severe band that has a finding.
fn worst(row: &ComponentRow) -> Option<Severity> {
    let counts = &row.counts;
    let bands = [counts.critical_count, counts.high_count, counts.medium_count, counts.low_count];
    Severity::ALL.into_iter().zip(bands).find(|(_, count)| *count > 0).map(|(severity, _)| severity)
}
