//! Which rows a search wants: tests, sorts, one page. Judges entries, the few fields of a row that searches look at in a form
//! that compares byte by byte, so that no row is decoded that is not shown. Knows no table and no wire.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::contract::results::Severity;
use crate::contract::searches::{Fields, Kind};
use crate::platform::clock::Timestamp;

/// First byte of a field that is there, and the whole of one that is not: that one sorts last.
const THERE: u8 = 1;
const MISSING: u8 = 0xff;
/// Ends a text; no text has it inside.
const END: u8 = 0;

/// The content of a field.
#[derive(Clone, Copy, Debug)]
pub(in crate::scanner) enum Field<'a> {
    Text(&'a str),
    Severity(Severity),
    Time(Timestamp),
}

impl Field<'_> {
    /// As it stands in an entry.
    pub(in crate::scanner) fn encoded(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    fn encode(self, out: &mut Vec<u8>) {
        out.push(THERE);
        match self {
            Self::Text(text) => {
                out.extend_from_slice(folded(text).as_bytes());
                out.push(END);
            }
            Self::Severity(severity) => out.push(severity as u8),
            // The sign is turned over: times before 1970 come first.
            Self::Time(at) => out.extend_from_slice(&(at.0.cast_unsigned() ^ (1 << 63)).to_be_bytes()),
        }
    }
}

/// A text as it is compared.
pub(in crate::scanner) fn folded(text: &str) -> String {
    text.to_lowercase().replace('\0', " ")
}

/// A row that can be searched.
pub(in crate::scanner) trait Listed {
    /// The fields a search may use, in the order they stand in an entry.
    const FIELDS: Fields;

    /// The content of a field of [`Listed::FIELDS`].
    fn field(&self, name: &str) -> Option<Field<'_>>;
}

/// What searches look at of a row.
pub(super) fn entry<R: Listed>(row: &R) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, _) in R::FIELDS {
        match row.field(name) {
            Some(field) => field.encode(&mut out),
            None => out.push(MISSING),
        }
    }
    out
}

/// The field number `at` of an entry.
fn column(entry: &[u8], fields: Fields, at: usize) -> &[u8] {
    let mut rest = entry;
    for (nth, (_, kind)) in fields.iter().enumerate() {
        let length = match (rest.first(), kind) {
            (Some(&THERE), Kind::Text) => rest.iter().position(|byte| *byte == END).map_or(rest.len(), |end| end + 1),
            (Some(&THERE), Kind::Severity) => 2,
            (Some(&THERE), Kind::Time) => 9,
            _ => 1,
        };
        let (column, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if nth == at {
            return column;
        }
        rest = behind;
    }
    &[]
}

/// What a field has to be. What is missing passes no test.
#[derive(Debug)]
pub(in crate::scanner) enum Test {
    /// One of these, encoded.
    OneOf(Vec<Vec<u8>>),
    /// A text with this in it, folded.
    Contains(String),
    /// From the first to the second instant, both included.
    Span(Option<Timestamp>, Option<Timestamp>),
}

impl Test {
    fn passes(&self, column: &[u8]) -> bool {
        if column.first() != Some(&THERE) {
            return false;
        }
        match self {
            Self::OneOf(wanted) => wanted.iter().any(|wanted| wanted == column),
            Self::Contains(part) => {
                let text = column.get(1..column.len() - 1).and_then(|text| std::str::from_utf8(text).ok());
                text.is_some_and(|text| text.contains(part.as_str()))
            }
            Self::Span(from, to) => {
                from.is_none_or(|from| *column >= *Field::Time(from).encoded())
                    && to.is_none_or(|to| *column <= *Field::Time(to).encoded())
            }
        }
    }
}

/// A search that was understood. Fields are numbers in [`Listed::FIELDS`].
#[derive(Debug, Default)]
pub(in crate::scanner) struct Query {
    pub(in crate::scanner) tests: Vec<(usize, Test)>,
    /// The first one in charge; true is descending.
    pub(in crate::scanner) sorts: Vec<(usize, bool)>,
    /// Rows before the page, and rows of it.
    pub(in crate::scanner) first: u64,
    pub(in crate::scanner) size: usize,
}

impl Query {
    /// Whether it wants rows as they come.
    pub(super) fn is_plain(&self) -> bool {
        self.tests.is_empty() && self.sorts.is_empty()
    }
}

/// Takes the rows of a list one by one, in the order that stands when no sort is asked for, and keeps the page. With sorts it
/// also keeps the place of what comes before the page, never more.
pub(super) struct Picker<'q, T> {
    query: &'q Query,
    fields: Fields,
    total: u64,
    page: Vec<T>,
    best: BinaryHeap<Ranked<T>>,
    rank: Vec<u8>,
}

struct Ranked<T> {
    rank: Box<[u8]>,
    item: T,
}

impl<'q, T> Picker<'q, T> {
    pub(super) fn new(query: &'q Query, fields: Fields) -> Self {
        Self { query, fields, total: 0, page: Vec::new(), best: BinaryHeap::new(), rank: Vec::new() }
    }

    /// The next row, by its entry.
    pub(super) fn offer(&mut self, entry: &[u8], item: impl FnOnce() -> T) {
        let passes = |(at, test): &(usize, Test)| test.passes(column(entry, self.fields, *at));
        if !self.query.tests.iter().all(passes) {
            return;
        }
        let nth = self.total;
        self.total += 1;
        let end = self.query.first.saturating_add(self.query.size as u64);
        if self.query.sorts.is_empty() {
            if (self.query.first..end).contains(&nth) {
                self.page.push(item());
            }
            return;
        }
        self.rank_of(entry, nth);
        if (self.best.len() as u64) < end {
            self.best.push(Ranked { rank: self.rank.as_slice().into(), item: item() });
        } else if let Some(mut last) = self.best.peek_mut().filter(|last| *self.rank < *last.rank) {
            *last = Ranked { rank: self.rank.as_slice().into(), item: item() };
        }
    }

    /// Its place: the sorted fields, then the order in which it came.
    fn rank_of(&mut self, entry: &[u8], nth: u64) {
        self.rank.clear();
        for (at, is_descending) in &self.query.sorts {
            let turn = if *is_descending { 0xff } else { 0 };
            self.rank.extend(column(entry, self.fields, *at).iter().map(|byte| byte ^ turn));
        }
        self.rank.extend_from_slice(&nth.to_be_bytes());
    }

    /// The page, and how many rows there are in all.
    pub(super) fn finish(self) -> (Vec<T>, u64) {
        if self.query.sorts.is_empty() {
            return (self.page, self.total);
        }
        let before = usize::try_from(self.query.first).unwrap_or(usize::MAX);
        (self.best.into_sorted_vec().into_iter().skip(before).map(|ranked| ranked.item).collect(), self.total)
    }
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<T> Eq for Ranked<T> {}
