//! One page of a list at the service, whether the service understands the filter or not (WIRE 18 #3): what it answers is
//! checked against the filter, and when it does not fit the list is read and filtered here.

use std::future::Future;

use super::error::Error;
use crate::contract::limits::MAX_PAGE_SIZE;
use crate::contract::tasks::{Filter, Search};
use crate::gateway::domain::page::Listing;
use crate::gateway::upstream::Kind;

/// A list that has to be filtered here is read up to this many pages of [`MAX_PAGE_SIZE`]: 10,000 rows.
const PAGES: u32 = 50;

/// A list of up to this many rows is put in our own order; a longer one stays in the service's.
const RANKED: u32 = 2_000;

/// What is asked for.
pub(super) struct Wanted {
    pub(super) filters: Vec<Filter>,
    pub(super) sorts: Vec<String>,
    /// From 0.
    pub(super) page: u32,
    pub(super) size: u32,
}

/// The rows of one page.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Listed<T> {
    pub(in crate::gateway) items: Vec<T>,
    /// All rows that fit, on all pages.
    pub(in crate::gateway) total: u64,
    /// False: there are more rows than were looked at, so `total` is a least number.
    pub(in crate::gateway) complete: bool,
}

/// One page of what `fits`. `ask` asks the service once.
pub(super) async fn page<T, F>(wanted: Wanted, fits: impl Fn(&T) -> bool, ask: impl Fn(Search) -> F) -> Result<Listed<T>, Error>
where
    F: Future<Output = Result<Listing<T>, Error>>,
{
    let filtered = !wanted.filters.is_empty();
    let search =
        Search { page: Some(wanted.page), size: Some(wanted.size), filters: wanted.filters.clone(), sorts: wanted.sorts.clone() };
    match ask(search).await {
        Ok(found) if found.items.iter().all(&fits) => Ok(Listed { items: found.items, total: found.total, complete: true }),
        Ok(_) => narrowed(wanted, fits, ask).await,
        Err(Error::Upstream(error)) if filtered && error.kind == Kind::Invalid => narrowed(wanted, fits, ask).await,
        Err(error) => Err(error),
    }
}

/// As [`page`], filtered here from the start.
pub(super) async fn narrowed<T, F>(
    wanted: Wanted,
    fits: impl Fn(&T) -> bool,
    ask: impl Fn(Search) -> F,
) -> Result<Listed<T>, Error>
where
    F: Future<Output = Result<Listing<T>, Error>>,
{
    let (found, complete) = all(&wanted.sorts, fits, ask).await?;
    Ok(slice(found, complete, wanted.page, wanted.size))
}

/// A list of up to [`RANKED`] rows whole, in our own order, however the service sorts; None when it is longer.
pub(super) async fn ranked<T, K, F>(
    sorts: &[String],
    fits: impl Fn(&T) -> bool,
    rank: impl Fn(&T) -> K,
    ask: impl Fn(Search) -> F,
) -> Result<Option<Vec<T>>, Error>
where
    K: Ord,
    F: Future<Output = Result<Listing<T>, Error>>,
{
    let mut found = Vec::new();
    let mut seen = 0_u64;
    for page in 0..RANKED.div_ceil(MAX_PAGE_SIZE) {
        let search = Search { page: Some(page), size: Some(MAX_PAGE_SIZE), filters: Vec::new(), sorts: sorts.to_vec() };
        let answer = ask(search).await?;
        if answer.total > u64::from(RANKED) {
            return Ok(None);
        }
        let rows = answer.items.len() as u64;
        seen += rows;
        found.extend(answer.items.into_iter().filter(&fits));
        if rows == 0 || seen >= answer.total {
            break;
        }
    }
    found.sort_by_cached_key(rank);
    Ok(Some(found))
}

/// One page of a list that is here whole.
pub(super) fn slice<T>(rows: Vec<T>, complete: bool, page: u32, size: u32) -> Listed<T> {
    let total = rows.len() as u64;
    let first = usize::try_from(u64::from(page) * u64::from(size)).unwrap_or(usize::MAX);
    Listed { items: rows.into_iter().skip(first).take(size as usize).collect(), total, complete }
}

