//! The scanning service's own public operations on shares, which pass for programs: no way around the doors. What this company's
//! ledger does not know, what is over and what a code is wrong for are answered alike, here, and the service is not asked. Wrong
//! codes count as at the door, right ones never do, and an opening takes a view and stands in the share's log.

use std::time::Duration;

use super::doors::candidate;
use super::{Place, SharePages};
use crate::gateway::domain::extraction_code::meant;
use crate::gateway::domain::share_breach::is_closed;
use crate::gateway::domain::share_entry::{Entry, Mark, Outcome, State};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::{Admission, Try, View};
use crate::gateway::services::error::Error;
use crate::platform::secret::Secret;

/// What a program asks a share for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Wanted {
    /// Only whether it is there (`HEAD`): nothing is shown, so nothing is counted.
    Look,
    /// All that it shows: an opening.
    Share,
    /// One thing that it shows: part of an opening from the same network before, else one itself.
    Part,
}

/// A program that the service may answer.
pub(in crate::gateway) struct Guest {
    place: Place,
    entry: Entry,
    policy: SharePolicy,
    /// Goes to the service; none for a share without one.
    pub(in crate::gateway) code: Option<Secret>,
    /// Everybody else waits so many seconds.
    locked_for: Option<u64>,
}

impl SharePages {
    /// Decides on a call before the service is asked. `code` is what it tries, if it tries one.
    ///
    /// # Errors
    /// [`Error::CodeNeeded`] and [`Error::WrongCode`] whatever the reason is, [`Error::Busy`] where codes are not looked at now, and
    /// [`Error::ShareClosed`] for a right code of a share that does not open to programs.
    pub(in crate::gateway) async fn pass(&self, place: Place, code: Option<Secret>) -> Result<Guest, Error> {
        let policy = self.policies.of(&place.tenant).await?;
        let entry = self.ledger.sought(&place.tenant, &place.mark()).await?;
        let opens = entry.as_ref().is_some_and(|entry| self.opens_to_programs(entry, &policy));
        match (entry, code) {
            (Some(entry), _) if opens && !entry.needs_code => Ok(Guest { place, entry, policy, code: None, locked_for: None }),
            (_, None) => Err(Error::CodeNeeded),
            (entry, Some(code)) => self.pass_with(place, (entry, opens), code, policy).await,
        }
    }

    /// Views that are counted, hidden evidence and the policy are known here only, so such a share opens at its door alone.
    fn opens_to_programs(&self, entry: &Entry, policy: &SharePolicy) -> bool {
        let evidence = policy.evidence && !entry.hides_evidence;
        let closed = is_closed(entry, policy) || entry.state(self.clock.now()) != State::Open;
        evidence && !closed && entry.most_views.is_none()
    }

    async fn pass_with(
        &self,
        place: Place,
        (entry, opens): (Option<Entry>, bool),
        code: Secret,
        policy: SharePolicy,
    ) -> Result<Guest, Error> {
        let mark = place.mark();
        let attempt = Try::at((&place.tenant, &mark), entry.as_ref(), &place.network);
        let locked_for = match self.guard.admit(attempt, &policy, self.turn).await? {
            Admission::Look { locked_for } => locked_for,
            Admission::Wait { seconds, .. } => return Err(Error::Busy { retry_after: seconds }),
        };
        let is_known = entry.as_ref().is_some_and(|entry| entry.check.is_some());
        let candidates = candidate(entry.as_ref(), &meant(&code));
        let may_be_right = candidates.is_some();
        let known = candidates.filter(|_| is_known).and_then(|all| all.into_iter().next());
        let code = known.unwrap_or(code);
        // Where neither the ledger nor the service tells which code is right, none is.
        if !may_be_right || !(is_known || opens) {
            self.count_wrong(&place, (attempt, entry.as_ref()), &policy).await?;
            return Err(wrong(locked_for));
        }
        if is_known {
            self.guard.clear(attempt).await?;
        }
        match entry {
            Some(entry) if opens => Ok(Guest { place, entry, policy, code: Some(code), locked_for }),
            Some(entry) => {
                if entry.state(self.clock.now()) != State::Open {
                    self.seldom(&place, attempt, (Outcome::TooLate, &policy)).await?;
                }
                Err(Error::ShareClosed)
            }
            None => Err(wrong(locked_for)),
        }
    }

    /// What came of it at the service: `status` is its answer, which goes on unless this refuses.
    ///
    /// # Errors
    /// As [`SharePages::pass`].
    pub(in crate::gateway) async fn passed(&self, guest: &Guest, wanted: Wanted, status: u16) -> Result<(), Error> {
        let Guest { place, entry, policy, code, locked_for } = guest;
        let mark = place.mark();
        let attempt = Try::at((&place.tenant, &mark), Some(entry), &place.network);
        match (status, code) {
            (200..=299, None) => self.let_in(guest, &mark, wanted).await,
            (200..=299, Some(code)) => {
                self.learn(place, (&mark, entry), code).await?;
                self.guard.clear(attempt).await?;
                self.let_in(guest, &mark, wanted).await
            }
            // The ledger does not know the code, so the service's word is all there is.
            (400 | 401 | 403, Some(_)) if entry.check.is_none() => {
                self.count_wrong(place, (attempt, Some(entry)), policy).await?;
                Err(wrong(*locked_for))
            }
            // It was changed past this portal.
            (401 | 403, Some(_)) => Err(Error::WrongCode),
            (401 | 403, None) => Err(Error::CodeNeeded),
            _ => Ok(()),
        }
    }

    /// Takes a view, last of all, where the call is an opening.
    async fn let_in(&self, guest: &Guest, mark: &Mark, wanted: Wanted) -> Result<(), Error> {
        let Guest { place, entry, policy, .. } = guest;
        if wanted == Wanted::Look {
            return Ok(());
        }
        let life = Duration::from_secs(60 * u64::from(policy.grant_minutes));
        let whose = (entry.version, &*place.network);
        let begins = self.grants.begin_visit(&place.tenant, mark, whose, life).await?;
        if wanted == Wanted::Part && !begins {
            return self.opens_still(guest, mark).await;
        }
        match self.ledger.take_view(&place.tenant, mark, entry.codes).await? {
            View::Taken(_) => {
                self.log.note(place, mark, Outcome::Opened);
                Ok(())
            }
            // It ended meanwhile, or its code was changed.
            View::None => self.opens_still(guest, mark).await.and(Err(Error::ShareClosed)),
        }
    }

    /// Whether the share opens to this program still: what the service said may be older than what the owner did.
    async fn opens_still(&self, guest: &Guest, mark: &Mark) -> Result<(), Error> {
        let tenant = &guest.place.tenant;
        let policy = self.policies.of(tenant).await?;
        match self.ledger.entry(tenant, mark).await? {
            Some(entry) if entry.codes != guest.entry.codes || entry.code_dead => {
                Err(if entry.needs_code && guest.code.is_none() { Error::CodeNeeded } else { Error::WrongCode })
            }
            Some(entry) if self.opens_to_programs(&entry, &policy) => Ok(()),
            _ => Err(Error::ShareClosed),
        }
    }
}

/// The one answer to wrong codes, or to all of them while everybody waits.
fn wrong(locked_for: Option<u64>) -> Error {
    locked_for.map_or(Error::WrongCode, |retry_after| Error::Busy { retry_after })
}
