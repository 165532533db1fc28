//! Shares, the owner's side: which there are, what a new one would show, making one exactly once, ending one.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, OffsetDateTime, Time};

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::share_policy::SharePolicies;
use crate::contract::ids::{ShareId, TaskId, VulId};
use crate::contract::shares::{CreateShare, ShareType};
use crate::contract::tasks::Search;
use crate::gateway::domain::extraction_code::Code;
use crate::gateway::domain::finding::Finding;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::share::ShareRow;
use crate::gateway::domain::share_entry::{Entry, Maker, Mark};
use crate::gateway::domain::task::{Counts, Task};
use crate::gateway::ledger::Ledger;
use crate::gateway::store::{Key, Store};
use crate::gateway::vault::ServerKeys;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::seal::Ring;

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE_SIZE: u32 = 20;
/// A share ends this many days after today unless its maker says otherwise.
pub(in crate::gateway) const DEFAULT_DAYS: i64 = 7;
/// A share ends at most this many days after today.
pub(in crate::gateway) const MOST_DAYS: i64 = 90;
/// A form is remembered as used for this long; an older one makes a new share.
const FORM_KEPT: Duration = Duration::from_hours(24);
const HANDLE: &str = "share-handle";
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Shares {
    credentials: Credentials,
    store: Store,
    ring: Arc<Ring>,
    vault: ServerKeys,
    ledger: Ledger,
    policies: SharePolicies,
    clock: Clock,
}

/// A row of the list, and what stands for its id in forms: colleagues read the list too, and the id of a share without a
/// code opens it.
pub(in crate::gateway) struct ListedShare {
    pub(in crate::gateway) row: ShareRow,
    /// Opens only for this user of this tenant.
    pub(in crate::gateway) handle: String,
}

/// What a new share would show.
pub(in crate::gateway) struct Preview {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) counts: Counts,
    pub(in crate::gateway) finding: Option<Finding>,
    /// Recipients can download the report only with an active server key.
    pub(in crate::gateway) has_key: bool,
    pub(in crate::gateway) days: Days,
    /// Makes the form work once.
    pub(in crate::gateway) once: String,
}

/// Days a share may end on, as `YYYY-MM-DD` in UTC.
pub(in crate::gateway) struct Days {
    pub(in crate::gateway) first: String,
    pub(in crate::gateway) usual: String,
    pub(in crate::gateway) last: String,
}

/// What somebody wants to share.
pub(in crate::gateway) struct NewShare {
    pub(in crate::gateway) task: TaskId,
    /// One finding; none is all findings and the report.
    pub(in crate::gateway) vul: Option<VulId>,
    pub(in crate::gateway) code: WantedCode,
    /// `YYYY-MM-DD` in UTC; the share ends with that day.
    pub(in crate::gateway) last_day: String,
    /// From [`Preview::once`].
    pub(in crate::gateway) once: String,
}

/// Which code a new share gets.
pub(in crate::gateway) enum WantedCode {
    Made,
    Chosen(String),
    None,
}

/// Outcome of making a share.
pub(in crate::gateway) enum Outcome {
    New(NewLink),
    /// The form was sent before. Nothing was made now.
    AlreadyMade,
}

/// A share that was just made; the only time its code is known here.
pub(in crate::gateway) struct NewLink {
    pub(in crate::gateway) id: ShareId,
    pub(in crate::gateway) code: Option<Code>,
    pub(in crate::gateway) ends: Timestamp,
}

impl Shares {
    pub(in crate::gateway) fn new(
        (credentials, vault): (Credentials, ServerKeys),
        (store, ring): (Store, Arc<Ring>),
        (ledger, policies): (Ledger, SharePolicies),
        clock: Clock,
    ) -> Self {
        Self { credentials, store, ring, vault, ledger, policies, clock }
    }

