//! Writes down who came to a share. Behind the answer, so that no answer takes longer because its share exists; bounded by the
//! guard, which looks at few codes.

use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::share_entry::{Access, Mark, Outcome};
use crate::gateway::ledger::Ledger;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

use super::Place;

/// The log of all shares. Cheap to clone.
#[derive(Clone)]
pub(super) struct Log {
    pub(super) ledger: Ledger,
    pub(super) audit: Audit,
    pub(super) clock: Clock,
    pub(super) shutdown: Shutdown,
}

impl Log {
    /// An access of a share. Of one that is not there as well: what is written behind an answer keeps the next try waiting, so as
    /// much is written.
    pub(super) fn note(&self, place: &Place, mark: &Mark, outcome: Outcome) {
        let access = Access { at: self.clock.now(), outcome, network: place.network.clone(), device: place.device };
        let (ledger, tenant, mark) = (self.ledger.clone(), place.tenant.clone(), mark.clone());
        self.shutdown.spawn(async move { ledger.note(&tenant, &mark, &access).await });
    }

    /// An access that is worth no line, but takes as long as one that is.
    pub(super) fn pass_over(&self, place: &Place) {
        self.note(place, &Mark::stand_in(&place.tenant), Outcome::WrongCode);
    }

    /// The same as [`Log::note`] where wrong codes closed the door for everybody, or for good: that is for the audit trail as well.
    pub(super) fn alarm(&self, place: &Place, mark: &Mark, outcome: Outcome) {
        let words = if outcome == Outcome::CodeDead { "code_dead" } else { "locked" };
        let event = Event::new(Deed::ShareGuarded, &format!("{words} {}", mark.short()));
        self.audit.record(&place.tenant, event.from(&place.network, &place.request_id));
        self.note(place, mark, outcome);
    }
}
