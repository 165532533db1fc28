//! Ends shares, one way for whoever does it: each here first, so that its door is closed whatever the service says, then all at the
//! service. One that the service could not be told of stays marked, so that who ends it again tells the service again.

use std::collections::HashSet;

use super::{Seen, Shares};
use crate::contract::ids::ShareId;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::gateway::ledger::Ledger;
use crate::gateway::services::Actor;
use crate::gateway::services::credentials::Credentials;
use crate::gateway::services::error::{Error, Kind};

/// Shares that the service is told of in one call.
const AT_ONCE: usize = 50;

/// How far an end got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Ended {
    Everywhere,
    /// Nothing opens it here any more, but the service could not be told.
    HereOnly,
}

/// What became of ending several.
pub(in crate::gateway) struct Sheet {
    /// Each that was named, with what became of it; an entry only where whoever asked may see it.
    pub(in crate::gateway) lines: Vec<(Mark, Option<Entry>, Result<Ended, NotEnded>)>,
}

/// Why one of several was not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum NotEnded {
    /// Not there, or somebody else's.
    NotFound,
    /// It was over already.
    WasOver,
    /// Something went wrong; nothing was changed.
    Failed,
}

/// The one way. Who may end what is for its callers to know. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Endings {
    pub(in crate::gateway) credentials: Credentials,
    pub(in crate::gateway) ledger: Ledger,
    pub(in crate::gateway) audit: Audit,
}

impl Endings {
    /// Ends these shares and writes it down; what became of each, in the same order. One that had ended before is told to the
    /// service again.
    pub(in crate::gateway) async fn end(&self, actor: &Actor, marks: &[Mark]) -> Vec<(Mark, Result<Ended, Error>)> {
        let mut done = Vec::with_capacity(marks.len());
        for (mark, outcome) in self.closing(actor, marks).await {
            match &outcome {
                Ok((Ended::Everywhere, true)) => self.note(actor, "ended", &mark),
                Ok((Ended::HereOnly, true)) => self.note(actor, "ended_here", &mark),
                // It is in the log, by whoever did it.
                Ok((_, false)) => {}
                Err(error) => tracing::warn!(share = mark.short(), %error, "a share was not ended"),
            }
            done.push((mark, outcome.map(|(ended, _)| ended)));
        }
        done
    }

    /// As [`Endings::end`], for a share of which nobody was ever told.
    pub(super) async fn close(&self, actor: &Actor, marks: &[Mark]) -> Vec<(Mark, Result<Ended, Error>)> {
        let done = self.closing(actor, marks).await.into_iter();
        done.map(|(mark, outcome)| (mark, outcome.map(|(ended, _)| ended))).collect()
    }

    /// What became of each, and whether that is news.
    async fn closing(&self, actor: &Actor, marks: &[Mark]) -> Vec<(Mark, Result<(Ended, bool), Error>)> {
        let (tenant, by) = (&actor.principal.tenant, &actor.principal.name);
        let mut closed = Vec::with_capacity(marks.len());
        for mark in marks {
            let ended = match self.ledger.end(tenant, mark, by).await {
                Ok(Some((is_news, entry))) => Ok((entry.id, is_news)),
                Ok(None) => Err(Error::NotFound),
                Err(error) => Err(error.into()),
            };
            closed.push((mark, ended));
        }
        let ids: Vec<ShareId> = closed.iter().filter_map(|(_, ended)| ended.as_ref().ok().map(|(id, _)| id.clone())).collect();
        let untold = self.tell(actor, &ids).await;
        let mut done = Vec::with_capacity(closed.len());
        for (mark, ended) in closed {
            let outcome = match ended {
                Ok((id, is_news)) if untold.contains(&id) => Ok((Ended::HereOnly, is_news)),
                // Who ends it together with others, or once more, is not who did it.
                Ok((_, is_news)) => match self.ledger.told(tenant, mark).await {
                    Ok(is_told) => Ok((Ended::Everywhere, is_told)),
                    Err(error) => {
                        tracing::warn!(share = mark.short(), %error, "the service was told of an end, which is not noted");
                        Ok((Ended::Everywhere, is_news))
                    }
                },
                Err(error) => Err(error),
            };
            done.push((mark.clone(), outcome));
        }
        done
    }

