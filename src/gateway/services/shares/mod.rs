//! Shares, the owner's side: which there are, what a new one would show, making one exactly once, and what becomes of it. What
//! opens is decided by the ledger; the scanning service is told, and when it cannot be told, the door stays closed.

mod ending;
mod keeping;
mod listing;
mod making;
mod preview;

use std::sync::Arc;

use time::{Date, OffsetDateTime, Time};

pub(in crate::gateway) use self::ending::{Ended, Endings, NotEnded, Sheet};
pub(in crate::gateway) use self::keeping::{AtService, OneShare};
pub(in crate::gateway) use self::listing::{Elsewhere, PAGE_SIZE, Seen, ShareList, Standing};
pub(in crate::gateway) use self::making::{Field, NewLink, NewShare, Offer, Outcome, Problem, WantedCode, bounded};
pub(in crate::gateway) use self::preview::{Chosen, ShownChain, Terms, Typed};
use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::once::{Sent, is_complete, once};
use super::share_policy::SharePolicies;
use crate::config::gateway::Shares as Settings;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::extraction_code::Code;
use crate::gateway::domain::filter::{day_of, day_text};
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::Ledger;
use crate::gateway::store::Store;
use crate::gateway::vault::ServerKeys;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

/// What its forms are called in the store.
const FORM: &str = "share-form";
const SENT_BEFORE: &str = "This form was sent before, and what came of it is not known yet. Look at the list of shares first: where a \
share is there whose code you have not seen, give it a new one.";

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Shares {
    pub(in crate::gateway) credentials: Credentials,
    pub(in crate::gateway) vault: ServerKeys,
    pub(in crate::gateway) store: Store,
    /// Seals what is kept of a preview.
    pub(in crate::gateway) ring: Arc<Ring>,
    pub(in crate::gateway) ledger: Ledger,
    pub(in crate::gateway) policies: SharePolicies,
    pub(in crate::gateway) audit: Audit,
    pub(in crate::gateway) clock: Clock,
    pub(in crate::gateway) settings: Settings,
}

/// Days a share may end on, as `YYYY-MM-DD` in UTC.
pub(in crate::gateway) struct Days {
    pub(in crate::gateway) first: String,
    pub(in crate::gateway) usual: String,
    pub(in crate::gateway) last: String,
    /// From today to the last.
    pub(in crate::gateway) most: u32,
}

impl Shares {
    /// What a form carries so that it works once.
    fn form() -> Result<String, Error> {
        random::id().map_err(|error| Error::Internal(error.to_string()))
    }

    /// Does `work` unless this form did it before; `None` then. When it comes to nothing, the form can be sent again.
    ///
    /// # Errors
    /// [`Error::Conflict`] as long as it is not known what became of the same form.
    async fn once<T>(&self, actor: &Actor, form: &str, work: impl Future<Output = Result<T, Error>>) -> Result<Option<T>, Error> {
        complete(form)?;
        match once(&self.store, actor, (FORM, form), work).await? {
            Sent::Now(made) => Ok(Some(made)),
            Sent::Before => Ok(None),
            Sent::Begun => Err(Error::Conflict(SENT_BEFORE.to_owned())),
        }
    }

    /// The entry of a share that this person may look after: their own; administrators see every one.
    async fn seen_by(&self, actor: &Actor, mark: &Mark) -> Result<Entry, Error> {
        let entry = self.ledger.entry(&actor.principal.tenant, mark).await?.ok_or(Error::NotFound)?;
        let may = is_own(actor, &entry) || actor.principal.is_administrator();
        if may { Ok(entry) } else { Err(Error::NotFound) }
    }

    /// The entry of a share that this person made.
    async fn own(&self, actor: &Actor, mark: &Mark) -> Result<Entry, Error> {
        let entry = self.seen_by(actor, mark).await?;
        if is_own(actor, &entry) {
            return Ok(entry);
        }
        let words = "Only whoever made a share can extend it or give it a new code. As an administrator you can end it.";
        Err(Error::Conflict(words.to_owned()))
    }

