//! The end of a session from anywhere: a tombstone first, then what hangs on it, then word to all replicas. Streams hold on
//! to their session by a [`Tether`] and are cut with the reason.

use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, future, stream};
use tokio::time::{Instant, timeout_at};

use super::login::Entered;
use super::scope::{Loaded, Scope, Visit};
use super::{Parts, Sessions};
use crate::gateway::domain::audit::Event as Written;
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Event, Key, Unavailable};

/// What a replica tells the others when a session ended, or changed.
pub(super) const ENDED: &str = "session-ended";
pub(super) const CHANGED: &str = "session-changed";
/// What is left of an ended session, so that nothing written late is taken for one: this and the reason. It stays for as
/// long as the session could have lived.
const TOMBSTONE: &str = "ended ";

/// Why the session whose record this is has ended; `None` for one that has not.
pub(super) fn tombstone(value: &[u8]) -> Option<Ending> {
    let reason = std::str::from_utf8(value).ok()?.strip_prefix(TOMBSTONE)?;
    Some(Ending::named(reason).unwrap_or(Ending::RanOut))
}

/// A message about a session: `tenant/sign-in/session/reason`, with the names that are in the store anyway.
pub(super) struct Word {
    pub(super) tenant: TenantId,
    /// [`LoginId::public`](super::LoginId::public).
    pub(super) login: String,
    /// Id of the session's record.
    pub(super) session: String,
    /// Why it ended; a session that only changed has no reason.
    pub(super) ending: Option<Ending>,
}

impl Word {
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(text).ok()?.split('/');
        let (tenant, login, session, reason) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            tenant: TenantId::parse(tenant).ok()?,
            login: login.to_owned(),
            session: session.to_owned(),
            ending: Ending::named(reason),
        })
    }

    fn write(&self) -> String {
        let Self { tenant, login, session, ending } = self;
        format!("{tenant}/{login}/{session}/{}", ending.map_or("changed", Ending::name))
    }
}

/// Who ends a session, and in which request.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct By {
    /// [`Principal::key`](crate::gateway::domain::principal::Principal::key); none when it is nobody.
    pub(in crate::gateway) user: Option<String>,
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) request_id: String,
}

impl Sessions {
    /// Ends the session of a sign-in (by [`LoginId::public`](super::LoginId::public)), with its tokens, on all replicas, and
    /// writes it down. False when it had ended before.
    pub(in crate::gateway) async fn end(
        &self,
        tenant: &TenantId,
        id: &str,
        ending: Ending,
        by: &By,
    ) -> Result<bool, Unavailable> {
        self.0.end_login(tenant, id, ending, by).await
    }

    /// As [`Sessions::end`] for every session of a user.
    pub(in crate::gateway) async fn end_user(
        &self,
        tenant: &TenantId,
        user: &str,
        ending: Ending,
        by: &By,
    ) -> Result<(), Unavailable> {
        for id in self.0.logins_of(tenant, user).await? {
            self.0.end_login(tenant, &id, ending, by).await?;
        }
        Ok(())
    }

    /// Resolves when the session of this sign-in ends, wherever that happens.
    #[cfg(test)]
    pub(in crate::gateway) async fn ended(&self, tenant: &TenantId, id: &str) -> Ending {
        Tether { parts: Arc::clone(&self.0), tenant: tenant.clone(), login: id.to_owned(), loaded: None }.ended().await
    }
}

impl Parts {
    pub(super) async fn end_login(&self, tenant: &TenantId, id: &str, ending: Ending, by: &By) -> Result<bool, Unavailable> {
        let Some(Entered { entry, .. }) = self.entered(tenant, id).await? else { return Ok(false) };
        self.end(&Key::new(tenant, "session", &entry.session), Some((id, &entry.user)), ending, by).await?;
        Ok(true)
    }

    /// Ends a session whose owner (public sign-in, user) may be known.
    pub(super) async fn end(
        &self,
        session: &Key,
        owner: Option<(&str, &str)>,
        ending: Ending,
        by: &By,
    ) -> Result<(), Unavailable> {
        self.bury(session, ending).await?;
        let tenant = session.tenant();
        let Some((id, user)) = owner else { return Ok(()) };
        // A sign-out is written down by whoever offers it, who knows what else went with it.
        if ending != Ending::SignOut {
            // Whose it was, where somebody else ended it: the actor is not it then.
            let others = by.user.as_deref().is_some_and(|who| who != user);
            let detail = if others { format!("{} {user}", ending.name()) } else { ending.name().to_owned() };
            let event = Written::new(ending.deed(), &detail).by(by.user.as_deref().unwrap_or(user), id);
            self.audit.record(tenant, event.from(&by.network, &by.request_id));
        }
        self.forget(tenant, id, user).await?;
        // Before the tokens go: a stream that finds them missing would not know why.
        self.tell(ENDED, session, id, Some(ending)).await?;
        self.store.delete(&super::tokens::key(tenant, id)).await?;
        Ok(())
    }

