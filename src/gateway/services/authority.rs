//! Who is an administrator now: the one rule, asked by every route that needs the right. It stands on what the provider said for
//! an access token that is still good, in whatever session of the person it was said. An expired token is refreshed first, as
//! before a call of the service; where that cannot be done now, nobody knows whether the person still has the right, and a
//! right that nobody knows of is not used: the route answers that it is not available, and the session stays.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::session::Sessions;

/// The rule. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Authority {
    credentials: Credentials,
    sessions: Sessions,
    audit: Audit,
}

impl Authority {
    pub(in crate::gateway) const fn new(credentials: Credentials, sessions: Sessions, audit: Audit) -> Self {
        Self { credentials, sessions, audit }
    }

    /// The actor as they stand now, whatever their role is.
    pub(in crate::gateway) async fn confirmed(&self, actor: Actor) -> Result<Actor, Error> {
        self.credentials.vouched(&actor).await?;
        let principal = self.sessions.as_told(actor.principal).await?;
        Ok(Actor { principal, ..actor })
    }

    /// Writes down that a change was held back until the actor shows once more who they are.
    pub(in crate::gateway) fn held_back(&self, actor: &Actor, network: &str) {
        let event = actor.did(Event::new(Deed::StepUp, "held_back"));
        self.audit.record(&actor.principal.tenant, Event { network: Some(network.to_owned()), ..event });
    }
}
