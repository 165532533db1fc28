//! One refresh of one sign-in, alone among all replicas. Who has the lease asks the provider and writes; everybody else waits
//! for word from them and reads again. Life of a refresh:
//!
//! ```text
//! read: good? -> done     lease? -- no --> wait for word, or a moment, and read again
//!                           | yes
//!                         read again: good? -> done (somebody was faster)
//!                           | no
//!                         grant at the provider, lease renewed meanwhile -- trouble --> old token, or 503
//!                           |                                            -- refused --> newer record? else the session ends
//!                         write (version and fence) -- store away --> kept in memory, written when it is back
//!                           |
//!                         whose? -- another's --> the session ends
//!                           | the same user, role changed or not
//!                         write, give the lease back, tell the others
//! ```

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::landing::Settled;
use super::login::LoginId;
use super::refresh::{Given, How, Inner, Landed, Refresh, RefreshError, Refreshed, TokenError};
use super::tokens::{Due, Held, TokenSet};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Event, Key, Lease, Store, Subscription};
use crate::platform::secret::Secret;

/// Where word of refreshes goes: `TENANT/PUBLIC ID/WORD`.
const NEWS: &str = "refreshed";
/// Without word, those who wait look again this often: word may be lost, and the one who refreshes may be gone.
const LOOK: Duration = Duration::from_millis(200);

/// What a refresh is for.
#[derive(Clone)]
pub(super) enum Goal {
    /// A token that is good for a while.
    Fresh,
    /// Any other token than this one.
    Other(Secret),
}

/// One refresh.
pub(super) struct Flight<R> {
    pub(super) source: Arc<Inner>,
    pub(super) tenant: TenantId,
    pub(super) login: LoginId,
    pub(super) goal: Goal,
    pub(super) refresher: R,
}

/// What the others are told when the lease is free again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Read again.
    Look,
    /// The provider has trouble: make do with what there is.
    Rest,
}

