//! The owner's operations on shares as programs call them: held to the company's policy before the service is asked, and noted in
//! the ledger when it has said yes. What the ledger says holds at the doors, so nothing is noted on a caller's word alone.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Ask;
use super::owners::{Owner, Refusal, without_ids};
use crate::contract::ids::{ShareId, TaskId};
use crate::contract::shares::{CreateShare, DeleteShares, UpdateShare};
use crate::contract::tasks::DeleteTasks;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::extraction_code::Code;
use crate::gateway::domain::share_entry::{CodeCheck, Entry, Maker, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::Ledger;
use crate::gateway::services::error::Error;
use crate::gateway::services::share_policy::SharePolicies;
use crate::gateway::services::shares::bounded;
use crate::gateway::store::Lease;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// Fields of a body to create; no other restriction of a share is known to the service.
const CREATED_WITH: [&str; 6] = ["shareId", "taskId", "shareType", "vulIds", "extractionCode", "expiredAt"];
/// Fields of a body to change.
const CHANGED_WITH: [&str; 2] = ["expiredAt", "extractionCode"];
/// Fields of a body to end.
const ENDED_WITH: [&str; 1] = ["shareIds"];
/// Different characters of an id at least, where the id is all that is needed: one of generateShareId has about 19.
const DIFFERENT: usize = 10;

/// Policy and ledger as calls of the API meet them. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct OwnShares {
    pub(in crate::gateway) ledger: Ledger,
    pub(in crate::gateway) policies: SharePolicies,
    pub(in crate::gateway) audit: Audit,
    pub(in crate::gateway) clock: Clock,
    /// Chosen findings of one share.
    pub(in crate::gateway) most_findings: usize,
}

/// What is to become of a call.
pub(super) enum Held {
    /// It says nothing about shares.
    Passes,
    /// To be noted when the service has said yes.
    Noted(Box<Wish>),
    /// The service is to be asked for a share that nobody has.
    Elsewhere,
}

/// What is to be noted when the service has said yes.
pub(super) struct Wish {
    by: Maker,
    /// Of [`Owner::session`].
    session: Option<String>,
    network: String,
    request_id: String,
    what: What,
}

enum What {
    Made(Box<Entry>),
    /// With the right to change it, which ends with the call; and what it was before its code was closed, where it gets another one
    /// or none.
    Changed {
        mark: Mark,
        ends: Option<Timestamp>,
        code: NewCode,
        lease: Lease,
        before: Option<Box<Entry>>,
    },
    Ended(Vec<Mark>),
    TasksEnded(Vec<TaskId>),
}

enum NewCode {
    Same,
    Is(CodeCheck),
    None,
}

impl OwnShares {
    /// Refuses what the company does not allow, and what is not the caller's.
    pub(super) async fn held(&self, ask: &Ask<'_>, owner: &Owner, body: Option<&[u8]>) -> Result<Held, Error> {
        let body = body.unwrap_or_default();
        let what = match ask.found.route.name {
            "createShare" => Some(What::Made(Box::new(self.created(ask.tenant, body, &owner.maker).await?))),
            "updateShare" => self.changed(ask, owner, body).await?,
            "deleteShares" => self.ended(ask.tenant, owner, body).await?,
            "deleteTasks" => Some(What::TasksEnded(tasks(body))),
            "searchShares" => return without_ids(body).map(|()| Held::Passes),
            _ => return Ok(Held::Passes),
        };
        let wish = |what| Wish {
            by: owner.maker.clone(),
            session: owner.session.clone(),
            network: ask.network.to_owned(),
            request_id: ask.request_id.to_owned(),
            what,
        };
        match (what, owner.refusal()) {
            (Some(what), _) => Ok(Held::Noted(Box::new(wish(what)))),
            (None, Refusal::Elsewhere) => Ok(Held::Elsewhere),
            (None, Refusal::NotFound) => Err(Error::NotFound),
        }
    }

