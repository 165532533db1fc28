//! Drafts of new scans: one sealed record each, known to the person who made it and to nobody else. Entries are changed by
//! compare-and-set on the version a page was made from, so that of two tabs none takes back what the other entered.

use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::Actor;
use super::error::Error;
use crate::config::gateway::Drafts as Settings;
use crate::gateway::domain::draft::{Became, Draft, DraftId, Notes, Step};
use crate::gateway::domain::stamp;
use crate::gateway::store::{Key, Lease, Record, Store, Swap, Version};
use crate::platform::clock::Clock;
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::seal::Ring;

const RECORD: &str = "draft";
const NOTES: &str = "draft-notes";
const BECAME: &str = "draft-became";
const LIST: &str = "drafts";
const START: &str = "draft-start";
/// Changes by others that a note gives way to.
const TRIES: usize = 20;
/// A start that takes longer than this is given up on.
const START_TAKES: Duration = Duration::from_mins(2);

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Drafts {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    settings: Settings,
}

/// A draft as it is kept now.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Held {
    pub(in crate::gateway) draft: Draft,
    pub(in crate::gateway) notes: Notes,
    /// Stands for this content; a form sends it back.
    pub(in crate::gateway) version: String,
}

impl Drafts {
    pub(in crate::gateway) const fn new(store: Store, ring: Arc<Ring>, clock: Clock, settings: Settings) -> Self {
        Self { store, ring, clock, settings }
    }

    pub(in crate::gateway) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Begins a draft. A person has at most so many.
    pub(in crate::gateway) async fn create(&self, actor: &Actor, project: Hostile) -> Result<DraftId, Error> {
        let id = random::id().map_err(|error| Error::Internal(error.to_string()))?;
        let id = DraftId::try_from(id).map_err(|words| Error::Internal(words.to_owned()))?;
        let now = self.clock.now();
        let lifetime = Duration::from_secs(self.settings.days * 86_400);
        let draft = Draft::new(id.clone(), project, now, now.after(lifetime));
        let sealed = self.seal(actor, RECORD, &id, &draft)?;
        self.store.put(&key(actor, RECORD, &id), sealed, Some(lifetime)).await?;
        self.store.add(&list(actor), id.as_str(), Some(lifetime)).await?;
        // Counted when it is there: of two begun at once, each sees both.
        if self.list(actor).await?.len() > self.settings.per_person {
            self.delete(actor, &id).await?;
            let most = self.settings.per_person;
            let words = format!("You have {most} drafts, which is the most. Go on with one of them, or delete one.");
            return Err(Error::Conflict(words));
        }
        Ok(id)
    }