    /// Tells the service that shares are over; those it could not be told of.
    async fn tell(&self, actor: &Actor, ids: &[ShareId]) -> HashSet<ShareId> {
        let mut untold = HashSet::new();
        for some in ids.chunks(AT_ONCE) {
            match self.delete_there(actor, some).await {
                Ok(()) => {}
                // Which of them it does not know is not said, and it may have ended none for that one.
                Err(error) if is_unknown(&error) && some.len() > 1 => {
                    for id in some {
                        let told = self.delete_there(actor, std::slice::from_ref(id)).await;
                        if told.is_err_and(|error| !is_unknown(&error)) {
                            untold.insert(id.clone());
                        }
                    }
                }
                // One that it does not know is over.
                Err(error) if is_unknown(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, shares = some.len(), "the service was not told that shares have ended; their doors are closed");
                    untold.extend(some.iter().cloned());
                }
            }
        }
        untold
    }

    async fn delete_there(&self, actor: &Actor, ids: &[ShareId]) -> Result<(), Error> {
        let told = self.credentials.changing(actor, Subject::BY_A_SHARE, |service, call| {
            let ids = ids.to_vec();
            async move { service.delete_shares(&call, ids).await }
        });
        told.await
    }

    fn note(&self, actor: &Actor, what: &str, mark: &Mark) {
        let event = Event::new(Deed::Share, &format!("{what} {}", mark.short()));
        self.audit.record(&actor.principal.tenant, actor.did(event));
    }
}

const fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Upstream(error) if matches!(error.kind, Kind::NotFound))
}

impl Shares {
    pub(super) fn endings(&self) -> Endings {
        Endings { credentials: self.credentials.clone(), ledger: self.ledger.clone(), audit: self.audit.clone() }
    }

    /// Ends a share for good. Done again, it tells the service again.
    pub(in crate::gateway) async fn end(&self, actor: &Actor, mark: &Mark) -> Result<Ended, Error> {
        let tenant = &actor.principal.tenant;
        let Some(_) = self.ledger.entry(tenant, mark).await? else { return self.end_elsewhere(actor, mark).await };
        self.seen_by(actor, mark).await?;
        let done = self.endings().end(actor, std::slice::from_ref(mark)).await.pop();
        done.map_or(Err(Error::NotFound), |(_, outcome)| outcome)
    }

    /// Ends a share that only the service knows; nobody knows whose it is, so administrators do.
    async fn end_elsewhere(&self, actor: &Actor, mark: &Mark) -> Result<Ended, Error> {
        if !actor.principal.is_administrator() {
            return Err(Error::NotFound);
        }
        let (all, _) = self.elsewhere_all(actor).await?;
        let (_, row) = all.into_iter().find(|(known, _)| known == mark).ok_or(Error::NotFound)?;
        match self.endings().delete_there(actor, &[row.id]).await {
            Err(error) if !is_unknown(&error) => return Err(error),
            _ => self.note(actor, "ended", mark),
        }
        Ok(Ended::Everywhere)
    }

    /// Those of `marks` that could be ended now, for asking first.
    pub(in crate::gateway) async fn endable(&self, actor: &Actor, marks: &[Mark]) -> Result<Vec<Seen>, Error> {
        let mut seen = Vec::new();
        for mark in self.several(marks)? {
            match self.seen_by(actor, mark).await {
                Ok(entry) if is_endable(&entry) => seen.push(self.look_at(actor, mark.clone(), entry).await?),
                Ok(_) | Err(Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(seen)
    }

    /// Ends several, each for itself.
    pub(in crate::gateway) async fn end_several(&self, actor: &Actor, marks: &[Mark]) -> Result<Sheet, Error> {
        let (mut lines, mut wanted) = (Vec::new(), Vec::new());
        for mark in self.several(marks)? {
            let (entry, outcome) = match self.seen_by(actor, mark).await {
                Ok(entry) if !is_endable(&entry) => (Some(entry), Err(NotEnded::WasOver)),
                Ok(entry) => {
                    wanted.push(mark.clone());
                    (Some(entry), Err(NotEnded::Failed))
                }
                Err(Error::NotFound) => (None, Err(NotEnded::NotFound)),
                Err(error) => {
                    tracing::warn!(share = mark.short(), %error, "one of several shares was not ended");
                    (None, Err(NotEnded::Failed))
                }
            };
            lines.push((mark.clone(), entry, outcome));
        }
        for (mark, ended) in self.endings().end(actor, &wanted).await {
            if let Some((.., outcome)) = lines.iter_mut().find(|(known, ..)| *known == mark) {
                *outcome = ended.map_err(|_| NotEnded::Failed);
            }
        }
        Ok(Sheet { lines })
    }

    fn several<'m>(&self, marks: &'m [Mark]) -> Result<&'m [Mark], Error> {
        let most = self.settings.ended_at_once;
        if marks.is_empty() {
            return Err(Error::Invalid("Choose at least one share.".to_owned()));
        }
        if marks.len() > most {
            return Err(Error::Invalid(format!("At most {most} shares are ended at once.")));
        }
        Ok(marks)
    }
}

/// Whether ending it does something still.
const fn is_endable(entry: &Entry) -> bool {
    entry.ended.is_none() || entry.untold
}
