//! The provider ends sessions here (OpenID Connect Back-Channel Logout 1.0): by session or by person, each token once.

use super::directory::Directory;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{By, ProviderSessions, Sessions};
use crate::gateway::store::{Key, Store, Unavailable};
use crate::gateway::upstream::identity::{IdentityError, LoggedOut};
use crate::platform::secret::Secret;

/// Ends sessions for providers. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct BackChannel {
    pub(in crate::gateway) directory: Directory,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) index: ProviderSessions,
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) audit: Audit,
}

/// Why no session ended.
#[derive(Debug, thiserror::Error)]
pub(in crate::gateway) enum LogOutError {
    /// The token is no good, and never will be.
    #[error("{0}")]
    Refused(IdentityError),
    /// It was good, and was used before.
    #[error("the logout token was used before")]
    Replayed,
    /// The tenant's profile has no back channel.
    #[error("there is no back channel")]
    NotOffered,
    /// The store or the provider's keys cannot be reached. The same token may be sent again.
    #[error("{0}")]
    NotNow(String),
}

impl LogOutError {
    /// In a word, for metrics.
    const fn outcome(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Replayed => "replayed",
            Self::NotOffered => "not_offered",
            Self::NotNow(_) => "unavailable",
        }
    }
}

impl From<Unavailable> for LogOutError {
    fn from(error: Unavailable) -> Self {
        Self::NotNow(error.to_string())
    }
}

impl From<Error> for LogOutError {
    fn from(error: Error) -> Self {
        Self::NotNow(error.to_string())
    }
}

impl BackChannel {
    /// Ends the sessions that a logout token names, on all replicas; how many there were. Nobody's session is a success: the
    /// provider need not know which of its sessions had ended here before.
    pub(in crate::gateway) async fn log_out(
        &self,
        tenant: &TenantId,
        token: &Secret,
        (network, request_id): (&str, &str),
    ) -> Result<usize, LogOutError> {
        let outcome = self.take_up(tenant, token, (network, request_id)).await;
        let word = outcome.as_ref().map_or_else(LogOutError::outcome, |_| "done");
        metrics::counter!("cardea_backchannel_logout_total", "outcome" => word).increment(1);
        if let Err(error) = &outcome {
            tracing::warn!(%tenant, %error, "a logout of the provider ended no session");
        }
        outcome
    }

    async fn take_up(&self, tenant: &TenantId, token: &Secret, from: (&str, &str)) -> Result<usize, LogOutError> {
        let provider = &self.directory.of(tenant)?.identity;
        let named = provider.verify_logout_token(token).await.map_err(|error| match error {
            IdentityError::Misconfigured(_) => LogOutError::NotOffered,
            error if error.is_transient() => LogOutError::NotNow(error.to_string()),
            error => LogOutError::Refused(error),
        })?;
        let used = Key::hashed(tenant, "logout-token", &format!("{}:{}{}", named.issuer.len(), named.issuer, named.id));
        if self.store.insert(&used, b"used".to_vec(), Some(provider.logout_token_memory())).await?.is_none() {
            return Err(LogOutError::Replayed);
        }
        let ended = self.end(tenant, &named, from).await;
        if ended.is_err() {
            // The provider sends it again; an entry that stays runs out by itself.
            let _ = self.store.delete(&used).await;
        }
        Ok(ended?)
    }

    async fn end(&self, tenant: &TenantId, named: &LoggedOut, (network, request_id): (&str, &str)) -> Result<usize, Unavailable> {
        let mut ended = 0;
        let whose = (named.subject.as_deref(), named.session.as_deref());
        self.index.note_end(tenant, &named.issuer, whose, named.told_at).await?;
        for id in self.index.find(tenant, &named.issuer, whose).await? {
            let by = By { user: None, network: network.to_owned(), request_id: request_id.to_owned() };
            if self.sessions.end(tenant, &id, Ending::Provider, &by).await? {
                ended += 1;
            } else if self.index.cut_off(tenant, &id).await? {
                ended += 1;
                let event = Event::new(Deed::SessionEnded, Ending::Provider.name()).from(network, request_id);
                self.audit.record(tenant, Event { session: Some(id), ..event });
            }
        }
        Ok(ended)
    }
}
