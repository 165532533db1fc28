//! What recipients of a share would see, made of what its maker sees now. Nothing is shared by looking at it.

use super::Shares;
use crate::contract::ids::{TaskId, VulId};
use crate::contract::shares::ShareType;
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::{Kind, PublicShare};
use crate::gateway::services::Actor;
use crate::gateway::services::components::offered;
use crate::gateway::services::error::Error;
use crate::gateway::services::lists;

/// What is looked at.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Chosen {
    pub(in crate::gateway) task: TaskId,
    /// None: all of the task.
    pub(in crate::gateway) findings: Vec<VulId>,
    pub(in crate::gateway) hides_evidence: bool,
}

/// A chain, and the findings of the share it leads to.
pub(in crate::gateway) struct ShownChain {
    pub(in crate::gateway) chain: Chain,
    pub(in crate::gateway) findings: Vec<FindingRow>,
}

impl Chosen {
    pub(in crate::gateway) const fn kind(&self) -> ShareType {
        if self.findings.is_empty() { ShareType::Report } else { ShareType::Vul }
    }

    fn shows(&self, vul: &VulId) -> bool {
        self.findings.is_empty() || self.findings.contains(vul)
    }
}

impl Shares {
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
        Ok(share.bounded())
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
        Ok((finding, chains))
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