    /// One page of the shares the service shows to this person, newest first. Pages count from 0.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, page: u32) -> Result<Listing<ListedShare>, Error> {
        let search =
            Search { page: Some(page), size: Some(PAGE_SIZE), sorts: vec!["-createdAt".to_owned()], ..Search::default() };
        let found = self
            .credentials
            .with_user(actor, |service, call| {
                let search = search.clone();
                async move { service.search_shares(&call, &search).await }
            })
            .await?;
        let items: Result<Vec<_>, Error> =
            found.items.into_iter().map(|row| Ok(ListedShare { handle: self.handle(actor, &row.id)?, row })).collect();
        Ok(Listing { items: items?, total: found.total })
    }

    /// Ends a share of the list for good.
    pub(in crate::gateway) async fn end(&self, actor: &Actor, handle: &str) -> Result<(), Error> {
        let id = self.named(actor, handle).ok_or(Error::NotFound)?;
        self.credentials
            .changing(actor, Subject::BY_A_SHARE, |service, call| {
                let ids = vec![id.clone()];
                async move { service.delete_shares(&call, ids).await }
            })
            .await
    }

    /// What a share of this task, or of one of its findings, would show.
    pub(in crate::gateway) async fn preview(&self, actor: &Actor, task: &TaskId, vul: Option<&VulId>) -> Result<Preview, Error> {
        let (found, finding) = self
            .credentials
            .with_user(actor, |service, call| {
                let (task, vul) = (task.clone(), vul.cloned());
                async move {
                    let found = service.task(&call, &task).await?;
                    let finding = match vul {
                        Some(vul) => Some(service.result(&call, &task, &vul).await?),
                        None => None,
                    };
                    Ok((found, finding))
                }
            })
            .await?;
        Ok(Preview {
            counts: found.counts.unwrap_or_default(),
            task: found,
            finding,
            has_key: !self.vault.active(&actor.principal.tenant).await?.is_empty(),
            days: days(self.clock.now()),
            once: random::id().map_err(|error| Error::Internal(error.to_string()))?,
        })
    }

    /// Makes a share, at most one for each form.
    pub(in crate::gateway) async fn create(&self, actor: &Actor, wanted: &NewShare) -> Result<Outcome, Error> {
        let ends = end_of(&wanted.last_day, self.clock.now()).map_err(Error::Invalid)?;
        let code = code(&wanted.code)?;
        if !(16..=64).contains(&wanted.once.len()) {
            return Err(Error::Invalid("The form is not complete. Load its page again.".to_owned()));
        }
        let form = Key::hashed(&actor.principal.tenant, "share-form", &format!("{}/{}", actor.principal.key(), wanted.once));
        if self.store.insert(&form, Vec::new(), Some(FORM_KEPT)).await?.is_none() {
            return Ok(Outcome::AlreadyMade);
        }
        match self.make(actor, wanted, code.as_ref(), ends).await {
            Ok(id) => Ok(Outcome::New(NewLink { id, code, ends })),
            Err(error) => {
                // The form may be sent again; if even that cannot be noted, it runs out by itself.
                let _ = self.store.delete(&form).await;
                Err(error)
            }
        }
    }

    async fn make(&self, actor: &Actor, wanted: &NewShare, code: Option<&Code>, ends: Timestamp) -> Result<ShareId, Error> {
        let id = self.credentials.with_user(actor, |service, call| async move { service.generate_share_id(&call).await }).await?;
        let share = CreateShare {
            share_id: id,
            task_id: wanted.task.clone(),
            share_type: if wanted.vul.is_some() { ShareType::Vul } else { ShareType::Report },
            vul_ids: wanted.vul.iter().cloned().collect(),
            extraction_code: code.map(|code| code.secret().expose().to_owned()),
            expired_at: Some(ends.rfc3339()),
        };
        let entry = self.entry(actor, wanted, &share, ends).await?;
        let (tenant, mark) = (&actor.principal.tenant, Mark::of(&actor.principal.tenant, &entry.id));
        // Known here before it is there: a share that the service has and nobody here knows of would never open, nor end.
        if !self.ledger.begin(tenant, &entry).await? {
            return Err(Error::Unusable("The scanning service gave the same name to two shares. Try again."));
        }
        let made = self
            .credentials
            .changing(actor, Subject::BY_A_SHARE, |service, call| {
                let share = share.clone();
                async move { service.create_share(&call, &share).await }
            })
            .await;
        if let Err(error) = made {
            self.ledger.forget(tenant, &mark).await?;
            return Err(error);
        }
        Ok(entry.id)
    }

    async fn entry(&self, actor: &Actor, wanted: &NewShare, share: &CreateShare, ends: Timestamp) -> Result<Entry, Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let principal = &actor.principal;
        Ok(Entry {
            id: share.share_id.clone(),
            task: wanted.task.clone(),
            project: Hostile::new(""),
            kind: share.share_type,
            findings: share.vul_ids.clone(),
            maker: Maker { key: principal.key(), name: principal.name.clone() },
            made: self.clock.now(),
            ends: Some(ends),
            needs_code: share.extraction_code.is_some(),
            most_views: None,
            views: 0,
            last_opened: None,
            hides_evidence: false,
            note: Hostile::new(""),
            language: "en".to_owned(),
            version: 1,
            ended: None,
            code_dead: false,
            kept_days: policy.kept_days,
        })
    }

    #[cfg(test)]
    pub(in crate::gateway) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The id, sealed for this user: a form needs no more, and nobody who looks on learns a working link.
    fn handle(&self, actor: &Actor, id: &ShareId) -> Result<String, Error> {
        Ok(URL_SAFE_NO_PAD.encode(self.ring.seal(HANDLE, &owner(actor), &[], id.as_str().as_bytes())?))
    }

    fn named(&self, actor: &Actor, handle: &str) -> Option<ShareId> {
        let sealed = URL_SAFE_NO_PAD.decode(handle).ok()?;
        let id = self.ring.open(HANDLE, &owner(actor), &[], &sealed).ok()?;
        std::str::from_utf8(&id).ok()?.parse().ok()
    }
}