    async fn created(&self, tenant: &TenantId, body: &[u8], by: &Maker) -> Result<Entry, Error> {
        known(body, &CREATED_WITH)?;
        let sent: CreateShare = read(body).ok_or_else(|| unreadable("a share to create"))?;
        bounded(&sent.vul_ids, self.most_findings)?;
        let (policy, now) = (self.policies.of(tenant).await?, self.clock.now());
        let check = if let Some(text) = &sent.extraction_code {
            Some(Ledger::check_of(&code(text)?)?)
        } else {
            needs_code(&policy)?;
            unguessable(&sent.share_id)?;
            None
        };
        let ends = match &sent.expired_at {
            Some(text) => end(text, now, &policy)?,
            // The service keeps it for ever; the doors here do not.
            None => policy.latest_end(now),
        };
        let before = self.ledger.entry(tenant, &Mark::of(tenant, &sent.share_id)).await?;
        if before.is_some_and(|entry| entry.ended.is_some()) {
            return Err(Error::Invalid("A share of this shareId was ended. Ask generateShareId for a new one.".to_owned()));
        }
        Ok(Entry {
            findings: sent.vul_ids,
            ends: Some(ends),
            needs_code: check.is_some(),
            check,
            most_views: policy.most_views,
            hides_evidence: !policy.evidence,
            ..Entry::new(sent.share_id, sent.task_id, sent.share_type, by.clone(), now, policy.kept_days)
        })
    }

    /// `None` for a share that is not the caller's.
    async fn changed(&self, ask: &Ask<'_>, owner: &Owner, body: &[u8]) -> Result<Option<What>, Error> {
        known(body, &CHANGED_WITH)?;
        let sent: UpdateShare = read(body).ok_or_else(|| unreadable("a change of a share"))?;
        let (policy, now) = (self.policies.of(ask.tenant).await?, self.clock.now());
        let id = ask.found.parameters.first().and_then(|id| id.parse::<ShareId>().ok()).ok_or(Error::NotFound)?;
        let ends = match sent.expired_at {
            Some(Some(text)) => Some(end(&text, now, &policy)?),
            Some(None) => Some(policy.latest_end(now)),
            None => None,
        };
        let wanted = match sent.extraction_code {
            Some(Some(text)) => NewCode::Is(Ledger::check_of(&code(&text)?)?),
            Some(None) => NewCode::None,
            None => NewCode::Same,
        };
        if !self.are_theirs(ask.tenant, owner, std::slice::from_ref(&id)).await? {
            return Ok(None);
        }
        let mark = Mark::of(ask.tenant, &id);
        let entry = self.ledger.entry(ask.tenant, &mark).await?;
        if matches!(wanted, NewCode::None) {
            needs_code(&policy)?;
            unguessable(&id)?;
            if entry.as_ref().is_some_and(|entry| entry.most_views.is_some()) {
                return Err(Error::Invalid("The views of this share are counted, so it needs an extractionCode.".to_owned()));
            }
        }
        if let Some(words) = entry.and_then(|entry| entry.state(now).why_final()) {
            return Err(Error::Invalid(words.to_owned()));
        }
        let Some(lease) = self.ledger.changing(ask.tenant, &mark).await? else {
            return Err(Error::Conflict(
                "This share is being changed at the same time. Call again when that has ended.".to_owned(),
            ));
        };
        let before = match wanted {
            NewCode::Same => None,
            NewCode::Is(_) | NewCode::None => self.ledger.close_code(ask.tenant, &mark).await?.map(Box::new),
        };
        Ok(Some(What::Changed { mark, ends, code: wanted, lease, before }))
    }

    /// `None` where not all are the caller's: all are ended, or none.
    async fn ended(&self, tenant: &TenantId, owner: &Owner, body: &[u8]) -> Result<Option<What>, Error> {
        known(body, &ENDED_WITH)?;
        let sent: DeleteShares = read(body).ok_or_else(|| unreadable("shares to end"))?;
        let theirs = self.are_theirs(tenant, owner, &sent.share_ids).await?;
        Ok(theirs.then(|| What::Ended(sent.share_ids.iter().map(|id| Mark::of(tenant, id)).collect())))
    }

    /// Notes what the service has said yes to. The same call again notes it again, so a caller who is told of trouble repeats it.
    pub(super) async fn note(&self, tenant: &TenantId, wish: &Wish) -> Result<(), Error> {
        let by = &wish.by.name;
        match &wish.what {
            What::Made(entry) => {
                if self.ledger.begin(tenant, entry).await? {
                    self.tell(tenant, wish, "made", &Mark::of(tenant, &entry.id));
                }
            }
            What::Changed { mark, ends, code, .. } => {
                let now = self.clock.now();
                let noted = |entry: &mut Entry| -> Result<(), Error> {
                    // One that came to its end meanwhile stays so.
                    if entry.state(now).why_final().is_none() {
                        change(entry, *ends, code);
                    }
                    Ok(())
                };
                let changed = self.ledger.change(tenant, mark, noted).await?;
                if changed.is_some() {
                    self.tell(tenant, wish, if matches!(code, NewCode::Same) { "extended" } else { "new_code" }, mark);
                }
            }
            What::Ended(marks) => {
                for mark in marks {
                    let ended = self.ledger.end(tenant, mark, by).await?;
                    // It was the service that said yes.
                    self.ledger.told(tenant, mark).await?;
                    if let Some((true, _)) = ended {
                        self.tell(tenant, wish, "ended", mark);
                    }
                }
            }
            What::TasksEnded(tasks) => {
                for task in tasks {
                    self.record(tenant, wish, Event::new(Deed::Task, &format!("deleted {task}")));
                }
                for mark in self.ledger.end_of_tasks(tenant, tasks, by).await? {
                    self.tell(tenant, wish, "ended", &mark);
                }
            }
        }
        Ok(())
    }

