//! One share after it was made: how it stands, another last day, a new code. A change closes the door first and tells the
//! service then; the door opens again when the service has said yes, so an outage in the middle leaves it closed.

use super::making::{Field, NewLink, Outcome, Problem, Problems, said_no};
use super::{Days, Seen, Shares, WantedCode, as_typed, code, complete, days, end_of};
use crate::contract::ids::ShareId;
use crate::contract::shares::UpdateShare;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::share_entry::{Access, Entry, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::Ledger;
use crate::gateway::services::Actor;
use crate::gateway::services::error::Error;
use crate::platform::clock::Timestamp;

/// Pages of the service's list that are looked through for one share: 1,000 shares.
const LOOKED_THROUGH: u32 = 5;

/// A share on its own page.
pub(in crate::gateway) struct OneShare {
    pub(in crate::gateway) seen: Seen,
    pub(in crate::gateway) at_service: AtService,
    /// Newest first.
    pub(in crate::gateway) accesses: Vec<Access>,
    pub(in crate::gateway) policy: SharePolicy,
    pub(in crate::gateway) days: Days,
    /// Makes the form for a new code work once.
    pub(in crate::gateway) once: String,
    pub(in crate::gateway) now: Timestamp,
}

/// Whether the scanning service has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum AtService {
    Known,
    Missing,
    /// The service does not answer, or has more shares than are looked through.
    Unknown,
}

impl Shares {
    /// A share as its maker or an administrator sees it.
    pub(in crate::gateway) async fn one(&self, actor: &Actor, mark: &Mark) -> Result<OneShare, Error> {
        let entry = self.seen_by(actor, mark).await?;
        let tenant = &actor.principal.tenant;
        let policy = self.policies.of(tenant).await?;
        let accesses = self.ledger.accesses(tenant, mark).await?;
        Ok(OneShare {
            at_service: self.at_service(actor, &entry.id).await?,
            seen: self.look_at(actor, mark.clone(), entry).await?,
            accesses,
            policy,
            days: days(self.clock.now(), &policy),
            once: Self::form()?,
            now: self.clock.now(),
        })
    }

    /// The page is worth showing without this, so trouble of the service is an answer.
    async fn at_service(&self, actor: &Actor, id: &ShareId) -> Result<AtService, Error> {
        let mut looked = 0;
        for search in Self::pages(LOOKED_THROUGH) {
            match self.search(actor, search).await {
                Ok(found) if found.items.iter().any(|row| row.id == *id) => return Ok(AtService::Known),
                Ok(found) => {
                    looked += found.items.len() as u64;
                    if found.items.is_empty() || looked >= found.total {
                        return Ok(AtService::Missing);
                    }
                }
                Err(Error::SignIn) => return Err(Error::SignIn),
                Err(error) => {
                    tracing::debug!(%error, "the service does not say whether it has a share");
                    return Ok(AtService::Unknown);
                }
            }
        }
        Ok(AtService::Unknown)
    }

