//! What recipients of a share would see, made of what its maker sees now. Nothing is shared by looking at it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Shares, days, end_of};
use crate::contract::ids::{TaskId, VulId};
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::recipients::Shown as _;
use crate::gateway::domain::share::{Kind, PublicShare};
use crate::gateway::services::Actor;
use crate::gateway::services::components::offered;
use crate::gateway::services::error::Error;
use crate::gateway::services::lists;
use crate::gateway::store::Key;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;
use crate::platform::random;

/// What the record of a preview is sealed for, and its name.
const PREVIEW: &str = "share-preview";
/// What was typed is known for this long after a page of its preview was last looked at.
const PREVIEW_KEPT: Duration = Duration::from_hours(1);
/// Characters of a day and of a number that are kept of what was typed there.
const LONGEST_TYPED: usize = 32;

/// What is looked at.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Chosen {
    pub(in crate::gateway) task: TaskId,
    /// None: all of the task.
    pub(in crate::gateway) findings: Vec<VulId>,
    /// As its maker wants it; the policy may hide it all the same ([`Terms::hides_evidence`]).
    pub(in crate::gateway) hides_evidence: bool,
}

/// What the form says about the share itself, as it was typed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) last_day: String,
    pub(in crate::gateway) views: String,
    pub(in crate::gateway) note: Hostile,
}

/// What recipients are told about the share itself.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Terms {
    pub(in crate::gateway) by: Hostile,
    pub(in crate::gateway) ends: Option<Timestamp>,
    pub(in crate::gateway) views: Option<u32>,
    /// Until when it would stay open, opened now.
    pub(in crate::gateway) until: Timestamp,
    pub(in crate::gateway) note: Hostile,
    /// By its maker's wish, or by the policy.
    pub(in crate::gateway) hides_evidence: bool,
}

/// A chain, and the findings of the share it leads to.
pub(in crate::gateway) struct ShownChain {
    pub(in crate::gateway) chain: Chain,
    pub(in crate::gateway) findings: Vec<FindingRow>,
}

impl Chosen {
    fn shows(&self, vul: &VulId) -> bool {
        self.findings.is_empty() || self.findings.contains(vul)
    }
}

