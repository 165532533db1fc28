//! The end of a refresh: what the provider gave is written, checked and told, or the session ends.
//!
//! Tokens are written before anything else is asked, so that no crash loses them; a record says what of it is unchecked. The
//! fence of a record is that of the lease it was got under: an older one is written over, a newer one stays.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::ending::By;
use super::flight::{Flight, Word};
use super::refresh::{CheckError, Given, How, Landed, Refresh, TokenError, count};
use super::standing::Learnt;
use super::tokens::{Current, Due, Held};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::store::{Key, Lease, Swap};
use crate::platform::secret::Secret;

/// Wait between two tries to write what the provider gave.
const WRITE_AGAIN: Duration = Duration::from_millis(250);
/// A write that finds another's record tries this often to get over an older one.
const CONFLICTS: usize = 4;

/// Why a sign-in ends whose new tokens belong to somebody else.
const NOT_THEIRS: &str = "not_theirs";
/// Why all sign-ins of a user end who may not come in any more.
const NOT_ADMITTED: &str = "not_admitted";
/// The provider is asked again this often while others write down what it says.
const ASKS: usize = 4;

/// A token for those who wait, and what is still to be written in whose place.
pub(super) type Settled = (Landed, Option<(Held, Current)>);

/// Where new tokens are after a try to write them.
enum Place {
    Written,
    /// The store did not say; they belong in the place of this version.
    Nowhere,
    /// A newer refresh has written.
    Theirs(Box<Current>),
    /// The sign-in ended meanwhile.
    Over,
}

/// What the check of new tokens came to.
enum Checked {
    Done,
    Later,
    NotTheirs,
    NotAdmitted,
}

impl<R: Refresh> Flight<R> {
    /// Writes new tokens, finds out whose they are, and writes that down too.
    pub(super) async fn settle(&self, mut held: Held, mut old: Current, how: How) -> Settled {
        let mut place = if how == How::Single { self.write(&held, &mut old).await } else { Place::Written };
        if matches!(place, Place::Written | Place::Nowhere) {
            match self.check(&mut held).await {
                Checked::Done => place = self.write(&held, &mut old).await,
                Checked::Later => self.source.rest(&self.login),
                Checked::NotTheirs => {
                    self.give_back(&held);
                    return (self.end(NOT_THEIRS).await, None);
                }
                Checked::NotAdmitted => {
                    self.give_back(&held);
                    let others = &self.source.parts.sessions;
                    if let Err(error) = others.end_user(&self.tenant, &held.owner.key(), Ending::OtherUser, &By::default()).await
                    {
                        tracing::warn!(tenant = %self.tenant, %error, "not all sessions of a user who may not come in could be ended");
                    }
                    return (self.end(NOT_ADMITTED).await, None);
                }
            }
        }
        if how == How::Single {
            self.record(&held, Deed::Refresh, "renewed");
        }
        let given = Given { access: held.set.access.clone(), how };
        match place {
            Place::Written => (Ok(given), None),
            Place::Nowhere => {
                self.source.keep(&self.login, Some(held.clone()));
                (Ok(given), Some((held, old)))
            }
            Place::Theirs(theirs) if self.source.is_alive(&theirs.held.set) => {
                (Ok(Given { access: theirs.held.set.access, how: How::Reread }), None)
            }
            Place::Theirs(theirs) => (self.source.make_do(&self.login, &theirs.held.set), None),
            Place::Over => {
                self.give_back(&held);
                (Err(TokenError::SignInAgain), None)
            }
        }
    }

    /// The sign-in is over, and the provider does not know: its new refresh token would live on.
    fn give_back(&self, held: &Held) {
        let (refresher, token) = (self.refresher.clone(), held.set.refresh.clone());
        self.source.parts.shutdown.spawn(async move {
            if let Some(token) = token {
                refresher.revoke(token).await;
            }
        });
    }

    /// Writes `held` in the place of `old`, or over what an older refresh wrote meanwhile; `old` becomes what is there then.
    async fn write(&self, held: &Held, old: &mut Current) -> Place {
        let tokens = &self.source.parts.tokens;
        for _ in 0..CONFLICTS {
            match tokens.replace(&self.tenant, &self.login, old.version, held).await {
                Ok(Swap::Done(version)) => {
                    *old = Current { held: held.clone(), version };
                    return Place::Written;
                }
                Ok(Swap::Gone) => return Place::Over,
                Ok(Swap::Conflict) => {}
                Err(error) => {
                    tracing::warn!(tenant = %self.tenant, %error, "refreshed tokens are not written yet");
                    return Place::Nowhere;
                }
            }
            match self.source.current(&self.tenant, &self.login).await {
                // A write of ours whose answer was lost, or an older refresh that came late: over it.
                Ok(newest) if newest.held.fence <= held.fence => *old = newest,
                Ok(newest) => return Place::Theirs(Box::new(newest)),
                Err(TokenError::SignInAgain) => return Place::Over,
                Err(_) => return Place::Nowhere,
            }
        }
        Place::Nowhere
    }