impl<R: Refresh> Flight<R> {
    /// The whole of it. Bounded by the waits of the settings and of the calls to provider and store.
    pub(super) async fn fly(self) -> Landed {
        let settings = self.source.settings;
        let until = Instant::now() + settings.lease + settings.wait;
        let key = Key::new(&self.tenant, "refresh", &self.login.public());
        let mut news = self.store().subscribe(NEWS);
        let mut how = How::Reread;
        loop {
            let current = self.source.current(&self.tenant, &self.login).await?;
            if self.is_served(&current.held) {
                return Ok(Given { access: current.held.set.access, how });
            }
            match self.store().acquire(&key, settings.lease).await {
                Ok(Some(lease)) => return self.hold(lease).await,
                Ok(None) => how = How::Shared,
                Err(error) => {
                    tracing::warn!(tenant = %self.tenant, %error, "no lease for a refresh");
                    return self.source.left(&current.held.set);
                }
            }
            match self.hear(&mut news).await {
                Word::Rest => return self.source.make_do(&self.login, &current.held.set),
                Word::Look if Instant::now() > until => return self.source.left(&current.held.set),
                Word::Look => {}
            }
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.source.parts.sessions.0.store
    }

    fn is_served(&self, held: &Held) -> bool {
        let other = match &self.goal {
            Goal::Fresh => true,
            Goal::Other(used) => !held.set.access.matches(used.expose()),
        };
        other && self.source.is_good(held)
    }

    /// Waits for word from the one who refreshes, or a moment.
    async fn hear(&self, news: &mut Subscription) -> Word {
        let ours = format!("{}/{}/", self.tenant, self.login.public());
        let word = async {
            loop {
                match news.next().await {
                    Some(Event::Message(text)) => match text.strip_prefix(ours.as_bytes()) {
                        Some(b"rest") => return Word::Rest,
                        Some(_) => return Word::Look,
                        None => {}
                    },
                    Some(Event::Missed) => return Word::Look,
                    None => std::future::pending().await,
                }
            }
        };
        timeout(LOOK, word).await.unwrap_or(Word::Look)
    }

    /// With the lease: refreshes, gives it back, tells the others.
    async fn hold(self, lease: Lease) -> Landed {
        let (landed, left) = tokio::select! {
            done = self.refresh(&lease) => done,
            never = self.renew(&lease) => match never {},
        };
        let word = match landed {
            Ok(Given { how: How::Fallback, .. }) | Err(TokenError::Unavailable) => Word::Rest,
            _ => Word::Look,
        };
        match left {
            Some((held, current)) => self.write_later(lease, held, current),
            None => self.leave(&lease, word).await,
        }
        landed
    }

    /// Keeps the lease for as long as the work beside it takes.
    pub(super) async fn renew(&self, lease: &Lease) -> Infallible {
        let ttl = self.source.settings.lease;
        let mut lost = false;
        loop {
            sleep(ttl / 3).await;
            match self.store().renew(lease, ttl).await {
                Ok(false) if !lost => {
                    lost = true;
                    metrics::counter!("cardea_lease_lost_total").increment(1);
                    tracing::warn!(tenant = %self.tenant, "a refresh lost its lease; the fence decides whose tokens stay");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(tenant = %self.tenant, %error, "the lease of a refresh is not renewed"),
            }
        }
    }

    pub(super) async fn leave(&self, lease: &Lease, word: Word) {
        let store = self.store();
        let word = if word == Word::Rest { "rest" } else { "look" };
        let text = format!("{}/{}/{word}", self.tenant, self.login.public());
        // Without these the others wait until the lease runs out.
        let (released, told) = (store.release(lease).await, store.publish(NEWS, text.as_bytes()).await);
        if let Err(error) = released.and(told) {
            tracing::warn!(tenant = %self.tenant, %error, "a refresh is over, but the others do not know yet");
        }
    }

    /// Refreshes once. Everything is read again first: another replica may have been faster. Gives besides what is still to be
    /// written, and in whose place.
    async fn refresh(&self, lease: &Lease) -> Settled {
        let current = match self.source.current(&self.tenant, &self.login).await {
            Ok(current) => current,
            Err(error) => return (Err(error), None),
        };
        let held = &current.held;
        if self.is_served(held) {
            return (Ok(Given { access: held.set.access.clone(), how: How::Reread }), None);
        }
        let other = matches!(&self.goal, Goal::Other(used) if held.set.access.matches(used.expose()));
        if held.due != Due::Nothing && self.source.is_alive(&held.set) && !other {
            // Whoever refreshed these did not come to the end of it.
            return self.settle(held.clone(), current, How::Reread).await;
        }
        let Some(token) = held.set.refresh.clone() else {
            return (self.last(held).await, None);
        };
        if self.was_refused(&token).await {
            return (self.refused(&current).await, None);
        }
        match self.refresher.refresh(token.clone()).await {
            Ok(new) => self.settle(self.next(held, new, lease), current, How::Single).await,
            Err(RefreshError::Trouble) => (self.source.make_do(&self.login, &held.set), None),
            Err(RefreshError::Refused) => {
                self.note_refused(&token).await;
                (self.refused(&current).await, None)
            }
        }
    }

    /// What there is to keep after a grant.
    fn next(&self, old: &Held, new: Refreshed, lease: &Lease) -> Held {
        let (settings, now) = (&self.source.settings, self.source.now());
        let forced = matches!(self.goal, Goal::Other(_));
        Held {
            due: if new.id_token.is_some() { Due::Both } else { Due::Access },
            set: TokenSet {
                access: new.access,
                refresh: new.refresh.or_else(|| old.set.refresh.clone()),
                id_token: new.id_token.or_else(|| old.set.id_token.clone()),
                issued_at: now,
                expires_at: now.after(new.expires_in.unwrap_or(settings.default_lifetime)),
            },
            owner: old.owner.clone(),
            fence: lease.fence,
            forced_at: if forced { Some(now) } else { old.forced_at },
        }
    }
}