impl Shares {
    /// What recipients would be told, as far as what was typed makes sense: nothing is refused before the share is made.
    pub(in crate::gateway) async fn terms(&self, actor: &Actor, chosen: &Chosen, typed: &Typed) -> Result<Terms, Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let now = self.clock.now();
        let day = if typed.last_day.is_empty() { days(now, &policy).usual } else { typed.last_day.clone() };
        let ends = end_of(&day, now, &policy).ok();
        let until = now.after(Duration::from_mins(u64::from(policy.grant_minutes)));
        Ok(Terms {
            by: actor.principal.name.clone(),
            ends,
            views: self.views(&typed.views, &policy).unwrap_or(policy.most_views),
            until: ends.map_or(until, |ends| ends.min(until)),
            note: Hostile::new(typed.note.raw().trim()),
            hides_evidence: chosen.hides_evidence || !policy.evidence,
        })
    }

    /// Keeps what was typed for the other pages of a preview; the name of the record. Addresses hold no text of people.
    pub(in crate::gateway) async fn keep_typed(&self, actor: &Actor, typed: &Typed) -> Result<String, Error> {
        let most = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let kept = Typed {
            last_day: most(&typed.last_day, LONGEST_TYPED),
            views: most(&typed.views, LONGEST_TYPED),
            note: Hostile::new(most(typed.note.raw(), self.settings.note_characters)),
        };
        let plain = serde_json::to_vec(&kept).map_err(|_| Error::Internal("a preview cannot be written".to_owned()))?;
        let id = random::id().map_err(|error| Error::Internal(error.to_string()))?;
        let key = typed_key(actor, &id);
        let sealed = self.ring.seal(PREVIEW, &key.context(), &[], &Zeroizing::new(plain))?;
        self.store.put(&key, sealed, Some(PREVIEW_KEPT)).await?;
        Ok(id)
    }

    /// What was kept under this name, for whoever typed it.
    ///
    /// # Errors
    /// Words for that person when it is not known any more.
    pub(in crate::gateway) async fn kept_typed(&self, actor: &Actor, id: &str) -> Result<Typed, Error> {
        let key = typed_key(actor, id);
        let Some(record) = self.store.get(&key).await? else {
            return Err(Error::Invalid("This preview is over. Open it once more from the form of the new share.".to_owned()));
        };
        self.store.touch(&key, PREVIEW_KEPT).await?;
        let plain = self.ring.open(PREVIEW, &key.context(), &[], &record.value)?;
        serde_json::from_slice(&plain).map_err(|_| Error::Internal("a preview cannot be read".to_owned()))
    }

    /// The share as its recipients would see it.
    pub(in crate::gateway) async fn preview(&self, actor: &Actor, chosen: &Chosen, terms: &Terms) -> Result<PublicShare, Error> {
        self.bounded(&chosen.findings)?;
        let task = self.task(actor, &chosen.task).await?;
        let findings = if chosen.findings.is_empty() {
            let ask = |search| self.search_results(actor, &chosen.task, search);
            lists::all(&["severity".to_owned()], |_: &FindingRow| true, ask).await?.0
        } else {
            self.rows(actor, &chosen.task, &chosen.findings).await?
        };
        let share = PublicShare {
            // Nothing has this id; addresses of a preview never hold one.
            id: "preview".parse().map_err(|_| Error::Internal("an id of a preview does not fit".to_owned()))?,
            kind: if chosen.findings.is_empty() { Kind::Report } else { Kind::Findings },
            project: task.project.clone(),
            lang: task.lang.clone(),
            task: Some(task.id.clone()),
            expires: None,
            counts: task.counts,
            findings,
            chains: self.chains(actor, &chosen.task).await?,
            raw: serde_json::Value::Null,
        };
        Ok(share.for_recipients(terms.hides_evidence))
    }

    /// One finding of it, and the chains of it that lead there.
    pub(in crate::gateway) async fn preview_finding(
        &self,
        actor: &Actor,
        (chosen, terms): (&Chosen, &Terms),
        vul: &VulId,
    ) -> Result<(Finding, Vec<Chain>), Error> {
        if !chosen.shows(vul) {
            return Err(Error::NotFound);
        }
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, vul) = (chosen.task.clone(), vul.clone());
            async move { service.result(&call, &task, &vul).await }
        });
        let (finding, chains) = futures_util::future::try_join(ask, self.chains(actor, &chosen.task)).await?;
        let leading = chains.into_iter().filter(|chain| chain.leads_to().any(|id| id == vul));
        let chains = leading.map(|chain| chain.for_recipients(terms.hides_evidence)).collect();
        Ok((finding.for_recipients(terms.hides_evidence), chains))
    }

    /// One chain of it.
    pub(in crate::gateway) async fn preview_chain(
        &self,
        actor: &Actor,
        (chosen, terms): (&Chosen, &Terms),
        chain: &VulId,
    ) -> Result<ShownChain, Error> {
        let share = self.preview(actor, chosen, terms).await?;
        let chain = share.chains.into_iter().find(|shown| shown.id == *chain).ok_or(Error::NotFound)?;
        let ids: Vec<&VulId> = chain.leads_to().collect();
        let findings = share.findings.into_iter().filter(|row| ids.contains(&&row.id)).collect();
        Ok(ShownChain { chain, findings })
    }

    async fn search_results(&self, actor: &Actor, task: &TaskId, search: Search) -> Result<Listing<FindingRow>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, search) = (task.clone(), search.clone());
            async move { service.search_results(&call, &task, &search).await }
        });
        ask.await
    }

    /// The chains of a task; none where the service looks for none.
    async fn chains(&self, actor: &Actor, task: &TaskId) -> Result<Vec<Chain>, Error> {
        let ask = |search: Search| async move {
            self.credentials
                .with_user(actor, |service, call| {
                    let (task, search) = (task.clone(), search.clone());
                    async move { service.search_chains(&call, &task, &search).await }
                })
                .await
        };
        let found = offered(lists::all(&["severity".to_owned()], |_: &Chain| true, ask).await)?;
        Ok(found.map(|(chains, _)| chains).unwrap_or_default())
    }
}

/// Only whoever typed it finds it: somebody else's is looked for elsewhere.
fn typed_key(actor: &Actor, id: &str) -> Key {
    Key::hashed(&actor.principal.tenant, PREVIEW, &format!("{}/{id}", actor.principal.key()))
}