    /// Makes a handle useless.
    pub(super) async fn bury(&self, session: &Key, ending: Ending) -> Result<(), Unavailable> {
        let stone = format!("{TOMBSTONE}{}", ending.name()).into_bytes();
        self.store.put(session, stone, Some(self.settings.absolute)).await?;
        self.copies.drop_one(session).await;
        Ok(())
    }

    /// The session is not as it was: copies of it are dropped everywhere.
    pub(super) async fn changed(&self, session: &Key, id: &str) -> Result<(), Unavailable> {
        self.copies.drop_one(session).await;
        self.tell(CHANGED, session, id, None).await
    }

    async fn tell(&self, channel: &'static str, session: &Key, id: &str, ending: Option<Ending>) -> Result<(), Unavailable> {
        let (tenant, session) = (session.tenant().clone(), session.id().to_owned());
        let word = Word { tenant, login: id.to_owned(), session, ending };
        self.store.publish(channel, word.write().as_bytes()).await
    }
}

/// Binds a stream (server-sent events, an upload, a download) to the session it was begun in.
#[derive(Clone)]
pub(in crate::gateway) struct Tether {
    pub(super) parts: Arc<Parts>,
    pub(super) tenant: TenantId,
    pub(super) login: String,
    /// A stream that is use of its session keeps it alive: this is what it was begun with.
    pub(super) loaded: Option<Loaded>,
}

impl Tether {
    /// To the session of this request; `None` without one.
    pub(super) fn of(scope: &Scope) -> Option<Self> {
        let loaded = scope.loaded.borrow().clone()?;
        let login = loaded.owner.as_ref()?.login.public();
        let (parts, tenant) = (Arc::clone(&scope.parts), loaded.key.tenant().clone());
        Some(Self { parts, tenant, login, loaded: (!scope.quiet.get()).then_some(loaded) })
    }

    /// Resolves when the session ends, with the reason. Word comes from the replica that ends it; for the case that no word
    /// comes, and for sessions that run out, the store is asked now and then. A store that does not answer ends nothing.
    pub(in crate::gateway) async fn ended(&self) -> Ending {
        let mut events = self.parts.store.subscribe(ENDED);
        loop {
            if !self.stands().await {
                return Ending::RanOut;
            }
            let until = Instant::now() + self.parts.settings.stream_check;
            while let Ok(event) = timeout_at(until, events.next()).await {
                match event {
                    Some(Event::Message(text)) => {
                        let ours = Word::read(&text).filter(|word| word.tenant == self.tenant && word.login == self.login);
                        if let Some(word) = ours {
                            return word.ending.unwrap_or(Ending::RanOut);
                        }
                    }
                    Some(Event::Missed) => break,
                    // The process ends, and the stream with it.
                    None => future::pending().await,
                }
            }
        }
    }

    /// `stream` until the session ends; then `last` is its end.
    pub(in crate::gateway) fn hold<S: Stream>(
        self,
        stream: S,
        last: impl FnOnce(Ending) -> S::Item,
    ) -> impl Stream<Item = S::Item> {
        let ended = async move {
            let ending = self.ended().await;
            self.cut(ending);
            ending
        };
        until(stream, ended, last)
    }

    /// Counts a stream that its session cut, and says so in the log.
    pub(in crate::gateway) fn cut(&self, ending: Ending) {
        metrics::counter!("cardea_stream_closed_total", "reason" => ending.name()).increment(1);
        tracing::info!(session = self.login, reason = ending.name(), "a stream was closed with its session");
    }

    async fn stands(&self) -> bool {
        let asked = async {
            match &self.loaded {
                Some(loaded) => self.parts.used(loaded, "").await.map(|time| time.is_some()),
                None => self.parts.is_alive(&self.tenant, &self.login).await,
            }
        };
        asked.await.unwrap_or_else(|Unavailable(error)| {
            tracing::debug!(error, "the session of a stream cannot be looked at");
            true
        })
    }
}

/// `stream` until `ended` resolves; then `last` is its end.
pub(in crate::gateway) fn until<S: Stream, E>(
    stream: S,
    ended: impl Future<Output = E>,
    last: impl FnOnce(E) -> S::Item,
) -> impl Stream<Item = S::Item> {
    stream::unfold(Some((Box::pin(stream), Box::pin(ended), last)), async |state| {
        let (mut stream, mut ended, last) = state?;
        tokio::select! {
            biased;
            ending = &mut ended => Some((last(ending), None)),
            next = stream.next() => next.map(|item| (item, Some((stream, ended, last)))),
        }
    })
}

impl Visit {
    /// The user of the session itself ends it in this request.
    pub(super) fn by(&self, user: Option<&str>) -> By {
        By { user: user.map(str::to_owned), network: self.network.clone(), request_id: self.request_id.clone() }
    }
}
