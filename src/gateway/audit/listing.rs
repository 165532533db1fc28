//! The newest events of a trail for people: what they asked for, how much was left out, and where something is missing.

use std::collections::BTreeMap;

use super::chain::{CLOSED, Chain, MISSING, Note, none};
use crate::gateway::domain::audit::{Deed, Written};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Unavailable;

/// Records that may stand behind the one that the note names.
const AHEAD: u64 = 50;

/// Which events are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Wanted {
    /// Every one.
    All,
    /// None that strangers can cause, and no counts of those.
    NoStrangers,
    Only(Vec<Deed>),
}

impl Wanted {
    fn has(&self, deed: Deed) -> bool {
        match self {
            Self::All => true,
            Self::NoStrangers => !deed.is_strangers() && deed != Deed::LeftOut,
            Self::Only(deeds) => deeds.contains(&deed),
        }
    }
}

/// Events, newest first, with what is missing between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Listing {
    pub(in crate::gateway) lines: Vec<Line>,
    /// How many were left out because they were not wanted, by the deeds' names.
    pub(in crate::gateway) left_out: BTreeMap<&'static str, u64>,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Line {
    Event(Written),
    /// Records that should be there and are not, or do not open.
    Missing {
        first: u64,
        last: u64,
        how: &'static str,
    },
}

impl Chain {
    /// The newest events of these kinds, newest first, of which at most `count` among the last `looked_at` records. The end is
    /// where its note says, or a little behind that: a look, no proof. Costs one read for each record that is looked at.
    pub(super) async fn newest_of(
        &self,
        tenant: &TenantId,
        deeds: &[Deed],
        (count, looked_at): (usize, u64),
    ) -> Result<Vec<Written>, Unavailable> {
        let Note::Reads(noted) = self.note(tenant).await? else { return Ok(Vec::new()) };
        let mut last = noted.number;
        while last < noted.number + AHEAD && self.read(tenant, last + 1).await?.is_some() {
            last += 1;
        }
        let mut found = Vec::new();
        for number in (last.saturating_sub(looked_at) + 1..=last).rev() {
            if found.len() == count {
                break;
            }
            let Some((written, _)) = self.read(tenant, number).await? else { continue };
            if deeds.contains(&written.event.deed) {
                found.push(written);
            }
        }
        Ok(found)
    }

    /// The newest `count` events that are wanted. Walks along what is in the store, so a number that was made up costs nothing.
    pub(super) async fn list(&self, tenant: &TenantId, wanted: &Wanted, count: usize) -> Result<Listing, Unavailable> {
        // Before the look at the store: what is written meanwhile is not missing.
        let noted = if let Note::Reads(end) = self.note(tenant).await? { end } else { none() };
        let found = self.found(tenant).await?;
        let (mut listing, mut events) = (Listing::default(), 0);
        let (mut due, mut due_at) =
            if noted.number > found.highest() { (noted.number, noted.at) } else { (found.highest(), None) };
        for &number in found.numbers.iter().rev() {
            if events == count {
                return Ok(listing);
            }
            if number < due && !self.has_run_out(due_at) {
                listing.lines.push(Line::Missing { first: number + 1, last: due, how: MISSING });
            }
            (due, due_at) = (number - 1, None);
            let Some((written, link)) = self.read(tenant, number).await? else {
                listing.lines.push(Line::Missing { first: number, last: number, how: CLOSED });
                continue;
            };
            due_at = link.before_at;
            if wanted.has(written.event.deed) {
                listing.lines.push(Line::Event(written));
                events += 1;
            } else {
                *listing.left_out.entry(written.event.deed.name()).or_default() += 1;
            }
        }
        if events < count && due > 0 && !self.has_run_out(due_at) {
            listing.lines.push(Line::Missing { first: 1, last: due, how: MISSING });
        }
        Ok(listing)
    }
}
