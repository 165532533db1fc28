//! Shares, the recipient's side: the doors, the grant that opening one gives, and what is behind it. Needs no session and no
//! identity provider. A door asks what is known here first and the scanning service last, so that guessing costs the service
//! nothing and unknown shares answer like wrong codes.

mod content;
mod doors;
mod html;
mod log;
mod pdf;
mod programs;
mod report;
mod watermark;

use std::time::Duration;

use self::log::Log;
use self::pdf::Marking;
pub(in crate::gateway) use self::pdf::{MarkSettings, Unmarked};
pub(in crate::gateway) use self::programs::{Guest, Wanted};
pub(in crate::gateway) use self::report::{Download, ReportFor};
use super::credentials::Credentials;
use super::error::Error;
use super::share_policy::SharePolicies;
use crate::gateway::audit::Audit;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::share::{Opened, Spot};
use crate::gateway::domain::share_entry::{Entry, Mark, Outcome, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::{Grants, Guard, Ledger};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SharePages {
    credentials: Credentials,
    ledger: Ledger,
    guard: Guard,
    grants: Grants,
    policies: SharePolicies,
    marking: Marking,
    log: Log,
    clock: Clock,
    /// How long a right code waits for its turn at the service.
    turn: Duration,
}

/// A share as somebody stands before it.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Place {
    pub(in crate::gateway) tenant: TenantId,
    pub(in crate::gateway) spot: Spot,
    /// The caller's network, masked.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) device: Device,
    pub(in crate::gateway) request_id: String,
}

impl Place {
    fn mark(&self) -> Mark {
        Mark::of(&self.tenant, &self.spot.share)
    }
}

/// What a try to open a door gave.
#[derive(Debug)]
pub(in crate::gateway) enum Entrance {
    /// The browser's part of the grant, and how long that is good.
    Granted(Secret, Duration),
    /// What was typed can be no code: nobody looked at anything.
    NoCode,
    /// Unknown, over, or the code is wrong: one answer for all.
    Refused,
    /// Seconds until the next try is looked at.
    Wait(u64),
    /// Seconds. The code may well be right, but the service looks at none now.
    Busy(u64),
    /// The code is right, but the share does not open any more. Told to nobody else.
    Over(State),
}

/// Somebody who opened a share.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Visit {
    pub(in crate::gateway) place: Place,
    /// The share as it is now.
    pub(in crate::gateway) entry: Entry,
    /// Nothing that proves a finding is shown, nor the report, which may.
    pub(in crate::gateway) hides_evidence: bool,
    /// When the grant runs out.
    pub(in crate::gateway) until: Timestamp,
    code: Option<Secret>,
    /// The browser's part of the grant.
    handle: Secret,
}

/// What is behind the door now.
pub(in crate::gateway) enum Content<T> {
    Here(T),
    /// The share ended after it was opened.
    Over,
}

impl SharePages {
    pub(in crate::gateway) fn new(
        credentials: Credentials,
        (ledger, policies): (Ledger, SharePolicies),
        marking: MarkSettings,
        audit: Audit,
        (turn, (clock, shutdown)): (Duration, (Clock, Shutdown)),
    ) -> Self {
        let marking = Marking::new(marking);
        let log = Log { ledger: ledger.clone(), audit, clock: clock.clone(), shutdown };
        Self { credentials, guard: ledger.guard(), grants: ledger.grants(), ledger, policies, marking, log, clock, turn }
    }

    /// The visit that a browser's part of a grant stands for, if the grant is for this share as it is now and still good. One that is
    /// not is gone for good: what made it void may be taken back, the grant does not come back with it.
    pub(in crate::gateway) async fn visit(&self, place: Place, handle: &Secret) -> Result<Option<Visit>, Error> {
        let mark = place.mark();
        let Some((inside, left)) = self.grants.open(&place.tenant, &mark, handle).await? else { return Ok(None) };
        let policy = self.policies.of(&place.tenant).await?;
        let entry = self.ledger.entry(&place.tenant, &mark).await?;
        let now = self.clock.now();
        let entry = entry.filter(|entry| entry.version == inside.version && inside.terms.hold(entry, &policy, now));
        let Some(entry) = entry.filter(|entry| !matches!(entry.state(now), State::Expired | State::Ended)) else {
            self.grants.drop(&place.tenant, handle).await?;
            return Ok(None);
        };
        let hides_evidence = entry.hides_evidence || !policy.evidence;
        Ok(Some(Visit { place, entry, hides_evidence, until: now.after(left), code: inside.code, handle: handle.clone() }))
    }

    /// Ends a visit.
    pub(in crate::gateway) async fn close(&self, place: &Place, handle: &Secret) -> Result<(), Error> {
        let mark = place.mark();
        if self.grants.open(&place.tenant, &mark, handle).await?.is_some() {
            self.grants.drop(&place.tenant, handle).await?;
            self.log.note(place, &mark, Outcome::Left);
        }
        Ok(())
    }
}

impl<T> Content<T> {
    fn of(opened: Opened<T>) -> Self {
        match opened {
            Opened::Open(content) => Self::Here(content),
            Opened::CodeNeeded | Opened::WrongCode | Opened::Gone => Self::Over,
        }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Content<U> {
        match self {
            Self::Here(content) => Content::Here(change(content)),
            Self::Over => Content::Over,
        }
    }
}