    /// Goes on trying to write, beside everything else. The lease is kept meanwhile: the others have only used tokens.
    pub(super) fn write_later(self, lease: Lease, held: Held, mut old: Current) {
        let shutdown = self.source.parts.shutdown.clone();
        shutdown.spawn(async move {
            let writing = async {
                loop {
                    sleep(WRITE_AGAIN).await;
                    match self.write(&held, &mut old).await {
                        Place::Nowhere => {}
                        Place::Over => return self.give_back(&held),
                        Place::Written | Place::Theirs(_) => return,
                    }
                }
            };
            tokio::select! {
                () = writing => {}
                never = self.renew(&lease) => match never {},
            }
            self.source.keep(&self.login, None);
            tracing::info!(tenant = %self.tenant, "the store answers again: refreshed tokens are written, or were no longer needed");
            self.leave(&lease, Word::Look).await;
        });
    }

    /// Asks whose the tokens are. Changed claims go to all sessions of the user at once.
    async fn check(&self, held: &mut Held) -> Checked {
        let (sessions, user) = (&self.source.parts.sessions, held.owner.key());
        for _ in 0..ASKS {
            let Ok(before) = sessions.known(&self.tenant, &user).await else { return Checked::Later };
            let id_token = held.set.id_token.clone().filter(|_| held.due == Due::Both);
            // Those who wait get the tokens anyway when this takes too long.
            let asked = timeout(self.source.settings.wait / 2, self.refresher.identify(held.set.access.clone(), id_token)).await;
            let now = match asked.unwrap_or(Err(CheckError::Trouble)) {
                Ok(None) => {
                    held.due = Due::Nothing;
                    return Checked::Done;
                }
                Ok(Some(now)) if now.key() == user => now,
                Ok(Some(_)) | Err(CheckError::NotTheirs) => return Checked::NotTheirs,
                Err(CheckError::NotAdmitted) => return Checked::NotAdmitted,
                Err(CheckError::Trouble) => return Checked::Later,
            };
            match sessions.learn(&before, &held.owner, &now).await {
                Ok(Learnt::Overtaken) => continue,
                Ok(Learnt::Role) => self.record(held, Deed::RoleChanged, now.role.name()),
                Ok(Learnt::Same) => {}
                Err(error) => {
                    tracing::warn!(tenant = %self.tenant, %error, "what the provider says of a user is not written yet");
                    return Checked::Later;
                }
            }
            (held.owner, held.due) = (now, Due::Nothing);
            return Checked::Done;
        }
        Checked::Later
    }

    /// No refresh token: the sign-in lasts as long as its access token.
    pub(super) async fn last(&self, held: &Held) -> Landed {
        if self.source.is_alive(&held.set) {
            return Ok(Given { access: held.set.access.clone(), how: How::Last });
        }
        self.end("no_refresh_token").await
    }

    /// The refresh token was refused: because another replica used it first, or because the sign-in is over.
    pub(super) async fn refused(&self, old: &Current) -> Landed {
        let newest = self.source.current(&self.tenant, &self.login).await?;
        if newest.version == old.version {
            return self.end("refresh_refused").await;
        }
        if self.source.is_alive(&newest.held.set) {
            return Ok(Given { access: newest.held.set.access, how: How::Reread });
        }
        Err(TokenError::Unavailable)
    }

    /// Ends the session on all replicas, with its tokens. When the store does not answer it lives on, and this comes again.
    async fn end(&self, reason: &'static str) -> Landed {
        let ending = if matches!(reason, NOT_THEIRS | NOT_ADMITTED) { Ending::OtherUser } else { Ending::TokensRefused };
        let (parts, public) = (&self.source.parts, self.login.public());
        let owner = parts.tokens.read(&self.tenant, &self.login).await.ok().flatten().map(|current| current.held.owner);
        let ended = match parts.sessions.end(&self.tenant, &public, ending, &By::default()).await {
            Ok(_) => parts.tokens.forget(&self.tenant, &self.login).await,
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            tracing::warn!(tenant = %self.tenant, %error, "a session that is over could not be ended yet");
            return Err(TokenError::Unavailable);
        }
        count("refused");
        let user = owner.map(|owner| owner.key()).unwrap_or_default();
        parts.audit.record(&self.tenant, Event::new(Deed::Refresh, reason).by(&user, &public));
        Err(TokenError::SignInAgain)
    }

    fn record(&self, held: &Held, deed: Deed, detail: &str) {
        let event = Event::new(deed, detail).by(&held.owner.key(), &self.login.public());
        self.source.parts.audit.record(&self.tenant, event);
    }

    /// Whether a replica was told a moment ago that this refresh token is no good.
    pub(super) async fn was_refused(&self, token: &Secret) -> bool {
        matches!(self.store().get(&self.refusal(token)).await, Ok(Some(_)))
    }

    pub(super) async fn note_refused(&self, token: &Secret) {
        let (store, kept) = (self.store(), self.source.settings.refused);
        if let Err(error) = store.put(&self.refusal(token), b"refused".to_vec(), Some(kept)).await {
            tracing::warn!(tenant = %self.tenant, %error, "a refused refresh token is not noted");
        }
    }

    fn refusal(&self, token: &Secret) -> Key {
        Key::hashed(&self.tenant, "refused", token.expose())
    }
}
