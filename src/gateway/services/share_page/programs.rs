//! The scanning service's own public operations on shares, which pass for programs: no way around the doors. What is limited
//! here in a way the service knows nothing of is answered there like a share that nobody has; wrong codes count as at the door.

use super::{Place, SharePages};
use crate::gateway::domain::share_entry::{Entry, Outcome, State};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::{Admission, Try};
use crate::gateway::services::error::Error;
use crate::platform::secret::Secret;

/// How a program's call is to be answered.
pub(in crate::gateway) enum Passage {
    /// By the service, as it was asked.
    AsAsked,
    /// By the service, without whatever else it might read a code from: none was found that could be counted.
    WithoutCode,
    /// By the service, of a share that nobody has.
    AsUnknown,
    /// Not by the service: the code is wrong.
    WrongCode,
}

/// A call that tries a code, until it is known what came of it.
pub(in crate::gateway) struct Tried {
    place: Place,
    entry: Option<Entry>,
    policy: SharePolicy,
}

impl SharePages {
    /// Decides on a call. `code` is what it tries, if it tries one.
    ///
    /// # Errors
    /// [`Error::Busy`] where codes are not looked at now.
    pub(in crate::gateway) async fn pass(&self, place: Place, code: Option<&Secret>) -> Result<(Passage, Option<Tried>), Error> {
        let policy = self.policies.of(&place.tenant).await?;
        let mark = place.mark();
        let entry = self.ledger.entry(&place.tenant, &mark).await?;
        let opens = entry.as_ref().is_none_or(|entry| {
            let evidence = policy.evidence && !entry.hides_evidence;
            let coded = entry.needs_code || policy.without_code;
            evidence && coded && entry.most_views.is_none() && entry.state(self.clock.now()) == State::Open
        });
        let passage = if opens { Passage::AsAsked } else { Passage::AsUnknown };
        let needs_code = entry.as_ref().map(|entry| entry.needs_code);
        let Some(code) = code.filter(|_| !opens || needs_code != Some(false)) else {
            let guarded = opens && needs_code == Some(true);
            return Ok((if guarded { Passage::WithoutCode } else { passage }, None));
        };
        let attempt = Try::at((&place.tenant, &mark), entry.as_ref(), &place.network);
        let locked_for = match self.guard.admit(attempt, &policy).await? {
            Admission::Look { locked_for } => locked_for,
            Admission::Wait { seconds } => return Err(Error::Busy { retry_after: seconds }),
        };
        let check = entry.as_ref().and_then(|entry| entry.check.as_ref());
        // What others guessed makes the service slow to look: what is known to be wrong does not go there.
        if opens && check.is_some_and(|check| !check.fits(code)) {
            self.count_wrong(&place, (attempt, entry.as_ref()), &policy).await?;
            return locked_for.map_or(Ok((Passage::WrongCode, None)), |seconds| Err(Error::Busy { retry_after: seconds }));
        }
        Ok((passage, Some(Tried { place, entry, policy })))
    }

    /// What came of it at the service.
    pub(in crate::gateway) async fn passed(&self, tried: &Tried, status: u16) -> Result<(), Error> {
        let Tried { place, entry, policy } = tried;
        let mark = place.mark();
        let attempt = Try::at((&place.tenant, &mark), entry.as_ref(), &place.network);
        match status {
            200..=299 => {
                if entry.is_some() {
                    self.log.note(place, &mark, Outcome::Opened);
                }
                Ok(self.guard.clear(attempt).await?)
            }
            400 | 401 | 403 | 404 => self.count_wrong(place, (attempt, entry.as_ref()), policy).await,
            _ => Ok(()),
        }
    }
}
