//! Proof of control over a target's domain: the content to host, kept until it runs out, and the look for it.

use std::time::Duration;

use url::Url;

use super::Actor;
use super::credentials::Credentials;
use super::drafts::{Drafts, Held};
use super::error::Error;
use crate::gateway::domain::draft::{DraftId, NotedChallenge, origin};
use crate::gateway::domain::ownership::Verdict;
use crate::platform::clock::Clock;

/// How long content is good when the service does not tell (WIRE 8).
const USUAL: Duration = Duration::from_hours(3);

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Ownerships {
    credentials: Credentials,
    drafts: Drafts,
    clock: Clock,
}

impl Ownerships {
    pub(in crate::gateway) const fn new(credentials: Credentials, drafts: Drafts, clock: Clock) -> Self {
        Self { credentials, drafts, clock }
    }

    /// The content to host: that of before as long as it is good, else a new one of the service.
    pub(in crate::gateway) async fn challenge(&self, actor: &Actor, held: &Held) -> Result<NotedChallenge, Error> {
        match &held.notes.challenge {
            Some(challenge) if challenge.expires > self.clock.now() => Ok(challenge.clone()),
            _ => self.renew(actor, held).await,
        }
    }

    /// Asks the service for content, whatever there was.
    async fn renew(&self, actor: &Actor, held: &Held) -> Result<NotedChallenge, Error> {
        let ask = self.credentials.with_user(actor, |service, call| async move { service.ownership_content(&call).await });
        let given = ask.await?;
        let expires = given.expires.unwrap_or_else(|| self.clock.now().after(USUAL));
        let challenge = NotedChallenge { content: given.content, expires };
        self.drafts.note(actor, &held.draft, |notes| notes.challenge = Some(challenge.clone())).await?;
        Ok(challenge)
    }

    /// Has the service look for the content at `place`, the origin of a target of the draft.
    pub(in crate::gateway) async fn verify(&self, actor: &Actor, id: &DraftId, place: &str) -> Result<Verdict, Error> {
        let held = self.drafts.get(actor, id).await?;
        let known = held.draft.targets().into_iter().find(|url| origin(url) == place);
        let Some(target) = known.and_then(|url| Url::parse(url).ok()) else {
            return Err(Error::Invalid("This scan does not aim at that address any more.".to_owned()));
        };
        let challenge = self.challenge(actor, &held).await?;
        let ask = self.credentials.with_user(actor, |service, call| {
            let (target, content) = (target.clone(), challenge.content.clone());
            async move { service.verify_ownership(&call, &target, content.raw()).await }
        });
        let verdict = ask.await?;
        if verdict == Verdict::Verified {
            let proved = (origin(target.as_str()), self.clock.now());
            let note = self.drafts.note(actor, &held.draft, |notes| {
                notes.verified.retain(|(origin, _)| *origin != proved.0);
                notes.verified.push(proved.clone());
            });
            note.await?;
        }
        Ok(verdict)
    }
}