    /// The call has come to its end. Where the service did nothing for sure, the code before is what it was.
    pub(super) async fn over(&self, tenant: &TenantId, wish: &Wish, is_refused: bool) -> Result<(), Error> {
        let What::Changed { mark, lease, before, .. } = &wish.what else { return Ok(()) };
        let reopened = match before {
            Some(before) if is_refused => self.ledger.reopen_code(tenant, mark, before).await,
            _ => Ok(()),
        };
        self.ledger.changed(lease).await;
        Ok(reopened?)
    }

    fn tell(&self, tenant: &TenantId, wish: &Wish, what: &str, mark: &Mark) {
        self.record(tenant, wish, Event::new(Deed::Share, &format!("{what} {}", mark.short())));
    }

    fn record(&self, tenant: &TenantId, wish: &Wish, event: Event) {
        let event = event.from(&wish.network, &wish.request_id);
        // Programs have no session.
        let (user, session) = (Some(wish.by.key.clone()), wish.session.clone());
        self.audit.record(tenant, Event { user, session, ..event });
    }
}

fn change(entry: &mut Entry, ends: Option<Timestamp>, code: &NewCode) {
    if let Some(ends) = ends {
        entry.ends = Some(ends);
    }
    match code {
        NewCode::Same => {}
        NewCode::Is(check) => entry.renew_code(check.clone()),
        NewCode::None => entry.remove_code(),
    }
}

fn code(text: &str) -> Result<Secret, Error> {
    Code::sent(text).map_err(Error::Invalid)
}

/// Refuses an id that can be guessed, where nothing else is asked for.
fn unguessable(id: &ShareId) -> Result<(), Error> {
    let different: std::collections::HashSet<char> = id.as_str().chars().collect();
    if different.len() >= DIFFERENT {
        return Ok(());
    }
    let words = "Without an extractionCode the shareId is all that opens the share. Ask generateShareId for one.";
    Err(Error::Invalid(words.to_owned()))
}

fn needs_code(policy: &SharePolicy) -> Result<(), Error> {
    let words = match (policy.without_code, policy.most_views) {
        (true, None) => return Ok(()),
        (false, _) => "Your company allows no shares without an extractionCode.",
        (true, Some(_)) => "Your company counts the views of shares, so each needs an extractionCode.",
    };
    Err(Error::Invalid(words.to_owned()))
}

fn end(text: &str, now: Timestamp, policy: &SharePolicy) -> Result<Timestamp, Error> {
    let ends = Timestamp::parse_rfc3339(text)
        .ok_or_else(|| Error::Invalid("expiredAt must be a time such as 2026-01-31T12:00:00Z.".to_owned()))?;
    if policy.is_too_late(ends, now) {
        let (most, latest) = (policy.most_days, policy.latest_end(now).rfc3339());
        let words =
            format!("expiredAt lies too far ahead: in your company a share ends at most {most} days from now, at {latest}.");
        return Err(Error::Invalid(words));
    }
    Ok(ends)
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

pub(super) fn unreadable(what: &str) -> Error {
    Error::Invalid(format!("The body is not {what} as the interface describes it."))
}

/// Refuses restrictions that nobody would enforce.
fn known(body: &[u8], names: &[&str]) -> Result<(), Error> {
    let sent: Map<String, Value> = read(body).ok_or_else(|| Error::Invalid("The body is no JSON object.".to_owned()))?;
    match sent.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(Error::Invalid(format!(
            "The field “{}” is not known here and would restrict nothing. Known are {}.",
            Hostile::from(name.as_str()).short(60),
            names.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The tasks that a body to delete tasks names, for whoever reads it as the interface has it: what else stands in it, the service
/// does not act on.
fn tasks(body: &[u8]) -> Vec<TaskId> {
    read::<DeleteTasks>(body).map(|sent| sent.task_ids).unwrap_or_default()
}
