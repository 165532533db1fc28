//! What is behind a door: the share, its findings and chains, from the service with the recipient's code.

use super::{Content, SharePages, Visit};
use crate::contract::ids::VulId;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::recipients::Shown as _;
use crate::gateway::domain::share::{Opened, PublicShare};
use crate::gateway::services::error::Error;
use crate::gateway::upstream::{Call, ScanningService};
use crate::platform::secret::Secret;

impl SharePages {
    pub(in crate::gateway) async fn content(&self, visit: &Visit) -> Result<Content<PublicShare>, Error> {
        let content = self.shown(visit).await?;
        self.unless_over(visit, content).await
    }

    /// What the service took its time for is shown only if the visit is good still: the owner may have ended it meanwhile.
    pub(super) async fn unless_over<T>(&self, visit: &Visit, content: Content<T>) -> Result<Content<T>, Error> {
        let now = self.visit(visit.place.clone(), &visit.handle).await?;
        Ok(if now.is_some() { content } else { Content::Over })
    }

    async fn shown(&self, visit: &Visit) -> Result<Content<PublicShare>, Error> {
        let opened = self.public_share(&visit.place, visit.code.as_ref()).await?;
        Ok(Content::of(opened).map(|share| share.for_recipients(visit.hides_evidence)))
    }

    async fn finding(&self, visit: &Visit, vul: &VulId) -> Result<Content<Finding>, Error> {
        let (place, code) = (&visit.place, visit.code.as_ref());
        let ask = |service: ScanningService, call: Call| async move {
            service.public_finding(&call, &place.spot.share, vul, code).await
        };
        match self
            .credentials
            .with_public(&place.tenant, (&place.request_id, named(code, ("getSharedResult", "extractSharedResult"))), ask)
            .await?
        {
            // The share may be there without this finding.
            Opened::Gone => match self.shown(visit).await? {
                Content::Here(_) => Err(Error::NotFound),
                Content::Over => Ok(Content::Over),
            },
            other => Ok(Content::of(other).map(|finding| finding.for_recipients(visit.hides_evidence))),
        }
    }

    /// One finding with the chains of the share that lead to it.
    pub(in crate::gateway) async fn finding_in_chains(
        &self,
        visit: &Visit,
        vul: &VulId,
    ) -> Result<Content<(Finding, Vec<Chain>)>, Error> {
        let (finding, share) = futures_util::future::try_join(self.finding(visit, vul), self.shown(visit)).await?;
        let content = match (finding, share) {
            (Content::Here(finding), Content::Here(share)) => {
                let chains = share.chains.into_iter().filter(|chain| chain.leads_to().any(|id| id == vul)).collect();
                Content::Here((finding, chains))
            }
            _ => Content::Over,
        };
        self.unless_over(visit, content).await
    }

    /// One exploit chain of those the share shows, and the findings of the share it leads to.
    pub(in crate::gateway) async fn chain(
        &self,
        visit: &Visit,
        chain: &VulId,
    ) -> Result<Content<(Chain, Vec<FindingRow>)>, Error> {
        let share = match self.shown(visit).await? {
            Content::Here(share) => share,
            Content::Over => return Ok(Content::Over),
        };
        if !share.chains.iter().any(|shown| shown.id == *chain) {
            return Err(Error::NotFound);
        }
        let (place, code) = (&visit.place, visit.code.as_ref());
        let ask = |service: ScanningService, call: Call| async move {
            service.public_chain(&call, &place.spot.share, chain, code).await
        };
        match self.credentials.with_public(&place.tenant, (&place.request_id, "extractSharedExploitChain"), ask).await? {
            Opened::Open(chain) => {
                let chain = chain.for_recipients(visit.hides_evidence);
                let ids: Vec<&VulId> = chain.leads_to().collect();
                let findings = share.findings.into_iter().filter(|row| ids.contains(&&row.id)).collect();
                self.unless_over(visit, Content::Here((chain, findings))).await
            }
            // The share is there, so it is this chain that is not.
            Opened::Gone => Err(Error::NotFound),
            Opened::CodeNeeded | Opened::WrongCode => Ok(Content::Over),
        }
    }
}

/// What an operation is called in the route table, without and with a code.
pub(super) const fn named(code: Option<&Secret>, (without, with): (&'static str, &'static str)) -> &'static str {
    if code.is_some() { with } else { without }
}
