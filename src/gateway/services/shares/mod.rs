//! Shares, the owner's side: which there are, what a new one would show, making one exactly once, and what becomes of it. What
//! opens is decided by the ledger; the scanning service is told, and when it cannot be told, the door stays closed.

mod ending;
mod keeping;
mod listing;
mod making;
mod preview;

use std::time::Duration;

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, OffsetDateTime, Time};

pub(in crate::gateway) use self::ending::{Ended, Endings, NotEnded, Sheet};
pub(in crate::gateway) use self::keeping::{AtService, OneShare};
pub(in crate::gateway) use self::listing::{Elsewhere, PAGE_SIZE, Seen, ShareList, Standing};
pub(in crate::gateway) use self::making::{Field, NewLink, NewShare, Offer, Outcome, Problem, WantedCode};
pub(in crate::gateway) use self::preview::{Chosen, ShownChain, Terms};
use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::share_policy::SharePolicies;
use crate::config::gateway::Shares as Settings;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::extraction_code::Code;
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::Ledger;
use crate::gateway::store::{Key, Store};
use crate::gateway::vault::ServerKeys;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::random;
use crate::platform::secret::Secret;

/// A form is remembered as used for this long; an older one makes a new share.
const FORM_KEPT: Duration = Duration::from_hours(24);
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Shares {
    pub(in crate::gateway) credentials: Credentials,
    pub(in crate::gateway) vault: ServerKeys,
    pub(in crate::gateway) store: Store,
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

    /// Does `work` unless this form did it before. When it comes to nothing, the form can be sent again.
    async fn once<T>(&self, actor: &Actor, once: &str, work: impl Future<Output = Result<T, Error>>) -> Result<Option<T>, Error> {
        if !(16..=64).contains(&once.len()) {
            return Err(Error::Invalid("The form is not complete. Load its page again.".to_owned()));
        }
        let form = Key::hashed(&actor.principal.tenant, "share-form", &format!("{}/{once}", actor.principal.key()));
        if self.store.insert(&form, Vec::new(), Some(FORM_KEPT)).await?.is_none() {
            return Ok(None);
        }
        match work.await {
            Ok(made) => Ok(Some(made)),
            Err(error) => {
                // If even that cannot be noted, the form runs out by itself.
                let _ = self.store.delete(&form).await;
                Err(error)
            }
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

fn is_own(actor: &Actor, entry: &Entry) -> bool {
    entry.maker.key == actor.principal.key()
}

/// The code that is wanted, as far as the company allows it.
fn code(wanted: &WantedCode, policy: &SharePolicy) -> Result<Option<Code>, Error> {
    match wanted {
        WantedCode::None if !policy.without_code => {
            Err(Error::Invalid("Your company allows no shares without a code. Choose one of the other two.".to_owned()))
        }
        WantedCode::None => Ok(None),
        WantedCode::Chosen(text) => Code::chosen(text).map(Some).map_err(Error::Invalid),
        WantedCode::Made => {
            let bits = random::bytes().map_err(|error| Error::Internal(error.to_string()))?;
            Ok(Some(Code::from_random(bits)))
        }
    }
}

/// A code that was chosen, as it was typed: people know it again by that. None where that is not the code alone, for instance where
/// it came with a message around it, or in signs that do not look like what they are.
fn as_typed(wanted: &WantedCode, code: Option<&Code>) -> Option<Secret> {
    let (WantedCode::Chosen(typed), Some(code)) = (wanted, code) else { return None };
    let shown: Vec<&str> = typed.split_whitespace().collect();
    let shown = shown.join(" ");
    let is_plain = shown.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ');
    let bare = |counts: fn(char) -> bool| shown.chars().filter(|c| counts(*c)).flat_map(char::to_uppercase).collect::<String>();
    let is_it = [bare(|c| c != ' ' && c != '-'), bare(char::is_alphanumeric)].iter().any(|bare| code.secret().matches(bare));
    (is_plain && is_it).then(|| Secret::new(shown))
}

fn days(now: Timestamp, policy: &SharePolicy) -> Days {
    let day = |ahead: u32| {
        let date = now.utc().date().checked_add(time::Duration::days(i64::from(ahead))).unwrap_or(Date::MAX);
        date.format(DAY).unwrap_or_default()
    };
    let most = policy.most_days;
    Days { first: day(0), usual: day(policy.usual_days.min(most)), last: day(most), most }
}

/// The last second of the day named, or words for whoever named it.
fn end_of(day: &str, now: Timestamp, most: u32) -> Result<Timestamp, Error> {
    let refused = |words: &str| Error::Invalid(words.to_owned());
    let date =
        Date::parse(day.trim(), DAY).map_err(|_| refused("Name the last day as year-month-day, for example 2030-12-31."))?;
    let ahead = (date - now.utc().date()).whole_days();
    if ahead < 0 {
        return Err(refused("The last day of the share is over already. Choose today or a later day."));
    }
    if ahead > i64::from(most) {
        return Err(Error::Invalid(format!("A share ends at most {most} days from now. Choose an earlier day.")));
    }
    let last = OffsetDateTime::new_utc(date, Time::from_hms(23, 59, 59).unwrap_or(Time::MIDNIGHT));
    Ok(Timestamp(last.unix_timestamp().saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_ends_with_the_day_that_was_named() {
        let now = Timestamp::parse_rfc3339("2026-11-28T23:30:00Z").unwrap();
        let end = |day: &str| end_of(day, now, 90).map(Timestamp::rfc3339);
        assert_eq!(end("2026-11-28").unwrap(), "2026-11-28T23:59:59Z");
        assert_eq!(end(" 2027-02-26 ").unwrap(), "2027-02-26T23:59:59Z");
        for bad in ["2026-11-27", "2027-02-27", "", "28.11.2026", "2026-02-30", "+99999-01-01"] {
            assert!(end(bad).is_err(), "{bad}");
        }
    }
}
