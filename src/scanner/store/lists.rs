//! Lists that are searched by the page: rows beside an index in the order that stands when no sort is asked for. A page
//! without filters and sorts costs its own rows; any other one walks over the index and decodes the rows it shows.

use redb::{ReadableTable as _, TableDefinition, TableHandle as _, WriteTransaction};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::query::{self, Listed, Picker, Query};
use super::{Json, LAST, Store, StoreError, encode, record};
use crate::contract::tasks::Page;

/// Rows by scope (an account, a task) and their own key.
pub(super) type Rows = TableDefinition<'static, (&'static str, &'static str), Json>;
/// By scope and place: the key of a row, and its entry.
pub(super) type Index = TableDefinition<'static, (&'static str, &'static str), (&'static str, &'static [u8])>;
/// How many rows there are, by index and scope.
pub(super) const SIZES: TableDefinition<'_, (&str, &str), u64> = TableDefinition::new("sizes");

/// A row of a list that is kept.
pub(in crate::scanner) trait Kept: Listed + DeserializeOwned {
    const LIST: List;
}

/// Where a list is kept.
pub(in crate::scanner) struct List {
    pub(super) rows: Rows,
    pub(super) index: Index,
    /// Places are numbers without a gap: written once, all together.
    pub(super) is_numbered: bool,
}

/// The place of the row number `nth` of a numbered list.
pub(super) fn number(nth: u64) -> String {
    format!("{nth:012}")
}

/// Makes the tables of a list.
pub(super) fn make<R: Kept>(transaction: &WriteTransaction) -> Result<(), StoreError> {
    transaction.open_table(R::LIST.rows)?;
    transaction.open_table(R::LIST.index)?;
    Ok(())
}

/// Writes a numbered list: key, what is searched, and what is kept of each row, in their order.
pub(super) fn keep<'r, R: Kept + 'r, T: Serialize + 'r>(
    transaction: &WriteTransaction,
    scope: &str,
    all: impl Iterator<Item = (String, &'r R, &'r T)>,
) -> Result<(), StoreError> {
    let mut rows = transaction.open_table(R::LIST.rows)?;
    let mut index = transaction.open_table(R::LIST.index)?;
    let mut size = 0;
    for (key, row, content) in all {
        rows.insert((scope, key.as_str()), encode(content)?.as_slice())?;
        index.insert((scope, number(size).as_str()), (key.as_str(), query::entry(row).as_slice()))?;
        size += 1;
    }
    transaction.open_table(SIZES)?.insert((R::LIST.index.name(), scope), size)?;
    Ok(())
}

/// Removes a whole list.
pub(super) fn forget<R: Kept>(transaction: &WriteTransaction, scope: &str) -> Result<(), StoreError> {
    let all = (scope, "")..=(scope, LAST);
    transaction.open_table(R::LIST.rows)?.retain_in(all.clone(), |_, _| false)?;
    transaction.open_table(R::LIST.index)?.retain_in(all, |_, _| false)?;
    transaction.open_table(SIZES)?.remove((R::LIST.index.name(), scope))?;
    Ok(())
}

/// Writes one row, new or changed; a row keeps its place.
pub(super) fn put<R: Kept + Serialize>(
    transaction: &WriteTransaction,
    scope: &str,
    (place, key): (&str, &str),
    row: &R,
) -> Result<(), StoreError> {
    transaction.open_table(R::LIST.rows)?.insert((scope, key), encode(row)?.as_slice())?;
    let entry = query::entry(row);
    let is_new = transaction.open_table(R::LIST.index)?.insert((scope, place), (key, entry.as_slice()))?.is_none();
    if is_new { resize::<R>(transaction, scope, 1) } else { Ok(()) }
}

/// Removes one row.
pub(super) fn remove<R: Kept>(transaction: &WriteTransaction, scope: &str, place: &str, key: &str) -> Result<(), StoreError> {
    transaction.open_table(R::LIST.rows)?.remove((scope, key))?;
    let was_there = transaction.open_table(R::LIST.index)?.remove((scope, place))?.is_some();
    if was_there { resize::<R>(transaction, scope, -1) } else { Ok(()) }
}

fn resize<R: Kept>(transaction: &WriteTransaction, scope: &str, by: i64) -> Result<(), StoreError> {
    let mut sizes = transaction.open_table(SIZES)?;
    let key = (R::LIST.index.name(), scope);
    let size = sizes.get(key)?.map_or(0, |size| size.value()).saturating_add_signed(by);
    if size == 0 {
        sizes.remove(key)?;
    } else {
        sizes.insert(key, size)?;
    }
    Ok(())
}

/// The page of a search in rows at hand, which come in the order that stands when no sort is asked for.
pub(in crate::scanner) fn page<R: Listed>(rows: Vec<R>, query: &Query) -> Page<R> {
    let mut picker = Picker::new(query, R::FIELDS);
    for row in rows {
        picker.offer(&query::entry(&row), || row);
    }
    let (data, total) = picker.finish();
    Page { data, total }
}

impl Store {
    /// The page of a search in the list of `scope`.
    pub(in crate::scanner) fn page<R: Kept>(&self, scope: &str, query: &Query) -> Result<Page<R>, StoreError> {
        let reading = self.reading()?;
        let index = reading.open_table(R::LIST.index)?;
        let (keys, total) = if query.is_plain() {
            let total = reading.open_table(SIZES)?.get((R::LIST.index.name(), scope))?.map_or(0, |size| size.value());
            let first = if R::LIST.is_numbered { number(query.first) } else { String::new() };
            let skipped = if R::LIST.is_numbered { 0 } else { usize::try_from(query.first).unwrap_or(usize::MAX) };
            let page = index.range((scope, first.as_str())..=(scope, LAST))?.skip(skipped).take(query.size);
            let keys = page.map(|row| Ok(row?.1.value().0.to_owned())).collect::<Result<Vec<String>, StoreError>>()?;
            (keys, total)
        } else {
            let mut picker = Picker::new(query, R::FIELDS);
            for row in index.range((scope, "")..=(scope, LAST))? {
                let row = row?.1;
                let (key, entry) = row.value();
                picker.offer(entry, || key.to_owned());
            }
            picker.finish()
        };
        let rows = reading.open_table(R::LIST.rows)?;
        let mut data = Vec::with_capacity(keys.len());
        for key in &keys {
            data.extend(record(&rows, (scope, key.as_str()))?);
        }
        Ok(Page { data, total })
    }
}
