//! Takes tokens back at the provider after a sign-out: in the background, tried again for a while, and nobody waits for it.

use std::time::Duration;

use crate::gateway::upstream::identity::{Hint, IdentityProvider};
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// Wait before the second try; doubles with each, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Takes back. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Revocations(Shutdown);

impl Revocations {
    /// Revocations that end with `shutdown`.
    pub(in crate::gateway) const fn new(shutdown: Shutdown) -> Self {
        Self(shutdown)
    }

    /// Takes a grant back: by its refresh token, and with it everything that came from it; where there is none, the access token
    /// alone. Returns at once. When the process ends, what waits gets one last try.
    pub(in crate::gateway) fn take_back(&self, provider: IdentityProvider, refresh: Option<Secret>, access: Secret) {
        let (token, hint) = refresh.map_or((access, Hint::Access), |token| (token, Hint::Refresh));
        let shutdown = self.0.clone();
        self.0.spawn(async move {
            let outcome = tried(&provider, &token, hint, &shutdown).await;
            metrics::counter!("cardea_revocation_total", "outcome" => outcome).increment(1);
        });
    }
}

async fn tried(provider: &IdentityProvider, token: &Secret, hint: Hint, shutdown: &Shutdown) -> &'static str {
    let mut wait = FIRST_WAIT;
    for left in (0..provider.revocation_tries()).rev() {
        match provider.revoke(token, hint).await {
            Ok(true) => return "done",
            Ok(false) => return "not_offered",
            Err(error) if left == 0 || shutdown.has_begun() || !error.is_transient() => {
                tracing::warn!(%error, "a token could not be taken back at the provider; it ends by itself when it expires");
                return "failed";
            }
            Err(_) => {}
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => wait = LONGEST_WAIT.min(wait * 2),
            () = shutdown.begun() => {}
        }
    }
    "failed"
}
