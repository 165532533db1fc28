//! All shares of a tenant, as its administrators see them: whose they are, which of them the policy does not allow any more, and
//! an end to those of a person. Ids that open something are in no answer.

use std::collections::BTreeMap;

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::lists;
use super::share_policy::SharePolicies;
use super::shares::{Ended as How, Endings, Standing};
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::share_breach::{Breach, breaches};
use crate::gateway::domain::share_entry::{Entry, Mark, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::Ledger;
use crate::platform::clock::Clock;
use crate::platform::hostile::Hostile;

/// Shares on a page.
pub(in crate::gateway) const PAGE_SIZE: u32 = 25;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct AllShares {
    endings: Endings,
    ledger: Ledger,
    policies: SharePolicies,
    audit: Audit,
    clock: Clock,
}

/// Which shares are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Filter {
    /// Those alone that are in breach of the policy.
    pub(in crate::gateway) breaching: bool,
    /// Those alone that open something still.
    pub(in crate::gateway) living: bool,
    /// Those of this maker alone, by key.
    pub(in crate::gateway) maker: Option<String>,
}

/// A share as it is listed.
pub(in crate::gateway) struct Listed {
    pub(in crate::gateway) mark: Mark,
    pub(in crate::gateway) entry: Entry,
    pub(in crate::gateway) state: State,
    /// What the policy does not allow; none for one that is over.
    pub(in crate::gateway) breaches: Vec<Breach>,
    /// The state, with what stands beside it.
    pub(in crate::gateway) standing: Standing,
}

/// Somebody who has made shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Maker {
    pub(in crate::gateway) key: String,
    pub(in crate::gateway) name: Hostile,
    /// Shares of theirs that open something still.
    pub(in crate::gateway) living: u64,
    /// Shares of theirs that have ended here, of which the service was not told.
    pub(in crate::gateway) untold: u64,
}

/// One page.
pub(in crate::gateway) struct Found {
    pub(in crate::gateway) shares: Vec<Listed>,
    /// On all pages.
    pub(in crate::gateway) total: u64,
    /// Living shares in breach of the policy, whatever the filter is.
    pub(in crate::gateway) breaching: u64,
    /// By name.
    pub(in crate::gateway) makers: Vec<Maker>,
}

/// What became of somebody's shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Ended {
    /// Their doors are closed.
    pub(in crate::gateway) ended: usize,
    /// Of these the service could not be told.
    pub(in crate::gateway) untold: usize,
}

/// Shares that need somebody's eye.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Attention {
    pub(in crate::gateway) living: u64,
    pub(in crate::gateway) breaching: u64,
    /// Short ids of those that wrong codes have closed for everybody for now, and of those whose code is dead.
    pub(in crate::gateway) locked: Vec<String>,
    pub(in crate::gateway) dead: Vec<String>,
}

impl AllShares {
    pub(in crate::gateway) fn new(
        (credentials, ledger, policies): (Credentials, Ledger, SharePolicies),
        audit: Audit,
        clock: Clock,
    ) -> Self {
        let endings = Endings { credentials, ledger: ledger.clone(), audit: audit.clone() };
        Self { endings, ledger, policies, audit, clock }
    }

