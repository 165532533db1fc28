//! Shares, the recipient's side: the door, the grant a right code gives, and what is behind it. Needs no session and no
//! identity provider.

use std::time::Duration;

use super::credentials::Credentials;
use super::error::Error;
use super::share_policy::SharePolicies;
use crate::contract::ids::{ShareId, VulId};
use crate::contract::reports::ReportType;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::extraction_code::readings;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::share::{self, Opened, PublicShare};
use crate::gateway::domain::share_entry::{self, Mark};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::{Grants, Guard, Inside, Ledger, Reached, Try, View};
use crate::gateway::upstream::{Call, Kind, Report, ScanningService, UpstreamError};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SharePages {
    credentials: Credentials,
    ledger: Ledger,
    guard: Guard,
    grants: Grants,
    policies: SharePolicies,
}

/// A share as somebody stands before it.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Place {
    pub(in crate::gateway) tenant: TenantId,
    pub(in crate::gateway) share: ShareId,
    /// The caller's network, masked.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) request_id: String,
}

/// What a try to open a door gave.
#[derive(Debug)]
pub(in crate::gateway) enum Entry {
    /// The browser's part of the grant, and how long that is good.
    Granted(Secret, Duration),
    /// Unknown, over, or the code is wrong: one answer for all.
    Refused,
    /// Seconds until the next try is looked at.
    Wait(u64),
}

/// Somebody who opened a share.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Visit {
    pub(in crate::gateway) place: Place,
    code: Option<Secret>,
}

/// What is behind the door now.
pub(in crate::gateway) enum Content<T> {
    Here(T),
    /// The share ended after it was opened.
    Over,
}

/// A report for a recipient.
pub(in crate::gateway) enum ReportFor {
    /// The report and the project's name.
    Stream(Report, Hostile),
    /// The company keeps no active server key here, or the service does not accept it.
    NoKey,
}

impl SharePages {
    pub(in crate::gateway) fn new(credentials: Credentials, ledger: Ledger, policies: SharePolicies) -> Self {
        Self { credentials, guard: ledger.guard(), grants: ledger.grants(), ledger, policies }
    }

    /// Tries a typed code.
    pub(in crate::gateway) async fn open_with_code(&self, place: &Place, typed: &str) -> Result<Entry, Error> {
        let codes = readings(typed);
        if codes.is_empty() {
            return Ok(Entry::Refused);
        }
        let policy = self.policies.of(&place.tenant).await?;
        let mark = Mark::of(&place.tenant, &place.share);
        // Asked before the service is, so that an answer takes as long whatever comes of it.
        let entry = self.ledger.entry(&place.tenant, &mark).await?;
        let version = entry.as_ref().map_or(0, |entry| entry.version);
        let attempt = Try { tenant: &place.tenant, mark: &mark, version, network: &place.network };
        if let Some(wait) = self.guard.admit(attempt, &policy).await? {
            return Ok(Entry::Wait(wait));
        }
        let right = self.right_one(place, &codes).await?;
        let is_real = entry.is_some();
        if let (Some(code), Some(entry)) = (right, entry.filter(|entry| entry.needs_code))
            && !entry.code_dead
        {
            self.guard.clear(attempt).await?;
            return self.enter(place, &mark, Some(code), &policy).await;
        }
        if self.guard.wrong(attempt, is_real, &policy).await? == Some(Reached::Dead) {
            self.kill(&place.tenant, &mark).await?;
        }
        Ok(Entry::Refused)
    }

