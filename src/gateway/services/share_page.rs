//! Shares, the recipient's side: the door, the grant a right code gives, and what is behind it. Needs no session and no
//! identity provider.
//!
//! Guessing is bounded three times. A try from a network counts before the code is looked at, so that parallel tries
//! cannot slip through, and a right code clears that count. Wrong codes of all networks together close the share for a
//! while. After the lifetime's worth of wrong codes the code is dead. Made-up ids are counted alike, so that nothing tells them
//! from real ones; only the last count is kept for real shares alone, because it stays long.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::credentials::Credentials;
use super::error::Error;
use super::shares::made_here;
use crate::config::gateway::Limits;
use crate::contract::ids::{ShareId, VulId};
use crate::contract::reports::ReportType;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::extraction_code::readings;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::share::{self, Opened, PublicShare};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Count, Key, Store, Unavailable};
use crate::gateway::upstream::{Call, Kind, Report, ScanningService, UpstreamError};
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const PURPOSE: &str = "share-grant";
/// How long wrong codes of a share are remembered for its lifetime's count: longer than any share made here lives.
const LIFETIME: Duration = Duration::from_hours(400 * 24);

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SharePages {
    credentials: Credentials,
    guard: Guard,
    grants: Grants,
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
    /// The browser's part of the grant.
    Granted(Secret),
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
    pub(in crate::gateway) fn new(credentials: Credentials, store: Store, ring: Arc<Ring>, limits: &Limits) -> Self {
        let guard = Guard {
            store: store.clone(),
            by_network: limits.share_wrong_codes,
            anywhere: limits.share_wrong_codes_anywhere,
            lifetime: limits.share_wrong_codes_lifetime,
            window: Duration::from_secs(limits.share_window_seconds),
        };
        let grants = Grants { store, ring, lifetime: Duration::from_secs(limits.share_grant_minutes.saturating_mul(60)) };
        Self { credentials, guard, grants }
    }

    /// How long a grant lasts.
    pub(in crate::gateway) const fn grant_lifetime(&self) -> Duration {
        self.grants.lifetime
    }

    /// Tries a typed code.
    pub(in crate::gateway) async fn open_with_code(&self, place: &Place, typed: &str) -> Result<Entry, Error> {
        let codes = readings(typed);
        if codes.is_empty() {
            return Ok(Entry::Refused);
        }
        if let Some(wait) = self.guard.admit(place).await? {
            return Ok(Entry::Wait(wait));
        }
        let dead = self.guard.is_dead(place).await?;
        // Asked before the service is, so that an answer takes as long whatever comes of it.
        let ours = self.is_ours(place).await?;
        let (service, call) = self.credentials.public(&place.tenant, &place.request_id).await?;
        let mut is_real = false;
        // All readings are tried whatever the first one gave, so that an unknown share answers no sooner than a wrong code.
        for code in codes {
            let opened = match service.public_share(&call, &place.share, Some(&code)).await {
                // The service slows guessing down by itself, for shares that exist: told on, it would tell which do.
                Err(UpstreamError { kind: Kind::TooMany { .. }, .. }) => Opened::WrongCode,
                other => other?,
            };
            match opened {
                Opened::Open(_) if ours && !dead => {
                    self.guard.clear(place).await?;
                    return self.grants.give(place, Some(&code)).await.map(Entry::Granted);
                }
                Opened::Open(_) | Opened::WrongCode => is_real = true,
                Opened::CodeNeeded | Opened::Gone => {}
            }
        }
        self.guard.wrong(place, is_real).await?;
        Ok(Entry::Refused)
    }

    async fn is_ours(&self, place: &Place) -> Result<bool, Error> {
        Ok(self.grants.store.get(&made_here(&place.tenant, &place.share)).await?.is_some())
    }

    /// Tries a share that was made without a code. No code is tested, so nothing is counted.
    pub(in crate::gateway) async fn open_without_code(&self, place: &Place) -> Result<Entry, Error> {
        let (service, call) = self.credentials.public(&place.tenant, &place.request_id).await?;
        let ours = self.is_ours(place).await?;
        match service.public_share(&call, &place.share, None).await? {
            Opened::Open(_) if ours => self.grants.give(place, None).await.map(Entry::Granted),
            Opened::Open(_) | Opened::CodeNeeded | Opened::WrongCode | Opened::Gone => Ok(Entry::Refused),
        }
    }

    /// The visit that a browser's part of a grant stands for, if the grant is for this share and still good.
    pub(in crate::gateway) async fn visit(&self, place: Place, handle: &Secret) -> Result<Option<Visit>, Error> {
        Ok(self.grants.open(&place, handle).await?.map(|code| Visit { place, code }))
    }

    /// Ends a visit.
    pub(in crate::gateway) async fn close(&self, place: &Place, handle: &Secret) -> Result<(), Error> {
        self.grants.drop(place, handle).await.map_err(Error::from)
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

/// Counts tries.
#[derive(Clone)]
struct Guard {
    store: Store,
    by_network: u64,
    anywhere: u64,
    lifetime: u64,
    window: Duration,
}

impl Guard {
    /// Counts a try, or says how many seconds it has to wait.
    async fn admit(&self, place: &Place) -> Result<Option<u64>, Unavailable> {
        let anywhere = self.store.peek(&anywhere(place)).await?;
        if let Some(count) = anywhere.filter(|count| count.value >= self.anywhere) {
            return Ok(Some(wait(count)));
        }
        let count = self.store.count(&from_network(place), self.window).await?;
        Ok((count.value > self.by_network).then(|| wait(count)))
    }

    /// Whether the code was guessed at too often to be trusted.
    async fn is_dead(&self, place: &Place) -> Result<bool, Unavailable> {
        Ok(self.store.peek(&in_life(place)).await?.is_some_and(|count| count.value >= self.lifetime))
    }

    async fn wrong(&self, place: &Place, is_real: bool) -> Result<(), Unavailable> {
        self.store.count(&anywhere(place), self.window).await?;
        if is_real {
            self.store.count(&in_life(place), LIFETIME).await?;
        }
        Ok(())
    }

    async fn clear(&self, place: &Place) -> Result<(), Unavailable> {
        self.store.reset(&from_network(place)).await
    }
}

fn wait(count: Count) -> u64 {
    count.resets_in.as_secs().max(1)
}

fn from_network(place: &Place) -> Key {
    Key::hashed(&place.tenant, "share-tries", &format!("{} {}", place.network, place.share))
}

fn anywhere(place: &Place) -> Key {
    Key::hashed(&place.tenant, "share-wrong", place.share.as_str())
}

fn in_life(place: &Place) -> Key {
    Key::hashed(&place.tenant, "share-wrong-life", place.share.as_str())
}

/// Keeps what recipients may see: a record named by the hash of the browser's part and sealed with it.
#[derive(Clone)]
struct Grants {
    store: Store,
    ring: Arc<Ring>,
    lifetime: Duration,
}

#[derive(Serialize, Deserialize)]
struct Grant {
    /// Needed for each call to the service; none for a share without one.
    code: Option<String>,
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.code.zeroize();
    }
}

impl Grants {
    async fn give(&self, place: &Place, code: Option<&Secret>) -> Result<Secret, Error> {
        let handle = Secret::new(random::token().map_err(|error| Error::Internal(error.to_string()))?);
        let key = grant(place, &handle);
        let content = Grant { code: code.map(|code| code.expose().to_owned()) };
        let plain = Zeroizing::new(serde_json::to_vec(&content).map_err(|error| Error::Internal(error.to_string()))?);
        let sealed = self.ring.seal(PURPOSE, &context(place, &key), handle.expose().as_bytes(), &plain)?;
        self.store.put(&key, sealed, Some(self.lifetime)).await?;
        Ok(handle)
    }

    /// The code of a good grant; `None` for anything that is none.
    async fn open(&self, place: &Place, handle: &Secret) -> Result<Option<Option<Secret>>, Error> {
        let key = grant(place, handle);
        let Some(record) = self.store.get(&key).await? else {
            return Ok(None);
        };
        let Ok(plain) = self.ring.open(PURPOSE, &context(place, &key), handle.expose().as_bytes(), &record.value) else {
            return Ok(None);
        };
        let grant: Grant = serde_json::from_slice(&plain).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Some(grant.code.clone().map(Secret::new)))
    }

    async fn drop(&self, place: &Place, handle: &Secret) -> Result<(), Unavailable> {
        self.store.delete(&grant(place, handle)).await.map(drop)
    }
}

fn grant(place: &Place, handle: &Secret) -> Key {
    Key::hashed(&place.tenant, "share-grant", handle.expose())
}

/// Tenant, record and share: a grant for one share opens no other.
fn context(place: &Place, key: &Key) -> String {
    format!("{}/{}", key.context(), place.share)
}

#[cfg(test)]
#[path = "share_page_tests.rs"]
mod tests;
