//! A session as an API call sees it: who calls, and nothing that changes. No cookie is set, no handle renewed; that is done
//! by the next page. Beside the middleware of [`layer`](super::layer), because it runs for every API call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::cookie::Cookie;
use actix_web::http::header::HeaderMap;
use zeroize::Zeroizing;

use super::cookie::{self, Signer};
use super::ending::Tether;
use super::portal::SignedIn;
use super::records::Records;
use super::scope::{Scope, Visit};
use super::{Parts, Sessions};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Unavailable};

/// Looks at sessions. One for each worker.
#[derive(Clone)]
pub(in crate::gateway) struct Glances {
    records: Records,
    signer: Rc<Signer>,
    known: Rc<RefCell<Known>>,
}

/// Cookies whose signature was found good lately, and the records they name: a program calls many times with the same cookie.
/// Says nothing of whether a session lives; that is asked for every call.
struct Known {
    since: Instant,
    all: HashMap<Box<str>, Rc<Presented>>,
}

/// What a cookie with a good signature holds.
struct Presented {
    tenant: TenantId,
    handle: Zeroizing<String>,
    key: Key,
}

/// Cookies that one worker knows at most, and how long.
const MOST: usize = 4096;
const LIFE: Duration = Duration::from_mins(1);

impl Known {
    fn get(&mut self, text: &str, tenant: &TenantId) -> Option<Rc<Presented>> {
        if self.since.elapsed() >= LIFE || self.all.len() >= MOST {
            self.all.clear();
            self.since = Instant::now();
        }
        self.all.get(text).filter(|presented| presented.tenant == *tenant).cloned()
    }
}

/// What a cookie leads to.
pub(in crate::gateway) enum Glance {
    /// No session cookie at all.
    Nothing,
    /// A cookie, but no session; why it ended, when that is known.
    Over(Option<Ending>),
    Here(Seen),
}

/// A session that lives.
pub(in crate::gateway) struct Seen {
    pub(in crate::gateway) user: Arc<SignedIn>,
    scope: Rc<Scope>,
}

impl Sessions {
    /// For the calls of one worker.
    pub(in crate::gateway) fn glances(&self) -> Glances {
        let Parts { settings, ring, .. } = &*self.0;
        let known = Known { since: Instant::now(), all: HashMap::new() };
        Glances {
            records: Records(Arc::clone(&self.0)),
            signer: Rc::new(Signer::new(&settings.cookie, ring)),
            known: Rc::new(RefCell::new(known)),
        }
    }
}

impl Glances {
    /// Whether a request carries a session cookie, good or not.
    pub(in crate::gateway) fn is_there(&self, headers: &HeaderMap) -> bool {
        cookie::find(headers, self.signer.name()).is_some()
    }

    /// Who calls with these headers on the host of `tenant`.
    pub(in crate::gateway) async fn look(
        &self,
        tenant: &TenantId,
        headers: &HeaderMap,
        visit: Visit,
    ) -> Result<Glance, Unavailable> {
        let presented = match self.presented(tenant, headers) {
            Some(Some(presented)) => presented,
            Some(None) => return Ok(Glance::Over(None)),
            None => return Ok(Glance::Nothing),
        };
        let scope = Scope::new(&self.records.0, Some(tenant.clone()), visit);
        let found = self.records.look_at(&scope, &presented.handle, presented.key.clone()).await?;
        let user = found.and_then(|(_, user)| user).filter(|user| user.principal.tenant == *tenant);
        Ok(match user {
            Some(user) => Glance::Here(Seen { user, scope }),
            None => Glance::Over(scope.ended.get()),
        })
    }

    /// The session was used: it is given more time when that is due.
    pub(in crate::gateway) async fn used(&self, seen: &Seen) {
        self.records.extend(&seen.scope).await;
    }

    /// What the session cookie of a request holds: nothing that is good, or no cookie at all.
    #[expect(clippy::option_option, reason = "no cookie and no good one differ")]
    fn presented(&self, tenant: &TenantId, headers: &HeaderMap) -> Option<Option<Rc<Presented>>> {
        for text in cookie::texts(headers, self.signer.name()) {
            // Whatever is known could be read, so this is the cookie that `find` would find: the text that is remembered is
            // always the one that was verified.
            if let Some(presented) = self.known.borrow_mut().get(text, tenant) {
                return Some(Some(presented));
            }
            let Ok(cookie) = Cookie::parse_encoded(text) else { continue };
            let handle = self.signer.handle(&cookie).map(Zeroizing::new);
            let named = handle.and_then(|handle| Records::key(tenant, &handle).map(|key| (handle, key)));
            let Some((handle, key)) = named else { return Some(None) };
            let presented = Rc::new(Presented { tenant: tenant.clone(), handle, key });
            self.known.borrow_mut().all.insert(text.into(), Rc::clone(&presented));
            return Some(Some(presented));
        }
        None
    }
}

impl Seen {
    /// For a stream that must not outlive the session.
    pub(in crate::gateway) fn tether(&self) -> Option<Tether> {
        Tether::of(&self.scope)
    }

    /// This call does not count as use.
    pub(in crate::gateway) fn quiet(&self) {
        self.scope.quiet.set(true);
    }
}