    /// A page, counted from 1, newest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, filter: &Filter, page: u32) -> Result<Found, Error> {
        let tenant = &actor.principal.tenant;
        let all = self.all(tenant).await?;
        let mut makers: BTreeMap<(String, String), Maker> = BTreeMap::new();
        for share in &all {
            let maker = &share.entry.maker;
            let known = makers.entry((maker.name.raw().to_lowercase(), maker.key.clone()));
            let known = known.or_insert_with(|| Maker { key: maker.key.clone(), name: maker.name.clone(), living: 0, untold: 0 });
            known.living += u64::from(is_living(share.state));
            known.untold += u64::from(share.entry.untold);
        }
        let breaching = all.iter().filter(|share| !share.breaches.is_empty()).count() as u64;
        let fitting = all.into_iter().filter(|share| filter.has(share)).collect();
        let lists::Listed { items: mut shares, total, .. } = lists::slice(fitting, true, page.saturating_sub(1), PAGE_SIZE);
        for share in shares.iter_mut().filter(|share| share.state == State::Open) {
            share.standing = self.standing(tenant, share).await?;
        }
        Ok(Found { shares, total, breaching, makers: makers.into_values().collect() })
    }

    /// Somebody who has made shares, for asking before these end.
    pub(in crate::gateway) async fn maker(&self, actor: &Actor, key: &str) -> Result<Maker, Error> {
        let found = self.list(actor, &Filter::default(), 1).await?;
        found.makers.into_iter().find(|maker| maker.key == key).ok_or(Error::NotFound)
    }

    /// Ends every share of a maker that opens something still. Done again it tells the service of those it could not be told of.
    pub(in crate::gateway) async fn end_of(&self, actor: &Actor, maker: &str) -> Result<Ended, Error> {
        let tenant = &actor.principal.tenant;
        let theirs: Vec<_> = self.all(tenant).await?.into_iter().filter(|share| share.entry.maker.key == maker).collect();
        if theirs.is_empty() {
            return Err(Error::NotFound);
        }
        let marks: Vec<Mark> = theirs.into_iter().filter(Listed::is_endable).map(|share| share.mark).collect();
        let (mut done, mut failed) = (Ended::default(), None);
        for (_, outcome) in self.endings.end(actor, &marks).await {
            match outcome {
                Ok(how) => {
                    done.ended += 1;
                    done.untold += usize::from(how == How::HereOnly);
                }
                Err(error) => failed = Some(error),
            }
        }
        let event = Event::new(Deed::SharesEnded, &format!("ended_{} {maker}", done.ended));
        self.audit.record(tenant, actor.did(event));
        failed.map_or(Ok(done), Err)
    }

    /// What needs somebody's eye.
    pub(super) async fn attention(&self, tenant: &TenantId) -> Result<Attention, Error> {
        let mut found = Attention::default();
        for share in self.all(tenant).await? {
            found.living += u64::from(is_living(share.state));
            found.breaching += u64::from(!share.breaches.is_empty());
            match share.state {
                State::CodeDead => found.dead.push(share.mark.short().to_owned()),
                State::Open => {
                    if matches!(self.standing(tenant, &share).await?, Standing::Locked(_)) {
                        found.locked.push(share.mark.short().to_owned());
                    }
                }
                State::UsedUp | State::Expired | State::Ended => {}
            }
        }
        Ok(found)
    }

    async fn all(&self, tenant: &TenantId) -> Result<Vec<Listed>, Error> {
        let (policy, now) = (self.policies.of(tenant).await?, self.clock.now());
        let listed = self.ledger.all(tenant).await?.into_iter().map(|(mark, entry)| {
            let state = entry.state(now);
            let breaches = if is_living(state) { breaches(&entry, &policy, now) } else { Vec::new() };
            Listed { mark, entry, state, breaches, standing: Standing::Is(state) }
        });
        Ok(listed.collect())
    }

    async fn standing(&self, tenant: &TenantId, share: &Listed) -> Result<Standing, Error> {
        let (policy, now) = (self.policies.of(tenant).await?, self.clock.now());
        Ok(Standing::of(&self.ledger, tenant, (&share.mark, &share.entry), (&policy, now)).await?.0)
    }
}

impl Listed {
    /// Whether ending it does something still: it opens something, or the service was not told of its end.
    pub(in crate::gateway) fn is_endable(&self) -> bool {
        is_living(self.state) || self.entry.untold
    }
}

impl Filter {
    fn has(&self, share: &Listed) -> bool {
        let of_maker = self.maker.as_ref().is_none_or(|maker| share.entry.maker.key == *maker);
        of_maker && (!self.breaching || !share.breaches.is_empty()) && (!self.living || is_living(share.state))
    }
}

/// Whether a share opens something now, or would with a new code or another view.
const fn is_living(state: State) -> bool {
    matches!(state, State::Open | State::CodeDead | State::UsedUp)
}
