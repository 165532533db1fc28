//! Which shares there are. The list comes from the ledger, so it is there when the service is not; what only the service knows
//! is a list of its own.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Shares, is_own};
use crate::contract::limits::MAX_PAGE_SIZE;
use crate::contract::tasks::Search;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::ShareRow;
use crate::gateway::domain::share_breach::is_closed;
use crate::gateway::domain::share_entry::{Entry, Mark, State};
use crate::gateway::domain::share_filter::{ShareFilter, Shown};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::{Ledger, Locks};
use crate::gateway::services::Actor;
use crate::gateway::services::error::Error;
use crate::gateway::services::lists::{self, Listed};
use crate::platform::clock::Timestamp;

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE_SIZE: u32 = 20;
/// Shares whose locks are looked at at once.
const AT_ONCE: usize = 16;

/// A share as it stands now.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Seen {
    pub(in crate::gateway) mark: Mark,
    pub(in crate::gateway) entry: Entry,
    pub(in crate::gateway) standing: Standing,
    /// Wrong codes in the life of the present code; of a share that is over, until its end.
    pub(in crate::gateway) wrong: u64,
    /// Made by whoever looks.
    pub(in crate::gateway) is_own: bool,
    /// Whoever looks may open its page and end it.
    pub(in crate::gateway) is_kept: bool,
}

/// Whether a share opens now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Standing {
    Is(State),
    /// Open, but everybody waits so long.
    Locked(Duration),
    /// Open, but the company's policy keeps its door closed.
    ByPolicy,
}

impl Standing {
    /// How a share stands, and how many wrong codes were tried in the life of its present code.
    pub(in crate::gateway::services) async fn of(
        ledger: &Ledger,
        tenant: &TenantId,
        (mark, entry): (&Mark, &Entry),
        (policy, now): (&SharePolicy, Timestamp),
    ) -> Result<(Self, u64), Error> {
        let state = entry.state(now);
        let locks = if entry.needs_code { ledger.guard().locks(tenant, mark, entry.codes).await? } else { Locks::default() };
        let standing = match (state, locks.locked_for) {
            (State::Open, Some(wait)) => Self::Locked(wait),
            (State::Open, None) if is_closed(entry, policy) => Self::ByPolicy,
            _ => Self::Is(state),
        };
        Ok((standing, locks.wrong))
    }
}

/// One page of the list.
pub(in crate::gateway) type ShareList = Listed<Seen>;

/// Shares that only the service knows. Their ids stay here.
pub(in crate::gateway) type Elsewhere = Listed<(Mark, ShareRow)>;

impl Shares {
    /// One page of the shares of the tenant, newest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, filter: &ShareFilter) -> Result<ShareList, Error> {
        let (now, policy) = (self.clock.now(), self.policies.of(&actor.principal.tenant).await?);
        let mut all = self.ledger.all(&actor.principal.tenant).await?;
        all.retain(|(_, entry)| {
            let own = !filter.own || is_own(actor, entry);
            let state = entry.state(now);
            let by_policy = state == State::Open && is_closed(entry, &policy);
            own && filter.shown.is_none_or(|shown| if by_policy { shown == Shown::ByPolicy } else { shown.fits(state) })
        });
        let page = filter.page.saturating_sub(1);
        if filter.shown == Some(Shown::Locked) {
            let mut seen = self.seen(actor, all).await?;
            seen.retain(|seen| matches!(seen.standing, Standing::Locked(_)));
            return Ok(lists::slice(seen, true, page, PAGE_SIZE));
        }
        let Listed { items, total, complete } = lists::slice(all, true, page, PAGE_SIZE);
        Ok(Listed { items: self.seen(actor, items).await?, total, complete })
    }

    /// The own ones that wrong codes have closed, for now or until there is a new code: it is for their owner to know.
    pub(in crate::gateway) async fn closed_by_wrong_codes(&self, actor: &Actor) -> Result<Vec<Seen>, Error> {
        let now = self.clock.now();
        let mut all = self.ledger.all(&actor.principal.tenant).await?;
        all.retain(|(_, entry)| {
            is_own(actor, entry) && entry.needs_code && matches!(entry.state(now), State::Open | State::CodeDead)
        });
        let mut seen = self.seen(actor, all).await?;
        seen.retain(|seen| matches!(seen.standing, Standing::Locked(_) | Standing::Is(State::CodeDead)));
        Ok(seen)
    }

    async fn seen(&self, actor: &Actor, shares: Vec<(Mark, Entry)>) -> Result<Vec<Seen>, Error> {
        let looked = stream::iter(shares).map(|(mark, entry)| self.look_at(actor, mark, entry));
        looked.buffered(AT_ONCE).try_collect().await
    }

    pub(super) async fn look_at(&self, actor: &Actor, mark: Mark, entry: Entry) -> Result<Seen, Error> {
        let tenant = &actor.principal.tenant;
        let (policy, now) = (self.policies.of(tenant).await?, self.clock.now());
        let (standing, wrong) = Standing::of(&self.ledger, tenant, (&mark, &entry), (&policy, now)).await?;
        let is_own = is_own(actor, &entry);
        Ok(Seen { mark, entry, standing, wrong, is_own, is_kept: is_own || actor.principal.is_administrator() })
    }

    /// One page of the shares that the service knows and the ledger does not.
    pub(in crate::gateway) async fn elsewhere(&self, actor: &Actor, page: u32) -> Result<Elsewhere, Error> {
        let (found, complete) = self.elsewhere_all(actor).await?;
        Ok(lists::slice(found, complete, page.saturating_sub(1), PAGE_SIZE))
    }

    /// All of them, and whether all rows of the service were looked at.
    pub(super) async fn elsewhere_all(&self, actor: &Actor) -> Result<(Vec<(Mark, ShareRow)>, bool), Error> {
        let tenant = &actor.principal.tenant;
        let known = self.ledger.all(tenant).await?;
        let known: HashSet<&str> = known.iter().map(|(mark, _)| mark.as_str()).collect();
        let fits = |row: &ShareRow| !known.contains(Mark::of(tenant, &row.id).as_str());
        let (rows, complete) = lists::all(&newest_first(), fits, |search| self.search(actor, search)).await?;
        Ok((rows.into_iter().map(|row| (Mark::of(tenant, &row.id), row)).collect(), complete))
    }

    pub(super) async fn search(&self, actor: &Actor, search: Search) -> Result<Listing<ShareRow>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let search = search.clone();
            async move { service.search_shares(&call, &search).await }
        });
        ask.await
    }

    /// The first pages of what the service has, the newest first.
    pub(super) fn pages(pages: u32) -> impl Iterator<Item = Search> {
        (0..pages).map(|page| Search { page: Some(page), size: Some(MAX_PAGE_SIZE), filters: Vec::new(), sorts: newest_first() })
    }
}

fn newest_first() -> Vec<String> {
    vec!["-createdAt".to_owned()]
}