    fn note(&self, actor: &Actor, what: &str, mark: &Mark) {
        let event = Event::new(Deed::Share, &format!("{what} {}", mark.short()));
        self.audit.record(&actor.principal.tenant, actor.did(event));
    }

    #[cfg(test)]
    pub(in crate::gateway) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

/// Whether a form carries what makes it work once.
fn complete(once: &str) -> Result<(), Error> {
    let words = "It is not complete. Load its page again.";
    if is_complete(once) { Ok(()) } else { Err(Error::Invalid(words.to_owned())) }
}

fn is_own(actor: &Actor, entry: &Entry) -> bool {
    entry.maker.key == actor.principal.key()
}

/// The code that is wanted, as far as the company allows it.
fn code(wanted: &WantedCode, policy: &SharePolicy) -> Result<Option<Code>, Error> {
    match wanted {
        WantedCode::None => match policy.why_code() {
            Some(words) => Err(Error::Invalid(format!("{words} Choose one of the other two."))),
            None => Ok(None),
        },
        WantedCode::Chosen(text) => Code::chosen(text).map(Some).map_err(Error::Invalid),
        WantedCode::Made => {
            let bits = random::bytes().map_err(|error| Error::Internal(error.to_string()))?;
            Ok(Some(Code::from_random(bits)))
        }
    }
}

/// A code that was chosen, as it was typed; none where it cannot be known again by that.
fn as_typed(wanted: &WantedCode, code: Option<&Code>) -> Option<Secret> {
    let (WantedCode::Chosen(typed), Some(code)) = (wanted, code) else { return None };
    code.as_typed(typed).map(Secret::new)
}

fn days(now: Timestamp, policy: &SharePolicy) -> Days {
    let day = |ahead: u32| {
        let date = now.utc().date().checked_add(time::Duration::days(i64::from(ahead))).unwrap_or(Date::MAX);
        day_text(date)
    };
    let most = policy.most_days;
    Days { first: day(0), usual: day(policy.usual_days.min(most)), last: day(most), most }
}

/// The last second of the day named, or words for whoever named it.
fn end_of(day: &str, now: Timestamp, policy: &SharePolicy) -> Result<Timestamp, Error> {
    let refused = |words: &str| Error::Invalid(words.to_owned());
    let unread = || refused("Name the last day as year-month-day, for example 2030-12-31.");
    let date = day_of(day.trim()).ok_or_else(unread)?;
    if date < now.utc().date() {
        return Err(refused("The last day of the share is over already. Choose today or a later day."));
    }
    let last = OffsetDateTime::new_utc(date, Time::from_hms(23, 59, 59).unwrap_or(Time::MIDNIGHT));
    let ends = Timestamp(last.unix_timestamp().saturating_mul(1000));
    if policy.is_too_late(ends, now) {
        let most = policy.most_days;
        return Err(Error::Invalid(format!("A share ends at most {most} days from now. Choose an earlier day.")));
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::share_policy::tests::GIVEN;

    #[test]
    fn a_share_ends_with_the_day_that_was_named() {
        let now = Timestamp::parse_rfc3339("2026-11-28T23:30:00Z").unwrap();
        let end = |day: &str| end_of(day, now, &GIVEN).map(Timestamp::rfc3339);
        assert_eq!(end("2026-11-28").unwrap(), "2026-11-28T23:59:59Z");
        assert_eq!(end(" 2027-02-26 ").unwrap(), "2027-02-26T23:59:59Z");
        for bad in [
            "2026-11-27",
            "2027-02-27",
            "",
            "28.11.2026",
            "2026-02-30",
            "+99999-01-01",
            "+2026-12-01",
            "2026-12-1",
            "2026- 12-01",
        ] {
            assert!(end(bad).is_err(), "{bad}");
        }
    }
}
