//! Who is an administrator now: the one rule, asked by every route that needs the right. It stands on what the provider said for
//! an access token that is still good, in whatever session of the person it was said. An expired token is refreshed first, as
//! before a call of the service; where that cannot be done now, nobody knows whether the person still has the right, and a
//! right that nobody knows of is not used: the route answers that it is not available, and the session stays.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use crate::gateway::session::Sessions;

/// The rule. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Authority {
    credentials: Credentials,
    sessions: Sessions,
}

impl Authority {
    pub(in crate::gateway) const fn new(credentials: Credentials, sessions: Sessions) -> Self {
        Self { credentials, sessions }
    }

    /// The actor as they stand now, whatever their role is.
    pub(in crate::gateway) async fn confirmed(&self, actor: Actor) -> Result<Actor, Error> {
        self.credentials.vouched(&actor).await?;
        let principal = self.sessions.as_told(actor.principal).await?;
        Ok(Actor { principal, ..actor })
    }
}
