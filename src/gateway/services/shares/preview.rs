//! What recipients of a share would see, made of what its maker sees now. Nothing is shared by looking at it.

use super::{Shares, days, end_of};
use crate::contract::ids::{TaskId, VulId};
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::{Kind, PublicShare};
use crate::gateway::services::Actor;
use crate::gateway::services::components::offered;
use crate::gateway::services::error::Error;
use crate::gateway::services::lists;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What is looked at.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Chosen {
    pub(in crate::gateway) task: TaskId,
    /// None: all of the task.
    pub(in crate::gateway) findings: Vec<VulId>,
    pub(in crate::gateway) hides_evidence: bool,
}

/// What recipients are told about the share itself.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Terms {
    pub(in crate::gateway) by: Hostile,
    pub(in crate::gateway) ends: Option<Timestamp>,
    pub(in crate::gateway) views: Option<u32>,
    pub(in crate::gateway) note: Hostile,
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
    pub(in crate::gateway) async fn terms(
        &self,
        actor: &Actor,
        last_day: &str,
        views: &str,
        note: Hostile,
    ) -> Result<Terms, Error> {
        let policy = self.policies.of(&actor.principal.tenant).await?;
        let now = self.clock.now();
        let day = if last_day.is_empty() { days(now, &policy).usual } else { last_day.to_owned() };
        Ok(Terms {
            by: actor.principal.name.clone(),
            ends: end_of(&day, now, policy.most_days).ok(),
            views: self.views(views, &policy).unwrap_or_default(),
            note,
        })
    }

    /// The share as its recipients would see it.
    pub(in crate::gateway) async fn preview(&self, actor: &Actor, chosen: &Chosen) -> Result<PublicShare, Error> {
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
        Ok(share.for_recipients(chosen.hides_evidence))
    }

    /// One finding of it, and the chains of it that lead there.
    pub(in crate::gateway) async fn preview_finding(
        &self,
        actor: &Actor,
        chosen: &Chosen,
        vul: &VulId,
    ) -> Result<(Finding, Vec<Chain>), Error> {
        if !chosen.shows(vul) {
            return Err(Error::NotFound);
        }
        let ask = self.credentials.with_user(actor, |service, call| {
            let (task, vul) = (chosen.task.clone(), vul.clone());
            async move { service.result(&call, &task, &vul).await }
        });
        let (finding, mut chains) = futures_util::future::try_join(ask, self.chains(actor, &chosen.task)).await?;
        chains.retain(|chain| chain.leads_to().any(|id| id == vul));
        Ok((finding.for_recipients(chosen.hides_evidence), chains))
    }

    /// One chain of it.
    pub(in crate::gateway) async fn preview_chain(
        &self,
        actor: &Actor,
        chosen: &Chosen,
        chain: &VulId,
    ) -> Result<ShownChain, Error> {
        let share = self.preview(actor, chosen).await?;
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