    /// The person's drafts, newest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor) -> Result<Vec<Held>, Error> {
        let mut found = Vec::new();
        for id in self.store.members(&list(actor)).await? {
            let Ok(known) = DraftId::try_from(id.clone()) else { continue };
            match self.get(actor, &known).await {
                Ok(held) => found.push(held),
                Err(Error::NoDraft(_)) => {
                    self.store.remove(&list(actor), &id).await?;
                }
                Err(error) => return Err(error),
            }
        }
        found.sort_by_key(|held| std::cmp::Reverse(held.draft.created));
        Ok(found)
    }

    /// One draft of this person. Anybody else's, and one that has run out, is not found.
    pub(in crate::gateway) async fn get(&self, actor: &Actor, id: &DraftId) -> Result<Held, Error> {
        let (draft, version) = self.read(actor, id).await?;
        let notes = self.notes(actor, id).await?.0;
        Ok(Held { version: stamp::stamp(version.0, &draft), draft, notes })
    }

    /// Changes what a person has entered, if it is still as they saw it. `work` may refuse with words.
    pub(in crate::gateway) async fn change<T>(
        &self,
        actor: &Actor,
        (id, version): (&DraftId, &str),
        work: impl FnOnce(&mut Draft) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (mut draft, current) = self.read(actor, id).await?;
        if stamp::stamp(current.0, &draft) != version {
            return Err(Error::Stale(stamp::changed(version, &draft)));
        }
        let result = work(&mut draft)?;
        match self.write(actor, &draft, current).await? {
            Swap::Done(_) => Ok(result),
            Swap::Conflict => {
                let now = self.read(actor, id).await?.0;
                Err(Error::Stale(stamp::changed(version, &now)))
            }
            Swap::Gone => Err(self.gone(actor, id).await?),
        }
    }

    /// The draft, if it is still as the person saw it.
    pub(in crate::gateway) async fn seen(&self, actor: &Actor, (id, version): (&DraftId, &str)) -> Result<Held, Error> {
        let held = self.get(actor, id).await?;
        if held.version == version { Ok(held) } else { Err(Error::Stale(stamp::changed(version, &held.draft))) }
    }

    /// Marks a step as left out.
    pub(in crate::gateway) async fn skip(&self, actor: &Actor, at: (&DraftId, &str), step: Step) -> Result<(), Error> {
        self.change(actor, at, |draft| {
            if !step.may_be_skipped() {
                return Err(Error::Invalid("This step cannot be left out.".to_owned()));
            }
            draft.skipped.insert(step);
            Ok(())
        })
        .await
    }

    /// Changes a draft whatever its version is: for what the portal itself has to write down.
    pub(super) async fn settle(&self, actor: &Actor, id: &DraftId, work: impl Fn(&mut Draft)) -> Result<(), Error> {
        for _ in 0..TRIES {
            let (mut draft, version) = self.read(actor, id).await?;
            work(&mut draft);
            match self.write(actor, &draft, version).await? {
                Swap::Done(_) => return Ok(()),
                Swap::Conflict => {}
                Swap::Gone => return Err(self.gone(actor, id).await?),
            }
        }
        Err(Error::Unavailable { retry_after: 5 })
    }

    /// Changes the notes beside a draft; the versions of its pages stay.
    pub(super) async fn note(&self, actor: &Actor, draft: &Draft, work: impl Fn(&mut Notes)) -> Result<Notes, Error> {
        let key = key(actor, NOTES, &draft.id);
        let ttl = Some(draft.ends.since(self.clock.now()));
        for _ in 0..TRIES {
            let (mut notes, version) = self.notes(actor, &draft.id).await?;
            work(&mut notes);
            let sealed = self.seal(actor, NOTES, &draft.id, &notes)?;
            let written = match version {
                Some(version) => matches!(self.store.compare_and_set(&key, version, sealed, ttl).await?, Swap::Done(_)),
                None => self.store.insert(&key, sealed, ttl).await?.is_some(),
            };
            if written {
                return Ok(notes);
            }
        }
        Err(Error::Unavailable { retry_after: 5 })
    }

    /// Deletes a draft with everything that was captured for it.
    pub(in crate::gateway) async fn delete(&self, actor: &Actor, id: &DraftId) -> Result<(), Error> {
        let was_there = self.store.delete(&key(actor, RECORD, id)).await?;
        self.store.delete(&key(actor, NOTES, id)).await?;
        self.store.remove(&list(actor), id.as_str()).await?;
        if was_there { Ok(()) } else { Err(self.gone(actor, id).await?) }
    }

    /// Deletes a draft that was started, and keeps for some time what it has become: a tab of it, or a way back, leads there.
    pub(super) async fn replace(&self, actor: &Actor, draft: &Draft, became: &Became) -> Result<(), Error> {
        let sealed = self.seal(actor, BECAME, &draft.id, became)?;
        let kept = Duration::from_secs(self.settings.started_days * 86_400);
        self.store.put(&key(actor, BECAME, &draft.id), sealed, Some(kept)).await?;
        self.delete(actor, &draft.id).await
    }

    /// Why there is no draft.
    async fn gone(&self, actor: &Actor, id: &DraftId) -> Result<Error, Error> {
        let became = match self.store.get(&key(actor, BECAME, id)).await? {
            Some(record) => Some(Box::new(self.open(actor, BECAME, id, &record).await?)),
            None => None,
        };
        Ok(Error::NoDraft(became))
    }

    /// The right to start the scans of a draft; none while somebody else does.
    pub(super) async fn begin_start(&self, actor: &Actor, id: &DraftId) -> Result<Option<Lease>, Error> {
        Ok(self.store.acquire(&key(actor, START, id), START_TAKES).await?)
    }

    /// Gives the right back.
    pub(super) async fn end_start(&self, lease: &Lease) {
        if let Err(error) = self.store.release(lease).await {
            tracing::warn!(%error, "a start could not be given back; it runs out by itself");
        }
    }

    async fn read(&self, actor: &Actor, id: &DraftId) -> Result<(Draft, Version), Error> {
        let Some(record) = self.store.get(&key(actor, RECORD, id)).await? else {
            return Err(self.gone(actor, id).await?);
        };
        let draft: Draft = self.open(actor, RECORD, id, &record).await?;
        if draft.ends <= self.clock.now() {
            return Err(Error::NoDraft(None));
        }
        Ok((draft, record.version))
    }

    async fn write(&self, actor: &Actor, draft: &Draft, version: Version) -> Result<Swap, Error> {
        let sealed = self.seal(actor, RECORD, &draft.id, draft)?;
        let ttl = draft.ends.since(self.clock.now());
        Ok(self.store.compare_and_set(&key(actor, RECORD, &draft.id), version, sealed, Some(ttl)).await?)
    }

    async fn notes(&self, actor: &Actor, id: &DraftId) -> Result<(Notes, Option<Version>), Error> {
        match self.store.get(&key(actor, NOTES, id)).await? {
            Some(record) => Ok((self.open(actor, NOTES, id, &record).await?, Some(record.version))),
            None => Ok((Notes::default(), None)),
        }
    }

    fn seal(&self, actor: &Actor, kind: &'static str, id: &DraftId, value: &impl serde::Serialize) -> Result<Vec<u8>, Error> {
        let plain = serde_json::to_vec(value).map_err(|_| Error::Internal("a draft cannot be written".to_owned()))?;
        Ok(self.ring.seal(kind, &context(actor, id), &[], &Zeroizing::new(plain))?)
    }

    async fn open<T: serde::de::DeserializeOwned>(
        &self,
        actor: &Actor,
        kind: &'static str,
        id: &DraftId,
        record: &Record,
    ) -> Result<T, Error> {
        let plain = self.ring.open(kind, &context(actor, id), &[], &record.value)?;
        let renewed = self.ring.renew(kind, &context(actor, id), &[], (&record.value, &plain));
        self.store.rewrap(&key(actor, kind, id), record.version, renewed).await;
        // The reader's own words could hold what it read.
        serde_json::from_slice(&plain).map_err(|_| Error::Internal("a draft cannot be read".to_owned()))
    }
}

/// Only its owner's name leads to a record: somebody else's draft is not found, because it is looked for elsewhere.
fn key(actor: &Actor, kind: &'static str, id: &DraftId) -> Key {
    Key::hashed(&actor.principal.tenant, kind, &format!("{}/{}", actor.principal.key(), id.as_str()))
}

fn list(actor: &Actor) -> Key {
    Key::new(&actor.principal.tenant, LIST, &actor.principal.key())
}

/// What a record is sealed to: tenant, person, draft.
fn context(actor: &Actor, id: &DraftId) -> String {
    format!("{}/{}/{}", actor.principal.tenant, actor.principal.key(), id.as_str())
}

#[cfg(test)]
#[path = "drafts_tests.rs"]
mod tests;