/// All rows that fit, and whether all rows were looked at.
pub(super) async fn all<T, F>(
    sorts: &[String],
    fits: impl Fn(&T) -> bool,
    ask: impl Fn(Search) -> F,
) -> Result<(Vec<T>, bool), Error>
where
    F: Future<Output = Result<Listing<T>, Error>>,
{
    let mut found = Vec::new();
    let mut seen = 0_u64;
    for page in 0..PAGES {
        let search = Search { page: Some(page), size: Some(MAX_PAGE_SIZE), filters: Vec::new(), sorts: sorts.to_vec() };
        let answer = ask(search).await?;
        let rows = answer.items.len() as u64;
        seen += rows;
        found.extend(answer.items.into_iter().filter(&fits));
        if rows == 0 || seen >= answer.total {
            return Ok((found, true));
        }
    }
    Ok((found, false))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::contract::tasks::Operator;

    fn wanted(page: u32) -> Wanted {
        let even = Filter { field: "parity".to_owned(), operator: Operator::Eq, value: "even".into() };
        Wanted { filters: vec![even], sorts: Vec::new(), page, size: 10 }
    }

    /// A service that holds 0..1000 and does not know filters.
    fn plain(search: &Search) -> Listing<u64> {
        let (page, size) = (u64::from(search.page.unwrap()), u64::from(search.size.unwrap()));
        Listing { items: (page * size..(page * size + size).min(1000)).collect(), total: 1000 }
    }

    #[tokio::test]
    async fn a_service_that_passes_over_filters_is_filtered_here() {
        let asked = RefCell::new(0);
        let answer = page(
            wanted(49),
            |row| row % 2 == 0,
            |search| {
                *asked.borrow_mut() += 1;
                let found = plain(&search);
                async move { Ok(found) }
            },
        );
        let answer = answer.await.unwrap();
        assert_eq!(answer.items, (980..1000).step_by(2).collect::<Vec<u64>>());
        assert_eq!((answer.total, answer.complete), (500, true));
        assert_eq!(asked.into_inner(), 6);
    }

    #[tokio::test]
    async fn a_service_that_filters_is_asked_once() {
        let asked = RefCell::new(0);
        let answer = page(
            wanted(0),
            |row| row % 2 == 0,
            |_| {
                *asked.borrow_mut() += 1;
                async { Ok(Listing { items: vec![0, 2, 4], total: 70_000 }) }
            },
        );
        assert_eq!(answer.await.unwrap().total, 70_000);
        assert_eq!(asked.into_inner(), 1);
    }

    #[tokio::test]
    async fn a_list_is_put_in_order_over_all_its_pages_unless_it_is_long() {
        let ask = |search: Search| {
            let found = plain(&search);
            async move { Ok(found) }
        };
        let ranked = ranked(&[], |row| row % 2 == 0, |row| std::cmp::Reverse(*row), ask).await.unwrap().unwrap();
        assert_eq!((ranked.len(), ranked[0], ranked[499]), (500, 998, 0));
        let long = |_| async { Ok(Listing { items: vec![1_u64], total: 2_001 }) };
        assert!(super::ranked(&[], |_| true, |row| *row, long).await.unwrap().is_none());
        let page = slice(ranked, true, 49, 10);
        assert_eq!((page.items.len(), page.items[9], page.total), (10, 8 - 8, 500));
    }

    #[tokio::test]
    async fn a_list_without_end_is_read_to_the_bound_and_says_so() {
        let answer = page(
            wanted(0),
            |row| row % 2 == 0,
            |search| {
                let first = u64::from(search.page.unwrap()) * 200;
                async move { Ok(Listing { items: (first..first + 200).collect(), total: u64::MAX }) }
            },
        );
        let answer = answer.await.unwrap();
        assert_eq!((answer.items.len(), answer.total, answer.complete), (10, 5000, false));
    }
}
