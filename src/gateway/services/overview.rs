//! The first page of administration: whether everything answers, what ends soon, what is locked, what was done last. Each part
//! stands for itself: one that cannot be told now hides no other.

use std::time::Duration;

use tokio::time::Instant;

use super::Actor;
use super::all_shares::{AllShares, Attention};
use super::api_keys::ApiKeys;
use super::error::Error;
use super::health::Health;
use super::keys::Keys;
use super::reach::{Reach, Reached};
use super::users::Users;
use crate::gateway::domain::audit::{Deed, Written};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;

/// Acts that are shown.
const ACTS: usize = 10;
/// Events of the trail that are looked through for them.
const LOOKED_AT: u64 = 200;
/// What administrators do.
const ADMINISTRATIVE: [Deed; 7] = [
    Deed::ApiKey,
    Deed::ServerKey,
    Deed::PolicyChanged,
    Deed::UserAccess,
    Deed::SharesEnded,
    Deed::OperatorLooked,
    Deed::KeyRotation,
];

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Overview {
    pub(in crate::gateway) health: Health,
    pub(in crate::gateway) reach: Reach,
    pub(in crate::gateway) api_keys: ApiKeys,
    pub(in crate::gateway) keys: Keys,
    pub(in crate::gateway) shares: AllShares,
    pub(in crate::gateway) users: Users,
    pub(in crate::gateway) clock: Clock,
    /// Keys that end within so many days are named.
    pub(in crate::gateway) notice_days: u32,
}

/// An API key that ends soon, or has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct EndingKey {
    pub(in crate::gateway) label: Hostile,
    pub(in crate::gateway) ends: Timestamp,
    pub(in crate::gateway) is_over: bool,
}

/// Keys that need somebody's eye.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct KeyNotice {
    /// The next to end first.
    pub(in crate::gateway) ending: Vec<EndingKey>,
    /// No server key is active: API keys and reports of shares do not work.
    pub(in crate::gateway) no_server_key: bool,
}

/// Something an administrator did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Act {
    pub(in crate::gateway) written: Written,
    /// Who did it, where they are still known.
    pub(in crate::gateway) by: Option<Hostile>,
    /// The user it was done to, where it was one.
    pub(in crate::gateway) to: Option<Hostile>,
}

/// What the page tells. What is `None` is not known now.
pub(in crate::gateway) struct Shown {
    /// How long the store took to answer; `None`: it does not.
    pub(in crate::gateway) store: Option<Duration>,
    pub(in crate::gateway) audit_waiting: usize,
    pub(in crate::gateway) reached: Option<Reached>,
    pub(in crate::gateway) keys: Option<KeyNotice>,
    pub(in crate::gateway) shares: Option<Attention>,
    pub(in crate::gateway) users: Option<usize>,
    pub(in crate::gateway) acts: Option<Vec<Act>>,
    pub(in crate::gateway) notice_days: u32,
}

impl Overview {
    /// Everything at the same time, so that the page takes no longer than its slowest part.
    pub(in crate::gateway) async fn show(&self, actor: &Actor) -> Shown {
        let tenant = &actor.principal.tenant;
        let began = Instant::now();
        let health = async { (self.health.report().await, began.elapsed()) };
        let parts = (self.reach.of(tenant), self.keys_of(actor), self.shares.attention(tenant), self.users.count(tenant));
        let parts = (Box::pin(parts.0), Box::pin(parts.1), Box::pin(parts.2), Box::pin(parts.3));
        let rest = Box::pin(async { (parts.3.await, self.acts(actor).await) });
        let all = futures_util::future::join5(health, parts.0, parts.1, parts.2, rest);
        let (health, reached, keys, shares, (users, acts)) = all.await;
        let (report, took) = health;
        Shown {
            store: report.store.then_some(took),
            audit_waiting: report.audit_waiting,
            reached: known("the state of service and provider", reached),
            keys: known("keys", keys),
            shares: known("shares", shares),
            users: known("users", users),
            acts: known("the audit trail", acts),
            notice_days: self.notice_days,
        }
    }

    async fn keys_of(&self, actor: &Actor) -> Result<KeyNotice, Error> {
        let (now, server_keys) = (self.clock.now(), self.keys.list(actor).await?);
        let soon = now.after(Duration::from_hours(24 * u64::from(self.notice_days)));
        let listed = self.api_keys.list(actor).await?.into_iter();
        let ending = listed.map(|one| EndingKey { ends: one.key.ends(), label: one.key.label, is_over: one.is_over });
        let mut ending: Vec<EndingKey> = ending.filter(|key| key.ends <= soon).collect();
        ending.sort_by_key(|key| key.ends);
        Ok(KeyNotice { ending, no_server_key: !server_keys.iter().any(|(key, _)| key.active) })
    }

    async fn acts(&self, actor: &Actor) -> Result<Vec<Act>, Error> {
        let tenant = &actor.principal.tenant;
        let newest = self.health.audit.newest_of(tenant, &ADMINISTRATIVE, (ACTS, LOOKED_AT)).await?;
        let mut acts = Vec::with_capacity(newest.len());
        for written in newest {
            let by = match &written.event.user {
                Some(user) => self.users.name(tenant, user).await,
                None => None,
            };
            let user = written.event.detail.split(' ').next_back().filter(|_| written.event.deed == Deed::UserAccess);
            let to = match user {
                Some(user) => self.users.name(tenant, user).await,
                None => None,
            };
            acts.push(Act { written, by, to });
        }
        Ok(acts)
    }
}

fn known<T>(what: &'static str, outcome: Result<T, Error>) -> Option<T> {
    outcome.inspect_err(|error| tracing::warn!(%error, what, "a part of the first page of administration is not known")).ok()
}