    /// Gives a share another last day. Nothing else changes: whoever is inside stays until then, and wrong codes stay counted.
    pub(in crate::gateway) async fn extend(&self, actor: &Actor, mark: &Mark, last_day: &str) -> Result<(), Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let ends = end_of(last_day, self.clock.now(), &policy)?;
        let work = async {
            let entry = self.changeable(actor, mark).await?;
            let change = UpdateShare { expired_at: Some(Some(ends.rfc3339())), extraction_code: None };
            self.tell(actor, &entry.id, &change).await?;
            let moved = |entry: &mut Entry| -> Result<(), Error> {
                entry.ends = Some(ends);
                Ok(())
            };
            self.ledger.change(&actor.principal.tenant, mark, moved).await?.ok_or(Error::NotFound)?;
            Ok(())
        };
        self.alone(actor, mark, work).await?;
        self.note(actor, "extended", mark);
        Ok(())
    }

    /// Gives a share a new code, at most one for each form; the one before opens nothing from the moment this begins, and who is
    /// inside by it is out, unless the service refuses. A lock-out and the count of wrong codes go with the old one. Where something
    /// is wrong with the form, everything that is.
    pub(in crate::gateway) async fn new_code(
        &self,
        actor: &Actor,
        mark: &Mark,
        wanted: &WantedCode,
        once: &str,
    ) -> Result<Result<Outcome, Vec<Problem>>, Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let mut problems = Problems::default();
        let (field, read) = match wanted {
            WantedCode::None => (Field::Code, Err(Error::Invalid("Let a code be made, or choose one of your own.".to_owned()))),
            WantedCode::Chosen(_) | WantedCode::Made => (Field::OwnCode, code(wanted, &policy)),
        };
        let read = problems.unless(field, read)?.flatten();
        problems.unless(Field::Form, complete(once))?;
        let Some(code) = read.filter(|_| problems.0.is_empty()) else {
            // A share that cannot be changed has no form, so nothing of it need be told.
            self.changeable(actor, mark).await?;
            return Ok(Err(problems.0));
        };
        let work = Box::pin(async {
            let before = self.changeable(actor, mark).await?;
            self.ledger.close_code(&actor.principal.tenant, mark).await?.ok_or(Error::NotFound)?;
            let change = UpdateShare { expired_at: None, extraction_code: Some(Some(code.secret().expose().to_owned())) };
            if let Err(error) = self.tell(actor, &before.id, &change).await {
                // Where the service did nothing for sure, the code before is what it was.
                if said_no(&error) {
                    self.ledger.reopen_code(&actor.principal.tenant, mark, &before).await?;
                }
                return Err(error);
            }
            let check = Ledger::check_of(code.secret())?;
            let now = self.clock.now();
            let renewed = |entry: &mut Entry| -> Result<(), Error> {
                // One that was ended meanwhile opens by no code.
                if let Some(words) = entry.state(now).why_final() {
                    return Err(Error::Conflict(words.to_owned()));
                }
                entry.renew_code(check.clone());
                Ok(())
            };
            let changed = self.ledger.change(&actor.principal.tenant, mark, renewed).await?.ok_or(Error::NotFound)?;
            Ok(changed.1)
        });
        let Some(entry) = self.once(actor, once, Box::pin(self.alone(actor, mark, work))).await? else {
            return Ok(Ok(Outcome::AlreadyMade));
        };
        self.note(actor, "new_code", mark);
        let (typed, views, mark) = (as_typed(wanted, Some(&code)), entry.left(), mark.clone());
        let link = NewLink { id: entry.id, code: Some(code), typed, ends: entry.ends, views, mark };
        Ok(Ok(Outcome::New(link)))
    }

    /// The share, if it is this person's and can still be changed.
    async fn changeable(&self, actor: &Actor, mark: &Mark) -> Result<Entry, Error> {
        let entry = self.own(actor, mark).await?;
        match entry.state(self.clock.now()).why_final() {
            None => Ok(entry),
            Some(words) => Err(Error::Conflict(words.to_owned())),
        }
    }

    async fn tell(&self, actor: &Actor, id: &ShareId, change: &UpdateShare) -> Result<(), Error> {
        let told = self.credentials.changing(actor, Subject::BY_A_SHARE, |service, call| {
            let (id, change) = (id.clone(), change.clone());
            async move { service.update_share(&call, &id, &change).await }
        });
        told.await
    }

    /// Changes of one share come one after the other, those of programs as well.
    async fn alone<T>(&self, actor: &Actor, mark: &Mark, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let Some(lease) = self.ledger.changing(&actor.principal.tenant, mark).await? else {
            return Err(Error::Conflict("This share is being changed at the same time. Load its page again.".to_owned()));
        };
        let done = work.await;
        self.ledger.changed(&lease).await;
        done
    }
}
