//! Which sign-ins belong to which session, and to which person, at the provider: by these its back channel ends them. Names are
//! hashed; what is kept are public ids of sign-ins.

use std::time::Duration;

use super::login::LoginId;
use super::tokens;
use crate::gateway::domain::identity::Origin;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Store, Unavailable};

const OF_SESSION: &str = "provider-session";
const OF_SUBJECT: &str = "provider-subject";
/// A sign-in that began before the provider ended its session is over by then.
const SLOWEST_SIGN_IN: Duration = Duration::from_mins(10);

/// What became of a sign-in that was to be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Entry {
    Entered,
    /// The provider ended its session after it made the id token, while this sign-in was on its way.
    Ended,
}

/// The index of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct ProviderSessions {
    store: Store,
    /// The absolute limit of sessions.
    kept: Duration,
}

impl ProviderSessions {
    /// An index in `store` whose entries live for `kept`, the absolute limit of sessions.
    pub(in crate::gateway) const fn new(store: Store, kept: Duration) -> Self {
        Self { store, kept }
    }

    /// Enters a sign-in whose tokens are stored. Sign-ins that ended are taken out of the same places on the way, so that an
    /// index does not grow with every sign-in of a person who is never away for long.
    pub(in crate::gateway) async fn enter(
        &self,
        tenant: &TenantId,
        login: &LoginId,
        (issuer, origin): (&str, &Origin),
    ) -> Result<Entry, Unavailable> {
        let of_session = origin.session.as_ref().map(|session| of(tenant, OF_SESSION, issuer, session));
        for place in of_session.iter().chain([&of(tenant, OF_SUBJECT, issuer, &origin.subject)]) {
            for earlier in self.store.members(place).await? {
                if self.store.get(&tokens::key(tenant, &earlier)).await?.is_none() {
                    self.store.remove(place, &earlier).await?;
                }
            }
            self.store.add(place, &login.public(), Some(self.kept)).await?;
        }
        // Looked at after the entry is there: a logout finds the one, or leaves the other. The second in which a session ended
        // is its last; a person may sign in anew within the second.
        let session_over = match &of_session {
            Some(place) => self.ended_at(place).await?.is_some_and(|ended| origin.told_at <= ended),
            None => false,
        };
        let person_over =
            self.ended_at(&of(tenant, OF_SUBJECT, issuer, &origin.subject)).await?.is_some_and(|ended| origin.told_at < ended);
        if !session_over && !person_over {
            return Ok(Entry::Entered);
        }
        self.cut_off(tenant, &login.public()).await?;
        Ok(Entry::Ended)
    }

    /// Remembers for a while that the provider ended a session, or all of a person, at `told_at` by its clock.
    pub(in crate::gateway) async fn note_end(
        &self,
        tenant: &TenantId,
        issuer: &str,
        (subject, session): (Option<&str>, Option<&str>),
        told_at: i64,
    ) -> Result<(), Unavailable> {
        let place = match (subject, session) {
            (_, Some(session)) => of(tenant, OF_SESSION, issuer, session),
            (Some(subject), None) => of(tenant, OF_SUBJECT, issuer, subject),
            (None, None) => return Ok(()),
        };
        self.store.put(&place, told_at.to_string().into_bytes(), Some(SLOWEST_SIGN_IN)).await.map(|_| ())
    }

    async fn ended_at(&self, place: &Key) -> Result<Option<i64>, Unavailable> {
        let noted = self.store.get(place).await?;
        Ok(noted.and_then(|record| std::str::from_utf8(&record.value).ok()?.parse().ok()))
    }

    /// Public ids of the sign-ins of a session, of all sessions of a person, or of a session if it is that person's.
    pub(in crate::gateway) async fn find(
        &self,
        tenant: &TenantId,
        issuer: &str,
        (subject, session): (Option<&str>, Option<&str>),
    ) -> Result<Vec<String>, Unavailable> {
        let of_subject = match subject {
            Some(subject) => Some(self.store.members(&of(tenant, OF_SUBJECT, issuer, subject)).await?),
            None => None,
        };
        let Some(session) = session else { return Ok(of_subject.unwrap_or_default()) };
        let of_session = self.store.members(&of(tenant, OF_SESSION, issuer, session)).await?;
        let of_person = |id: &String| of_subject.as_ref().is_none_or(|all| all.contains(id));
        Ok(of_session.into_iter().filter(of_person).collect())
    }

    /// Takes the tokens from a sign-in whose session is not written yet: such a session can call nobody, so its first page
    /// leads to a new sign-in.
    pub(in crate::gateway) async fn cut_off(&self, tenant: &TenantId, id: &str) -> Result<bool, Unavailable> {
        self.store.delete(&tokens::key(tenant, id)).await
    }
}

fn of(tenant: &TenantId, kind: &'static str, issuer: &str, name: &str) -> Key {
    Key::hashed(tenant, kind, &format!("{}:{issuer}{name}", issuer.len()))
}