    /// The code the service takes, if it takes one. All are tried whatever the first one gave, so that an unknown share answers no
    /// sooner than a wrong code.
    async fn right_one(&self, place: &Place, codes: &[Secret]) -> Result<Option<Secret>, Error> {
        let (service, call) = self.credentials.public(&place.tenant, &place.request_id).await?;
        let mut right = None;
        for code in codes {
            match service.public_share(&call, &place.share, Some(code)).await {
                Ok(Opened::Open(_)) => right = right.or_else(|| Some(code.clone())),
                Ok(Opened::CodeNeeded | Opened::WrongCode | Opened::Gone) => {}
                // The service slows guessing down by itself, for shares that exist: told on, it would tell which do.
                Err(UpstreamError { kind: Kind::TooMany { .. }, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(right)
    }

    /// Takes a view and gives the grant for it.
    async fn enter(&self, place: &Place, mark: &Mark, code: Option<Secret>, policy: &SharePolicy) -> Result<Entry, Error> {
        let View::Taken(entry) = self.ledger.take_view(&place.tenant, mark).await? else { return Ok(Entry::Refused) };
        let life = Duration::from_secs(60 * u64::from(policy.grant_minutes));
        let inside = Inside { code, version: entry.version };
        let handle = self.grants.give(&place.tenant, mark, &inside, life).await?;
        Ok(Entry::Granted(handle, life))
    }

    async fn kill(&self, tenant: &TenantId, mark: &Mark) -> Result<(), Error> {
        let dead = |entry: &mut share_entry::Entry| -> Result<(), Error> {
            entry.code_dead = true;
            entry.version += 1;
            Ok(())
        };
        self.ledger.change(tenant, mark, dead).await.map(drop)
    }

    /// Tries a share that was made without a code. No code is tested, so nothing is counted.
    pub(in crate::gateway) async fn open_without_code(&self, place: &Place) -> Result<Entry, Error> {
        let policy = self.policies.of(&place.tenant).await?;
        let mark = Mark::of(&place.tenant, &place.share);
        let entry = self.ledger.entry(&place.tenant, &mark).await?;
        let (service, call) = self.credentials.public(&place.tenant, &place.request_id).await?;
        let opened = service.public_share(&call, &place.share, None).await?;
        match (opened, entry) {
            (Opened::Open(_), Some(entry)) if !entry.needs_code && policy.without_code => {
                self.enter(place, &mark, None, &policy).await
            }
            _ => Ok(Entry::Refused),
        }
    }

    /// The visit that a browser's part of a grant stands for, if the grant is for this share as it is now and still good.
    pub(in crate::gateway) async fn visit(&self, place: Place, handle: &Secret) -> Result<Option<Visit>, Error> {
        let mark = Mark::of(&place.tenant, &place.share);
        let Some(inside) = self.grants.open(&place.tenant, &mark, handle).await? else { return Ok(None) };
        let entry = self.ledger.entry(&place.tenant, &mark).await?;
        Ok(entry.filter(|entry| entry.version == inside.version).map(|_| Visit { place, code: inside.code }))
    }

    /// Ends a visit.
    pub(in crate::gateway) async fn close(&self, place: &Place, handle: &Secret) -> Result<(), Error> {
        self.grants.drop(&place.tenant, handle).await.map_err(Error::from)
    }

    pub(in crate::gateway) async fn content(&self, visit: &Visit) -> Result<Content<PublicShare>, Error> {
        let (service, call) = self.credentials.public(&visit.place.tenant, &visit.place.request_id).await?;
        let opened = service.public_share(&call, &visit.place.share, visit.code.as_ref()).await?;
        Ok(match Content::of(opened) {
            Content::Here(share) => Content::Here(share.bounded()),
            Content::Over => Content::Over,
        })
    }

    pub(in crate::gateway) async fn finding(&self, visit: &Visit, vul: &VulId) -> Result<Content<Finding>, Error> {
        let (service, call) = self.credentials.public(&visit.place.tenant, &visit.place.request_id).await?;
        match service.public_finding(&call, &visit.place.share, vul, visit.code.as_ref()).await? {
            // The share may be there without this finding.
            Opened::Gone => match self.content(visit).await? {
                Content::Here(_) => Err(Error::NotFound),
                Content::Over => Ok(Content::Over),
            },
            other => Ok(Content::of(other)),
        }
    }

    /// One finding with the chains of the share that lead to it.
    pub(in crate::gateway) async fn finding_in_chains(
        &self,
        visit: &Visit,
        vul: &VulId,
    ) -> Result<Content<(Finding, Vec<Chain>)>, Error> {
        let (finding, share) = futures_util::future::try_join(self.finding(visit, vul), self.content(visit)).await?;
        Ok(match (finding, share) {
            (Content::Here(finding), Content::Here(share)) => {
                let chains = share.chains.into_iter().filter(|chain| chain.leads_to().any(|id| id == vul)).collect();
                Content::Here((finding, chains))
            }
            _ => Content::Over,
        })
    }

    /// One exploit chain of those the share shows, and the findings of the share it leads to.
    pub(in crate::gateway) async fn chain(
        &self,
        visit: &Visit,
        chain: &VulId,
    ) -> Result<Content<(Chain, Vec<FindingRow>)>, Error> {
        let share = match self.content(visit).await? {
            Content::Here(share) => share,
            Content::Over => return Ok(Content::Over),
        };
        if !share.chains.iter().any(|shown| shown.id == *chain) {
            return Err(Error::NotFound);
        }
        let (service, call) = self.credentials.public(&visit.place.tenant, &visit.place.request_id).await?;
        match service.public_chain(&call, &visit.place.share, chain, visit.code.as_ref()).await? {
            Opened::Open(chain) => {
                let ids: Vec<&VulId> = chain.leads_to().collect();
                let findings = share.findings.into_iter().filter(|row| ids.contains(&&row.id)).collect();
                Ok(Content::Here((chain, findings)))
            }
            // The share is there, so it is this chain that is not.
            Opened::Gone => Err(Error::NotFound),
            Opened::CodeNeeded | Opened::WrongCode => Ok(Content::Over),
        }
    }

    /// The report of the share's own task, fetched with the company's server key: the recipient has no account. The share is
    /// asked for first, with the recipient's code; a share of single findings gives no report.
    pub(in crate::gateway) async fn report(&self, visit: &Visit, form: ReportType) -> Result<Content<ReportFor>, Error> {
        let shared = match self.content(visit).await? {
            Content::Here(shared) => shared,
            Content::Over => return Ok(Content::Over),
        };
        let task = match (&shared.kind, &shared.task) {
            (share::Kind::Report, Some(task)) => task.clone(),
            _ => return Err(Error::NotFound),
        };
        let tenant = &visit.place.tenant;
        let ask = |service: ScanningService, call: Call| {
            let task = task.clone();
            async move { service.report(&call, &task, form).await }
        };
        match self.credentials.with_server_key(tenant, &visit.place.request_id, ask).await {
            Ok(Some(report)) => Ok(Content::Here(ReportFor::Stream(report, shared.project))),
            Ok(None) => Ok(Content::Here(ReportFor::NoKey)),
            Err(Error::Upstream(error)) if matches!(error.kind, Kind::Unauthorized | Kind::Forbidden) => {
                tracing::warn!(%tenant, %error, "the active server keys give no report");
                Ok(Content::Here(ReportFor::NoKey))
            }
            Err(error) => Err(error),
        }
    }
}

impl<T> Content<T> {
    fn of(opened: Opened<T>) -> Self {
        match opened {
            Opened::Open(content) => Self::Here(content),
            Opened::CodeNeeded | Opened::WrongCode | Opened::Gone => Self::Over,
        }
    }
}
