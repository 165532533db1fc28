//! A session as an API call sees it: who calls, and nothing that changes. No cookie is set, no handle renewed; that is done
//! by the next page. Beside the middleware of [`layer`](super::layer), because it runs for every API call.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::cookie::Cookie;
use actix_web::http::header::HeaderMap;

use super::cookie::{self, Signer};
use super::ending::Tether;
use super::portal::SignedIn;
use super::records::Records;
use super::scope::{Scope, Visit};
use super::{Parts, Sessions};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Unavailable;

/// Looks at sessions. One for each worker.
#[derive(Clone)]
pub(in crate::gateway) struct Glances {
    records: Records,
    signer: Rc<Signer>,
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
        Glances { records: Records(Arc::clone(&self.0)), signer: Rc::new(Signer::new(&settings.cookie, ring)) }
    }
}

impl Glances {
    /// Whether a request carries a session cookie, good or not.
    pub(in crate::gateway) fn is_there(&self, headers: &HeaderMap) -> bool {
        self.cookie(headers).is_some()
    }

    /// Who calls with these headers on the host of `tenant`.
    pub(in crate::gateway) async fn look(
        &self,
        tenant: &TenantId,
        headers: &HeaderMap,
        visit: Visit,
    ) -> Result<Glance, Unavailable> {
        let Some(cookie) = self.cookie(headers) else { return Ok(Glance::Nothing) };
        let Some(handle) = self.signer.handle(&cookie) else { return Ok(Glance::Over(None)) };
        let scope = Scope::new(&self.records.0, Some(tenant.clone()), visit);
        let found = self.records.look(&scope, &handle).await?;
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

    fn cookie<'h>(&self, headers: &'h HeaderMap) -> Option<Cookie<'h>> {
        cookie::find(headers, self.signer.name())
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
