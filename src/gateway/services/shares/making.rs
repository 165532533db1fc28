//! A new share: what the form needs to know, and making it.

use super::{Days, Shares, as_typed, code, complete, days, end_of};
use crate::contract::ids::{ShareId, TaskId, VulId};
use crate::contract::reports::ReportLanguage;
use crate::contract::shares::{CreateShare, ShareType};
use crate::gateway::domain::extraction_code::Code;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::share_entry::{Entry, Maker, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::task::{Counts, Task};
use crate::gateway::ledger::Ledger;
use crate::gateway::services::Actor;
use crate::gateway::services::error::Error;
use crate::platform::clock::Timestamp;
use crate::platform::digits::whole;
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// Findings that are asked for at once.
const AT_ONCE: usize = 8;

/// What a new share can be of, for its form.
pub(in crate::gateway) struct Offer {
    pub(in crate::gateway) task: Task,
    pub(in crate::gateway) counts: Counts,
    /// Those that were chosen; none: everything.
    pub(in crate::gateway) findings: Vec<FindingRow>,
    /// Recipients can download the report only with an active server key.
    pub(in crate::gateway) has_key: bool,
    pub(in crate::gateway) policy: SharePolicy,
    /// The most views that can be given, and the most characters of a note.
    pub(in crate::gateway) most_views: u32,
    pub(in crate::gateway) longest_note: usize,
    pub(in crate::gateway) days: Days,
    /// Makes the form work once.
    pub(in crate::gateway) once: String,
}

/// What somebody wants to share.
pub(in crate::gateway) struct NewShare {
    pub(in crate::gateway) task: TaskId,
    /// None in it: all findings and the report. `None`: nothing was chosen.
    pub(in crate::gateway) findings: Option<Vec<VulId>>,
    pub(in crate::gateway) code: WantedCode,
    /// `YYYY-MM-DD` in UTC; the share ends with that day.
    pub(in crate::gateway) last_day: String,
    /// As it was typed; empty: as often as anybody likes.
    pub(in crate::gateway) views: String,
    pub(in crate::gateway) hides_evidence: bool,
    pub(in crate::gateway) note: Hostile,
    /// Of the report.
    pub(in crate::gateway) language: ReportLanguage,
    /// From [`Offer::once`].
    pub(in crate::gateway) once: String,
}

/// Which code a share gets.
pub(in crate::gateway) enum WantedCode {
    Made,
    Chosen(String),
    None,
}

/// A field of the form of a new share, or of a new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Field {
    What,
    Code,
    OwnCode,
    LastDay,
    Views,
    Note,
    /// The form itself.
    Form,
}

/// Why nothing came of a form: words for whoever filled in the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Problem {
    pub(in crate::gateway) field: Field,
    pub(in crate::gateway) words: String,
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
    /// The code as its owner typed it, where it can be known again by that.
    pub(in crate::gateway) typed: Option<Secret>,
    pub(in crate::gateway) ends: Option<Timestamp>,
    /// That are left.
    pub(in crate::gateway) views: Option<u32>,
    pub(in crate::gateway) mark: Mark,
}

/// What was understood of [`NewShare`].
struct Understood {
    findings: Vec<VulId>,
    code: Option<Code>,
    ends: Timestamp,
    views: Option<u32>,
}

impl Shares {
    /// What a share of this task, or of these of its findings, could be.
    pub(in crate::gateway) async fn offer(&self, actor: &Actor, task: &TaskId, findings: &[VulId]) -> Result<Offer, Error> {
        self.bounded(findings)?;
        let tenant = &actor.principal.tenant;
        let (task, rows) = futures_util::future::try_join(self.task(actor, task), self.rows(actor, task, findings)).await?;
        let policy = self.policies.of(tenant).await?;
        Ok(Offer {
            counts: task.counts.unwrap_or_default(),
            task,
            findings: rows,
            has_key: !self.vault.active(tenant).await?.is_empty(),
            most_views: policy.most_views.unwrap_or(self.settings.views),
            longest_note: self.settings.note_characters,
            policy,
            days: days(self.clock.now(), &policy),
            once: Self::form()?,
        })
    }

