//! Network checks of a draft's target: start one, look at it.

use std::time::Duration;

use super::Actor;
use super::coalesce::Coalesced;
use super::credentials::Credentials;
use super::drafts::{Drafts, Held};
use super::error::Error;
use crate::gateway::domain::diagnosis::Diagnosis;
use crate::gateway::domain::draft::{DraftId, NotedCheck};
use crate::gateway::upstream::Kind;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Diagnostics {
    credentials: Credentials,
    drafts: Drafts,
    polls: Coalesced<Diagnosis>,
}

/// What a look shows.
#[derive(Clone, Debug)]
pub(in crate::gateway) enum Look {
    /// The target was not checked yet.
    None,
    Seen(Box<Diagnosis>),
    /// The service keeps the check no longer.
    Gone,
    /// The service did not tell now.
    Trouble,
}

impl Diagnostics {
    /// Answers to what pages ask by themselves are good for `memory`.
    pub(in crate::gateway) fn new(credentials: Credentials, drafts: Drafts, memory: Duration) -> Self {
        Self { credentials, drafts, polls: Coalesced::new(memory) }
    }

    /// Starts a check of the draft's target.
    pub(in crate::gateway) async fn start(&self, actor: &Actor, id: &DraftId) -> Result<(), Error> {
        let held = self.drafts.get(actor, id).await?;
        let Some(target) = held.draft.target.clone() else {
            return Err(Error::Invalid("Name the target first.".to_owned()));
        };
        let ask = self.credentials.with_user(actor, |service, call| {
            let url = target.url.clone();
            async move { service.create_diagnosis(&call, &url).await }
        });
        let check = NotedCheck { id: ask.await?, target: target.url };
        self.drafts.note(actor, &held.draft, |notes| notes.check = Some(check.clone())).await?;
        Ok(())
    }

    /// How the check of the draft's target stands. All tabs of a sign-in share one question.
    pub(in crate::gateway) async fn look(&self, actor: &Actor, held: &Held) -> Result<Look, Error> {
        let target = held.draft.target.as_ref().map(|target| &target.url);
        let Some(check) = held.notes.check.as_ref().filter(|check| Some(&check.target) == target) else {
            return Ok(Look::None);
        };
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = check.id.clone();
            async move { service.diagnosis(&call, &id).await }
        });
        match self.polls.get(actor, &check.id, ask).await {
            Ok(diagnosis) => Ok(Look::Seen(Box::new(diagnosis))),
            Err(Error::SignIn) => Err(Error::SignIn),
            Err(Error::Upstream(error)) if error.kind == Kind::NotFound => Ok(Look::Gone),
            Err(error) => {
                tracing::debug!(%error, "a network check could not be read");
                Ok(Look::Trouble)
            }
        }
    }
}
