//! Part of a trail, from its end or from a number on backwards: for pages and exports that go on where the last one ended. Reads
//! the records it gives and nothing else; a trail has no index, so whoever looks for few among many looks through all of them.

use futures_util::stream::{self, StreamExt as _};

use super::chain::{CLOSED, Chain, Link, MISSING, Note};
use super::listing::Line;
use crate::gateway::domain::audit::Written;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Unavailable;
use crate::platform::clock::Timestamp;

/// Records that are read at the same time.
const AT_ONCE: usize = 16;

/// Lines of a trail, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Part {
    pub(in crate::gateway) lines: Vec<Line>,
    /// Below this number it goes on; `None` at the beginning of what is kept.
    pub(in crate::gateway) next: Option<u64>,
}

/// What is in the place of a record.
enum Place {
    Reads(Box<(Written, Link)>),
    Closed,
    Empty,
}

impl Chain {
    /// The `count` records below the number `before`, from the end where none is named.
    pub(super) async fn part(&self, tenant: &TenantId, before: Option<u64>, count: u64) -> Result<Part, Unavailable> {
        let end = self.top(tenant).await?;
        let top = before.map_or(end, |before| before.saturating_sub(1).min(end));
        let last = top.saturating_sub(count);
        // When the one above was written says whether the first of these may have run out.
        let above = if top < end { self.place(tenant, top.saturating_add(1)).await? } else { Place::Empty };
        let mut due_at = before_of(&above);
        let numbers = stream::iter((last + 1..=top).rev().map(async |number| Ok((number, self.place(tenant, number).await?))));
        let mut places = numbers.buffered(AT_ONCE);
        let mut part = Part { lines: Vec::new(), next: (last > 0).then_some(last + 1) };
        while let Some(place) = places.next().await {
            let (number, place): (u64, Place) = place?;
            let before_at = before_of(&place);
            match place {
                Place::Reads(read) => part.lines.push(Line::Event(read.0)),
                Place::Closed => part.miss(number, CLOSED),
                Place::Empty if self.has_run_out(due_at) => {
                    part.next = None;
                    return Ok(part);
                }
                Place::Empty => part.miss(number, MISSING),
            }
            due_at = before_at;
        }
        Ok(part)
    }

    /// The number of the last record. The note may be a little behind; where it is gone, what is there counts.
    async fn top(&self, tenant: &TenantId) -> Result<u64, Unavailable> {
        let Note::Reads(end) = self.note(tenant).await? else { return Ok(self.found(tenant).await?.highest()) };
        let mut top = end.number;
        while let Some(next) = top.checked_add(1)
            && self.read(tenant, next).await?.is_some()
        {
            top = next;
        }
        Ok(top)
    }

    async fn place(&self, tenant: &TenantId, number: u64) -> Result<Place, Unavailable> {
        let Some(record) = self.record(tenant, number).await? else { return Ok(Place::Empty) };
        Ok(self.open(tenant, number, &record.value).map_or(Place::Closed, |read| Place::Reads(Box::new(read))))
    }
}

impl Part {
    /// One more that is missing; in one line with its neighbours.
    fn miss(&mut self, number: u64, how: &'static str) {
        match self.lines.last_mut() {
            Some(Line::Missing { first, how: before, .. }) if *before == how && *first == number + 1 => *first = number,
            _ => self.lines.push(Line::Missing { first: number, last: number, how }),
        }
    }
}

/// When the record before this one was written.
fn before_of(place: &Place) -> Option<Timestamp> {
    if let Place::Reads(read) = place { read.1.before_at } else { None }
}