    pub(super) async fn task(&self, actor: &Actor, id: &TaskId) -> Result<Task, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            async move { service.task(&call, &id).await }
        });
        ask.await
    }

    /// The chosen findings of a task, in the order they were chosen.
    pub(super) async fn rows(&self, actor: &Actor, task: &TaskId, findings: &[VulId]) -> Result<Vec<FindingRow>, Error> {
        let mut rows = Vec::new();
        for some in findings.chunks(AT_ONCE) {
            let asked = some.iter().map(|vul| {
                self.credentials.with_user(actor, move |service, call| {
                    let (task, vul) = (task.clone(), vul.clone());
                    async move { service.result(&call, &task, &vul).await }
                })
            });
            let found = futures_util::future::try_join_all(asked).await?;
            rows.extend(found.into_iter().map(|finding| finding.row));
        }
        Ok(rows)
    }

    /// Makes a share, at most one for each form. Where something is wrong with the form, everything that is.
    pub(in crate::gateway) async fn create(
        &self,
        actor: &Actor,
        wanted: &NewShare,
    ) -> Result<Result<Outcome, Vec<Problem>>, Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let understood = match self.understood(wanted, &policy)? {
            Ok(understood) => understood,
            Err(problems) => return Ok(Err(problems)),
        };
        let made = self.once(actor, &wanted.once, Box::pin(self.make(actor, wanted, &understood, &policy))).await?;
        let Some(entry) = made else { return Ok(Ok(Outcome::AlreadyMade)) };
        let mark = Mark::of(&actor.principal.tenant, &entry.id);
        self.note(actor, "made", &mark);
        let typed = as_typed(&wanted.code, understood.code.as_ref());
        let (code, views) = (understood.code, entry.left());
        Ok(Ok(Outcome::New(NewLink { id: entry.id, code, typed, ends: entry.ends, views, mark })))
    }

    fn understood(&self, wanted: &NewShare, policy: &SharePolicy) -> Result<Result<Understood, Vec<Problem>>, Error> {
        let mut problems = Problems::default();
        let nothing = || Error::Invalid("Choose what to share.".to_owned());
        let findings = wanted.findings.clone().ok_or_else(nothing);
        let findings = findings.and_then(|findings| self.bounded(&findings).map(|()| findings));
        let findings = problems.unless(Field::What, findings)?;
        let own = matches!(wanted.code, WantedCode::Chosen(_));
        let code = problems.unless(if own { Field::OwnCode } else { Field::Code }, code(&wanted.code, policy))?;
        let ends = problems.unless(Field::LastDay, end_of(&wanted.last_day, self.clock.now(), policy))?;
        let views = problems.unless(Field::Views, self.views(&wanted.views, policy))?;
        if matches!(wanted.code, WantedCode::None) && policy.most_views.is_none() && views.flatten().is_some() {
            let words = "Without a code nothing tells a person from a program that follows links, so views cannot be counted. Take \
a code, or leave the number of views empty.";
            problems.0.push(Problem { field: Field::Views, words: words.to_owned() });
        }
        let longest = self.settings.note_characters;
        if wanted.note.raw().chars().count() > longest {
            let words = format!("A note has at most {longest} characters.");
            problems.0.push(Problem { field: Field::Note, words });
        }
        problems.unless(Field::Form, complete(&wanted.once))?;
        Ok(match (findings, code, ends, views) {
            (Some(findings), Some(code), Some(ends), Some(views)) if problems.0.is_empty() => {
                Ok(Understood { findings, code, ends, views })
            }
            _ => Err(problems.0),
        })
    }

    pub(super) fn bounded(&self, findings: &[VulId]) -> Result<(), Error> {
        bounded(findings, self.settings.findings)
    }

    /// How often a share may open: as typed, within what the company allows.
    pub(super) fn views(&self, typed: &str, policy: &SharePolicy) -> Result<Option<u32>, Error> {
        let most = policy.most_views.unwrap_or(self.settings.views);
        let typed = typed.trim();
        if typed.is_empty() {
            return Ok(policy.most_views);
        }
        let number = whole(typed).filter(|number| (1..=most).contains(number));
        number.map(Some).ok_or_else(|| Error::Invalid(format!("A share can open 1 to {most} times.")))
    }

    async fn make(
        &self,
        actor: &Actor,
        wanted: &NewShare,
        understood: &Understood,
        policy: &SharePolicy,
    ) -> Result<Entry, Error> {
        let task = self.task(actor, &wanted.task).await?;
        let id = self.credentials.with_user(actor, |service, call| async move { service.generate_share_id(&call).await }).await?;
        let share = CreateShare {
            share_id: id,
            task_id: wanted.task.clone(),
            share_type: if understood.findings.is_empty() { ShareType::Report } else { ShareType::Vul },
            vul_ids: understood.findings.clone(),
            extraction_code: understood.code.as_ref().map(|code| code.secret().expose().to_owned()),
            expired_at: Some(understood.ends.rfc3339()),
        };
        let entry = self.entry(actor, (wanted, &task), (&share, understood), policy)?;
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
        match made {
            Ok(_) => Ok(entry),
            Err(error) => {
                self.unmake(actor, &mark, &error).await?;
                Err(error)
            }
        }
    }

    /// Takes a share back of which the service said no. Where it said nothing, the share may be there all the same: then it is
    /// ended, for nobody was told its code.
    async fn unmake(&self, actor: &Actor, mark: &Mark, error: &Error) -> Result<(), Error> {
        if said_no(error) {
            return Ok(self.ledger.forget(&actor.principal.tenant, mark).await?);
        }
        match self.endings().close(actor, std::slice::from_ref(mark)).await.pop() {
            Some((_, Err(error))) => Err(error),
            _ => Ok(()),
        }
    }

    fn entry(
        &self,
        actor: &Actor,
        (wanted, task): (&NewShare, &Task),
        (share, understood): (&CreateShare, &Understood),
        policy: &SharePolicy,
    ) -> Result<Entry, Error> {
        let principal = &actor.principal;
        let (id, task_id, kind) = (share.share_id.clone(), wanted.task.clone(), share.share_type);
        let maker = Maker { key: principal.key(), name: principal.name.clone() };
        Ok(Entry {
            project: task.project.clone(),
            findings: share.vul_ids.clone(),
            ends: Some(understood.ends),
            needs_code: share.extraction_code.is_some(),
            check: understood.code.as_ref().map(|code| Ledger::check_of(code.secret())).transpose()?,
            most_views: understood.views,
            hides_evidence: wanted.hides_evidence || !policy.evidence,
            note: Hostile::new(wanted.note.raw().trim()),
            language: wanted.language.as_str().to_owned(),
            ..Entry::new(id, task_id, kind, maker, self.clock.now(), policy.kept_days)
        })
    }
}

/// Refuses more than `most` chosen findings.
pub(in crate::gateway) fn bounded(findings: &[VulId], most: usize) -> Result<(), Error> {
    if findings.len() > most {
        let words = format!("A share shows at most {most} chosen findings. Choose fewer, or share all of the task.");
        return Err(Error::Invalid(words));
    }
    Ok(())
}

/// Everything that is wrong with a form, in the order of its fields.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// What came of a field, unless there is something wrong with it.
    pub(super) fn unless<T>(&mut self, field: Field, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid(words)) => {
                self.0.push(Problem { field, words });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the service refused, so that it surely did nothing.
pub(super) const fn said_no(error: &Error) -> bool {
    match error {
        Error::Upstream(_) => !error.leaves_open(),
        Error::NotFound | Error::Invalid(_) | Error::Conflict(_) | Error::SignIn | Error::Unusable(_) => true,
        _ => false,
    }
}