fn owner(actor: &Actor) -> String {
    format!("{}/{}", actor.principal.tenant, actor.principal.key())
}

fn code(wanted: &WantedCode) -> Result<Option<Code>, Error> {
    match wanted {
        WantedCode::None => Ok(None),
        WantedCode::Chosen(text) => Code::chosen(text).map(Some).map_err(Error::Invalid),
        WantedCode::Made => {
            let bits = random::bytes().map_err(|error| Error::Internal(error.to_string()))?;
            Ok(Some(Code::from_random(bits)))
        }
    }
}

fn days(now: Timestamp) -> Days {
    let day = |ahead: i64| {
        let date = now.utc().date().checked_add(time::Duration::days(ahead)).unwrap_or(Date::MAX);
        date.format(DAY).unwrap_or_default()
    };
    Days { first: day(0), usual: day(DEFAULT_DAYS), last: day(MOST_DAYS) }
}

/// The last second of the day named, or words for whoever named it.
fn end_of(day: &str, now: Timestamp) -> Result<Timestamp, String> {
    let date =
        Date::parse(day.trim(), DAY).map_err(|_| "Name the last day as year-month-day, for example 2030-12-31.".to_owned())?;
    let ahead = (date - now.utc().date()).whole_days();
    if ahead < 0 {
        return Err("The last day of the share is over already. Choose today or a later day.".to_owned());
    }
    if ahead > MOST_DAYS {
        return Err(format!("A share ends at most {MOST_DAYS} days from now. Choose an earlier day."));
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
        let end = |day: &str| end_of(day, now).map(Timestamp::rfc3339);
        assert_eq!(end("2026-11-28").unwrap(), "2026-11-28T23:59:59Z");
        assert_eq!(end(" 2027-02-26 ").unwrap(), "2027-02-26T23:59:59Z");
        for bad in ["2026-11-27", "2027-02-27", "", "28.11.2026", "2026-02-30", "+99999-01-01"] {
            assert!(end(bad).is_err(), "{bad}");
        }
        let days = days(now);
        assert_eq!((days.first.as_str(), days.usual.as_str(), days.last.as_str()), ("2026-11-28", "2026-12-05", "2027-02-26"));
    }
}
